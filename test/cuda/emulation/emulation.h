/* The CUDA language for g++: a unit of kernels runs on the CPU, its threads as fibers, and each access is checked.
 *
 * Units are compiled with -fsanitize=thread, whose calls at each access emulation.cpp answers instead of the
 * sanitizer's library: two threads of a block that access one element between two barriers, two blocks that do in one
 * launch, and accesses beyond the registered buffers are errors. */
#ifndef MLC_EMULATION_H
#define MLC_EMULATION_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define MLC_EMULATED 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads, blocks)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static __attribute__((section("mlc_shared")))
#define __syncthreads mlc_emulated_barrier
#define threadIdx mlc_emulated_state.thread
#define blockIdx mlc_emulated_state.block
#define blockDim mlc_emulated_state.threads
#define gridDim mlc_emulated_state.blocks

struct mlc_emulated_index { unsigned x; };
extern struct mlc_emulated_indices { mlc_emulated_index thread, block, threads, blocks; } mlc_emulated_state;

extern "C" {
void mlc_emulated_barrier(void);
int64_t mlc_emulated_shuffle(int64_t value, int mask);
void mlc_emulated_copy_async(void *to, const void *from, int bytes, int valid);
void mlc_emulated_async_group(void);
void mlc_emulated_async_wait(int groups);
void mlc_emulated_launch(void (*kernel)(void **), void **args, int64_t blocks, int threads, int waits);
}

inline int32_t __shfl_xor_sync(unsigned, int32_t value, int mask) { return (int32_t)mlc_emulated_shuffle(value, mask); }
inline int64_t __shfl_xor_sync(unsigned, int64_t value, int mask) { return mlc_emulated_shuffle(value, mask); }

inline float __int_as_float(int bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The value of another lane of the warp. */
inline float mlc_emulated_lane(uint32_t value, unsigned lane) {
  const int32_t bits = (int32_t)mlc_emulated_shuffle((int32_t)value, (int)(threadIdx.x % 32 ^ lane));
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* mma.m16n8k8 by the layout of its fragments (PTX ISA): lane 4 g + t has a[g][t], a[g+8][t], a[g][t+4], a[g+8][t+4],
 * b[t][g], b[t+4][g], and c[g][2t], c[g][2t+1], c[g+8][2t], c[g+8][2t+1]. */
inline void mlc_emulated_mma(float *c0, float *c1, float *c2, float *c3, uint32_t a0, uint32_t a1, uint32_t a2,
                             uint32_t a3, uint32_t b0, uint32_t b1) {
  const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  for (unsigned k = 0; k < 8; k++) {
    const uint32_t upper = k < 4 ? a0 : a2, lower = k < 4 ? a1 : a3, right = k < 4 ? b0 : b1;
    const float u = mlc_emulated_lane(upper, 4 * g + k % 4), l = mlc_emulated_lane(lower, 4 * g + k % 4);
    const float p = mlc_emulated_lane(right, 8 * t + k % 4), q = mlc_emulated_lane(right, 8 * t + 4 + k % 4);
    *c0 += u * p, *c1 += u * q, *c2 += l * p, *c3 += l * q;
  }
}

/* Half precision by integers, rounded to the nearest, ties to even. */
inline float mlc_emulated_float(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  float x = exponent == 31  ? (fraction ? NAN : INFINITY)
            : exponent == 0 ? ldexpf((float)fraction, -24)
                            : ldexpf((float)(fraction | 1024), exponent - 25);
  return h & 0x8000 ? -x : x;
}

inline uint16_t mlc_emulated_half(double x) {
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  const double size = fabs(x);
  if (x != x) return 0x7e00;
  if (size >= 65520) return (uint16_t)(sign | 0x7c00);
  int exponent = size < 0x1p-14 ? -14 : ilogb(size);
  const int steps = (int)rint(ldexp(size, 10 - exponent)); /* of the last bit */
  return (uint16_t)(sign | (size < 0x1p-14 ? steps : ((exponent + 14) << 10) + steps));
}
inline uint16_t mlc_emulated_half(float x) { return mlc_emulated_half((double)x); }

#endif
