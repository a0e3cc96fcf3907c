/* Exercises a model from plain C: concurrent runs, profiles, traces, failures, create/destroy loops. Built with sanitizers. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

enum { CALLERS = 4, RUNS = 40, LARGEST = 37 };

typedef struct {
  toy_model *model;
  int seed, wrong;
} caller;

static float value(int64_t i, int seed) { return (float)((i * 7 + seed * 13) % 32) - 11; }

enum { EVENTS = 64 };

/* Runs with a trace, or without where another thread traces; each event is within the run. */
static int traced(toy_model *model, const void *const *in, void *const *out, const int64_t *n) {
  int64_t events[EVENTS][4], count = toy_trace(model, in, out, n, NULL, events, EVENTS);
  if (count < 0 && strstr(toy_error(), "traced by another")) return toy_run(model, in, out, n, NULL);
  int wrong = count < 3;
  for (int64_t i = 0; i < count && i < EVENTS; i++)
    wrong += events[i][1] < 0 || events[i][1] > 2 || events[i][2] < 0 || events[i][3] < events[i][2];
  return wrong;
}

static int run_once(toy_model *model, const char *bias, int64_t n, int seed) {
  float x[LARGEST * 8], shift[LARGEST * 2], y[LARGEST], total = 0, expected = 0, weights[8];
  memcpy(weights, bias, sizeof weights);
  for (int64_t i = 0; i < n * 8; i++) x[i] = value(i, seed);
  for (int64_t i = 0; i < n * 2; i++) shift[i] = value(i, seed + 1);
  uint64_t times[3];
  const void *in[] = {x, shift};
  void *out[] = {y, &total};
  int failed = seed % 3 == 0   ? toy_run(model, in, out, &n, NULL)
               : seed % 3 == 1 ? toy_profile(model, in, out, &n, NULL, times)
                               : traced(model, in, out, &n);
  if (failed) return 1;
  for (int64_t i = 0; i < n; i++) {
    float row = 0;
    for (int j = 0; j < 8; j++) row += x[i * 8 + j] * weights[j] + shift[2 * i] - shift[2 * i + 1];
    expected += row;
    if (y[n - 1 - i] != row) return 1;
  }
  return total != expected;
}

static const char bias_bytes[] = TOY_BIAS_BYTES;

static void *call_repeatedly(void *argument) {
  caller *c = argument;
  for (int i = 0; i < RUNS; i++) c->wrong += run_once(c->model, bias_bytes, (i * 5 + c->seed) % (LARGEST + 1), c->seed + i);
  return NULL;
}

static int check_model(const char *weights, int threads) {
  toy_model *model = toy_create(weights, threads);
  if (!model) return fprintf(stderr, "%s\n", toy_error()), 1;
  caller callers[CALLERS];
  pthread_t ids[CALLERS];
  int wrong = 0;
  for (int i = 0; i < CALLERS; i++) {
    callers[i] = (caller){model, i, 0};
    pthread_create(&ids[i], NULL, call_repeatedly, &callers[i]);
  }
  for (int i = 0; i < CALLERS; i++) {
    pthread_join(ids[i], NULL);
    wrong += callers[i].wrong;
  }
  toy_destroy(model);
  return wrong;
}

static int check_failures(const char *weights) {
  int64_t negative = -1, huge = INT64_MAX, one = 1;
  toy_model *model = toy_create(weights, 1);
  float x[10] = {0}, y[2];
  const void *in[] = {x, x};
  void *out[] = {y, y + 1};
  int wrong = toy_create("/nonexistent/file", 1) != NULL;
  wrong += toy_create(weights, -1) != NULL;
  wrong += toy_run(model, in, out, &negative, NULL) == 0;
  wrong += toy_run(model, in, out, &huge, NULL) == 0;
  wrong += toy_run(model, in, out, NULL, NULL) == 0;
  wrong += toy_run(model, in, out, &one, (char *)x + 1) == 0;
  wrong += toy_output_shape(2, &one, &one) != -1;
  wrong += strlen(toy_error()) == 0;
  wrong += toy_workspace_size(&one) != 32;
  _Alignas(64) char memory[64];
  wrong += toy_run(model, in, out, &one, memory) != 0;
  toy_destroy(model);
  toy_destroy(NULL);
  wrong += toy_run(NULL, in, out, &one, NULL) == 0;
  wrong += toy_trace(NULL, in, out, &one, NULL, NULL, 0) != -1;
  return wrong;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  int wrong = check_failures(arguments[1]);
  for (int threads = 0; threads <= 5; threads++) wrong += check_model(arguments[1], threads);
  for (int i = 0; i < 50; i++) toy_destroy(toy_create(arguments[1], 3));
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
