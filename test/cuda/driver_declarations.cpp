/* What mlc_cuda_driver.h declares is what the toolkit's cuda.h does. It compiles where that is so. */
#define __CUDA_API_VERSION_INTERNAL /* all versions of each function, by the names that the library exports */
#include <cuda.h>

#include <cstddef>
#include <type_traits>

extern "C" {
#include "mlc_cuda_driver.h"
}

template <class T> constexpr bool pointer = std::is_pointer_v<T>;
template <class A, class B> constexpr bool alike = sizeof(A) == sizeof(B) && pointer<A> == pointer<B>;
template <class F, class G> struct same : std::false_type {};
template <class R, class... A, class S, class... B> struct same<R (*)(A...), S (*)(B...)> {
  static constexpr bool parameters() {
    if constexpr (sizeof...(A) == sizeof...(B)) return (alike<A, B> && ...);
    else return false;
  }
  static constexpr bool value = parameters() && alike<R, S>;
};
#define SAME(name, symbol, ...) static_assert(same<int (*)(__VA_ARGS__), decltype(&symbol)>::value, #symbol);
MLC_CUDA_FUNCTIONS(SAME)
MLC_CUDA_LATER_FUNCTIONS(SAME)

#define FIELD(own, theirs, a, b) static_assert(offsetof(own, a) == offsetof(theirs, b), #b);
#define OF_KERNEL(a, b) FIELD(mlc_kernel_node, CUDA_KERNEL_NODE_PARAMS_v1, a, b)
#define OF_COPY(a, b) FIELD(mlc_copy_node, CUDA_MEMCPY3D, a, b)
static_assert(sizeof(mlc_kernel_node) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
OF_KERNEL(function, func) OF_KERNEL(grid, gridDimX) OF_KERNEL(block, blockDimX) OF_KERNEL(shared_bytes, sharedMemBytes)
OF_KERNEL(params, kernelParams) OF_KERNEL(extra, extra)
static_assert(sizeof(mlc_copy_node) == sizeof(CUDA_MEMCPY3D));
OF_COPY(source.x_bytes, srcXInBytes) OF_COPY(source.y, srcY) OF_COPY(source.z, srcZ) OF_COPY(source.lod, srcLOD)
OF_COPY(source.memory_type, srcMemoryType) OF_COPY(source.host, srcHost) OF_COPY(source.device, srcDevice)
OF_COPY(source.array, srcArray) OF_COPY(source.pitch, srcPitch) OF_COPY(source.height, srcHeight)
OF_COPY(target, dstXInBytes) OF_COPY(target.memory_type, dstMemoryType) OF_COPY(target.device, dstDevice)
OF_COPY(target.height, dstHeight) OF_COPY(width_bytes, WidthInBytes) OF_COPY(height, Height) OF_COPY(depth, Depth)

#define VALUE(own, theirs) static_assert((int)own == (int)theirs, #theirs);
VALUE(MLC_CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY)
VALUE(MLC_CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE)
VALUE(MLC_CUDA_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
VALUE(MLC_CUDA_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
VALUE(MLC_CUDA_DEVICE_MEMORY, CU_MEMORYTYPE_DEVICE)
VALUE(MLC_CUDA_DYNAMIC_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
VALUE(MLC_CUDA_NON_BLOCKING, CU_STREAM_NON_BLOCKING)
VALUE(MLC_CUDA_NO_TIMING, CU_EVENT_DISABLE_TIMING)
VALUE(MLC_CUDA_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT8)
VALUE(MLC_CUDA_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT16)
VALUE(MLC_CUDA_UINT32, CU_TENSOR_MAP_DATA_TYPE_UINT32)
VALUE(MLC_CUDA_SWIZZLE_32, CU_TENSOR_MAP_SWIZZLE_32B)
VALUE(MLC_CUDA_SWIZZLE_64, CU_TENSOR_MAP_SWIZZLE_64B)
VALUE(MLC_CUDA_SWIZZLE_128, CU_TENSOR_MAP_SWIZZLE_128B)
VALUE(MLC_CUDA_NO_INTERLEAVE, CU_TENSOR_MAP_INTERLEAVE_NONE)
VALUE(MLC_CUDA_PROMOTE_256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
VALUE(MLC_CUDA_ZEROS_OUTSIDE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
