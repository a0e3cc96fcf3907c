/* Shared by the sources of the CUDA runtime. */
#ifndef MLC_CUDA_DEVICE_H
#define MLC_CUDA_DEVICE_H

#include <pthread.h>

#include "mlc_cuda.h"
#include "mlc_cuda_driver.h"
#include "mlc_internal.h"

#pragma GCC visibility push(hidden)

/* What a segment does: its steps one after another, each some words. */
typedef struct {
  uint64_t *words;
  size_t count, room, nodes; /* words used and allocated; steps */
  uint64_t phase;            /* of the next step */
  int open;                  /* whether this phase has a step */
} mlc_record;

/* A segment as an instantiated graph. */
typedef struct {
  mlc_record record;
  uint64_t topology, used; /* digest of what an update cannot change; when it was used last */
  mlc_node *nodes;
  mlc_graph graph;
  mlc_graph_exec exec;
} mlc_segment;

enum { MLC_SEGMENTS = 32, MLC_PAIRS = 256 };

struct mlc_device {
  const mlc_program *program;
  const mlc_cuda_code *code;
  const mlc_cuda_driver *cuda;
  int ordinal, has_context, images;
  mlc_context context;
  mlc_module *modules;     /* of each unit */
  mlc_function *functions; /* of each kernel */
  mlc_address state, weights, memory; /* `memory`: the run counter, staged inputs and outputs, and the arena */
  int64_t memory_bytes;
  mlc_stream stream; /* of runs with tensors in the host's memory */
  mlc_event done;    /* the end of the last run */
  pthread_mutex_t turn; /* one run at a time: they share the memory */
  mlc_record record;
  mlc_segment segments[MLC_SEGMENTS];
  uint64_t clock;
  char *host; /* the buffers of steps on the host */
  int64_t host_bytes;
  mlc_event started[MLC_PAIRS], ended[MLC_PAIRS]; /* of launches in a profiled run */
  int timed[MLC_PAIRS], pairs;
  mlc_stream current; /* of this run */
};

/* Runs what has been recorded; `forget` does not. */
void mlc_cuda_flush(mlc_call *c);
void mlc_cuda_forget(mlc_device *d);

/* Forgets all graphs: the addresses in them have changed. */
void mlc_cuda_drop_segments(mlc_device *d);

/* Adds the times of launches to the profile; waits for them. */
void mlc_cuda_collect_times(mlc_call *c);

/* Encodes a tensor map of `buffer` to MLC_MAP_WORDS words, aligned to 64 bytes. Returns 0; else the run has failed. */
enum { MLC_MAP_WORDS = 16 };
int mlc_cuda_encode_map(mlc_call *c, uint64_t *words, const mlc_cuda_map *map, void *const *buffer);

/* Whether a call of the driver failed, which ends the run. */
int mlc_cuda_failed(mlc_call *c, int result, const char *what);

#pragma GCC visibility pop

#endif
