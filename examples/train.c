/* Training without Python: a step with its state in the model, as `train_step.py` writes it.
 *
 * In the root of the repository:
 *
 *   mkdir -p build
 *   python examples/train_step.py build/step.so
 *   cc -std=c11 -Ibuild examples/train.c -o build/train -Lbuild -l:step.so -lm -Wl,-rpath,'$ORIGIN'
 *   build/train
 *
 * It learns sin(2 x), and prints the loss now and then. After 500 steps it reads the parameters, the moments and the counter
 * by name and sets them in a second model: both go on with equal losses.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "step.h"

enum { BATCH = 32, STEPS = 1000 };

static const char *const STATE[] = step_STATES; /* their names */

static int fail(void) {
  fprintf(stderr, "step: %s\n", step_error());
  return EXIT_FAILURE;
}

/* The next number of a linear congruential generator, from -2 to 2. */
static float draw(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (float)(state >> 40) / (float)(1 << 22) - 2;
}

/* One step on a batch; the loss, or a negative number on failure. */
static float train(step_model *model, const float *x, const float *y) {
  const int64_t dims[] = {BATCH};
  float loss;
  const void *inputs[] = {x, y};
  void *outputs[] = {&loss};
  return step_run(model, inputs, outputs, dims, NULL) ? -1 : loss;
}

/* Copies the state of one model to another. */
static int copy_state(step_model *from, step_model *to) {
  float value[64]; /* the largest has 64 elements */
  for (int i = 0; i < step_STATE_COUNT; i++)
    if (step_get_state(from, STATE[i], value) || step_set_state(to, STATE[i], value)) return 1;
  return 0;
}

int main(void) {
  step_model *model = step_create(NULL, 0), *second = step_create(NULL, 1);
  if (!model || !second) return fail();
  for (int n = 0; n < STEPS; n++) {
    float x[BATCH], y[BATCH];
    for (int i = 0; i < BATCH; i++) x[i] = draw(), y[i] = sinf(2 * x[i]);
    if (n == STEPS / 2 && copy_state(model, second)) return fail();
    float loss = train(model, x, y), again = n < STEPS / 2 ? loss : train(second, x, y);
    if (loss < 0 || again < 0) return fail();
    if (loss != again) return fprintf(stderr, "step %d: %g and %g\n", n, loss, again), EXIT_FAILURE;
    if ((n + 1) % 250 == 0 || n == 0) printf("step %d loss %.5f\n", n + 1, loss);
  }
  step_destroy(second);
  step_destroy(model);
  return EXIT_SUCCESS;
}
