/* A model on a device: its context, code and weights; made once and freed with the model. */
#include "mlc_cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlc_cuda_images.h"

enum { NAME_BYTES = 256, LIST_BYTES = 256 };

int mlc_cuda_failed(mlc_call *c, int result, const char *what) {
  if (!result) return 0;
  mlc_cuda_check(result, what, c->device->program->name);
  mlc_stop(c, mlc_error());
  return 1;
}

/* 90 of a device of compute capability 9.0; 0, and a message, on failure. */
static int architecture_of(const mlc_device *d) {
  int major = 0, minor = 0;
  int result = d->cuda->device_attribute(&major, MLC_CUDA_MAJOR, d->ordinal);
  if (!result) result = d->cuda->device_attribute(&minor, MLC_CUDA_MINOR, d->ordinal);
  return mlc_cuda_check(result, "cannot read the architecture of the device for model ", d->program->name) ? 0 : 10 * major + minor;
}

/* How well code fits an architecture; 0: it does not run. A cubin of an earlier minor version of the same generation runs,
 * unless it is for exactly one; PTX of an earlier one is compiled by the driver, which takes time. */
static uint32_t fit_of(const mlc_cuda_image *image, uint32_t architecture) {
  enum { CUBIN = 1 << 20 };
  uint32_t own = image->architecture;
  if (image->kind == MLC_CUDA_PTX) return own <= architecture ? own : 0;
  if (own == architecture) return CUBIN + 2 * own + image->kind;
  return image->kind == MLC_CUDA_CUBIN && own / 10 == architecture / 10 && own < architecture ? CUBIN + 2 * own : 0;
}

/* The image of a unit that fits best, or NULL. */
static const mlc_cuda_image *best_image(const mlc_cuda_images *all, uint64_t unit, int architecture) {
  const mlc_cuda_image *best = NULL;
  uint32_t most = 0;
  for (uint32_t i = 0; i < all->images; i++) {
    uint32_t fit = all->image[i].unit == unit ? fit_of(&all->image[i], (uint32_t)architecture) : 0;
    if (fit > most) best = &all->image[i], most = fit;
  }
  return best;
}

static int no_image(const mlc_device *d, const mlc_cuda_images *all, int architecture) {
  char name[NAME_BYTES] = "", list[LIST_BYTES] = "";
  d->cuda->device_name(name, sizeof name, d->ordinal);
  for (uint32_t i = 0; i < all->images; i++) {
    size_t used = strlen(list);
    const mlc_cuda_image *each = &all->image[i];
    if (each->unit == 0)
      snprintf(list + used, sizeof list - used, "%s%s_%u%s", used ? ", " : "", each->kind == MLC_CUDA_PTX ? "compute" : "sm",
               each->architecture, each->kind == MLC_CUDA_EXACT_CUBIN ? "a" : "");
  }
  return mlc_fail("model '%s' has code for %s, which the device %s, of sm_%d, cannot run. Compile it for that one",
                  d->program->name, list, name, architecture);
}

static int load_unit(mlc_device *d, const mlc_cuda_images *all, uint64_t unit, int architecture) {
  const mlc_cuda_image *image = best_image(all, unit, architecture);
  if (!image) return no_image(d, all, architecture);
  return mlc_cuda_check(d->cuda->module_load(&d->modules[unit], d->code->images + image->offset),
                        "the CUDA driver cannot load the code of model ", d->program->name);
}

static int load_kernel(mlc_device *d, int k) {
  int bytes = d->code->dynamic[k];
  return mlc_cuda_check(d->cuda->module_function(&d->functions[k], d->modules[d->code->units[k]], d->code->symbols[k]),
                        "a kernel is missing in the code of model ", d->program->name) ||
         (bytes && mlc_cuda_check(d->cuda->function_attribute(d->functions[k], MLC_CUDA_DYNAMIC_BYTES, bytes),
                                  "the device has too little shared memory for a kernel of model ", d->program->name));
}

static int load_code(mlc_device *d) {
  const mlc_cuda_images *all = (const mlc_cuda_images *)d->code->images;
  int architecture = architecture_of(d);
  if (!architecture) return 1;
  d->images = (int)all->units;
  d->modules = calloc(all->units + 1, sizeof *d->modules);
  d->functions = calloc((size_t)d->code->kernels + 1, sizeof *d->functions);
  if (!d->modules || !d->functions) return mlc_fail("out of memory for the code of model '%s'", d->program->name);
  for (uint64_t unit = 0; unit < all->units; unit++)
    if (load_unit(d, all, unit, architecture)) return 1;
  for (int k = 0; k < d->code->kernels; k++)
    if (load_kernel(d, k)) return 1;
  return 0;
}

/* From the host's memory, or from where the model has them in another context. */
static int upload_weights(mlc_device *d, const char *weights, const mlc_device *home) {
  int64_t bytes = d->program->weights_bytes - MLC_ALIGN; /* without the file's header */
  if (d->program->weights_bytes == 0 || bytes <= 0) return 0;
  if (d->cuda->memory_alloc(&d->weights, (size_t)bytes))
    return mlc_fail("the device has no %lld bytes of memory for the weights of model '%s'. Free some", (long long)bytes, d->program->name);
  int result = home ? d->cuda->copy_from(d->weights, d->context, home->weights, home->context, (size_t)bytes, d->stream)
                    : d->cuda->upload(d->weights, weights, (size_t)bytes, d->stream);
  return mlc_cuda_check(result, "cannot upload the weights of model ", d->program->name) ||
         mlc_cuda_check(d->cuda->stream_synchronize(d->stream), "cannot upload the weights of model ", d->program->name);
}

/* The state's first values, and zeros after them. */
static int upload_state(mlc_device *d, const char *payload) {
  const mlc_state_table *table = d->program->state;
  const char *what = "cannot upload the state of model ", *name = d->program->name;
  if (!table || !table->bytes) return 0;
  if (d->cuda->memory_alloc(&d->state, (size_t)table->bytes))
    return mlc_fail("the device has no %lld bytes of memory for the state of model '%s'. Free some", (long long)table->bytes, name);
  size_t zeros = (size_t)(table->bytes - table->copied) / 4; /* both are multiples of MLC_ALIGN */
  int result = table->copied ? d->cuda->upload(d->state, payload + table->from, (size_t)table->copied, d->stream) : 0;
  if (!result && zeros) result = d->cuda->fill(d->state + (mlc_address)table->copied, 0, zeros, d->stream);
  int ended = d->cuda->stream_synchronize(d->stream);
  return mlc_cuda_check(result ? result : ended, what, name);
}

static int prepare(mlc_device *d, const char *weights, const mlc_device *home) {
  const char *name = d->program->name;
  return mlc_cuda_check(d->cuda->stream_create(&d->stream, MLC_CUDA_NON_BLOCKING), "cannot create a stream for model ", name) ||
         mlc_cuda_check(d->cuda->event_create(&d->done, MLC_CUDA_NO_TIMING), "cannot create an event for model ", name) ||
         load_code(d) || upload_weights(d, weights, home) || (!home && upload_state(d, weights));
}

/* The device's context is the calling thread's current one between these. */
static int enter(mlc_device *d) {
  return mlc_cuda_check(d->cuda->context_push(d->context), "cannot use the CUDA device for model ", d->program->name);
}

static void leave(mlc_device *d) {
  mlc_context own;
  d->cuda->context_pop(&own);
}

static mlc_device *new_device(const mlc_program *program) {
  mlc_device *d = calloc(1, sizeof *d);
  if (!d) return mlc_fail("out of memory"), NULL;
  d->program = program, d->code = program->device->code;
  pthread_mutex_init(&d->turn, NULL);
  pthread_mutex_init(&d->opening, NULL);
  return d;
}

mlc_device *mlc_cuda_device_open(const mlc_program *program, const char *weights) {
  mlc_device *d = new_device(program);
  if (!d) return NULL;
  int failed = !(d->cuda = mlc_cuda_open()) || mlc_cuda_choose_context(d) || enter(d);
  if (!failed) {
    failed = prepare(d, weights, NULL);
    leave(d);
  }
  if (!failed) return d;
  mlc_cuda_device_close(d);
  return NULL;
}

mlc_device *mlc_cuda_copy_device(mlc_device *home, mlc_context context, int ordinal) {
  mlc_device *d = new_device(home->program);
  if (!d) return NULL;
  d->cuda = home->cuda, d->process = home->process;
  if (!mlc_cuda_use_context(d, context, ordinal) && !prepare(d, NULL, home)) return d;
  mlc_cuda_device_close(d);
  return NULL;
}

static int copy_state(mlc_device *d, const mlc_state_entry *entry, void *to, const void *from) {
  mlc_address at = d->state + (mlc_address)entry->offset;
  int result = d->cuda->event_synchronize(d->done); /* a run in a stream of the caller's */
  if (!result && entry->bytes)
    result = to ? d->cuda->download(to, at, (size_t)entry->bytes, d->stream)
                : d->cuda->upload(at, from, (size_t)entry->bytes, d->stream);
  int ended = d->cuda->stream_synchronize(d->stream);
  return mlc_cuda_check(result ? result : ended, "cannot copy the state of model ", d->program->name);
}

int mlc_cuda_copy_state(mlc_device *d, const mlc_state_entry *entry, void *to, const void *from) {
  if (mlc_cuda_is_forked(d)) return 1;
  pthread_mutex_lock(&d->turn);
  int failed = enter(d);
  if (!failed) {
    failed = copy_state(d, entry, to, from);
    leave(d);
  }
  pthread_mutex_unlock(&d->turn);
  return failed;
}

/* What is in the context, which is current. */
static void release(mlc_device *d) {
  if (d->stream) d->cuda->stream_synchronize(d->stream);
  if (d->done) d->cuda->event_synchronize(d->done); /* a run in a stream of the caller's */
  mlc_cuda_drop_segments(d);
  for (int i = 0; i < MLC_PAIRS; i++) {
    if (d->started[i]) d->cuda->event_destroy(d->started[i]);
    if (d->ended[i]) d->cuda->event_destroy(d->ended[i]);
  }
  for (int i = 0; d->modules && i < d->images; i++)
    if (d->modules[i]) d->cuda->module_unload(d->modules[i]);
  if (d->weights) d->cuda->memory_free(d->weights);
  if (d->state) d->cuda->memory_free(d->state);
  if (d->memory) d->cuda->memory_free(d->memory);
  for (int i = 0; i < d->kept_count; i++) d->cuda->memory_free(d->kept[i]);
  if (d->done) d->cuda->event_destroy(d->done);
  if (d->stream) d->cuda->stream_destroy(d->stream);
}

/* In a child of the process that made it, and after its context was destroyed, only the host's memory is freed. */
static void close_one(mlc_device *d) {
  if (d->context && !mlc_cuda_is_forked(d)) {
    if (mlc_cuda_is_alive(d) && d->cuda->context_push(d->context) == 0) {
      release(d);
      leave(d);
    }
    mlc_cuda_release_context(d);
  }
  pthread_mutex_destroy(&d->turn);
  pthread_mutex_destroy(&d->opening);
  for (int i = 0; i < MLC_SEGMENTS; i++) free(d->segments[i].nodes), free(d->segments[i].record.words);
  free(d->record.words);
  free(d->kept);
  free(d->host);
  free(d->modules);
  free(d->functions);
  free(d);
}

void mlc_cuda_device_close(mlc_device *d) {
  for (mlc_device *next; d; d = next) {
    next = d->next;
    close_one(d);
  }
}
