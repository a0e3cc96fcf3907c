/* The contexts of a model: that in which it is loaded, and those of the caller's tensors. */
#include <unistd.h>

#include "mlc_cuda_device.h"

int mlc_cuda_is_forked(const mlc_device *d) {
  if (d->process == (long)getpid()) return 0;
  return mlc_fail("model '%s' was loaded before this process was forked, and CUDA does not work in the child. Load the "
                  "model in the child, of a parent without CUDA, or start processes by spawning",
                  d->program->name);
}

static unsigned long long id_of(const mlc_cuda_driver *cuda, mlc_context context) {
  unsigned long long id = 0;
  return cuda->context_id && cuda->context_id(context, &id) == 0 ? id : 0;
}

/* Uses a context of the caller's. The primary one is retained, so that it lives as long as the model. */
int mlc_cuda_use_context(mlc_device *d, mlc_context context, int ordinal) {
  unsigned flags = 0;
  int active = 0;
  mlc_context primary = NULL;
  int result = d->cuda->primary_state(ordinal, &flags, &active);
  if (!result && active) result = d->cuda->context_retain(&primary, ordinal);
  if (mlc_cuda_check(result, "cannot use the CUDA device for model ", d->program->name)) return 1;
  if (primary && primary != context) d->cuda->context_release(ordinal);
  d->retained = primary == context, d->context = context, d->ordinal = ordinal;
  d->context_id = id_of(d->cuda, context);
  return 0;
}

static int use_primary(mlc_device *d, int ordinal) {
  if (mlc_cuda_check(d->cuda->context_retain(&d->context, ordinal), "cannot use the CUDA device for model ", d->program->name))
    return 1;
  d->retained = 1, d->ordinal = ordinal, d->context_id = id_of(d->cuda, d->context);
  return 0;
}

int mlc_cuda_choose_context(mlc_device *d) {
  const char *name = d->program->name;
  int count = 0, ordinal = 0;
  mlc_context current = NULL;
  d->process = (long)getpid();
  if (mlc_cuda_check(d->cuda->device_count(&count), "cannot count the CUDA devices for model ", name)) return 1;
  if (!count) return mlc_fail("there is no CUDA device for model '%s'. Check CUDA_VISIBLE_DEVICES and nvidia-smi", name);
  if (d->cuda->context_current(&current) == 0 && current && d->cuda->current_device(&ordinal) == 0)
    return mlc_cuda_use_context(d, current, ordinal);
  return mlc_cuda_check(d->cuda->device_get(&ordinal, 0), "cannot use the first CUDA device for model ", name) ||
         use_primary(d, ordinal);
}

void mlc_cuda_release_context(mlc_device *d) {
  if (d->retained) d->cuda->context_release(d->ordinal);
}

/* -- the model there ------------------------------------------------------------------------------------------------ */

int mlc_cuda_is_alive(const mlc_device *d) { return d->context_id == id_of(d->cuda, d->context); }

static int is_in(const mlc_device *d, mlc_context context) { return d->context == context && mlc_cuda_is_alive(d); }

static int state_elsewhere(const mlc_device *home, int ordinal) {
  return mlc_fail("the state of model '%s' is in the context in which it was loaded, of device %d, and its tensors are in "
                  "another, of device %d. Load it in theirs (mlc.load(..., context=))",
                  home->program->name, home->ordinal, ordinal);
}

static int capturing(const mlc_device *home, const mlc_call *c) {
  int status = 0;
  return home->cuda->stream_capturing(c->stream, &status) == 0 && status != MLC_CUDA_NO_CAPTURE;
}

/* The model in the current context. */
static mlc_device *in_context(mlc_device *home, const mlc_call *c, mlc_context context) {
  int ordinal = 0;
  for (mlc_device *d = home; d; d = d->next)
    if (is_in(d, context)) return d;
  if (mlc_cuda_check(home->cuda->current_device(&ordinal), "cannot use the device of model ", home->program->name)) return NULL;
  if (home->program->state && home->program->state->bytes) return state_elsewhere(home, ordinal), NULL;
  if (capturing(home, c))
    return mlc_fail("model '%s' is not loaded in this CUDA context, and a stream is being captured. Run it once before",
                    home->program->name), NULL;
  mlc_device *made = mlc_cuda_copy_device(home, context, ordinal);
  if (made) made->next = home->next, home->next = made;
  return made;
}

/* The driver wants some context to be current when it is asked for that of memory. */
static int find_tensors(mlc_device *home, const mlc_call *c, mlc_cuda_place *all) {
  mlc_context before;
  int result = home->cuda->context_push(home->context);
  if (mlc_cuda_check(result, "cannot use the CUDA context of model ", home->program->name)) return 1;
  int failed = mlc_cuda_find_tensors(home, c, all);
  home->cuda->context_pop(&before);
  return failed;
}

mlc_device *mlc_cuda_enter_context_of(mlc_device *home, const mlc_call *c) {
  const char *what = "cannot use the CUDA context of the tensors of model ";
  mlc_cuda_place all;
  mlc_context before, context = home->context;
  if (find_tensors(home, c, &all)) return NULL;
  if (all.context) context = all.context;
  else if (all.ordinal >= 0 && all.ordinal != home->ordinal)
    return mlc_fail("the tensors of model '%s' are in the memory of device %d, and the model is loaded on device %d. Load it "
                    "there (mlc.load(..., context=%d))",
                    home->program->name, all.ordinal, home->ordinal, all.ordinal), NULL;
  if (mlc_cuda_check(home->cuda->context_push(context), what, home->program->name)) return NULL;
  pthread_mutex_lock(&home->opening);
  mlc_device *found = in_context(home, c, context);
  pthread_mutex_unlock(&home->opening);
  if (found && all.ordinal >= 0 && all.ordinal != found->ordinal) {
    mlc_fail("the stream is of device %d, and the tensors of model '%s' are in the memory of device %d. Give a stream of theirs",
             found->ordinal, home->program->name, all.ordinal);
    found = NULL;
  }
  if (!found) home->cuda->context_pop(&before);
  return found;
}
