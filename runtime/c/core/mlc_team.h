/* The thread team, and its gates. */
#ifndef MLC_TEAM_H
#define MLC_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

#include "mlc_internal.h"

#pragma GCC visibility push(hidden)

/* A counter on which threads can wait: first spinning, then sleeping. */
typedef struct {
  _Alignas(64) atomic_uint value;
  atomic_int sleepers;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
} mlc_gate;

/* A pause between two reads of memory that another thread writes. */
static inline void mlc_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory"); /* `yield` is a no-op on most cores */
#endif
}

void mlc_gate_init(mlc_gate *g);
void mlc_gate_destroy(mlc_gate *g);

/* Spins for `limit_ns` at most; returns whether the gate's value is no longer `old`. */
bool mlc_gate_spin(mlc_gate *g, unsigned old, uint64_t limit_ns);

/* Waits until the gate's value is no longer `old`: spins for `spin_ns`, then sleeps. */
void mlc_gate_wait(mlc_gate *g, unsigned old, uint64_t spin_ns);

/* Increments the gate's value. */
void mlc_gate_open(mlc_gate *g);

/* One thread's parts: in the high bits the phase, in the low PART_BITS the number of the next part. */
typedef struct {
  _Alignas(64) _Atomic uint64_t next;
} share;

/* Parts in the share of one thread: more parts balance better, but each costs a call. */
enum { PARTS = 2, PART_BITS = 8 };

/* How long to spin for the end of a phase before sleeping: waking a sleeper costs 5-50 us, and the end comes soon. */
enum { SPIN_PHASE_NS = 1000000 };

struct mlc_team {
  mlc_gate start, phase; /* the number of inferences, and of phases, since the team was created */
  _Alignas(64) atomic_int done; /* finished parts of the phase */
  _Alignas(64) atomic_bool busy;
  int threads;
  pid_t owner; /* the process whose threads the workers are */
  bool oversubscribed;
  const mlc_program *program;
  pthread_mutex_t handover; /* protects the following fields, which late workers read */
  mlc_call call;            /* points into `arguments` */
  bool leave;               /* tells the workers to exit */
  uint64_t phases;          /* finished before the next call */
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
