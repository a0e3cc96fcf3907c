/* The interface between the generated host program of a CUDA model and the runtime.
 *
 * The program's body runs on the calling thread. It records launches and copies on the device; a barrier ends a phase, of
 * which no step depends on another. What is recorded runs as one CUDA graph: at the end of the body, and before a step
 * on the host. After a failure every step does nothing. */
#ifndef MLC_CUDA_H
#define MLC_CUDA_H

#include "mlc_runtime.h"

#pragma GCC visibility push(hidden)

/* The description of a CUDA program; constant. */
typedef struct {
  const unsigned char *images;     /* the cubins (mlc_cuda_images.h) */
  int kernels;                     /* distinct ones */
  const char *const *symbols;      /* of each kernel */
  const int *units;                /* the unit of each kernel, from whose image it comes */
  const int *dynamic;              /* bytes of shared memory of each kernel that its launch asks for */
  int counts_runs;                 /* whether a kernel reads the run counter */
  int takes_aligned;               /* whether kernels take tensors that are aligned to 16 bytes */
  int64_t (*bytes)(int i, const int64_t *dim); /* of input i, or output i less the inputs */
  int64_t (*host_bytes)(const int64_t *dim);   /* of the buffers of steps on the host; -1: too many */
} mlc_cuda_code;

/* What a program for CUDA has as `device`: MLC_CUDA_DEVICE(&code). */
mlc_device *mlc_cuda_device_open(const mlc_program *program, const char *weights);
void mlc_cuda_run(mlc_device *device, mlc_call *call);
int mlc_cuda_copy_state(mlc_device *device, const mlc_state_entry *entry, void *to, const void *from);
void mlc_cuda_device_close(mlc_device *device);
#define MLC_CUDA_DEVICE(c) {mlc_cuda_device_open, mlc_cuda_run, mlc_cuda_copy_state, mlc_cuda_device_close, c}

/* A tensor map (CUtensorMap): a buffer of a launch as a tensor, and the box of it that a bulk copy takes. */
enum { MLC_MAP_AXES = 5 };
typedef struct {
  int buffer, itemsize, rank, span;  /* the buffer's number; bytes of an element; bytes of the rows of a swizzle, or 0 */
  int64_t extent[MLC_MAP_AXES];      /* in elements, the fastest axis first */
  int64_t stride[MLC_MAP_AXES];      /* in bytes, from the second axis on */
  int box[MLC_MAP_AXES];
} mlc_cuda_map;

/* Records launch number `launch` of a kernel: so many blocks of so many threads. It takes `buffers`, then `dims`, then
 * tensor `maps`. */
void mlc_cuda_launch(mlc_call *c, int launch, int kernel, int64_t grid, int threads, int buffers, void *const *buffer,
                     int dims, const int64_t *dim, int maps, const mlc_cuda_map *map);

/* Records a copy within the device's memory. */
void mlc_cuda_copy(mlc_call *c, void *target, const void *source, int64_t bytes);

/* What is recorded after it depends on everything recorded before. */
void mlc_cuda_barrier(mlc_call *c);

/* Copies between the device's memory and the host's, which run what is recorded first. A step on the host waits for
 * those to it. A copy from the host is also made where the run fails because a size needs more room. */
void mlc_cuda_download(mlc_call *c, void *target, const void *source, int64_t bytes);
void mlc_cuda_wait(mlc_call *c);
void mlc_cuda_upload(mlc_call *c, void *target, const void *source, int64_t bytes);

/* The memory of buffers of steps on the host. */
char *mlc_cuda_host(const mlc_call *c);

/* The address of the run counter. */
void *mlc_cuda_counter(const mlc_call *c);

#pragma GCC visibility pop

#endif
