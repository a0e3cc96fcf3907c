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
  mlc_device *next;               /* the model in another context, where its tensors were */
  pthread_mutex_t opening;        /* of the first one: for `next` */
  long process;                   /* which made it */
  int ordinal, retained, images;  /* retained: the context is the device's primary one */
  mlc_context context;
  unsigned long long context_id;  /* which no later context has; 0: unknown */
  mlc_module *modules;     /* of each unit */
  mlc_function *functions; /* of each kernel */
  mlc_address state, weights, memory; /* `memory`: the run counter, staged inputs and outputs, and the arena */
  int64_t memory_bytes;
  mlc_address *kept; /* former `memory` that a graph of the caller's may use */
  int kept_count, captured;
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
  int capturing;      /* whether the caller captures it */
};

/* The context of a model that is opened: the thread's current one, else the primary one of the first device. 0 ok. */
int mlc_cuda_choose_context(mlc_device *d);

/* Uses a context of the caller's, of device `ordinal`. 0 ok. */
int mlc_cuda_use_context(mlc_device *d, mlc_context context, int ordinal);

/* Whether its context has not been destroyed, as far as the driver can say. */
int mlc_cuda_is_alive(const mlc_device *d);
void mlc_cuda_release_context(mlc_device *d);

/* Where tensors are: a context, or NULL where memory belongs to a device alone (pools); its device, or -1 where that is
 * not known; one of the tensors. */
typedef struct {
  mlc_context context;
  int ordinal, tensor;
} mlc_cuda_place;

/* The place of a call's tensors and stream. 0, or 1 and a message where they are in several, or overlap. */
int mlc_cuda_find_tensors(const mlc_device *d, const mlc_call *c, mlc_cuda_place *all);

/* The device with the context of a call's tensors, which is current then: `home` or one that is opened for them. NULL,
 * and a message, where they are in several, or in none. */
mlc_device *mlc_cuda_enter_context_of(mlc_device *home, const mlc_call *c);

/* The model of `home` in another context, which is current. NULL on failure. */
mlc_device *mlc_cuda_copy_device(mlc_device *home, mlc_context context, int ordinal);

/* Whether this process is a child of the one that made it, where CUDA does not work: then there is a message. */
int mlc_cuda_is_forked(const mlc_device *d);

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
