/* The state of a model: memory that its runs update, with the first values of the weights file, read and set by name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mlc_internal.h"

int mlc_state_open(mlc_state_memory *state, const mlc_program *program, const char *payload) {
  atomic_flag_clear(&state->busy);
  const mlc_state_table *table = program->state;
  if (!table || !table->bytes || program->device) return 0;
  state->allocated = calloc(1, (size_t)table->bytes + MLC_ALIGN); /* zeros take no memory before they are written */
  if (!state->allocated)
    return mlc_fail("cannot allocate the %lld bytes of state of model '%s'", (long long)table->bytes, program->name);
  state->memory = (char *)(((uintptr_t)state->allocated + MLC_ALIGN - 1) / MLC_ALIGN * MLC_ALIGN);
  mlc_state_begin(state, program, payload);
  return 0;
}

void mlc_state_begin(mlc_state_memory *state, const mlc_program *program, const char *payload) {
  const mlc_state_table *table = program->state;
  if (table && state->memory && payload && table->copied)
    memcpy(state->memory, payload + table->from, (size_t)table->copied);
}

void mlc_state_close(mlc_state_memory *state) { free(state->allocated); }

int mlc_state_enter(mlc_state_memory *state, const mlc_program *program) {
  if (!program->state && !program->collectives) return 0;
  if (!atomic_flag_test_and_set_explicit(&state->busy, memory_order_acquire)) return 0;
  const char *what = program->state ? "state" : "ranks";
  return mlc_fail("another thread uses the %s of model '%s': its runs are one at a time", what, program->name);
}

void mlc_state_leave(mlc_state_memory *state, const mlc_program *program) {
  if (program->state || program->collectives) atomic_flag_clear_explicit(&state->busy, memory_order_release);
}

static const mlc_state_entry *find(const mlc_state_table *table, const char *name) {
  for (int i = 0; table && i < table->count; i++)
    if (strcmp(table->entries[i].name, name) == 0) return &table->entries[i];
  return NULL;
}

int mlc_state_copy(mlc_state_memory *state, const mlc_program *program, const char *name, void *to, const void *from) {
  if (!name) return mlc_fail("the name of the state of model '%s' is NULL", program->name);
  const mlc_state_entry *entry = find(program->state, name);
  if (!entry) return mlc_fail("model '%s' has no state '%s'", program->name, name);
  if (entry->bytes && !to && !from) return mlc_fail("the memory for state '%s' is NULL", name);
  if (mlc_state_enter(state, program)) return 1;
  int failed = 0;
  if (state->device)
    failed = program->device->copy_state(state->device, entry, to, from);
  else if (entry->bytes)
    memcpy(to ? to : state->memory + entry->offset, to ? state->memory + entry->offset : from, (size_t)entry->bytes);
  mlc_state_leave(state, program);
  return failed;
}
