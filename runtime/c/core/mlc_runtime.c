/* A model in memory: create, run, profile, destroy. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlc_internal.h"

#if defined(__has_feature) && !defined(__SANITIZE_ADDRESS__)
#if __has_feature(address_sanitizer) /* clang's way to say it */
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

enum { CACHED_WORKSPACES = 8, MAX_THREADS = 1024 };

typedef struct {
  _Alignas(MLC_ALIGN) int64_t bytes;
} workspace;

/* Idle workspaces are in lock-free slots: a mutex could stay locked in the child of a fork(). */
struct mlc_model {
  const mlc_program *program;
  mlc_weights weights;
  mlc_state_memory state;
  mlc_team *team;
  mlc_device *device; /* or NULL */
  mlc_ranks *ranks;   /* that the model has joined, or NULL */
  _Atomic int64_t runs; /* the next one's number */
  _Atomic(workspace *) idle[CACHED_WORKSPACES];
  _Atomic(mlc_strings *) strings; /* one of each thread that has run the model */
  mlc_track *tracks;     /* of the last traced run, which late workers read; or NULL */
  atomic_flag tracing; /* while a run is traced */
};

/* Of the library, filled in after linking; the loader in Python compares it. */
static const unsigned char checksum[8] __attribute__((section(".mlc.checksum"), used));

static _Thread_local char error_text[1024];

int mlc_fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error_text, sizeof error_text, format, args);
  va_end(args);
  return 1;
}

const char *mlc_error(void) { return error_text; }

static workspace *workspace_new(int64_t bytes) {
  uint64_t rounded = ((uint64_t)bytes + sizeof(workspace) + MLC_ALIGN - 1) / MLC_ALIGN * MLC_ALIGN;
  workspace *w = rounded <= PTRDIFF_MAX ? aligned_alloc(MLC_ALIGN, rounded) : NULL;
  if (w) w->bytes = bytes;
  return w;
}

/* An idle workspace of at least `bytes`, or a new one. */
static workspace *workspace_take(mlc_model *model, int64_t bytes) {
  for (int i = 0; i < CACHED_WORKSPACES; i++) {
    if (!atomic_load_explicit(&model->idle[i], memory_order_relaxed)) continue;
    workspace *w = atomic_exchange(&model->idle[i], NULL);
    if (w && w->bytes >= bytes) return w;
    free(w);
  }
  return workspace_new(bytes);
}

static void workspace_give_back(mlc_model *model, workspace *w) {
  if (!w) return;
  for (int i = 0; i < CACHED_WORKSPACES; i++) {
    workspace *empty = NULL;
    if (atomic_compare_exchange_strong(&model->idle[i], &empty, w)) return;
  }
  free(w);
}

static int check_threads(int threads) {
  if (threads >= 0 && threads <= MAX_THREADS) return 0;
  return mlc_fail("cannot run on %d threads: give 1 to %d, or 0 for one per allowed CPU", threads, MAX_THREADS);
}

/* The model, whose weights are then in the device's memory; NULL, and nothing is left of it, on failure. */
static mlc_model *open_device(mlc_model *model) {
  model->device = model->program->device->open(model->program, model->weights.payload);
  mlc_weights_close(&model->weights);
  model->state.device = model->device;
  if (model->device) return model;
  mlc_destroy(model);
  return NULL;
}

mlc_model *mlc_create(const mlc_program *program, const char *weights_path, int threads) {
  (void)*(const volatile unsigned char *)checksum; /* so that the linker keeps it */
  if (mlc_check_isa(program->isa) || check_threads(threads)) return NULL;
  mlc_model *model = calloc(1, sizeof *model);
  if (!model) return mlc_fail("out of memory"), NULL;
  model->program = program;
  if (mlc_weights_open(&model->weights, program, weights_path, MLC_ANY_RANK)) return free(model), NULL;
  if (mlc_state_open(&model->state, program, model->weights.payload)) return mlc_destroy(model), NULL;
  if (program->device) return open_device(model);
  model->team = mlc_team_create(program, threads ? threads : mlc_allowed_cpus());
  if (model->team) return model;
  mlc_fail("out of memory for the threads of model '%s'", program->name);
  mlc_destroy(model);
  return NULL;
}

void mlc_destroy(mlc_model *model) {
  if (!model) return;
  int threads = model->team ? mlc_team_threads(model->team) : 0;
  mlc_team_destroy(model->team);
  mlc_tracks_destroy(model->tracks, threads);
  if (model->device) model->program->device->close(model->device);
  if (model->ranks) model->program->collectives->leave(model->ranks);
  mlc_state_close(&model->state);
  mlc_weights_close(&model->weights);
  if (model->program->strings) model->program->strings->close(atomic_load(&model->strings));
  for (int i = 0; i < CACHED_WORKSPACES; i++) free(atomic_load(&model->idle[i]));
  free(model);
}

static int check_dims(const mlc_program *program, const int64_t *dims) {
  const char *name = program->name;
  if (program->dims && !dims) return mlc_fail("model '%s' needs the values of %d dimensions", name, program->dims);
  for (int i = 0; i < program->dims; i++)
    if (dims[i] < 0) return mlc_fail("dimension %d of model '%s' is negative: %lld", i, name, (long long)dims[i]);
  const char *broken = program->violated ? program->violated(dims) : NULL;
  return broken ? mlc_fail("dimensions outside of what model '%s' accepts %s", name, broken) : 0;
}

int64_t mlc_workspace_size(const mlc_program *program, const int64_t *dims) {
  if (check_dims(program, dims)) return -1;
  int64_t bytes = program->workspace(dims);
  if (bytes < 0) mlc_fail("model '%s' needs more memory than can be addressed for these dimensions", program->name);
  return program->device && bytes > 0 ? 0 : bytes; /* a device has its own memory */
}

int mlc_beyond(int count, const __int128 *extents) {
  for (int i = 0; i < count; i++)
    if (extents[i] != (int64_t)extents[i]) return 1;
  return 0;
}

int mlc_output_shape(const mlc_program *program, int output, const int64_t *dims, int64_t *shape) {
  if (check_dims(program, dims)) return -1;
  if (output >= 0 && output < program->outputs) {
    int rank = program->output_shape(output, dims, shape);
    if (rank == -1) mlc_fail("the memory for the shape of output %d of model '%s' is NULL", output, program->name);
    if (rank == -2) mlc_fail("output %d of model '%s' is larger than any memory for these dimensions", output, program->name);
    return rank < 0 ? -1 : rank;
  }
  mlc_fail("model '%s' has %d outputs, none with the index %d", program->name, program->outputs, output);
  return -1;
}

/* Rounding and denormal modes of the caller must not change results, nor differ from those of the workers. */
static void run_in_default_float_mode(mlc_model *model, mlc_call *call) {
#if defined(__SSE2__)
  unsigned mode = _mm_getcsr();
  _mm_setcsr(0x1f80); /* round to nearest, denormals kept, exceptions masked */
  mlc_team_run(model->team, call);
  _mm_setcsr(mode);
#else
  mlc_team_run(model->team, call);
#endif
}

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer knows allocated memory; the redzones between the buffers of the arena must be marked explicitly. */
void __asan_poison_memory_region(const volatile void *, size_t);
void __asan_unpoison_memory_region(const volatile void *, size_t);
static void fence(const mlc_program *program, const mlc_call *call, int closed) {
  if (program->fence && !program->device)
    program->fence(call->dim, call->arena, closed ? __asan_poison_memory_region : __asan_unpoison_memory_region);
}
#else
static void fence(const mlc_program *program, const mlc_call *call, int closed) {
  (void)program, (void)call, (void)closed;
}
#endif

/* The table of this run's strings; 0 ok. */
static int open_strings(mlc_model *model, mlc_call *call) {
  const mlc_string_table *known = model->program->strings;
  if (!known) return 0;
  call->strings = known->open(&model->strings, known->strings, known->count);
  return call->strings ? 0 : mlc_fail("out of memory for the strings of model '%s'", model->program->name);
}

static int check_strings(const mlc_program *program, const mlc_call *call) {
  const char *error = call->strings ? program->strings->error(call->strings) : NULL;
  return error ? mlc_fail("%s", error) : 0;
}

/* What fails for want of room has not been a run: the caller repeats it with more, unless others have run meanwhile. */
static int grow(mlc_model *model, const mlc_call *call) {
  int64_t next = call->number + 1;
  atomic_compare_exchange_strong(&model->runs, &next, call->number);
  mlc_fail("the capacity for entry %d of the sizes of model '%s' is too small", *call->grow - 1, model->program->name);
  return 1 + *call->grow;
}

/* Each tensor that has elements has memory; `first` is the number of the first of them among inputs and outputs. */
static int check_arrays(const mlc_program *program, const char *kind, const void *const *arrays, int first, int count,
                        const int64_t *dim) {
  if (count && !arrays) return mlc_fail("model '%s' was given no %ss: their array is NULL", program->name, kind);
  for (int i = 0; i < count; i++)
    if (!arrays[i] && !(program->empty && program->empty(first + i, dim)))
      return mlc_fail("%s %d of model '%s' is NULL", kind, i, program->name);
  return 0;
}

/* An input that is updated in place is read from its output: it is copied there, unless the caller gave one memory for
 * both. Any other input that is given as an output would be overwritten while it is read. */
static int share_memory(const mlc_program *program, const mlc_call *call) {
  if (!program->alias) return 0;
  for (int i = 0; i < program->inputs; i++) {
    int64_t bytes = 0;
    int own = program->alias(i, call->dim, &bytes);
    for (int k = 0; k < program->outputs; k++)
      if (k != own && call->out[k] && call->out[k] == call->in[i])
        return mlc_fail("input %d and output %d of model '%s' are the same memory, but no pair that the model updates in "
                        "place", i, k, program->name);
    if (own >= 0 && bytes && call->out[own] != call->in[i] && !program->device) memcpy(call->out[own], call->in[i], (size_t)bytes);
  }
  return 0;
}

static int run(mlc_model *model, mlc_call *call, void *memory) {
  const mlc_program *program = model->program;
  int64_t bytes = mlc_workspace_size(program, call->dim);
  if (bytes < 0) return 1;
  if (check_arrays(program, "input", call->in, 0, program->inputs, call->dim)) return 1;
  if (check_arrays(program, "output", (const void *const *)call->out, program->inputs, program->outputs, call->dim))
    return 1;
  if (program->collectives && !model->ranks)
    return mlc_fail("model '%s' has collectives: call %s_join first, with NULL for one rank alone", program->name,
                    program->name);
  if ((uintptr_t)memory % MLC_ALIGN) return mlc_fail("the workspace is not aligned to %d bytes", MLC_ALIGN);
  workspace *own = memory || bytes == 0 ? NULL : workspace_take(model, bytes);
  if (!memory && bytes && !own)
    return mlc_fail("cannot allocate the %lld bytes of workspace that model '%s' needs for these dimensions",
                    (long long)bytes, model->program->name);
  if (mlc_state_enter(&model->state, program)) return workspace_give_back(model, own), 1;
  call->state = model->state.memory;
  call->ranks = model->ranks;
  call->number = atomic_fetch_add_explicit(&model->runs, 1, memory_order_relaxed);
  call->arena = own ? (char *)(own + 1) : memory;
  int failed = share_memory(program, call) || open_strings(model, call);
  if (!failed) {
    fence(model->program, call, 1);
    if (model->device)
      program->device->run(model->device, call);
    else
      run_in_default_float_mode(model, call);
    fence(model->program, call, 0);
    if (model->ranks && *call->error) program->collectives->abandon(model->ranks);
  }
  mlc_state_leave(&model->state, program);
  workspace_give_back(model, own);
  if (failed) return 1;
  if (*call->grow) return grow(model, call);
  if (*call->error == error_text) return 1; /* the device's message is there already */
  return *call->error ? mlc_fail("%s", *call->error) : check_strings(model->program, call);
}

static int fail_without_model(void) { return mlc_fail("there is no model: its creation failed"); }

int mlc_run(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims, void *memory) {
  if (!model) return fail_without_model();
  const char *error = NULL;
  int more = 0;
  mlc_call call = {
      .in = inputs, .out = outputs, .dim = dims, .weights = model->weights.payload, .error = &error, .grow = &more};
  return run(model, &call, memory);
}

int mlc_run_device(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims,
                   void *stream) {
  if (!model) return fail_without_model();
  const char *error = NULL;
  int more = 0;
  mlc_call call = {.in = inputs, .out = outputs, .dim = dims, .on_device = 1, .stream = stream};
  call.error = &error, call.grow = &more;
  return run(model, &call, NULL);
}

/* The time of the previous mark is stored before that of the first launch. */
void mlc_mark(const mlc_call *c, int launch) {
  if (c->tracks) mlc_track_mark(c, launch);
  if (!c->profile) return;
  uint64_t now = mlc_now();
  c->profile[launch] += now - c->profile[-1];
  c->profile[-1] = now;
}

int mlc_profile(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims, void *memory,
                uint64_t *ns_per_launch) {
  if (!model) return fail_without_model();
  size_t launches = (size_t)model->program->launches;
  if (launches && !ns_per_launch) return mlc_fail("the memory for the profile of '%s' is NULL", model->program->name);
  uint64_t *times = calloc(launches + 1, sizeof *times);
  if (!times) return mlc_fail("out of memory for the profile of model '%s'", model->program->name);
  const char *error = NULL;
  int more = 0;
  mlc_call call = {.in = inputs, .out = outputs, .dim = dims, .weights = model->weights.payload};
  call.error = &error, call.grow = &more, call.profile = times + 1;
  times[0] = mlc_now();
  int failed = run(model, &call, memory);
  if (launches) memcpy(ns_per_launch, times + 1, launches * sizeof *times);
  free(times);
  return failed;
}

/* Runs on tracks of the model's threads; the number of events, or minus what mlc_run returns on failure. */
static int64_t trace(mlc_model *model, mlc_call *call, void *memory, int64_t (*events)[4], int64_t capacity) {
  int threads = mlc_team_threads(model->team);
  if (!model->tracks) model->tracks = mlc_tracks_create(threads);
  if (!model->tracks) return mlc_fail("out of memory for the trace of model '%s'", model->program->name), -1;
  mlc_tracks_clear(model->tracks, threads);
  call->tracks = model->tracks;
  uint64_t start = mlc_now();
  int failed = run(model, call, memory);
  if (failed) return -failed;
  int64_t count = mlc_tracks_copy(model->tracks, threads, start, events, capacity);
  if (count < 0) mlc_fail("out of memory for the trace of model '%s'", model->program->name);
  return count;
}

int64_t mlc_trace(mlc_model *model, const void *const *inputs, void *const *outputs, const int64_t *dims, void *memory,
                  int64_t (*events)[4], int64_t capacity) {
  if (!model) return fail_without_model(), -1;
  const char *name = model->program->name;
  if (!model->team) return mlc_fail("model '%s' runs on a device, which has no trace by threads", name), -1;
  if (capacity > 0 && !events) return mlc_fail("the memory for the trace of model '%s' is NULL", name), -1;
  if (atomic_flag_test_and_set(&model->tracing)) return mlc_fail("model '%s' is traced by another thread", name), -1;
  const char *error = NULL;
  int more = 0;
  mlc_call call = {.in = inputs, .out = outputs, .dim = dims, .weights = model->weights.payload};
  call.error = &error, call.grow = &more;
  int64_t count = trace(model, &call, memory, events, capacity);
  atomic_flag_clear(&model->tracing);
  return count;
}

int mlc_get_state(mlc_model *model, const char *name, void *value) {
  return model ? mlc_state_copy(&model->state, model->program, name, value, NULL) : fail_without_model();
}

int mlc_set_state(mlc_model *model, const char *name, const void *value) {
  return model ? mlc_state_copy(&model->state, model->program, name, NULL, value) : fail_without_model();
}

int mlc_join_ranks(mlc_model *model, const struct mlc_comm *comm) {
  if (!model) return fail_without_model();
  if (model->ranks) return mlc_fail("model '%s' has joined its ranks before", model->program->name);
  const mlc_collective_code *code = model->program->collectives;
  int opened = model->weights.payload != NULL;
  int refused = mlc_weights_join(&model->weights, model->program, code->number(comm));
  if (!refused && !opened) mlc_state_begin(&model->state, model->program, model->weights.payload);
  model->ranks = code->join(model->program, comm, refused);
  return !model->ranks;
}

void mlc_seed(mlc_model *model, int64_t number) {
  if (model) atomic_store_explicit(&model->runs, number, memory_order_relaxed);
}
