/* The caller's tensors on a device: which context they are in, and whether they overlap. */
#include <stdlib.h>

#include "mlc_cuda_device.h"

static const char *kind_of(const mlc_device *d, int tensor) { return tensor < d->program->inputs ? "input" : "output"; }

static int number_of(const mlc_device *d, int tensor) {
  return tensor < d->program->inputs ? tensor : tensor - d->program->inputs;
}

static int elsewhere(const mlc_device *d, const mlc_cuda_place *a, const mlc_cuda_place *b) {
  return mlc_fail("%s %d of model '%s' is in %s, of device %d, and %s %d in another, of device %d. Give tensors of one "
                  "context",
                  kind_of(d, b->tensor), number_of(d, b->tensor), d->program->name,
                  a->ordinal == b->ordinal ? "a CUDA context" : "the memory", b->ordinal, kind_of(d, a->tensor),
                  number_of(d, a->tensor), a->ordinal);
}

/* The place of a tensor; one of the host's or managed memory is anywhere. */
static int find_place(const mlc_device *d, int tensor, const void *pointer, mlc_cuda_place *found) {
  int attributes[] = {MLC_CUDA_CONTEXT_OF, MLC_CUDA_MEMORY_OF, MLC_CUDA_IS_MANAGED, MLC_CUDA_DEVICE_OF};
  unsigned type = 0, managed = 0;
  *found = (mlc_cuda_place){NULL, -1, tensor};
  void *values[] = {&found->context, &type, &managed, &found->ordinal};
  int result = d->cuda->pointer_attributes(4, attributes, values, (mlc_address)(uintptr_t)pointer);
  if (mlc_cuda_check(result, "cannot find the memory of a tensor of model ", d->program->name)) return 1;
  if (!type)
    return mlc_fail("%s %d of model '%s' is not in the memory of a GPU", kind_of(d, tensor), number_of(d, tensor), d->program->name);
  if (type == MLC_CUDA_HOST_MEMORY || managed) *found = (mlc_cuda_place){NULL, -1, tensor};
  return 0;
}

static int join(const mlc_device *d, mlc_cuda_place *all, const mlc_cuda_place *one) {
  int differs = all->ordinal >= 0 && one->ordinal >= 0 && all->ordinal != one->ordinal;
  if (differs || (all->context && one->context && all->context != one->context)) return elsewhere(d, all, one);
  if (one->context || (all->ordinal < 0 && one->ordinal >= 0)) *all = *one;
  return 0;
}

/* A tensor that has elements. */
typedef struct {
  uintptr_t begin, end;
  int tensor;
} span;

static int list(const mlc_device *d, const mlc_call *c, span *spans) {
  int inputs = d->program->inputs, count = 0;
  for (int i = 0; i < inputs + d->program->outputs; i++) {
    uintptr_t begin = (uintptr_t)(i < inputs ? c->in[i] : c->out[i - inputs]);
    int64_t bytes = d->code->bytes(i, c->dim);
    if (bytes) spans[count++] = (span){begin, begin + (uintptr_t)bytes, i};
  }
  return count;
}

static int find_all(const mlc_device *d, const span *spans, int count, mlc_cuda_place *all) {
  *all = (mlc_cuda_place){NULL, -1, 0};
  for (int i = 0; i < count; i++) {
    mlc_cuda_place one;
    if (find_place(d, spans[i].tensor, (const void *)spans[i].begin, &one) || join(d, all, &one)) return 1;
  }
  return 0;
}

/* A stream that is a handle is of one context; 0, 1 and 2 are streams of whichever is current. */
static int check_stream(const mlc_device *d, const mlc_call *c, mlc_cuda_place *all) {
  mlc_context own = NULL;
  if ((uintptr_t)c->stream <= 2) return 0;
  if (mlc_cuda_check(d->cuda->stream_context(c->stream, &own), "the stream is none in which to run model ", d->program->name)) return 1;
  if (all->context && own != all->context)
    return mlc_fail("the stream is of another CUDA context than the tensors of model '%s'. Give a stream of theirs", d->program->name);
  all->context = own;
  return 0;
}

/* -- overlaps ------------------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b) {
  const span *x = a, *y = b;
  return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin) : x->tensor - y->tensor;
}

/* Whether one is the input that the other, an output, updates in place. */
static int is_updated(const mlc_device *d, const mlc_call *c, const span *in, const span *out) {
  int64_t bytes = 0;
  return d->program->alias && in->tensor < d->program->inputs && in->begin == out->begin &&
         d->program->alias(in->tensor, c->dim, &bytes) == out->tensor - d->program->inputs;
}

/* The one of two that reaches further. */
static const span *further(const span *a, const span *b) { return !a || b->end > a->end ? b : a; }

static int check_overlaps(const mlc_device *d, const mlc_call *c, span *spans, int count) {
  const span *last = NULL, *written = NULL; /* those that reach furthest, of all and of the outputs */
  qsort(spans, (size_t)count, sizeof *spans, by_address);
  for (const span *each = spans; each < spans + count; each++) {
    int is_output = each->tensor >= d->program->inputs;
    const span *other = is_output ? last : written;
    if (other && other->end > each->begin && !is_updated(d, c, other, each))
      return mlc_fail("%s %d and %s %d of model '%s' overlap in memory. Give each memory of its own", kind_of(d, other->tensor),
                      number_of(d, other->tensor), kind_of(d, each->tensor), number_of(d, each->tensor), d->program->name);
    last = further(last, each);
    if (is_output) written = further(written, each);
  }
  return 0;
}

int mlc_cuda_find_tensors(const mlc_device *d, const mlc_call *c, mlc_cuda_place *all) {
  span *spans = malloc((size_t)(d->program->inputs + d->program->outputs + 1) * sizeof *spans);
  if (!spans) return mlc_fail("out of memory for a run of model '%s'", d->program->name);
  int count = list(d, c, spans);
  int failed = find_all(d, spans, count, all) || check_stream(d, c, all) || check_overlaps(d, c, spans, count);
  free(spans);
  return failed;
}
