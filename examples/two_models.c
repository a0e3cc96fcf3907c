/* Two compiled models in one program: a classifier whose batch size is chosen at run time, and an LSTM.
 *
 * In the root of the repository:
 *
 *   mkdir -p build
 *   python -m benchmarks.models mlp -o build/mlp.onnx --batch batch && mlc compile build/mlp.onnx -o build/mlp.so
 *   python -m benchmarks.models lstm -o build/lstm.onnx && mlc compile build/lstm.onnx -o build/lstm.so
 *   cc -std=c11 -Ibuild examples/two_models.c -o build/two_models -Lbuild -l:mlp.so -l:lstm.so -Wl,-rpath,'$ORIGIN'
 *   build/two_models
 *
 * The program needs mlp.so, lstm.so and their .weights files beside it, and libc: no Python.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lstm.h"
#include "mlp.h"

enum { BATCH = 3, PIXELS = 784, CLASSES = 10, STEPS = 64, FEATURES = 128, HIDDEN = 256, LAYERS = 2 };

/* Something to compute on: a saw of 17 steps from -1 to 1. */
static void fill(float *x, int count) {
  for (int i = 0; i < count; i++) x[i] = (float)(i % 17) / 8 - 1;
}

static void print(const char *name, const float *x, int count) {
  printf("%s", name);
  for (int i = 0; i < count; i++) printf(" %.6g", x[i]);
  printf("\n");
}

static int fail(const char *model, const char *message) {
  fprintf(stderr, "%s: %s\n", model, message);
  return EXIT_FAILURE;
}

/* The classifier, with a workspace that the caller owns. */
static int run_mlp(mlp_model *model) {
  static float images[BATCH * PIXELS], logits[BATCH * CLASSES];
  const int64_t dims[] = {BATCH}; /* in the order of "dims" in mlp_signature() */
  const void *inputs[] = {images};
  void *outputs[] = {logits};
  int64_t bytes = mlp_workspace_size(dims), shape[2];
  if (bytes < 0 || mlp_output_shape(0, dims, shape) < 0) return fail("mlp", mlp_error());

  fill(images, BATCH * PIXELS);
  void *workspace = aligned_alloc(64, (size_t)(bytes / 64 + 1) * 64);
  if (workspace == NULL) return fail("mlp", "no memory for the workspace");
  int failed = mlp_run(model, inputs, outputs, dims, workspace);
  free(workspace);
  if (failed) return fail("mlp", mlp_error());
  printf("mlp: logits of shape [%" PRId64 ", %" PRId64 "]\n", shape[0], shape[1]);
  for (int i = 0; i < BATCH; i++) print("logits", logits + i * CLASSES, CLASSES);
  return EXIT_SUCCESS;
}

/* The LSTM: no symbolic dimensions, three outputs, and memory that the model keeps itself. */
static int run_lstm(lstm_model *model) {
  static float x[STEPS * FEATURES], y[STEPS * HIDDEN], h[LAYERS * HIDDEN], c[LAYERS * HIDDEN];
  const void *inputs[] = {x};
  void *outputs[] = {y, h, c};
  fill(x, STEPS * FEATURES);
  if (lstm_run(model, inputs, outputs, NULL, NULL)) return fail("lstm", lstm_error());
  printf("lstm: the first values of each output\n");
  print("y", y, 8);
  print("h", h, 8);
  print("c", c, 8);
  return EXIT_SUCCESS;
}

int main(void) {
  mlp_model *mlp = mlp_create(NULL, 0);
  if (mlp == NULL) return fail("mlp", mlp_error());
  lstm_model *lstm = lstm_create(NULL, 0);
  if (lstm == NULL) return fail("lstm", lstm_error());
  int status = run_mlp(mlp) || run_lstm(lstm);
  lstm_destroy(lstm);
  mlp_destroy(mlp);
  return status;
}
