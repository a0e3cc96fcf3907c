/* A program of many short phases: each part of each runs once, and after all of the phase before. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "mlc_internal.h"

enum { PHASES = 300, MOST_PARTS = 64, RUNS = 40 };

static atomic_int runs[PHASES][MOST_PARTS];
static atomic_int finished[PHASES], wrong;

static void part_run(int phase, int part, int parts) {
  if (phase && atomic_load(&finished[phase - 1]) != parts) atomic_fetch_add(&wrong, 1);
  atomic_fetch_add(&runs[phase][part], 1);
  for (volatile int spin = 0; spin < (phase * 7 + part * 13) % 50; spin++) continue;
  atomic_fetch_add(&finished[phase], 1);
}

static void body(mlc_call *c) {
  for (int phase = 0; phase < PHASES; phase++) {
    for (int part; (part = mlc_claim(c)) >= 0;) part_run(phase, part, c->parts);
    mlc_join(c);
  }
}

static const mlc_program program = {.name = "phases", .body = body};

static void check_run(mlc_team *team) {
  mlc_call call = {0};
  memset(runs, 0, sizeof runs), memset(finished, 0, sizeof finished);
  mlc_team_run(team, &call);
  for (int phase = 0; phase < PHASES; phase++)
    for (int part = 0; part < MOST_PARTS; part++)
      if (atomic_load(&runs[phase][part]) != (part < call.parts)) atomic_fetch_add(&wrong, 1);
}

int main(void) {
  for (int threads = 1; threads <= 7; threads += 2) {
    mlc_team *team = mlc_team_create(&program, threads);
    for (int i = 0; i < RUNS; i++) check_run(team);
    mlc_team_destroy(team);
  }
  printf("%d wrong\n", atomic_load(&wrong));
  return atomic_load(&wrong) != 0;
}
