/* The ranks of a model, and the messages of its collectives under way. */
#ifndef MLC_RANKS_H
#define MLC_RANKS_H

#include "mlc_collectives.h"
#include "mlc_comm.h"
#include "mlc_internal.h"

#pragma GCC visibility push(hidden)

typedef struct {
  void *handle;
  int peer, receives;
} mlc_request;

/* One collective under way: its requests of this stage, and memory for what others send. */
typedef struct {
  mlc_collective what;
  int active, stage, requests, room;
  int rank, ranks; /* this rank in its group, and the ranks of that: all but where the collective says less */
  uint64_t number; /* in the order in which the model starts them, the same on all ranks */
  mlc_request *request;
  char *scratch;
  size_t scratch_bytes;
} mlc_slot;

struct mlc_ranks {
  const mlc_comm *comm;
  int rank, ranks, slots, broken;
  uint64_t started, offset; /* collectives so far; of the tags of this program */
  mlc_slot *slot;
  char error[1024];
};

/* Post a message of a stage to or from a rank of the group; 0 ok. One without bytes, or to this rank itself, is none. */
int mlc_post_send(mlc_ranks *r, mlc_slot *s, int to, const void *data, int64_t bytes);
int mlc_post_receive(mlc_ranks *r, mlc_slot *s, int from, void *data, int64_t bytes);

/* Scratch memory of a slot; NULL: the run has failed. */
char *mlc_slot_scratch(mlc_ranks *r, mlc_slot *s, size_t bytes);

/* Begin the stage `s->stage` of a collective, or end it: then s->active is 0. 0 ok. */
int mlc_stage(mlc_ranks *r, mlc_slot *s);

/* Advance a collective as far as its messages have come: 0, or 1 where one failed. */
int mlc_advance(mlc_ranks *r, mlc_slot *s);

/* Wait for a collective up to the limit; 0 ok. */
int mlc_wait_for(mlc_ranks *r, mlc_slot *s);

/* The run fails with a message; returns 1. */
__attribute__((format(printf, 2, 3))) int mlc_ranks_fail(mlc_ranks *r, const char *format, ...);

#pragma GCC visibility pop

#endif
