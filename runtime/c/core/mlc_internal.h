/* Shared by the runtime's own sources; generated code does not see it. */
#ifndef MLC_INTERNAL_H
#define MLC_INTERNAL_H

#include <stdatomic.h>
#include <stddef.h>

#include "mlc_runtime.h"

#pragma GCC visibility push(hidden)

/* What has been decided about a loop or branch: valid after the phase before `phase`. One thread writes at a time,
 * any may read; `version` is odd while it is written. */
struct mlc_decision {
  _Atomic uint64_t version, phase, run;
  _Atomic int64_t step;
  atomic_int goes_on;
};

/* Puts a message into the calling thread's buffer and returns 1. */
__attribute__((format(printf, 1, 2))) int mlc_fail(const char *format, ...);

/* Nanoseconds of a monotonic clock. */
uint64_t mlc_now(void);

/* The number of CPUs the calling thread may run on, at least 1. */
int mlc_allowed_cpus(void);

/* 0 when this CPU has all features of the space-separated list. */
int mlc_check_isa(const char *isa);

/* A team of `threads` threads, the caller's included, for one program; NULL when out of memory. It may get fewer
 * threads than asked for where the system refuses more. */
mlc_team *mlc_team_create(const mlc_program *program, int threads);
void mlc_team_destroy(mlc_team *team);

/* Runs the program's body on every thread, or on the calling thread alone where the team is busy or was made before a
 * fork(). `call` says in, out, dim, arena, weights and profile; the rest is zero. */
void mlc_team_run(mlc_team *team, mlc_call *call);

int mlc_team_threads(const mlc_team *team);

/* The tracks of a trace, one for each thread; NULL when out of memory. */
mlc_track *mlc_tracks_create(int threads);
void mlc_tracks_destroy(mlc_track *tracks, int threads);
void mlc_tracks_clear(mlc_track *tracks, int threads);

/* The thread has claimed a part, or found none. */
void mlc_track_claim(const mlc_call *c, int busy);

/* The thread has executed its part of a launch. */
void mlc_track_mark(const mlc_call *c, int launch);

/* Writes thread, launch, begin and end of up to `capacity` events, in ns from `start` on; returns the number of all
 * events, or -1 where there was no memory for some. */
int64_t mlc_tracks_copy(const mlc_track *tracks, int threads, uint64_t start, int64_t (*events)[4], int64_t capacity);

/* A read-only mapping of a weights file. */
typedef struct {
  const char *payload;
  void *base;
  size_t bytes;
  int rank; /* of the file; 0 where there is one for all ranks */
} mlc_weights;

enum { MLC_ANY_RANK = -1 };

/* Maps and checks the weights of a program; 0 ok. `path` NULL: the file beside it, of `rank` where ranks have their
 * own; with MLC_ANY_RANK nothing is opened then. */
int mlc_weights_open(mlc_weights *weights, const mlc_program *program, const char *path, int rank);
/* The weights of the rank that joins: opened where they are not yet, else checked to be its own; 0 ok. */
int mlc_weights_join(mlc_weights *weights, const mlc_program *program, int rank);
void mlc_weights_close(mlc_weights *weights);

/* The state of a model in memory. `busy` while a run, get or set uses it: runs of a model with state are one at a time. */
typedef struct {
  char *memory;       /* MLC_ALIGN-aligned, in what was allocated */
  void *allocated;
  mlc_device *device; /* which has the state in its memory, or NULL */
  atomic_flag busy;
} mlc_state_memory;

/* Allocates the state of a program and copies its first values from the payload; 0 ok. */
int mlc_state_open(mlc_state_memory *state, const mlc_program *program, const char *payload);
/* Copies the first values of the state from the payload; nothing while that is not there. */
void mlc_state_begin(mlc_state_memory *state, const mlc_program *program, const char *payload);
void mlc_state_close(mlc_state_memory *state);

/* 0: this thread may use the state, until mlc_state_leave. */
int mlc_state_enter(mlc_state_memory *state, const mlc_program *program);
void mlc_state_leave(mlc_state_memory *state, const mlc_program *program);

/* Copies the state `name` from or to `value`; 0 ok. */
int mlc_state_copy(mlc_state_memory *state, const mlc_program *program, const char *name, void *to, const void *from);

/* SHA-256 (FIPS 180-4) as 64 lower-case hex digits and a NUL. */
void mlc_sha256_hex(const void *data, size_t bytes, char hex[65]);

#pragma GCC visibility pop

#endif
