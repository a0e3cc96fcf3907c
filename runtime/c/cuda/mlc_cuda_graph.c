/* Segments: what is recorded between two steps on the host runs as one CUDA graph, made of explicit nodes.
 *
 * A record is a list of words. A graph is used again where the record is the same; where only arguments, grids or
 * addresses differ, its nodes are updated. So a loop's iterations, other sizes and other tensors of the caller need no
 * keys of their own. */
#include <stdlib.h>
#include <string.h>

#include "mlc_cuda_device.h"

/* A step's words: the head, what it does, then arguments. */
enum { KIND, PHASE, FUNCTION, GRID, THREADS, SHARED, ARGUMENTS, MAPS, FIRST, TARGET = FUNCTION, SOURCE, BYTES, COPY_WORDS };
enum { LAUNCH, COPY };
enum { LONGEST = 4096, MOST_ALIKE = 4, MOST_ARGUMENTS = 1024 }; /* steps of a graph; graphs that differ in arguments */

static size_t words_of(const uint64_t *step) {
  return step[KIND] == LAUNCH ? FIRST + (size_t)(step[ARGUMENTS] + MLC_MAP_WORDS * step[MAPS]) : COPY_WORDS;
}

/* Room for a step; NULL, and the run has failed. */
static uint64_t *new_step(mlc_call *c, size_t words, int kind) {
  mlc_record *r = &c->device->record;
  if (r->nodes >= LONGEST && !r->open) mlc_cuda_flush(c);
  if (mlc_failed(c)) return NULL;
  if (r->count + words > r->room) {
    size_t room = 2 * r->room + words + 256;
    uint64_t *larger = realloc(r->words, room * sizeof *larger);
    if (!larger) {
      mlc_fail("out of memory for the graph of model '%s'", c->device->program->name);
      mlc_stop(c, mlc_error());
      return NULL;
    }
    r->words = larger, r->room = room;
  }
  uint64_t *step = r->words + r->count;
  step[KIND] = (uint64_t)kind, step[PHASE] = r->phase;
  r->count += words, r->nodes++, r->open = 1;
  return step;
}

static void describe_launch(const uint64_t *step, void *params[], mlc_kernel_node *node) {
  size_t count = step[ARGUMENTS];
  for (size_t i = 0; i < count; i++) params[i] = (void *)&step[FIRST + i];
  for (size_t i = 0; i < step[MAPS]; i++) params[count + i] = (void *)&step[FIRST + count + MLC_MAP_WORDS * i];
  *node = (mlc_kernel_node){.function = (mlc_function)(uintptr_t)step[FUNCTION], .grid = {(unsigned)step[GRID], 1, 1},
                            .block = {(unsigned)step[THREADS], 1, 1},
                            .shared_bytes = (unsigned)step[SHARED], .params = params};
}

static mlc_copy_node describe_copy(const uint64_t *step) {
  mlc_copy_node node = {.width_bytes = step[BYTES], .height = 1, .depth = 1};
  node.source = (mlc_copy_side){.memory_type = MLC_CUDA_DEVICE_MEMORY, .device = step[SOURCE]};
  node.target = (mlc_copy_side){.memory_type = MLC_CUDA_DEVICE_MEMORY, .device = step[TARGET]};
  return node;
}

static int run_now(mlc_device *d, const uint64_t *step) {
  if (step[KIND] == COPY) return d->cuda->copy(step[TARGET], step[SOURCE], step[BYTES], d->current);
  void *params[MOST_ARGUMENTS];
  mlc_kernel_node node;
  describe_launch(step, params, &node);
  return d->cuda->launch(node.function, node.grid[0], 1, 1, node.block[0], 1, 1, node.shared_bytes, d->current, params,
                         NULL);
}

/* -- recording ------------------------------------------------------------------------------------------------------ */

/* A profiled launch runs at once, between two events. */
static void run_timed(mlc_call *c, int launch) {
  mlc_device *d = c->device;
  int pair = d->pairs;
  int result = d->started[pair] ? 0 : d->cuda->event_create(&d->started[pair], 0);
  if (!result && !d->ended[pair]) result = d->cuda->event_create(&d->ended[pair], 0);
  if (!result) result = d->cuda->event_record(d->started[pair], d->current);
  if (!result) result = run_now(d, d->record.words);
  if (!result) result = d->cuda->event_record(d->ended[pair], d->current);
  mlc_cuda_forget(d);
  if (mlc_cuda_failed(c, result, "cannot launch a kernel of model ")) return;
  d->timed[d->pairs++] = launch;
  if (d->pairs == MLC_PAIRS) mlc_cuda_collect_times(c);
}

void mlc_cuda_collect_times(mlc_call *c) {
  mlc_device *d = c->device;
  int pairs = d->pairs;
  d->pairs = 0;
  if (!pairs || !c->profile || mlc_failed(c)) return;
  if (mlc_cuda_failed(c, d->cuda->event_synchronize(d->ended[pairs - 1]), "a run failed on the device of model ")) return;
  for (int i = 0; i < pairs; i++) {
    float ms = 0;
    if (d->cuda->event_elapsed(&ms, d->started[i], d->ended[i]) == 0) c->profile[d->timed[i]] += (uint64_t)(ms * 1e6f);
  }
}

void mlc_cuda_launch(mlc_call *c, int launch, int kernel, int64_t grid, int threads, int buffers, void *const *buffer,
                     int dims, const int64_t *dim, int maps, const mlc_cuda_map *map) {
  mlc_device *d = c->device;
  if (grid <= 0 || mlc_failed(c)) return; /* nothing to compute */
  if (grid > INT32_MAX || buffers + dims + maps > MOST_ARGUMENTS) {
    mlc_fail("a kernel of model '%s' needs %lld blocks and %d arguments, more than a launch can have", d->program->name,
             (long long)grid, buffers + dims + maps);
    mlc_stop(c, mlc_error());
    return;
  }
  if (c->profile) mlc_cuda_flush(c);
  _Alignas(64) uint64_t words[MLC_MAP_WORDS];
  uint64_t *step = new_step(c, FIRST + (size_t)(buffers + dims + MLC_MAP_WORDS * maps), LAUNCH);
  if (!step) return;
  step[FUNCTION] = (uint64_t)(uintptr_t)d->functions[kernel];
  step[GRID] = (uint64_t)grid, step[THREADS] = (uint64_t)threads;
  step[SHARED] = (uint64_t)d->code->dynamic[kernel], step[ARGUMENTS] = (uint64_t)(buffers + dims);
  step[MAPS] = (uint64_t)maps;
  for (int i = 0; i < buffers; i++) step[FIRST + i] = (uint64_t)(uintptr_t)buffer[i];
  for (int i = 0; i < dims; i++) step[FIRST + buffers + i] = (uint64_t)dim[i];
  for (int i = 0; i < maps; i++) {
    if (mlc_cuda_encode_map(c, words, map + i, buffer)) return;
    memcpy(step + FIRST + buffers + dims + MLC_MAP_WORDS * i, words, sizeof words);
  }
  if (c->profile) run_timed(c, launch);
}

void mlc_cuda_copy(mlc_call *c, void *target, const void *source, int64_t bytes) {
  uint64_t *step = bytes > 0 && !mlc_failed(c) ? new_step(c, COPY_WORDS, COPY) : NULL;
  if (!step) return;
  step[TARGET] = (uint64_t)(uintptr_t)target, step[SOURCE] = (uint64_t)(uintptr_t)source, step[BYTES] = (uint64_t)bytes;
}

void mlc_cuda_barrier(mlc_call *c) {
  mlc_record *r = &c->device->record;
  r->phase += (uint64_t)r->open;
  r->open = 0;
}

/* -- graphs --------------------------------------------------------------------------------------------------------- */

/* The digest (FNV-1a) of what an update of a graph cannot change: kinds, phases and functions, in order. */
static uint64_t topology_of(const mlc_record *r) {
  uint64_t digest = 14695981039346656037u;
  for (const uint64_t *step = r->words; step < r->words + r->count; step += words_of(step)) {
    uint64_t parts[] = {step[KIND], step[PHASE], step[KIND] == LAUNCH ? step[FUNCTION] : 0};
    for (int i = 0; i < 3; i++) digest = (digest ^ parts[i]) * 1099511628211u;
  }
  return digest;
}

static int same_topology(const mlc_record *a, const mlc_record *b) {
  if (a->count != b->count || a->nodes != b->nodes) return 0;
  for (size_t at = 0; at < a->count; at += words_of(a->words + at)) {
    const uint64_t *x = a->words + at, *y = b->words + at;
    if (x[KIND] != y[KIND] || x[PHASE] != y[PHASE]) return 0;
    if (x[KIND] == LAUNCH && (x[FUNCTION] != y[FUNCTION] || words_of(x) != words_of(y))) return 0;
  }
  return 1;
}

static int same(const mlc_record *a, const mlc_record *b) {
  return a->count == b->count && memcmp(a->words, b->words, a->count * sizeof *a->words) == 0;
}

static void segment_free(mlc_device *d, mlc_segment *s) {
  if (s->exec) d->cuda->exec_destroy(s->exec);
  if (s->graph) d->cuda->graph_destroy(s->graph);
  free(s->nodes);
  free(s->record.words);
  *s = (mlc_segment){0};
}

void mlc_cuda_drop_segments(mlc_device *d) {
  for (int i = 0; i < MLC_SEGMENTS; i++) segment_free(d, &d->segments[i]);
}

/* The nodes on which those of the next phase depend: one, an empty one after several. */
static int close_phase(mlc_device *d, mlc_segment *s, size_t first, size_t count, mlc_node *after) {
  if (count > 1) return d->cuda->graph_empty(after, s->graph, s->nodes + first, count);
  *after = s->nodes[first];
  return 0;
}

static int add_node(mlc_device *d, mlc_segment *s, size_t n, const uint64_t *step, const mlc_node *after) {
  size_t edges = *after != NULL;
  if (step[KIND] == COPY) {
    mlc_copy_node node = describe_copy(step);
    return d->cuda->graph_copy(&s->nodes[n], s->graph, after, edges, &node, d->context);
  }
  void *params[MOST_ARGUMENTS];
  mlc_kernel_node node;
  describe_launch(step, params, &node);
  return d->cuda->graph_kernel(&s->nodes[n], s->graph, after, edges, &node);
}

static int add_nodes(mlc_device *d, mlc_segment *s) {
  const mlc_record *r = &s->record;
  mlc_node after = NULL;
  size_t n = 0, first = 0;
  uint64_t phase = r->words[PHASE];
  for (const uint64_t *step = r->words; step < r->words + r->count; step += words_of(step), n++) {
    if (step[PHASE] != phase) {
      int result = close_phase(d, s, first, n - first, &after);
      if (result) return result;
      phase = step[PHASE], first = n;
    }
    int result = add_node(d, s, n, step, &after);
    if (result) return result;
  }
  return 0;
}

static int keep_record(mlc_segment *s, const mlc_record *r) {
  s->record = *r;
  s->record.room = r->count;
  s->record.words = malloc(r->count * sizeof *r->words);
  s->nodes = calloc(r->nodes, sizeof *s->nodes);
  if (!s->record.words || !s->nodes) return MLC_CUDA_OUT_OF_MEMORY;
  memcpy(s->record.words, r->words, r->count * sizeof *r->words);
  return 0;
}

static int build(mlc_device *d, mlc_segment *s, const mlc_record *r) {
  segment_free(d, s);
  int result = keep_record(s, r);
  if (!result) result = d->cuda->graph_create(&s->graph, 0);
  if (!result) result = add_nodes(d, s);
  if (!result) result = d->cuda->graph_instantiate(&s->exec, s->graph, 0);
  if (result) segment_free(d, s);
  return result;
}

/* Gives the nodes of a graph the arguments of another record of the same topology. */
static int update(mlc_device *d, mlc_segment *s, const mlc_record *r) {
  size_t n = 0;
  for (size_t at = 0; at < r->count; n++) {
    const uint64_t *step = r->words + at;
    size_t words = words_of(step);
    int result = 0;
    if (memcmp(step, s->record.words + at, words * sizeof *step)) {
      void *params[MOST_ARGUMENTS];
      mlc_kernel_node kernel;
      mlc_copy_node copy = step[KIND] == COPY ? describe_copy(step) : (mlc_copy_node){0};
      if (step[KIND] == LAUNCH) describe_launch(step, params, &kernel);
      result = step[KIND] == COPY ? d->cuda->exec_copy(s->exec, s->nodes[n], &copy, d->context)
                                  : d->cuda->exec_kernel(s->exec, s->nodes[n], &kernel);
    }
    if (result) return segment_free(d, s), result;
    at += words;
  }
  memcpy(s->record.words, r->words, r->count * sizeof *r->words);
  return 0;
}

/* The graph of a record: one that is the same, else one of the same topology if there are many of these, else a new one
 * in the place of that used longest ago. */
static int find(mlc_device *d, const mlc_record *r, mlc_segment **found) {
  uint64_t topology = topology_of(r);
  mlc_segment *oldest = d->segments, *oldest_alike = NULL;
  int alike = 0;
  for (mlc_segment *s = d->segments; s < d->segments + MLC_SEGMENTS; s++) {
    if (s->used < oldest->used) oldest = s;
    if (!s->exec || s->topology != topology || !same_topology(&s->record, r)) continue;
    if (same(&s->record, r)) return *found = s, 0;
    if (!oldest_alike || s->used < oldest_alike->used) oldest_alike = s;
    alike++;
  }
  *found = alike >= MOST_ALIKE ? oldest_alike : oldest;
  int result = alike >= MOST_ALIKE ? update(d, *found, r) : build(d, *found, r);
  (*found)->topology = topology;
  return result;
}

static int run_graph(mlc_device *d, const mlc_record *r) {
  mlc_segment *segment = NULL;
  int result = find(d, r, &segment);
  if (result) return result;
  segment->used = ++d->clock;
  return d->cuda->exec_launch(segment->exec, d->current);
}

/* One step needs no graph. */
static int run_in_order(mlc_device *d, const mlc_record *r) {
  int result = 0;
  for (const uint64_t *step = r->words; !result && step < r->words + r->count; step += words_of(step))
    result = run_now(d, step);
  return result;
}

void mlc_cuda_forget(mlc_device *d) { d->record.count = d->record.nodes = 0, d->record.phase = 0, d->record.open = 0; }

void mlc_cuda_flush(mlc_call *c) {
  mlc_device *d = c->device;
  int in_order = d->record.nodes == 1 || c->profile || d->capturing; /* the caller's graph has the nodes themselves */
  if (d->record.nodes && !mlc_failed(c))
    mlc_cuda_failed(c, in_order ? run_in_order(d, &d->record) : run_graph(d, &d->record),
                    "cannot run the kernels of model ");
  mlc_cuda_forget(d);
}
