/* Run-time values that control a run: run-time dimensions, loop conditions and branches. */
#include <string.h>

#include "mlc_team.h"

void mlc_nonzero(mlc_call *c, int size, const void *mask, int64_t n, void *where, void *count) {
  const uint8_t *from = mask;
  int64_t *to = where, found = 0;
  for (int64_t i = 0; i < n;) {
    uint64_t eight = 1;
    if (i + 8 <= n) memcpy(&eight, from + i, sizeof eight);
    if (!eight) { /* most masks are sparse */
      i += 8;
      continue;
    }
    for (int64_t end = i + 8 < n ? i + 8 : n; i < end; i++) {
      to[found] = i; /* without a branch that nobody can predict; there is room for all */
      found += from[i] != 0;
    }
  }
  *(int64_t *)count = found;
  __atomic_store_n(&c->sizes[size], found, __ATOMIC_RELAXED);
}

void mlc_measure(mlc_call *c, int size, const void *value, int64_t most, void *result, int grows, const char *why) {
  int64_t found = *(const int64_t *)value, inside = found < 0 ? 0 : found > most ? most : found;
  *(int64_t *)result = found;
  __atomic_store_n(&c->sizes[size], inside, __ATOMIC_RELAXED);
  if (found == inside) return;
  if (found > 0 && grows) *c->grow = 1 + size;
  mlc_stop(c, why);
}

/* A thread that comes late may read a size of the next inference; it finds no part left to use it for. */
int64_t mlc_size(const mlc_call *c, int size) { return __atomic_load_n(&c->sizes[size], __ATOMIC_RELAXED); }

void mlc_loop_condition(mlc_call *c, int number, uint64_t run, int64_t step, int goes_on) {
  mlc_decision *d = &c->decisions[number];
  atomic_fetch_add(&d->version, 1);
  atomic_store(&d->phase, c->phase + 1);
  atomic_store(&d->run, run);
  atomic_store(&d->step, step);
  atomic_store(&d->goes_on, goes_on);
  atomic_fetch_add(&d->version, 1);
}

/* What was decided last, which for a thread that comes late may be about a later iteration, or another inference. */
static int decided(mlc_decision *d, uint64_t *phase, mlc_loop *loop) {
  for (;;) {
    uint64_t before = atomic_load(&d->version);
    *phase = atomic_load(&d->phase);
    *loop = (mlc_loop){atomic_load(&d->run), atomic_load(&d->step)};
    int goes_on = atomic_load(&d->goes_on);
    if (before % 2 == 0 && atomic_load(&d->version) == before) return goes_on;
    mlc_pause();
  }
}

/* Which phase a thread is in that has left a loop late is not known, only that it is a past one: so it finds no part.
 * A loop round that one tells it, for which each of its iterations is decided on as well. */
int mlc_iteration(mlc_call *c, int number, mlc_loop *loop) {
  uint64_t phase;
  mlc_loop now;
  int goes_on = decided(&c->decisions[number], &phase, &now);
  if (c->team && phase != c->phase) {
    if (now.run != loop->run) return 0;
    if (atomic_load(&c->team->phase.value) == (unsigned)c->phase) { /* others have decided on the iteration after this one */
      loop->step = now.step - 1;
      return 1;
    }
    c->phase = phase;
    mlc_phase_wait(c->team, phase - 1);
  }
  loop->step = now.step;
  return goes_on;
}

int mlc_branch(mlc_call *c, int number) {
  uint64_t phase;
  mlc_loop now;
  int taken = decided(&c->decisions[number], &phase, &now);
  return c->team && phase != c->phase ? -1 : taken;
}

void mlc_stop(mlc_call *c, const char *why) { __atomic_store_n(c->error, why, __ATOMIC_RELAXED); }
