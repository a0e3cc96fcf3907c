/* The thread team: workers enter once per inference and walk the program in step with barriers. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "mlc_internal.h"

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

/* How long to spin before sleeping: waking a sleeper costs 5-50 us, so a barrier, which opens soon, spins longer
 * than a worker that waits for the next inference, which may never come. */
enum { SPIN_BARRIER_NS = 1000000, SPIN_IDLE_NS = 100000, CHECKS_PER_CLOCK_READ = 64 };

/* A counter that threads can wait on: first spinning, then asleep. */
typedef struct {
  _Alignas(64) atomic_uint value;
  atomic_int sleepers;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
} gate;

struct mlc_team {
  gate start, barrier;
  _Alignas(64) atomic_int arrived;
  _Alignas(64) atomic_bool busy;
  int threads, forks;
  bool oversubscribed;
  void (*body)(const mlc_call *, int); /* NULL: the workers leave */
  mlc_call *call;
  pthread_t *workers;
};

typedef struct {
  mlc_team *team;
  int tid;
} worker_arg;

/* The threads of a team do not survive fork(); the count tells a child that its inherited teams are dead. */
static atomic_int forks;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void count_fork(void) { atomic_fetch_add(&forks, 1); }
static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

uint64_t mlc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int mlc_allowed_cpus(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

static inline void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory"); /* `yield` is a no-op on most cores */
#endif
}

static bool gate_spin(gate *g, unsigned old, uint64_t limit_ns) {
  uint64_t start = 0;
  for (;;) {
    for (int i = 0; i < CHECKS_PER_CLOCK_READ; i++) {
      if (atomic_load_explicit(&g->value, memory_order_acquire) != old) return true;
      pause_cpu();
    }
    if (limit_ns == 0) return false;
    uint64_t now = mlc_now();
    if (start == 0) start = now;
    if (now - start > limit_ns) return false;
  }
}

/* Waits until the gate's value is no longer `old`. */
static void gate_wait(gate *g, unsigned old, uint64_t spin_ns) {
  if (gate_spin(g, old, spin_ns)) return;
  pthread_mutex_lock(&g->mutex);
  atomic_fetch_add(&g->sleepers, 1);
  while (atomic_load(&g->value) == old) pthread_cond_wait(&g->changed, &g->mutex);
  atomic_fetch_sub(&g->sleepers, 1);
  pthread_mutex_unlock(&g->mutex);
}

/* Sequential consistency of value and sleepers: either we see the sleeper, or it sees the new value. */
static void gate_open(gate *g) {
  atomic_fetch_add(&g->value, 1);
  if (atomic_load(&g->sleepers) == 0) return;
  pthread_mutex_lock(&g->mutex);
  pthread_cond_broadcast(&g->changed);
  pthread_mutex_unlock(&g->mutex);
}

static void gate_init(gate *g) {
  pthread_mutex_init(&g->mutex, NULL);
  pthread_cond_init(&g->changed, NULL);
}

static void gate_destroy(gate *g) {
  pthread_cond_destroy(&g->changed);
  pthread_mutex_destroy(&g->mutex);
}

/* The caller's call may be gone once the barrier opens: only the team is touched after that. */
static void team_barrier(mlc_team *team) {
  unsigned generation = atomic_load_explicit(&team->barrier.value, memory_order_relaxed);
  if (atomic_fetch_add(&team->arrived, 1) == team->threads - 1) {
    atomic_store_explicit(&team->arrived, 0, memory_order_relaxed);
    gate_open(&team->barrier);
  } else {
    gate_wait(&team->barrier, generation, team->oversubscribed ? 0 : SPIN_BARRIER_NS);
  }
}

void mlc_barrier(const mlc_call *c, int tid) {
  (void)tid;
  if (c->threads > 1) team_barrier(c->team);
}

static void *worker_main(void *argument) {
  worker_arg arg = *(worker_arg *)argument;
  mlc_team *team = arg.team;
  free(argument);
  for (unsigned seen = 0;; seen++) {
    gate_wait(&team->start, seen, team->oversubscribed ? 0 : SPIN_IDLE_NS);
    if (!team->body) return NULL;
    team->body(team->call, arg.tid);
    team_barrier(team);
  }
}

static bool start_worker(mlc_team *team, int tid) {
  worker_arg *arg = malloc(sizeof *arg);
  if (!arg) return false;
  *arg = (worker_arg){team, tid};
  if (pthread_create(&team->workers[tid - 1], NULL, worker_main, arg) == 0) return true;
  free(arg);
  return false;
}

/* Workers take no signals: those belong to the application's own threads. */
static void start_workers(mlc_team *team, int threads) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  for (team->threads = 1; team->threads < threads; team->threads++)
    if (!start_worker(team, team->threads)) break;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

mlc_team *mlc_team_create(int threads) {
  pthread_once(&fork_once, watch_forks);
  mlc_team *team = aligned_alloc(_Alignof(mlc_team), sizeof *team);
  pthread_t *workers = calloc((size_t)threads, sizeof *workers);
  if (!team || !workers) {
    free(team);
    free(workers);
    return NULL;
  }
  *team = (mlc_team){.workers = workers, .forks = atomic_load(&forks), .oversubscribed = threads > mlc_allowed_cpus()};
  gate_init(&team->start);
  gate_init(&team->barrier);
  start_workers(team, threads);
  return team;
}

static bool team_alive(const mlc_team *team) {
  return team->forks == atomic_load_explicit(&forks, memory_order_relaxed);
}

void mlc_team_destroy(mlc_team *team) {
  if (!team) return;
  if (team_alive(team)) {
    team->body = NULL;
    gate_open(&team->start);
    for (int i = 1; i < team->threads; i++) pthread_join(team->workers[i - 1], NULL);
    gate_destroy(&team->start);
    gate_destroy(&team->barrier);
  }
  free(team->workers);
  free(team);
}

void mlc_team_run(mlc_team *team, void (*body)(const mlc_call *, int), mlc_call *call) {
  bool idle = false;
  bool usable = team->threads > 1 && team_alive(team);
  if (!usable || !atomic_compare_exchange_strong(&team->busy, &idle, true)) {
    call->threads = 1;
    call->team = NULL;
    body(call, 0);
    return;
  }
  call->threads = team->threads;
  call->team = team;
  team->call = call;
  team->body = body;
  gate_open(&team->start);
  body(call, 0);
  team_barrier(team);
  atomic_store(&team->busy, false);
}
