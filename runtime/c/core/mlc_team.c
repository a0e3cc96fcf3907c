/* The thread team: every thread walks the program, phase by phase. The work of a phase is partitioned into
 * parts, which the threads claim: each its own share first, whose data its cache has, then those of others (work
 * stealing). A phase ends with its last part. Nobody waits for a thread that has claimed nothing: one that sleeps, or that
 * another process keeps from its CPU, comes late, finds the parts gone and catches up. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mlc_team.h"

/* How long a worker spins for the next inference, which may never come. */
enum { SPIN_IDLE_NS = 100000 };

/* Work of a launch, of about 2 us on one thread, below which the end of its phase costs more than a second one gains. */
enum { SHARED_WORK = 200000 };

/* Bytes of a worker's stack, at least: kernels keep there what one of their nests hands to the next, up to about
 * 640 KiB. Threads have 128 KiB by default with musl, 512 KiB on macOS. */
enum { STACK = 2 << 20 };

typedef struct {
  mlc_team *team;
  int tid;
  int64_t arguments[]; /* of its copy of the call */
} worker_arg;

int mlc_allowed_cpus(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

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
    mlc_gate_wait(&team->start, seen, team->oversubscribed ? 0 : SPIN_IDLE_NS);
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
  *team = (mlc_team){.program = program, .owner = getpid()};
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
  mlc_team *team = team_alloc(program, threads);
  if (!team) return NULL;
  if (!team->workers || !team->arguments || !team->sizes || !team->decisions) return team_free(team), NULL;
  team->oversubscribed = threads > mlc_allowed_cpus();
  mlc_gate_init(&team->start);
  mlc_gate_init(&team->phase);
  pthread_mutex_init(&team->handover, NULL);
  start_workers(team, threads);
  return team;
}

/* False in the child of a fork(), which inherits the team without its threads. No handler of pthread_atfork: it would
 * outlive a library that is unloaded where the C compiler's start files do not remove it (zig's do not). */
static bool team_alive(const mlc_team *team) { return team->owner == getpid(); }

/* Tells the workers of an inference, or of the end. */
static void team_announce(mlc_team *team, const mlc_call *call) {
  pthread_mutex_lock(&team->handover);
  if (call)
    team->call = call_copy(team->program, call, team->arguments);
  else
    team->leave = true;
  mlc_gate_open(&team->start);
  pthread_mutex_unlock(&team->handover);
}

void mlc_team_destroy(mlc_team *team) {
  if (!team) return;
  if (team_alive(team)) {
    team_announce(team, NULL);
    for (int i = 1; i < team->threads; i++) pthread_join(team->workers[i - 1], NULL);
    mlc_gate_destroy(&team->start);
    mlc_gate_destroy(&team->phase);
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
  bool usable = team->threads > 1 && worth_sharing(team->program, call) && team_alive(team);
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

int mlc_team_threads(const mlc_team *team) { return team->threads; }
