/* Gates: event counts, on which threads of a team wait for each other: they spin, then sleep in a futex. */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "mlc_team.h"

/* From SPIN_ALONE_NS on others may have the CPU between two looks: one of them may be the thread that is waited for. */
enum { SPIN_ALONE_NS = 30000, CHECKS_PER_CLOCK_READ = 64 };

uint64_t mlc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool mlc_gate_spin(mlc_gate *g, unsigned old, uint64_t limit_ns) {
  uint64_t start = 0;
  for (;;) {
    for (int i = 0; i < CHECKS_PER_CLOCK_READ; i++) {
      if (atomic_load_explicit(&g->value, memory_order_acquire) != old) return true;
      mlc_pause();
    }
    if (limit_ns == 0) return false;
    uint64_t now = mlc_now();
    if (start == 0) start = now;
    if (now - start > limit_ns) return false;
    if (now - start > SPIN_ALONE_NS) sched_yield();
  }
}

void mlc_gate_wait(mlc_gate *g, unsigned old, uint64_t spin_ns) {
  if (mlc_gate_spin(g, old, spin_ns)) return;
  pthread_mutex_lock(&g->mutex);
  atomic_fetch_add(&g->sleepers, 1);
  while (atomic_load(&g->value) == old) pthread_cond_wait(&g->changed, &g->mutex);
  atomic_fetch_sub(&g->sleepers, 1);
  pthread_mutex_unlock(&g->mutex);
}

/* Sequential consistency of value and sleepers: either we see the sleeper, or it sees the new value. */
void mlc_gate_open(mlc_gate *g) {
  atomic_fetch_add(&g->value, 1);
  if (atomic_load(&g->sleepers) == 0) return;
  pthread_mutex_lock(&g->mutex);
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->mutex);
}

void mlc_gate_init(mlc_gate *g) {
  pthread_mutex_init(&g->mutex, NULL);
  pthread_cond_init(&g->changed, NULL);
}

void mlc_gate_destroy(mlc_gate *g) {
  pthread_cond_destroy(&g->changed);
  pthread_mutex_destroy(&g->mutex);
}
