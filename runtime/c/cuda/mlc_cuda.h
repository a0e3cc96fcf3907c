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
  int counts_runs;                 /* whether a kernel reads the run counter */
  int64_t (*bytes)(int i, const int64_t *dim); /* of input i, or output i less the inputs */
} mlc_cuda_code;

/* What a program for CUDA has as `device`: MLC_CUDA_DEVICE(&code). */
mlc_device *mlc_cuda_device_open(const mlc_program *program, const char *weights);
void mlc_cuda_run(mlc_device *device, mlc_call *call);
int mlc_cuda_copy_state(mlc_device *device, const mlc_state_entry *entry, void *to, const void *from);
void mlc_cuda_device_close(mlc_device *device);
#define MLC_CUDA_DEVICE(c) {mlc_cuda_device_open, mlc_cuda_run, mlc_cuda_copy_state, mlc_cuda_device_close, c}

/* Records launch number `launch` of a kernel: so many blocks of so many threads. It takes `buffers` and then `dims`. */
void mlc_cuda_launch(mlc_call *c, int launch, int kernel, int64_t grid, int threads, int buffers, void *const *buffer,
                     int dims, const int64_t *dim);

/* Records a copy within the device's memory. */
void mlc_cuda_copy(mlc_call *c, void *target, const void *source, int64_t bytes);

/* What is recorded after it depends on everything recorded before. */
void mlc_cuda_barrier(mlc_call *c);

/* Steps on the host. Each runs what is recorded and waits for it. */
int64_t mlc_cuda_i64(mlc_call *c, const void *from);
int mlc_cuda_flag(mlc_call *c, const void *from);
void mlc_cuda_set_i64(mlc_call *c, void *to, int64_t value);
void mlc_cuda_nonzero(mlc_call *c, int size, const void *mask, int64_t n, void *where, void *count);
void mlc_cuda_measure(mlc_call *c, int size, const void *value, int64_t most, void *result, int grows, const char *why);

/* Calls a routine on copies of the step's buffers, of `in` and `out` bytes, in the host's memory. */
void mlc_cuda_routine(mlc_call *c, mlc_routine *routine, const mlc_step *step, const int64_t in[3], int64_t out);

/* The address of the run counter. */
void *mlc_cuda_counter(const mlc_call *c);

#pragma GCC visibility pop

#endif
