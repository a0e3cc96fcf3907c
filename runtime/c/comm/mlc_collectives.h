/* Collectives, as generated code starts them and waits for them. */
#ifndef MLC_COLLECTIVES_H
#define MLC_COLLECTIVES_H

#include "mlc_runtime.h"

#pragma GCC visibility push(hidden)

enum { /* kinds */
  MLC_ALL_REDUCE,
  MLC_REDUCE_SCATTER,
  MLC_ALL_GATHER,
  MLC_ALL_TO_ALL,
  MLC_BROADCAST,
  MLC_PERMUTE,
  MLC_BARRIER,
  MLC_RANK,
  MLC_WORLD
};
enum { MLC_ADD, MLC_MUL, MLC_MAX, MLC_MIN };
enum { MLC_F32, MLC_F64, MLC_I8, MLC_I16, MLC_I32, MLC_I64, MLC_U8, MLC_U16, MLC_U32, MLC_U64 };

typedef struct {
  int kind, combine, element;
  int64_t count, size; /* elements of the operand, and bytes of each */
  int64_t units;       /* balanced blocks of that many units divide the whole, and `count` is its elements; 0: equal ones */
  const void *from;    /* the operand */
  void *to;            /* the result */
  int64_t lists, rows, row; /* of an all_to_all of lists: how many there are, the rows of each, the elements of a row */
  int root, pairs;     /* of a broadcast; of a permutation: how many pairs */
  const int64_t *pair; /* from, to, from, to, … */
  int ranks, stride;   /* of the group of this rank along an axis of a mesh; 0 ranks: all */
  const char *where;   /* "comm.all_reduce at train.py:12" */
} mlc_collective;

mlc_ranks *mlc_ranks_join(const mlc_program *program, const struct mlc_comm *comm, int refused);
int mlc_ranks_number(const struct mlc_comm *comm);
void mlc_ranks_leave(mlc_ranks *ranks);
void mlc_ranks_abandon(mlc_ranks *ranks);

/* In a phase, on one thread: begin the collective of a slot; wait until it has written its result. The run fails where
 * other ranks do not come within the limit. */
void mlc_start(mlc_call *c, int slot, const mlc_collective *what);
void mlc_wait(mlc_call *c, int slot);

/* to[0..count) = a combined with b, which `to` may be. */
void mlc_combine(int element, int combine, void *to, const void *a, const void *b, int64_t count);

#pragma GCC visibility pop

#endif
