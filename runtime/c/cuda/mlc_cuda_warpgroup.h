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

/* The descriptor of 16 steps, from `step` on, of halves with STEPS neighbours in a row along the sum, or ACROSS it in
 * blocks of 64. Rows of 128, 64 and 32 bytes have swizzles 1, 2 and 3. */
template <int STEPS, bool ACROSS> MLC_DEVICE mlc_matrix mlc_matrix_of(const uint16_t *p, int step) {
  constexpr int row = ACROSS ? 128 : 2 * STEPS, swizzle = row == 128 ? 1 : row == 64 ? 2 : 3;
  constexpr int leading = ACROSS ? 128 * STEPS : 16, stride = 8 * row;
  const uint16_t *start = p + step * (ACROSS ? 64 : 1);
#ifdef MLC_EMULATED
  return {(const char *)start, leading, stride, swizzle, ACROSS};
#else
  const uint64_t at = (__cvta_generic_to_shared(start) & 0x3ffff) >> 4;
  return {at | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)swizzle << 62};
#endif
}

#ifndef MLC_EMULATED
#define MLC_SUMS_4(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define MLC_SUMS_8(i) MLC_SUMS_4(i), MLC_SUMS_4(i + 4)
#define MLC_SUMS_32(i) MLC_SUMS_8(i), MLC_SUMS_8(i + 8), MLC_SUMS_8(i + 16), MLC_SUMS_8(i + 24)
#define MLC_NAMES_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define MLC_NAMES_64 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, " \
  "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, " \
  "%61, %62, %63"
#define MLC_WGMMA(shape, type, names, rest, ...)                                                                       \
  asm volatile("wgmma.mma_async.sync.aligned." shape ".f32." type "." type " {" names "}, " rest ";"                  \
               : __VA_ARGS__ : "l"(a.bits), "l"(b.bits), "n"(ACROSS_A), "n"(ACROSS_B))
#define MLC_WGMMA_64(type) MLC_WGMMA("m64n64k16", type, MLC_NAMES_32, "%32, %33, 1, 1, 1, %34, %35", MLC_SUMS_32(0))
#define MLC_WGMMA_128(type)                                                                                            \
  MLC_WGMMA("m64n128k16", type, MLC_NAMES_64, "%64, %65, 1, 1, 1, %66, %67", MLC_SUMS_32(0), MLC_SUMS_32(32))
#endif

/* c += a b of 16 steps: 64 x N sums, of which a thread has those of the fragments of m16n8 in its warp's 16 rows. */
template <int N, bool BF16, bool ACROSS_A, bool ACROSS_B>
MLC_DEVICE void mlc_wgmma_step(float (&c)[N / 2], mlc_matrix a, mlc_matrix b) {
#ifdef MLC_EMULATED
  mlc_emulated_wgmma(c, N, a, b, BF16);
#else
  if constexpr (N == 128 && BF16) MLC_WGMMA_128("bf16");
  else if constexpr (N == 128) MLC_WGMMA_128("f16");
  else if constexpr (BF16) MLC_WGMMA_64("bf16");
  else MLC_WGMMA_64("f16");
#endif
}

/* c += a b of STEPS steps, between mlc_wgmma_begin and mlc_wgmma_end. */
template <int N, bool BF16, int STEPS, bool ACROSS_A, bool ACROSS_B>
MLC_DEVICE void mlc_wgmma(float (&c)[N / 2], const uint16_t *a, const uint16_t *b) {
#pragma unroll
  for (int step = 0; step < STEPS; step += 16)
    mlc_wgmma_step<N, BF16, ACROSS_A, ACROSS_B>(c, mlc_matrix_of<STEPS, ACROSS_A>(a, step),
                                                mlc_matrix_of<STEPS, ACROSS_B>(b, step));
}

/* Products may use what registers have; then all have arrived. */
MLC_DEVICE void mlc_wgmma_begin() {
#ifdef MLC_EMULATED
  mlc_emulated_wgmma_fence();
#else
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
MLC_DEVICE void mlc_wgmma_end() {
#ifdef MLC_EMULATED
  mlc_emulated_wgmma_group();
  mlc_emulated_wgmma_wait(0);
#else
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}

/* After the end: the compiler reads the sums no earlier. */
template <int N> MLC_DEVICE void mlc_wgmma_arrived(float (&c)[N]) {
#ifndef MLC_EMULATED
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+f"(c[i])::"memory");
#endif
}

#endif
