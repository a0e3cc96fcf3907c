/* The table mlc_comm of an MPI communicator, for programs that use MPI: compile them with mpicc.
 *
 *   MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
 *   const mlc_comm *comm = mlc_comm_mpi_open(MPI_COMM_WORLD, 60);
 *   if (!comm || net_join(model, comm)) …
 *
 * Messages are MPI_Isend and MPI_Irecv, so a wait that is over its limit knows which ranks are missing. */
#ifndef MLC_COMM_MPI_H
#define MLC_COMM_MPI_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mlc_comm.h"

enum { MLC_MPI_PART = 1 << 30 }; /* bytes of a message: MPI counts in int */

typedef struct {
  mlc_comm table;
  MPI_Comm comm;
  char error[MPI_MAX_ERROR_STRING];
} mlc_mpi;

typedef struct {
  int parts;
  MPI_Request part[];
} mlc_mpi_request;

static int mlc_mpi_failed(mlc_mpi *m, int code) {
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, m->error, &length);
  return code != MPI_SUCCESS;
}

static void *mlc_mpi_post(mlc_mpi *m, int sends, int peer, int tag, char *data, int64_t bytes) {
  int64_t parts = (bytes + MLC_MPI_PART - 1) / MLC_MPI_PART;
  mlc_mpi_request *made = malloc(sizeof *made + (size_t)parts * sizeof *made->part);
  if (!made) return snprintf(m->error, sizeof m->error, "out of memory"), NULL;
  for (made->parts = 0; made->parts < parts; made->parts++, bytes -= MLC_MPI_PART, data += MLC_MPI_PART) {
    int size = bytes < MLC_MPI_PART ? (int)bytes : MLC_MPI_PART;
    MPI_Request *request = &made->part[made->parts];
    int code = sends ? MPI_Isend(data, size, MPI_BYTE, peer, tag, m->comm, request)
                     : MPI_Irecv(data, size, MPI_BYTE, peer, tag, m->comm, request);
    if (mlc_mpi_failed(m, code)) return free(made), NULL;
  }
  return made;
}

static void *mlc_mpi_send(void *self, int to, int tag, const void *data, int64_t bytes) {
  return mlc_mpi_post(self, 1, to, tag, (char *)data, bytes);
}

static void *mlc_mpi_receive(void *self, int from, int tag, void *data, int64_t bytes) {
  return mlc_mpi_post(self, 0, from, tag, data, bytes);
}

static int mlc_mpi_test(void *self, void *request) {
  mlc_mpi_request *r = request;
  int done = 0, failed = mlc_mpi_failed(self, MPI_Testall(r->parts, r->part, &done, MPI_STATUSES_IGNORE));
  if (done || failed) free(r);
  return failed ? -1 : done;
}

static void mlc_mpi_cancel(void *self, void *request) {
  mlc_mpi_request *r = request;
  (void)self;
  for (int n = 0; n < r->parts; n++)
    if (r->part[n] != MPI_REQUEST_NULL) MPI_Cancel(&r->part[n]), MPI_Request_free(&r->part[n]);
  free(r);
}

static const char *mlc_mpi_error(void *self) { return ((mlc_mpi *)self)->error; }

/* A copy of the communicator, whose messages meet no others. All its ranks call this at once; NULL: some do not come within
 * `limit` seconds, or MPI fails. The table lives until MPI_Finalize. */
static inline const mlc_comm *mlc_comm_mpi_open(MPI_Comm world, double limit) {
  mlc_mpi *m = calloc(1, sizeof *m);
  MPI_Request request;
  if (!m || MPI_Comm_idup(world, &m->comm, &request) != MPI_SUCCESS) return free(m), NULL;
  int done = 0;
  for (double begin = MPI_Wtime(); !done && MPI_Wtime() - begin < limit;)
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return NULL;
  if (!done) return NULL;
  MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
  m->table = (mlc_comm){MLC_COMM_VERSION, 0, 0, limit, m, mlc_mpi_send, mlc_mpi_receive, mlc_mpi_test, mlc_mpi_cancel,
                        mlc_mpi_error};
  MPI_Comm_rank(m->comm, &m->table.rank);
  MPI_Comm_size(m->comm, &m->table.ranks);
  return &m->table;
}

#endif
