/* The part of the CUDA driver API that a model calls, declared here so that neither cuda.h nor libcuda is needed to build
 * one. libcuda.so.1 is opened at run time. Source: CUDA Driver API, version 11.4 and later. */
#ifndef MLC_CUDA_DRIVER_H
#define MLC_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct CUctx_st *mlc_context;
typedef struct CUmod_st *mlc_module;
typedef struct CUfunc_st *mlc_function;
typedef struct CUstream_st *mlc_stream;
typedef struct CUevent_st *mlc_event;
typedef struct CUgraph_st *mlc_graph;
typedef struct CUgraphNode_st *mlc_node;
typedef struct CUgraphExec_st *mlc_graph_exec;
typedef unsigned long long mlc_address; /* of the device */

/* CUDA_KERNEL_NODE_PARAMS_v1 */
typedef struct {
  mlc_function function;
  unsigned grid[3], block[3], shared_bytes;
  void **params, **extra;
} mlc_kernel_node;

/* One side of CUDA_MEMCPY3D_v2, and all of it. */
typedef struct {
  size_t x_bytes, y, z, lod;
  unsigned memory_type;
  void *host;
  mlc_address device;
  void *array, *reserved;
  size_t pitch, height;
} mlc_copy_side;
typedef struct {
  mlc_copy_side source, target;
  size_t width_bytes, height, depth;
} mlc_copy_node;

enum {
  MLC_CUDA_OUT_OF_MEMORY = 2,
  MLC_CUDA_NOT_INITIALIZED = 3,
  MLC_CUDA_NO_DEVICE = 100,
  MLC_CUDA_INVALID_CONTEXT = 201, MLC_CUDA_DESTROYED_CONTEXT = 709,
  MLC_CUDA_CAPTURE_UNSUPPORTED = 900, MLC_CUDA_CAPTURE_LAST = 908, /* errors of what a capture does not allow */
  MLC_CUDA_ILLEGAL_ADDRESS = 700, MLC_CUDA_LAUNCH_TIMEOUT = 702, MLC_CUDA_ASSERT = 710, /* after these the context is */
  MLC_CUDA_STACK_ERROR = 714, MLC_CUDA_LAUNCH_FAILED = 719, /* lost, as after all from 714 to 719 */
  MLC_CUDA_MAJOR = 75, MLC_CUDA_MINOR = 76, /* device attributes: the compute capability */
  MLC_CUDA_HOST_MEMORY = 1, MLC_CUDA_DEVICE_MEMORY = 2,
  MLC_CUDA_CONTEXT_OF = 1, MLC_CUDA_MEMORY_OF = 2, MLC_CUDA_IS_MANAGED = 8, MLC_CUDA_DEVICE_OF = 9, /* of a pointer */
  MLC_CUDA_NO_CAPTURE = 0, MLC_CUDA_CAPTURE = 1, /* of a stream; 2: a capture that has failed */
  MLC_CUDA_DYNAMIC_BYTES = 8, /* attribute of a function: the most dynamic shared memory of a launch */
  MLC_CUDA_NON_BLOCKING = 1, /* streams: not ordered with the default stream */
  MLC_CUDA_NO_TIMING = 2,    /* events */
  MLC_CUDA_UINT8 = 0, MLC_CUDA_UINT16 = 1, MLC_CUDA_UINT32 = 2,                  /* tensor maps: types of elements */
  MLC_CUDA_SWIZZLE_32 = 1, MLC_CUDA_SWIZZLE_64 = 2, MLC_CUDA_SWIZZLE_128 = 3,    /* bytes of a row; 0: none */
  MLC_CUDA_NO_INTERLEAVE = 0, MLC_CUDA_ZEROS_OUTSIDE = 0, MLC_CUDA_PROMOTE_256 = 3, /* what L2 reads at a time */
  MLC_CUDA_OLDEST = 11040,   /* the driver's version: graphs with cuGraphInstantiateWithFlags */
};

/* F(name here, symbol, parameters...); each returns a CUresult. */
#define MLC_CUDA_FUNCTIONS(F)                                                                                       \
  F(init, cuInit, unsigned)                                                                                         \
  F(version, cuDriverGetVersion, int *)                                                                             \
  F(error_name, cuGetErrorName, int, const char **)                                                                 \
  F(error_string, cuGetErrorString, int, const char **)                                                             \
  F(device_count, cuDeviceGetCount, int *)                                                                          \
  F(device_get, cuDeviceGet, int *, int)                                                                            \
  F(device_name, cuDeviceGetName, char *, int, int)                                                                 \
  F(device_attribute, cuDeviceGetAttribute, int *, int, int)                                                        \
  F(context_retain, cuDevicePrimaryCtxRetain, mlc_context *, int)                                                   \
  F(context_release, cuDevicePrimaryCtxRelease_v2, int)                                                             \
  F(context_push, cuCtxPushCurrent_v2, mlc_context)                                                                 \
  F(context_pop, cuCtxPopCurrent_v2, mlc_context *)                                                                 \
  F(context_current, cuCtxGetCurrent, mlc_context *)                                                                \
  F(primary_state, cuDevicePrimaryCtxGetState, int, unsigned *, int *)                                              \
  F(current_device, cuCtxGetDevice, int *)                                                                          \
  F(pointer_attributes, cuPointerGetAttributes, unsigned, int *, void **, mlc_address)                              \
  F(module_load, cuModuleLoadData, mlc_module *, const void *)                                                      \
  F(module_unload, cuModuleUnload, mlc_module)                                                                      \
  F(module_function, cuModuleGetFunction, mlc_function *, mlc_module, const char *)                                 \
  F(function_attribute, cuFuncSetAttribute, mlc_function, int, int)                                                 \
  F(memory_alloc, cuMemAlloc_v2, mlc_address *, size_t)                                                             \
  F(memory_free, cuMemFree_v2, mlc_address)                                                                         \
  F(upload, cuMemcpyHtoDAsync_v2, mlc_address, const void *, size_t, mlc_stream)                                    \
  F(download, cuMemcpyDtoHAsync_v2, void *, mlc_address, size_t, mlc_stream)                                        \
  F(copy, cuMemcpyDtoDAsync_v2, mlc_address, mlc_address, size_t, mlc_stream)                                       \
  F(copy_from, cuMemcpyPeerAsync, mlc_address, mlc_context, mlc_address, mlc_context, size_t, mlc_stream)           \
  F(fill, cuMemsetD32Async, mlc_address, unsigned, size_t, mlc_stream)                                              \
  F(stream_create, cuStreamCreate, mlc_stream *, unsigned)                                                          \
  F(stream_destroy, cuStreamDestroy_v2, mlc_stream)                                                                 \
  F(stream_synchronize, cuStreamSynchronize, mlc_stream)                                                            \
  F(stream_context, cuStreamGetCtx, mlc_stream, mlc_context *)                                                      \
  F(stream_capturing, cuStreamIsCapturing, mlc_stream, int *)                                                       \
  F(stream_wait, cuStreamWaitEvent, mlc_stream, mlc_event, unsigned)                                                \
  F(event_create, cuEventCreate, mlc_event *, unsigned)                                                             \
  F(event_destroy, cuEventDestroy_v2, mlc_event)                                                                    \
  F(event_record, cuEventRecord, mlc_event, mlc_stream)                                                             \
  F(event_synchronize, cuEventSynchronize, mlc_event)                                                               \
  F(event_elapsed, cuEventElapsedTime, float *, mlc_event, mlc_event)                                               \
  F(launch, cuLaunchKernel, mlc_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
    mlc_stream, void **, void **)                                                                                   \
  F(graph_create, cuGraphCreate, mlc_graph *, unsigned)                                                             \
  F(graph_destroy, cuGraphDestroy, mlc_graph)                                                                       \
  F(graph_kernel, cuGraphAddKernelNode, mlc_node *, mlc_graph, const mlc_node *, size_t, const mlc_kernel_node *)   \
  F(graph_copy, cuGraphAddMemcpyNode, mlc_node *, mlc_graph, const mlc_node *, size_t, const mlc_copy_node *,       \
    mlc_context)                                                                                                    \
  F(graph_empty, cuGraphAddEmptyNode, mlc_node *, mlc_graph, const mlc_node *, size_t)                              \
  F(graph_instantiate, cuGraphInstantiateWithFlags, mlc_graph_exec *, mlc_graph, unsigned long long)                \
  F(exec_kernel, cuGraphExecKernelNodeSetParams, mlc_graph_exec, mlc_node, const mlc_kernel_node *)                 \
  F(exec_copy, cuGraphExecMemcpyNodeSetParams, mlc_graph_exec, mlc_node, const mlc_copy_node *, mlc_context)        \
  F(exec_launch, cuGraphLaunch, mlc_graph_exec, mlc_stream)                                                         \
  F(exec_destroy, cuGraphExecDestroy, mlc_graph_exec)

/* Those of drivers for CUDA 12.0 and later; NULL in others. */
#define MLC_CUDA_LATER_FUNCTIONS(F)                                                                                 \
  F(context_id, cuCtxGetId, mlc_context, unsigned long long *)                                                      \
  F(encode_map, cuTensorMapEncodeTiled, void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,          \
    const uint32_t *, const uint32_t *, int, int, int, int)

typedef struct {
#define MLC_CUDA_FIELD(name, symbol, ...) int (*name)(__VA_ARGS__);
  MLC_CUDA_FUNCTIONS(MLC_CUDA_FIELD)
  MLC_CUDA_LATER_FUNCTIONS(MLC_CUDA_FIELD)
#undef MLC_CUDA_FIELD
} mlc_cuda_driver;

/* The driver, opened and initialized once; NULL on failure, with a message for mlc_error(). */
const mlc_cuda_driver *mlc_cuda_open(void);

/* 0, or mlc_fail with what CUDA says of `result`. `what`: "cannot launch a kernel of model". */
int mlc_cuda_check(int result, const char *what, const char *name);

#pragma GCC visibility pop

#endif
