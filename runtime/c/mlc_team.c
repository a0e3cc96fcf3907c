/* The thread team: every thread walks the program, phase by phase. The work of a phase is cut into parts, which the
 * threads claim: each its own share first, so that it finds in its cache what it wrote there, then what others have
 * left. A phase ends with its last part. Nobody waits for a thread that has claimed nothing: one that sleeps, or that
 * another process keeps from its CPU, comes late, finds the parts gone and catches up. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mlc_internal.h"

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

/* How long to spin before sleeping: waking a sleeper costs 5-50 us, so the end of a phase, which comes soon, is worth
 * more than the next inference, which may never come. From SPIN_ALONE_NS on others may have the CPU between two looks:
 * one of them may be the thread that is waited for. */
enum { SPIN_PHASE_NS = 1000000, SPIN_IDLE_NS = 100000, SPIN_ALONE_NS = 30000, CHECKS_PER_CLOCK_READ = 64 };

/* How long a share is left to its owner. */
enum { PATIENCE_NS = 4000 };

/* Work of a launch, of about 2 us on one thread, below which the end of its phase costs more than a second one gains. */
enum { SHARED_WORK = 200000 };

/* Parts in the share of one thread: more balance better, and each costs a call. */
enum { PARTS = 2, PART_BITS = 8 };

/* Bytes of a worker's stack, at least: kernels keep there what one of their nests hands to the next, up to about
 * 640 KiB. Threads have 128 KiB by default with musl, 512 KiB on macOS. */
enum { STACK = 2 << 20 };

/* A counter that threads can wait on: first spinning, then asleep. */
typedef struct {
  _Alignas(64) atomic_uint value;
  atomic_int sleepers;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
} gate;

/* One thread's parts: the phase they belong to, then in PART_BITS the number of the next. */
typedef struct {
  _Alignas(64) _Atomic uint64_t next;
} share;

struct mlc_team {
  gate start, phase; /* both count: inferences, and phases since the team was made */
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

typedef struct {
  mlc_team *team;
  int tid;
  int64_t arguments[]; /* of its copy of the call */
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
    if (now - start > SPIN_ALONE_NS) sched_yield();
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

/* Takes the next part of a share; -1: none is left. A share of an earlier phase is a whole one: before a phase ends,
 * all its parts are taken, so a thread that comes late finds none. */
static int share_take(share *s, uint64_t phase) {
  uint64_t first = phase << PART_BITS, next = atomic_load_explicit(&s->next, memory_order_relaxed);
  while (next < first + PARTS) {
    uint64_t mine = next < first ? first : next;
    if (atomic_compare_exchange_weak(&s->next, &next, mine + 1)) return (int)(mine - first);
  }
  return -1;
}

/* Whoever has done the last part opens the next phase. */
static void phase_end(mlc_team *team) {
  atomic_store_explicit(&team->done, 0, memory_order_relaxed);
  gate_open(&team->phase);
}

/* Counts the parts claimed since the last report as done. */
static void report(mlc_call *c) {
  int done = c->claimed;
  c->claimed = 0;
  if (done && atomic_fetch_add(&c->team->done, done) + done == c->parts) phase_end(c->team);
}

/* A part of another's share. The owner, whose cache has the data, first gets the time to come and take it. */
static int steal(mlc_call *c) {
  mlc_team *team = c->team;
  if (c->visited == 0 && gate_spin(&team->phase, (unsigned)c->phase, PATIENCE_NS)) c->visited = team->threads;
  for (c->visited += c->visited == 0; c->visited < team->threads; c->visited++) {
    int owner = (c->tid + c->visited) % team->threads, part = share_take(&team->shares[owner], c->phase);
    if (part >= 0) return owner * PARTS + part;
  }
  return -1;
}

int mlc_claim(mlc_call *c) {
  if (!c->team) return c->claimed++ ? -1 : 0;
  int part = c->visited ? -1 : share_take(&c->team->shares[c->tid], c->phase);
  if (part >= 0)
    part += c->tid * PARTS;
  else
    report(c), part = steal(c);
  c->claimed += part >= 0;
  return part;
}

void mlc_join(mlc_call *c) {
  c->claimed = c->visited = 0;
  if (!c->team) return;
  gate_wait(&c->team->phase, (unsigned)c->phase, c->team->oversubscribed ? 0 : SPIN_PHASE_NS);
  c->phase++;
}

void mlc_positions(mlc_call *c, int size, const void *mask, int64_t n, void *where, void *count) {
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

void mlc_measure(mlc_call *c, int size, const void *value, int64_t most, void *told, int grows, const char *why) {
  int64_t found = *(const int64_t *)value, inside = found < 0 ? 0 : found > most ? most : found;
  *(int64_t *)told = found;
  __atomic_store_n(&c->sizes[size], inside, __ATOMIC_RELAXED);
  if (found == inside) return;
  if (found > 0 && grows) *c->grow = 1 + size;
  mlc_stop(c, why);
}

/* A thread that comes late may read a size of the next inference; it finds no part left to use it for. */
int64_t mlc_size(const mlc_call *c, int size) { return __atomic_load_n(&c->sizes[size], __ATOMIC_RELAXED); }

void mlc_decide(mlc_call *c, int number, uint64_t run, int64_t step, int goes_on) {
  mlc_decision *d = &c->decisions[number];
  atomic_fetch_add(&d->version, 1);
  atomic_store(&d->phase, c->phase + 1);
  atomic_store(&d->run, run);
  atomic_store(&d->step, step);
  atomic_store(&d->goes_on, goes_on);
  atomic_fetch_add(&d->version, 1);
}

/* What was decided last, which for a thread that comes late may be about a later turn, or another inference. */
static int decided(mlc_decision *d, uint64_t *phase, mlc_loop *loop) {
  for (;;) {
    uint64_t before = atomic_load(&d->version);
    *phase = atomic_load(&d->phase);
    *loop = (mlc_loop){atomic_load(&d->run), atomic_load(&d->step)};
    int goes_on = atomic_load(&d->goes_on);
    if (before % 2 == 0 && atomic_load(&d->version) == before) return goes_on;
    pause_cpu();
  }
}

/* Which phase a thread is in that has left a loop late is not known, only that it is a past one: so it finds no part.
 * A loop round that one tells it, for which each of its turns is decided on as well. */
int mlc_turn(mlc_call *c, int number, mlc_loop *loop) {
  uint64_t phase;
  mlc_loop now;
  int goes_on = decided(&c->decisions[number], &phase, &now);
  if (c->team && phase != c->phase) {
    if (now.run != loop->run) return 0;
    if (atomic_load(&c->team->phase.value) == (unsigned)c->phase) { /* others have decided on the turn after this one */
      loop->step = now.step - 1;
      return 1;
    }
    c->phase = phase;
    gate_wait(&c->team->phase, (unsigned)phase - 1, c->team->oversubscribed ? 0 : SPIN_PHASE_NS);
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

/* Bytes of what a call points to: dims, then inputs and outputs. */
static size_t argument_bytes(const mlc_program *p) {
  return (size_t)p->dims * sizeof(int64_t) + ((size_t)p->inputs + (size_t)p->outputs) * sizeof(void *);
}

/* Copies a call together with what it points to: a late worker reads it when the caller's own is gone. */
static mlc_call call_copy(const mlc_program *p, const mlc_call *from, int64_t *dims) {
  mlc_call c = *from;
  void **inputs = (void **)(dims + p->dims), **outputs = inputs + p->inputs;
  if (p->dims) memcpy(dims, from->dim, (size_t)p->dims * sizeof *dims);
  if (p->inputs) memcpy(inputs, from->in, (size_t)p->inputs * sizeof *inputs);
  if (p->outputs) memcpy(outputs, from->out, (size_t)p->outputs * sizeof *outputs);
  c.dim = dims, c.in = (const void *const *)inputs, c.out = outputs;
  return c;
}

/* The newest call, for a worker; false: it is to leave. */
static bool team_call(mlc_team *team, unsigned *seen, mlc_call *call, int64_t *arguments) {
  pthread_mutex_lock(&team->handover);
  *seen = atomic_load(&team->start.value);
  bool leave = team->leave;
  if (!leave) *call = call_copy(team->program, &team->call, arguments);
  pthread_mutex_unlock(&team->handover);
  return !leave;
}

static void *worker_main(void *argument) {
  worker_arg *arg = argument;
  mlc_team *team = arg->team;
  unsigned seen = 0;
  mlc_call call;
  for (;;) {
    gate_wait(&team->start, seen, team->oversubscribed ? 0 : SPIN_IDLE_NS);
    if (!team_call(team, &seen, &call, arg->arguments)) break;
    call.tid = arg->tid;
    call.profile = NULL;
    team->program->body(&call);
  }
  free(arg);
  return NULL;
}

/* pthread_create with stack enough; 0 on success. */
static int create_thread(pthread_t *thread, void *(*start)(void *), void *argument) {
  pthread_attr_t attributes;
  size_t stack = 0;
  int error = pthread_attr_init(&attributes);
  if (error) return error;
  error = pthread_attr_getstacksize(&attributes, &stack);
  if (!error && stack < STACK) error = pthread_attr_setstacksize(&attributes, STACK);
  if (!error) error = pthread_create(thread, &attributes, start, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

static bool start_worker(mlc_team *team, int tid) {
  worker_arg *arg = malloc(sizeof *arg + argument_bytes(team->program));
  if (!arg) return false;
  arg->team = team, arg->tid = tid;
  if (create_thread(&team->workers[tid - 1], worker_main, arg) == 0) return true;
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

static mlc_team *team_alloc(const mlc_program *program, int threads) {
  size_t bytes = sizeof(mlc_team) + (size_t)threads * sizeof(share), align = _Alignof(mlc_team);
  mlc_team *team = aligned_alloc(align, (bytes + align - 1) / align * align);
  if (!team) return NULL;
  *team = (mlc_team){.program = program, .forks = atomic_load(&forks)};
  memset(team->shares, 0, (size_t)threads * sizeof(share));
  team->workers = calloc((size_t)threads, sizeof *team->workers);
  team->arguments = malloc(argument_bytes(program) + 1);
  team->sizes = calloc((size_t)program->sizes + 1, sizeof *team->sizes);
  team->decisions = calloc((size_t)program->decisions + 1, sizeof *team->decisions);
  return team;
}

static void team_free(mlc_team *team) {
  free(team->workers);
  free(team->arguments);
  free(team->sizes);
  free(team->decisions);
  free(team);
}

mlc_team *mlc_team_create(const mlc_program *program, int threads) {
  pthread_once(&fork_once, watch_forks);
  mlc_team *team = team_alloc(program, threads);
  if (!team) return NULL;
  if (!team->workers || !team->arguments || !team->sizes || !team->decisions) return team_free(team), NULL;
  team->oversubscribed = threads > mlc_allowed_cpus();
  gate_init(&team->start);
  gate_init(&team->phase);
  pthread_mutex_init(&team->handover, NULL);
  start_workers(team, threads);
  return team;
}

static bool team_alive(const mlc_team *team) {
  return team->forks == atomic_load_explicit(&forks, memory_order_relaxed);
}

/* Tells the workers of an inference, or of the end. */
static void team_announce(mlc_team *team, const mlc_call *call) {
  pthread_mutex_lock(&team->handover);
  if (call)
    team->call = call_copy(team->program, call, team->arguments);
  else
    team->leave = true;
  gate_open(&team->start);
  pthread_mutex_unlock(&team->handover);
}

void mlc_team_destroy(mlc_team *team) {
  if (!team) return;
  if (team_alive(team)) {
    team_announce(team, NULL);
    for (int i = 1; i < team->threads; i++) pthread_join(team->workers[i - 1], NULL);
    gate_destroy(&team->start);
    gate_destroy(&team->phase);
    pthread_mutex_destroy(&team->handover);
  }
  team_free(team);
}

static void run_alone(const mlc_program *program, mlc_call *call) {
  int64_t sizes[program->sizes + 1];
  mlc_decision decisions[program->decisions + 1];
  memset(sizes, 0, sizeof sizes);
  memset(decisions, 0, sizeof decisions);
  call->team = NULL;
  call->sizes = sizes;
  call->decisions = decisions;
  call->parts = 1;
  program->body(call);
}

static bool worth_sharing(const mlc_program *program, const mlc_call *call) {
  return !program->work || program->work(call->dim) >= SHARED_WORK;
}

void mlc_team_run(mlc_team *team, mlc_call *call) {
  bool idle = false;
  bool usable = team->threads > 1 && team_alive(team) && worth_sharing(team->program, call);
  if (!usable || !atomic_compare_exchange_strong(&team->busy, &idle, true)) return run_alone(team->program, call);
  call->parts = team->threads * PARTS;
  call->team = team;
  call->sizes = team->sizes;
  call->decisions = team->decisions;
  call->phase = team->phases;
  team_announce(team, call);
  team->program->body(call);
  team->phases = call->phase;
  atomic_store(&team->busy, false);
}
