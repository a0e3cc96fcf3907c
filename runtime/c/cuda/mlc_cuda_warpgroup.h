/* Products of warpgroups: 128 threads of sm_90a multiply matrices that lie in shared memory (wgmma of PTX ISA 8.5,
 * "Asynchronous warpgroup level matrix instructions"). */
#ifndef MLC_CUDA_WARPGROUP_H
#define MLC_CUDA_WARPGROUP_H

#include "mlc_cuda_kernel.h"

/* What this thread has written to shared memory is there for wgmma, after a barrier. */
MLC_DEVICE void mlc_proxy_fence() {
#ifdef MLC_EMULATED
  mlc_emulated_proxy_fence();
#else
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#ifndef MLC_EMULATED
struct mlc_matrix { uint64_t bits; };
#endif

/* The element types of factors. */
enum mlc_factor { MLC_F16, MLC_BF16, MLC_TF32, MLC_U8, MLC_S8, MLC_E4M3, MLC_E5M2 };
MLC_DEVICE constexpr int mlc_factor_bytes(mlc_factor type) { return type == MLC_TF32 ? 4 : type < MLC_TF32 ? 2 : 1; }

template <mlc_factor A> struct mlc_sum { typedef float type; };
template <> struct mlc_sum<MLC_U8> { typedef int32_t type; };
template <> struct mlc_sum<MLC_S8> { typedef int32_t type; };

/* A matrix descriptor: an address in shared memory, two offsets in bytes, and a swizzle. */
MLC_DEVICE constexpr uint64_t mlc_descriptor(uint64_t at, int leading, int stride, int swizzle) {
  return (at & 0x3ffff) >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)swizzle << 62;
}

/* The descriptor of the first steps of one instruction (32 bytes), which all lanes of a warp have, of elements of SIZE bytes with STEPS
 * neighbours in a row along the sum, or of halves ACROSS it in blocks of 64. Rows of 128, 64 and 32 bytes have swizzles
 * 1, 2 and 3. Kernels compute it once: in a loop the address of each buffer would be shifted and masked again. */
template <int SIZE, int STEPS, bool ACROSS> MLC_DEVICE mlc_matrix mlc_matrix_of(const void *p) {
  constexpr int row = ACROSS ? 128 : SIZE * STEPS, swizzle = row == 128 ? 1 : row == 64 ? 2 : 3;
  constexpr int leading = ACROSS ? 128 * STEPS : 16, stride = 8 * row;
#ifdef MLC_EMULATED
  return {(const char *)p, leading, stride, swizzle, ACROSS};
#else
  const uint64_t bits = mlc_descriptor(__cvta_generic_to_shared(p), leading, stride, swizzle);
  return {bits >> 32 << 32 | (uint32_t)mlc_uniform((int)bits)};
#endif
}

#ifndef MLC_EMULATED
#define MLC_SUMS_8(kind, i) kind(c[i]), kind(c[i + 1]), kind(c[i + 2]), kind(c[i + 3]), kind(c[i + 4]), \
  kind(c[i + 5]), kind(c[i + 6]), kind(c[i + 7])
#define MLC_SUMS_32(kind, i) \
  MLC_SUMS_8(kind, i), MLC_SUMS_8(kind, i + 8), MLC_SUMS_8(kind, i + 16), MLC_SUMS_8(kind, i + 24)
#define MLC_NAMES_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define MLC_NAMES_64 MLC_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, " \
  "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define MLC_NAMES_128 MLC_NAMES_64 \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83," \
  " %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102," \
  " %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118," \
  " %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define MLC_SUMS_OF_64(kind) MLC_SUMS_32(kind, 0)
#define MLC_SUMS_OF_128(kind) MLC_SUMS_32(kind, 0), MLC_SUMS_32(kind, 32)
#define MLC_SUMS_OF_256(kind) MLC_SUMS_OF_128(kind), MLC_SUMS_32(kind, 64), MLC_SUMS_32(kind, 96)
/* What follows the sums: descriptors, whether to add, signs, and whether a matrix of halves has neighbours across. */
#define MLC_REST_64 "%32, %33, %34"
#define MLC_REST_128 "%64, %65, %66"
#define MLC_REST_256 "%128, %129, %130"
#define MLC_NAMES_OF_64 "{" MLC_NAMES_32 "}, "
#define MLC_NAMES_OF_128 "{" MLC_NAMES_64 "}, "
#define MLC_NAMES_OF_256 "{" MLC_NAMES_128 "}, "
#define MLC_ACROSS_64 ", 1, 1, %35, %36"
#define MLC_ACROSS_128 ", 1, 1, %67, %68"
#define MLC_ACROSS_256 ", 1, 1, %131, %132"

/* The instruction for N columns, if the factors are of these types. */
#define MLC_WGMMA(N, A, B, k, types, more, kind, ...)                                                                  \
  template <bool ACROSS_A, bool ACROSS_B, bool ADD>                                                                    \
  MLC_DEVICE void mlc_wgmma_of(mlc_factors<A, B>, mlc_columns<N>, mlc_sum<A>::type *c, mlc_matrix a, mlc_matrix b) {   \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #N k types " " MLC_NAMES_OF_##N MLC_REST_##N more ";"             \
                 : MLC_SUMS_OF_##N(kind) : "l"(a.bits), "l"(b.bits), "n"(ADD) __VA_ARGS__);                            \
  }
#define MLC_WGMMA_OF(A, B, k, types, signs, kind)                                                                      \
  MLC_WGMMA(64, A, B, k, types, signs, kind)                                                                           \
  MLC_WGMMA(128, A, B, k, types, signs, kind) MLC_WGMMA(256, A, B, k, types, signs, kind)
#define MLC_WGMMA_HALVES(A, types)                                                                                     \
  MLC_WGMMA(64, A, A, "k16", types, MLC_ACROSS_64, "+f", , "n"(ACROSS_A), "n"(ACROSS_B))                               \
  MLC_WGMMA(128, A, A, "k16", types, MLC_ACROSS_128, "+f", , "n"(ACROSS_A), "n"(ACROSS_B))                             \
  MLC_WGMMA(256, A, A, "k16", types, MLC_ACROSS_256, "+f", , "n"(ACROSS_A), "n"(ACROSS_B))
template <mlc_factor A, mlc_factor B> struct mlc_factors {};
template <int N> struct mlc_columns {};
MLC_WGMMA_HALVES(MLC_F16, ".f32.f16.f16")
MLC_WGMMA_HALVES(MLC_BF16, ".f32.bf16.bf16")
MLC_WGMMA_OF(MLC_TF32, MLC_TF32, "k8", ".f32.tf32.tf32", ", 1, 1", "+f")
MLC_WGMMA_OF(MLC_U8, MLC_U8, "k32", ".s32.u8.u8", "", "+r")
MLC_WGMMA_OF(MLC_U8, MLC_S8, "k32", ".s32.u8.s8", "", "+r")
MLC_WGMMA_OF(MLC_S8, MLC_U8, "k32", ".s32.s8.u8", "", "+r")
MLC_WGMMA_OF(MLC_S8, MLC_S8, "k32", ".s32.s8.s8", "", "+r")
MLC_WGMMA_OF(MLC_E4M3, MLC_E4M3, "k32", ".f32.e4m3.e4m3", ", 1, 1", "+f")
MLC_WGMMA_OF(MLC_E4M3, MLC_E5M2, "k32", ".f32.e4m3.e5m2", ", 1, 1", "+f")
MLC_WGMMA_OF(MLC_E5M2, MLC_E4M3, "k32", ".f32.e5m2.e4m3", ", 1, 1", "+f")
MLC_WGMMA_OF(MLC_E5M2, MLC_E5M2, "k32", ".f32.e5m2.e5m2", ", 1, 1", "+f")
#endif

/* c += a b of the steps of one instruction, or c = a b: 64 x N sums, of which a thread has those of the fragments of
 * m16n8 in its warp's 16 rows. */
template <int N, mlc_factor A, mlc_factor B, bool ACROSS_A, bool ACROSS_B, bool ADD>
MLC_DEVICE void mlc_wgmma_step(typename mlc_sum<A>::type *c, mlc_matrix a, mlc_matrix b) {
#ifdef MLC_EMULATED
  for (int i = 0; !ADD && i < N / 2; i++) c[i] = 0;
  mlc_emulated_wgmma(c, N, a, b, mlc_factor_bytes(A), A, B);
#else
  mlc_wgmma_of<ACROSS_A, ACROSS_B, ADD>(mlc_factors<A, B>(), mlc_columns<N>(), c, a, b);
#endif
}

/* The descriptor of the steps that begin BYTES bytes later. An address of shared memory has 18 bits: no carry leaves its
 * field. Of a constant it is one sum of 64 bits, and a buffer's place is added to the lower half: the other is known. */
MLC_DEVICE mlc_matrix mlc_matrix_after(mlc_matrix m, int bytes) {
#ifdef MLC_EMULATED
  m.start += bytes;
#else
  m.bits += (uint64_t)(bytes >> 4);
#endif
  return m;
}
MLC_DEVICE mlc_matrix mlc_matrix_at(mlc_matrix m, int bytes) {
#ifdef MLC_EMULATED
  m.start += bytes;
#else
  m.bits = m.bits >> 32 << 32 | (uint32_t)((uint32_t)m.bits + (uint32_t)(bytes >> 4));
#endif
  return m;
}

/* c += a b of STEPS steps, or c = a b, after mlc_wgmma_begin; mlc_wgmma_commit makes a group of these products. */
template <int N, mlc_factor A, mlc_factor B, int STEPS, bool ACROSS_A, bool ACROSS_B, bool ADD = true>
MLC_DEVICE void mlc_wgmma(typename mlc_sum<A>::type *c, mlc_matrix a, mlc_matrix b) {
  constexpr int size = mlc_factor_bytes(A), left = ACROSS_A ? 128 : size, right = ACROSS_B ? 128 : size;
  mlc_wgmma_step<N, A, B, ACROSS_A, ACROSS_B, ADD>(c, a, b);
#pragma unroll
  for (int step = 32 / size; step < STEPS; step += 32 / size)
    mlc_wgmma_step<N, A, B, ACROSS_A, ACROSS_B, true>(c, mlc_matrix_after(a, step * left),
                                                      mlc_matrix_after(b, step * right));
}

/* Products may use what registers have. What follows is a group of products, in flight until a wait for it. */
MLC_DEVICE void mlc_wgmma_begin() {
#ifdef MLC_EMULATED
  mlc_emulated_wgmma_fence();
#else
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
MLC_DEVICE void mlc_wgmma_commit() {
#ifdef MLC_EMULATED
  mlc_emulated_wgmma_group();
#else
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/* At most GROUPS groups, the last ones, are in flight. */
template <int GROUPS> MLC_DEVICE void mlc_wgmma_wait() {
#ifdef MLC_EMULATED
  mlc_emulated_wgmma_wait(GROUPS);
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GROUPS) : "memory");
#endif
}

/* After the wait: the compiler reads the sums no earlier. */
template <int N> MLC_DEVICE void mlc_wgmma_arrived(float (&c)[N]) {
#ifndef MLC_EMULATED
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+f"(c[i])::"memory");
#endif
}
template <int N> MLC_DEVICE void mlc_wgmma_arrived(int32_t (&c)[N]) {
#ifndef MLC_EMULATED
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+r"(c[i])::"memory");
#endif
}

#endif
