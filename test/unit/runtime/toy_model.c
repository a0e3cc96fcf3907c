/* A model as the code generator would write one, small enough to check by hand:
 *   t[i][j] = x[i][j] * bias[j] + shift[2*i] - shift[2*i + 1]        (arena)
 *   y[i] = sum of t[n-1-i][j] over j                                 (reads rows other threads wrote)
 *   total = sum of y[i] over i
 * Inputs x f32[n, 8], shift f32[2*n]; outputs y f32[n], total f32[]; weights bias f32[8]. */
#include <stddef.h>

#include "mlc_runtime.h"
#include "toy_signature.h"

#define STATIC static __attribute__((noinline))

STATIC void k_scale(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  const float *x = buf[0], *shift = buf[1], *bias = buf[2];
  float *t = buf[3];
  for (int64_t i = dim[0] * tid / threads; i < dim[0] * (tid + 1) / threads; i++)
    for (int j = 0; j < 8; j++) t[i * 8 + j] = x[i * 8 + j] * bias[j] + shift[2 * i] - shift[2 * i + 1];
}

STATIC void k_sum_reversed(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  const float *t = buf[0];
  float *y = buf[1];
  for (int64_t i = dim[0] * tid / threads; i < dim[0] * (tid + 1) / threads; i++) {
    y[i] = 0;
    for (int j = 0; j < 8; j++) y[i] += t[(dim[0] - 1 - i) * 8 + j];
  }
}

STATIC void k_total(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)threads;
  const float *y = buf[0];
  float *total = buf[1];
  if (tid == 0) *total = 0;
  for (int64_t i = 0; tid == 0 && i < dim[0]; i++) *total += y[i];
}

static int64_t workspace(const int64_t *dim) { return dim[0] > INT64_MAX / 32 ? -1 : dim[0] * 32; }

static int output_shape(int i, const int64_t *dim, int64_t *shape) {
  if (i == 0) shape[0] = dim[0];
  return i == 0;
}

static void body(mlc_call *c) {
  void *const *scale = (void *const[]){(void *)c->in[0], (void *)c->in[1], (void *)c->weights, c->arena};
  for (int part; (part = mlc_claim(c)) >= 0;) k_scale(scale, c->dim, part, c->parts), mlc_mark(c, 0);
  mlc_join(c);
  mlc_mark(c, 0);
  for (int part; (part = mlc_claim(c)) >= 0;)
    k_sum_reversed((void *const[]){c->arena, c->out[0]}, c->dim, part, c->parts), mlc_mark(c, 1);
  mlc_join(c);
  mlc_mark(c, 1);
  for (int part; (part = mlc_claim(c)) >= 0;)
    k_total((void *const[]){c->out[0], c->out[1]}, c->dim, part, c->parts), mlc_mark(c, 2);
  mlc_join(c);
  mlc_mark(c, 2);
}

#ifdef TOY_EMBEDDED
static const _Alignas(MLC_ALIGN) float embedded_weights[8] = {TOY_BIAS};
#else
#define embedded_weights NULL
#endif

static const mlc_program toy_program = {
    .name = "toy",
    .signature = TOY_SIGNATURE,
    .inputs = 2,
    .outputs = 2,
    .dims = 1,
    .launches = 3,
    .workspace = workspace,
    .output_shape = output_shape,
    .body = body,
    .weights_bytes = 96,
    .weights_sha256 = TOY_SHA256,
    .weights_file = "toy.weights",
    .embedded = embedded_weights,
    .isa = TOY_ISA,
};

MLC_DEFINE_ABI(toy, 0a1b);
