/* A run: memory, transfers of inputs and outputs, and steps on the host. */
#include <stdlib.h>
#include <string.h>

#include "mlc_cuda_device.h"

enum { ALIGNMENT = 256, COUNTER_BYTES = 256 }; /* bytes: as cuMemAlloc aligns */

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static int stop(mlc_call *c, int failed) {
  if (failed) mlc_stop(c, mlc_error());
  return failed;
}

/* Memory of at least so many bytes on the device. What another run still uses is freed when that has ended. */
static int reserve(mlc_call *c, int64_t bytes) {
  mlc_device *d = c->device;
  if (bytes <= d->memory_bytes) return 0;
  if (mlc_cuda_failed(c, d->cuda->event_synchronize(d->done), "an earlier run failed on the device of model ")) return 1;
  mlc_cuda_drop_segments(d);
  if (d->memory) d->cuda->memory_free(d->memory);
  d->memory = 0, d->memory_bytes = 0;
  int result = d->cuda->memory_alloc(&d->memory, (size_t)bytes);
  if (result == MLC_CUDA_OUT_OF_MEMORY)
    return stop(c, mlc_fail("the device has no %lld bytes of memory that model '%s' needs for these dimensions",
                            (long long)bytes, d->program->name));
  if (mlc_cuda_failed(c, result, "cannot allocate the device's memory for model ")) return 1;
  d->memory_bytes = bytes;
  return 0;
}

/* Gives tensors that are staged their addresses: inputs, then outputs. The bytes of all, or -1: too many. */
static int64_t place(mlc_device *d, mlc_call *c, int64_t bytes[]) {
  int count = d->program->inputs + d->program->outputs;
  int64_t end = COUNTER_BYTES;
  for (int i = 0; i < count; i++) {
    bytes[i] = c->on_device ? 0 : d->code->bytes(i, c->dim);
    if (bytes[i] < 0 || __builtin_add_overflow(end, aligned(bytes[i]), &end)) return -1;
  }
  return end;
}

static mlc_address address(const void *pointer) { return (mlc_address)(uintptr_t)pointer; }

/* Uploads an input; or copies it on the device where it is updated in place, and the caller gave two tensors for it. */
static int take_input(mlc_call *c, int i, const void *from, int64_t bytes) {
  mlc_device *d = c->device;
  int64_t size = 0;
  int own = d->program->alias ? d->program->alias(i, c->dim, &size) : -1;
  const void *to = own >= 0 ? c->out[own] : c->in[i];
  if (bytes) return d->cuda->upload(address(to), from, (size_t)bytes, d->current);
  int moved = c->on_device && own >= 0 && size && to != c->in[i];
  return moved ? d->cuda->copy(address(to), address(c->in[i]), (size_t)size, d->current) : 0;
}

static int take_inputs(mlc_call *c, const void *const *from, const int64_t bytes[]) {
  for (int i = 0; i < c->device->program->inputs; i++)
    if (mlc_cuda_failed(c, take_input(c, i, from[i], bytes[i]), "cannot upload an input of model ")) return 1;
  return 0;
}

static void download_outputs(mlc_call *c, void *const *to, const int64_t bytes[]) {
  mlc_device *d = c->device;
  for (int i = 0; i < d->program->outputs; i++) {
    int64_t size = bytes[d->program->inputs + i];
    if (size && mlc_cuda_failed(c, d->cuda->download(to[i], address(c->out[i]), (size_t)size, d->current),
                                "cannot download an output of model "))
      return;
  }
}

/* The run counter is written by value, because the host's memory may change before the device reads it. */
void mlc_cuda_set_i64(mlc_call *c, void *to, int64_t value) {
  mlc_cuda_flush(c);
  if (mlc_failed(c) && !*c->grow) return;
  mlc_device *d = c->device;
  mlc_address at = address(to);
  int result = d->cuda->fill(at, (unsigned)value, 1, d->current);
  if (!result) result = d->cuda->fill(at + 4, (unsigned)((uint64_t)value >> 32), 1, d->current);
  mlc_cuda_failed(c, result, "cannot write a size of model ");
}

static void compute(mlc_call *c, const void *const *from, void *const *to, const int64_t bytes[]) {
  mlc_device *d = c->device;
  if (mlc_cuda_failed(c, d->cuda->stream_wait(d->current, d->done, 0), "cannot order the runs of model ")) return;
  if (take_inputs(c, from, bytes)) return;
  if (d->code->counts_runs) mlc_cuda_set_i64(c, mlc_cuda_counter(c), c->number);
  d->program->body(c);
  mlc_cuda_flush(c);
  mlc_cuda_collect_times(c);
  if (!mlc_failed(c) || *c->grow) download_outputs(c, to, bytes); /* a size that does not fit is an output */
}

/* Ends the run: what it has enqueued is done where the tensors are the host's, else ordered before the next run. */
static void finish(mlc_call *c) {
  mlc_device *d = c->device;
  mlc_cuda_forget(d);
  int recorded = d->cuda->event_record(d->done, d->current);
  int ended = c->on_device ? recorded : d->cuda->stream_synchronize(d->current); /* also after a failure */
  if (!mlc_failed(c)) mlc_cuda_failed(c, recorded ? recorded : ended, "a run failed on the device of model ");
}

static void run(mlc_call *c) {
  mlc_device *d = c->device;
  int inputs = d->program->inputs, count = inputs + d->program->outputs;
  int64_t *bytes = calloc((size_t)count + 1, sizeof *bytes), *sizes = calloc((size_t)d->program->sizes + 1, sizeof *sizes);
  void **staged = calloc((size_t)count + 1, sizeof *staged);
  const void *const *from = c->in;
  void *const *to = c->out;
  int64_t end = -1, arena = d->program->workspace(c->dim);
  if (!bytes || !sizes || !staged)
    stop(c, mlc_fail("out of memory for a run of model '%s'", d->program->name));
  else if ((end = place(d, c, bytes)) < 0 || __builtin_add_overflow(end, arena, &arena))
    stop(c, mlc_fail("model '%s' needs more memory than can be addressed for these dimensions", d->program->name));
  else if (!reserve(c, arena)) {
    char *next = (char *)(uintptr_t)d->memory + COUNTER_BYTES;
    for (int i = 0; i < count; next += aligned(bytes[i++])) staged[i] = next;
    c->arena = (char *)(uintptr_t)d->memory + end;
    c->weights = (const char *)(uintptr_t)d->weights;
    c->state = (char *)(uintptr_t)d->state;
    c->sizes = sizes;
    if (!c->on_device) c->in = (const void *const *)staged, c->out = staged + inputs;
    compute(c, from, to, bytes);
    finish(c);
  }
  free(bytes);
  free(sizes);
  free(staged);
}

void mlc_cuda_run(mlc_device *d, mlc_call *c) {
  c->device = d;
  pthread_mutex_lock(&d->turn);
  d->current = c->on_device ? c->stream : d->stream;
  if (!mlc_cuda_failed(c, d->cuda->context_push(d->context), "cannot use the device of model ")) {
    mlc_context before;
    run(c);
    d->cuda->context_pop(&before);
  }
  pthread_mutex_unlock(&d->turn);
}

void *mlc_cuda_counter(const mlc_call *c) { return (void *)(uintptr_t)c->device->memory; }

/* -- steps on the host ---------------------------------------------------------------------------------------------- */

/* Host memory of a step; NULL, and the run has failed. */
static char *scratch(mlc_call *c, int64_t bytes) {
  mlc_device *d = c->device;
  if (bytes <= d->scratch_bytes && d->scratch) return d->scratch;
  free(d->scratch);
  d->scratch = calloc(1, (size_t)bytes + 1);
  d->scratch_bytes = d->scratch ? bytes : 0;
  if (!d->scratch) stop(c, mlc_fail("out of memory for a step of model '%s'", d->program->name));
  return d->scratch;
}

/* Copies to the host, after all that is recorded. */
static int fetch(mlc_call *c, void *to, const void *from, int64_t bytes) {
  mlc_device *d = c->device;
  mlc_cuda_flush(c);
  if (mlc_failed(c)) return 1;
  int result = bytes ? d->cuda->download(to, address(from), (size_t)bytes, d->current) : 0;
  if (!result) result = d->cuda->stream_synchronize(d->current);
  return mlc_cuda_failed(c, result, "a run failed on the device of model ");
}

/* Copies to the device; waits, since the host's memory is used again. */
static void store(mlc_call *c, void *to, const void *from, int64_t bytes) {
  mlc_device *d = c->device;
  if (mlc_failed(c) || !bytes) return;
  int result = d->cuda->upload(address(to), from, (size_t)bytes, d->current);
  if (!result) result = d->cuda->stream_synchronize(d->current);
  mlc_cuda_failed(c, result, "cannot upload what the host has computed for model ");
}

int64_t mlc_cuda_i64(mlc_call *c, const void *from) {
  int64_t value = 0;
  fetch(c, &value, from, sizeof value);
  return value;
}

int mlc_cuda_flag(mlc_call *c, const void *from) {
  uint8_t value = 0;
  fetch(c, &value, from, sizeof value);
  return value != 0;
}

void mlc_cuda_nonzero(mlc_call *c, int size, const void *mask, int64_t n, void *where, void *count) {
  int64_t found = 0;
  char *host = scratch(c, 9 * n);
  if (!host || fetch(c, host + 8 * n, mask, n)) return;
  mlc_nonzero(c, size, host + 8 * n, n, host, &found);
  store(c, where, host, 8 * found);
  mlc_cuda_set_i64(c, count, found);
}

void mlc_cuda_measure(mlc_call *c, int size, const void *value, int64_t most, void *result, int grows, const char *why) {
  int64_t given = mlc_cuda_i64(c, value), found = 0;
  if (mlc_failed(c)) return;
  mlc_measure(c, size, &given, most, &found, grows, why);
  mlc_cuda_set_i64(c, result, found);
}

void mlc_cuda_routine(mlc_call *c, mlc_routine *routine, const mlc_step *step, const int64_t in[3], int64_t out) {
  mlc_step here = *step;
  char *host = scratch(c, aligned(in[0]) + aligned(in[1]) + aligned(in[2]) + aligned(out)), *next = host;
  if (!host) return;
  for (int i = 0; i < 3; next += aligned(in[i++])) {
    if (step->in[i] && fetch(c, next, step->in[i], in[i])) return;
    here.in[i] = step->in[i] ? next : NULL;
  }
  here.out = next;
  if (mlc_failed(c)) return;
  routine(c, &here);
  store(c, step->out, next, out);
}
