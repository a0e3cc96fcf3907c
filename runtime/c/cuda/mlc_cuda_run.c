/* A run: memory, and transfers between the host and the device. */
#include <stdlib.h>
#include <string.h>

#include "mlc_cuda_device.h"

enum { ALIGNMENT = 256, COUNTER_BYTES = 256, TENSOR_ALIGNMENT = 16 }; /* bytes: as cuMemAlloc aligns */

static int64_t aligned(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static int stop(mlc_call *c, int failed) {
  if (failed) mlc_stop(c, mlc_error());
  return failed;
}

/* Frees the memory of earlier runs when these have ended, or keeps it for the caller's graphs that use it. */
static int drop_memory(mlc_device *d) {
  mlc_cuda_drop_segments(d);
  if (d->memory && d->captured) {
    mlc_address *longer = realloc(d->kept, (size_t)(d->kept_count + 1) * sizeof *longer);
    if (!longer) return mlc_fail("out of memory for a run of model '%s'", d->program->name);
    d->kept = longer, d->kept[d->kept_count++] = d->memory;
  } else if (d->memory) {
    d->cuda->memory_free(d->memory);
  }
  d->memory = 0, d->memory_bytes = 0, d->captured = 0;
  return 0;
}

/* Memory of at least so many bytes on the device. */
static int reserve(mlc_call *c, int64_t bytes) {
  mlc_device *d = c->device;
  if (bytes <= d->memory_bytes) return 0;
  if (d->capturing)
    return stop(c, mlc_fail("model '%s' needs %lld bytes of memory for these dimensions, which cannot be allocated while the "
                            "stream is captured. Run it with them once before", d->program->name, (long long)bytes));
  if (mlc_cuda_failed(c, d->cuda->event_synchronize(d->done), "an earlier run failed on the device of model ")) return 1;
  if (drop_memory(d)) return stop(c, 1);
  int result = d->cuda->memory_alloc(&d->memory, (size_t)bytes);
  if (result == MLC_CUDA_OUT_OF_MEMORY)
    return stop(c, mlc_fail("the device has no %lld bytes of memory that model '%s' needs for these dimensions. "
                                "Run it with smaller ones, or free memory of the device",
                            (long long)bytes, d->program->name));
  if (mlc_cuda_failed(c, result, "cannot allocate the device's memory for model ")) return 1;
  d->memory_bytes = bytes;
  return 0;
}

/* Host memory for the buffers of steps on the host. */
static int reserve_host(mlc_call *c) {
  mlc_device *d = c->device;
  int64_t bytes = d->code->host_bytes(c->dim);
  if (bytes >= 0 && bytes <= d->host_bytes) return 0;
  free(d->host);
  d->host = bytes < 0 ? NULL : calloc(1, (size_t)bytes + 1);
  d->host_bytes = d->host ? bytes : 0;
  return d->host ? 0 : stop(c, mlc_fail("out of memory for steps of model '%s' on the host", d->program->name));
}

/* Whether a tensor, of the inputs and then the outputs, is used in memory of the model's own: one of the host, and one
 * on the device that is not aligned for bulk copies and for copies of several elements. */
static int is_staged(const mlc_device *d, const mlc_call *c, int i) {
  int inputs = d->program->inputs;
  const void *given = i < inputs ? c->in[i] : c->out[i - inputs];
  return !c->on_device || (d->code->takes_aligned && (uintptr_t)given % TENSOR_ALIGNMENT);
}

/* The bytes of tensors that are staged: inputs, then outputs. Returns those of all, or -1: too many. */
static int64_t place(mlc_device *d, mlc_call *c, int64_t bytes[]) {
  int count = d->program->inputs + d->program->outputs;
  int64_t end = COUNTER_BYTES;
  for (int i = 0; i < count; i++) {
    bytes[i] = is_staged(d, c, i) ? d->code->bytes(i, c->dim) : 0;
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
  if (bytes && !c->on_device) return d->cuda->upload(address(to), from, (size_t)bytes, d->current);
  if (own < 0) size = bytes;
  int moved = c->on_device && size && to != from;
  return moved ? d->cuda->copy(address(to), address(from), (size_t)size, d->current) : 0;
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
    int result = !size          ? 0
                 : c->on_device ? d->cuda->copy(address(to[i]), address(c->out[i]), (size_t)size, d->current)
                                : d->cuda->download(to[i], address(c->out[i]), (size_t)size, d->current);
    if (mlc_cuda_failed(c, result, "cannot download an output of model ")) return;
  }
}

/* Writes a number by value, because the host's memory may change before the device reads it. */
static void set_i64(mlc_call *c, void *to, int64_t value) {
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
  int ordered = d->capturing ? 0 : d->cuda->stream_wait(d->current, d->done, 0);
  if (mlc_cuda_failed(c, ordered, "cannot order the runs of model ")) return;
  if (take_inputs(c, from, bytes)) return;
  if (d->code->counts_runs) set_i64(c, mlc_cuda_counter(c), c->number);
  d->program->body(c);
  mlc_cuda_flush(c);
  mlc_cuda_collect_times(c);
  if (!mlc_failed(c) || *c->grow) download_outputs(c, to, bytes); /* a size that does not fit is an output */
}

/* Ends the run: what it has enqueued is done where the tensors are the host's, else ordered before the next run. */
static void finish(mlc_call *c) {
  mlc_device *d = c->device;
  mlc_cuda_forget(d);
  if (d->capturing) return; /* nothing has run, and an event of a capture is none outside of it */
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
  else if (!reserve_host(c) && !reserve(c, arena)) {
    char *next = (char *)(uintptr_t)d->memory + COUNTER_BYTES;
    for (int i = 0; i < count; next += aligned(bytes[i++]))
      staged[i] = is_staged(d, c, i) ? next : (void *)(uintptr_t)(i < inputs ? c->in[i] : c->out[i - inputs]);
    c->arena = (char *)(uintptr_t)d->memory + end;
    c->weights = (const char *)(uintptr_t)d->weights;
    c->state = (char *)(uintptr_t)d->state;
    c->sizes = sizes;
    c->in = (const void *const *)staged, c->out = staged + inputs;
    compute(c, from, to, bytes);
    finish(c);
  }
  free(bytes);
  free(sizes);
  free(staged);
}

/* Whether the caller captures the stream, which what the graph would hold must allow. 0 ok. */
static int check_capture(mlc_call *c) {
  mlc_device *d = c->device;
  const char *name = d->program->name;
  int status = MLC_CUDA_NO_CAPTURE;
  d->capturing = 0;
  if (!c->on_device) return 0;
  if (mlc_cuda_failed(c, d->cuda->stream_capturing(d->current, &status), "cannot use the stream for model ")) return 1;
  d->capturing = status != MLC_CUDA_NO_CAPTURE;
  if (!d->capturing) return 0;
  if (status != MLC_CUDA_CAPTURE)
    return stop(c, mlc_fail("the capture of the stream in which model '%s' runs has failed before. Begin it again", name));
  if (d->code->host_bytes(c->dim) > 0)
    return stop(c, mlc_fail("model '%s' has steps on the host, which a captured graph cannot hold. Run it outside of the capture", name));
  if (d->code->counts_runs)
    return stop(c, mlc_fail("model '%s' has random numbers, which would be the same in each launch of a captured graph. Run it "
                            "outside of the capture", name));
  d->captured = 1;
  return 0;
}

static void run_in_context(mlc_device *d, mlc_call *c) {
  c->device = d;
  pthread_mutex_lock(&d->turn);
  d->current = c->on_device ? c->stream : d->stream;
  if (!check_capture(c)) run(c);
  pthread_mutex_unlock(&d->turn);
}

static mlc_device *enter_home(mlc_device *home) {
  int result = home->cuda->context_push(home->context);
  return mlc_cuda_check(result, "cannot use the device of model ", home->program->name) ? NULL : home;
}

void mlc_cuda_run(mlc_device *home, mlc_call *c) {
  c->device = home;
  mlc_device *d = mlc_cuda_is_forked(home) ? NULL : c->on_device ? mlc_cuda_enter_context_of(home, c) : enter_home(home);
  if (!d) {
    stop(c, 1);
    return;
  }
  mlc_context before;
  run_in_context(d, c);
  d->cuda->context_pop(&before);
}

void *mlc_cuda_counter(const mlc_call *c) { return (void *)(uintptr_t)c->device->memory; }

char *mlc_cuda_host(const mlc_call *c) { return c->device->host; }

/* -- copies between the host and the device ------------------------------------------------------------------------- */

void mlc_cuda_download(mlc_call *c, void *target, const void *source, int64_t bytes) {
  mlc_device *d = c->device;
  mlc_cuda_flush(c);
  if (mlc_failed(c) || !bytes) return;
  mlc_cuda_failed(c, d->cuda->download(target, address(source), (size_t)bytes, d->current), "cannot download a tensor of model ");
}

void mlc_cuda_wait(mlc_call *c) {
  mlc_device *d = c->device;
  if (!mlc_failed(c)) mlc_cuda_failed(c, d->cuda->stream_synchronize(d->current), "a run failed on the device of model ");
}

/* A number is written by value; else this waits, because a later step overwrites the host's memory. */
void mlc_cuda_upload(mlc_call *c, void *target, const void *source, int64_t bytes) {
  mlc_device *d = c->device;
  int64_t value;
  if (bytes == sizeof value) {
    memcpy(&value, source, sizeof value);
    set_i64(c, target, value);
    return;
  }
  mlc_cuda_flush(c);
  if ((mlc_failed(c) && !*c->grow) || !bytes) return;
  int result = d->cuda->upload(address(target), source, (size_t)bytes, d->current);
  if (!result) result = d->cuda->stream_synchronize(d->current);
  mlc_cuda_failed(c, result, "cannot upload what the host has computed for model ");
}
