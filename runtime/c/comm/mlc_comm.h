/* How a model reaches the other ranks that run it: a table of functions, which the program that loads the model gives to
 * <prefix>_join. The model links no library for it. mlc_comm_mpi.h makes the table of an MPI communicator.
 *
 * One thread at a time calls these functions, not always the same one (MPI: MPI_THREAD_SERIALIZED). */
#ifndef MLC_COMM_H
#define MLC_COMM_H

#include <stdint.h>

#define MLC_COMM_VERSION 1

typedef struct mlc_comm {
  int version; /* MLC_COMM_VERSION */
  int rank, ranks;
  double limit; /* seconds that a wait for other ranks may take */
  void *self;   /* the first argument of each function */
  /* Begin to send `bytes` to a rank, or to receive them from one; NULL on failure. Between two ranks, messages of a tag
   * arrive in order. 0 <= tag < 32768. The memory is the caller's, and must stay as it is until the request has ended. */
  void *(*send)(void *self, int to, int tag, const void *data, int64_t bytes);
  void *(*receive)(void *self, int from, int tag, void *data, int64_t bytes);
  int (*test)(void *self, void *request);    /* 1: it has ended, and is gone; 0: not yet; -1: it has failed, and is gone */
  void (*cancel)(void *self, void *request); /* end a request whose other side does not come */
  const char *(*error)(void *self);          /* what went wrong last */
} mlc_comm;

#endif
