/* A worker has the stack that kernels need, however little the system gives a thread by default. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "mlc_internal.h"

enum { BYTES = 1 << 20 };

static atomic_int wrong = 1;

__attribute__((noinline)) static void use_stack(void) {
  volatile char room[BYTES];
  for (int i = 0; i < BYTES; i += 1024) room[i] = 1;
  atomic_store(&wrong, room[BYTES / 2] != 1);
}

static void body(mlc_call *c) {
  if (c->tid) use_stack();
  while (!c->tid && c->team && atomic_load(&wrong)) sched_yield(); /* a worker that comes late may find no part */
  while (mlc_claim(c) >= 0) continue;
  mlc_join(c);
}

static const mlc_program program = {.name = "stack", .body = body};

int main(void) {
  mlc_call call = {0};
  mlc_team *team = mlc_team_create(&program, 2);
  mlc_team_run(team, &call);
  mlc_team_destroy(team);
  printf("%d wrong\n", atomic_load(&wrong));
  return atomic_load(&wrong);
}
