/* What the files of the thread team share: its gates, and what a team is. */
#ifndef MLC_TEAM_H
#define MLC_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

#include "mlc_internal.h"

#pragma GCC visibility push(hidden)

/* A counter that threads can wait on: first spinning, then asleep. */
typedef struct {
  _Alignas(64) atomic_uint value;
  atomic_int sleepers;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
} mlc_gate;

/* Between two looks at what another thread writes. */
static inline void mlc_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory"); /* `yield` is a no-op on most cores */
#endif
}

void mlc_gate_init(mlc_gate *g);
void mlc_gate_destroy(mlc_gate *g);

/* Whether the gate's value is no longer `old`, looking for `limit_ns`, and once at least. */
bool mlc_gate_spin(mlc_gate *g, unsigned old, uint64_t limit_ns);

/* Waits until the gate's value is no longer `old`: spins for `spin_ns`, then sleeps. */
void mlc_gate_wait(mlc_gate *g, unsigned old, uint64_t spin_ns);

/* Counts the gate's value up. */
void mlc_gate_open(mlc_gate *g);

/* One thread's parts: the phase they belong to, then in PART_BITS the number of the next. */
typedef struct {
  _Alignas(64) _Atomic uint64_t next;
} share;

/* Parts in the share of one thread: more balance better, and each costs a call. */
enum { PARTS = 2, PART_BITS = 8 };

/* How long to spin for the end of a phase before sleeping: waking a sleeper costs 5-50 us, and the end comes soon. */
enum { SPIN_PHASE_NS = 1000000 };

struct mlc_team {
  mlc_gate start, phase; /* both count: inferences, and phases since the team was made */
  _Alignas(64) atomic_int done; /* parts of the phase */
  _Alignas(64) atomic_bool busy;
  int threads, forks;
  bool oversubscribed;
  const mlc_program *program;
  pthread_mutex_t handover; /* of what follows, to workers that may be late */
  mlc_call call;            /* points into `arguments` */
  bool leave;               /* the workers are to end */
  uint64_t phases;          /* before the next call */
  int64_t *arguments, *sizes;
  mlc_decision *decisions;
  pthread_t *workers;
  share shares[];
};

/* Waits for the end of a phase. */
static inline void mlc_phase_wait(mlc_team *team, uint64_t phase) {
  mlc_gate_wait(&team->phase, (unsigned)phase, team->oversubscribed ? 0 : SPIN_PHASE_NS);
}

#pragma GCC visibility pop

#endif
