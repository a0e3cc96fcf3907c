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

#include "tensor_map.h"

#define MLC_EMULATED 1
#define __device__
#define __global__
#define __grid_constant__
#define __cluster_dims__(x, y, z)
#define __forceinline__ inline
#define __launch_bounds__(threads, blocks)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __shared__ static __attribute__((section("mlc_shared")))
#define __syncthreads mlc_emulated_barrier
#define __syncthreads_or mlc_emulated_barrier_or
#define threadIdx mlc_emulated_state.thread
#define blockIdx mlc_emulated_state.block
#define blockDim mlc_emulated_state.threads
#define gridDim mlc_emulated_state.blocks

struct mlc_emulated_index { unsigned x; };
extern struct mlc_emulated_indices { mlc_emulated_index thread, block, threads, blocks; } mlc_emulated_state;

/* A matrix descriptor of wgmma: where it begins, its byte offsets, its swizzle and whether neighbours are across the sum. */
struct mlc_matrix {
  const char *start;
  int leading, stride, swizzle, across;
};

extern "C" {
void mlc_emulated_barrier(void);
int mlc_emulated_barrier_or(int vote);
int32_t mlc_emulated_arrive(int32_t *semaphore, int32_t most);
int32_t mlc_emulated_arrived(const int32_t *semaphore);
void mlc_emulated_order(int last_first, int old_news);
void mlc_emulated_fail(const char *what);
int64_t mlc_emulated_shuffle(int64_t value, int mask);
void mlc_emulated_copy_async(void *to, const void *from, int bytes, int valid);
void mlc_emulated_async_group(void);
void mlc_emulated_async_wait(int groups);
void mlc_emulated_proxy_fence(void);
void mlc_emulated_wgmma_fence(void);
void mlc_emulated_wgmma(void *c, int columns, struct mlc_matrix a, struct mlc_matrix b, int bytes, int left, int right);
void mlc_emulated_wgmma_group(void);
void mlc_emulated_wgmma_wait(int groups);
int mlc_emulated_encode_map(struct mlc_tensor_map *map, int type, unsigned rank, const void *start,
                            const uint64_t *extents, const uint64_t *strides, const uint32_t *box, int swizzle);
void mlc_emulated_warp(void);
void mlc_emulated_group_barrier(int first, int threads);
void mlc_emulated_bulk_store(const void *from, const struct mlc_tensor_map *map, int rank, const int *at);
void mlc_emulated_bulk_store_wait(int groups);
void mlc_emulated_mbarrier_init(int64_t *barrier, int count);
void mlc_emulated_mbarrier_arrive(int64_t *barrier, int bytes);
void mlc_emulated_mbarrier_wait(int64_t *barrier, int parity);
void mlc_emulated_bulk_copy(void *to, const struct mlc_tensor_map *map, int64_t *barrier, int rank, const int *at,
                            unsigned blocks);
int mlc_emulated_rank(void);
void mlc_emulated_cluster(int blocks);
void mlc_emulated_cluster_barrier(void);
void mlc_emulated_mbarrier_arrive_cluster(int64_t *barrier, unsigned blocks);
void mlc_emulated_launch(void (*kernel)(void **), void **args, int64_t blocks, int threads, int waits);
}

inline int32_t __shfl_xor_sync(unsigned, int32_t value, int mask) { return (int32_t)mlc_emulated_shuffle(value, mask); }
inline int64_t __shfl_xor_sync(unsigned, int64_t value, int mask) { return mlc_emulated_shuffle(value, mask); }

inline float __int_as_float(int bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
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

/* A register of another lane of the warp. */
inline uint32_t mlc_emulated_register_of(uint32_t value, unsigned lane) {
  return (uint32_t)mlc_emulated_shuffle((int32_t)value, (int)(threadIdx.x % 32 ^ lane));
}

/* mma.sync by the layout of its fragments (PTX ISA): a register has 32 / BITS neighbours along the sum. Lane 4 g + t has
 * of row g + 8 i the steps p t + e + 4 p j in register a[i + 2 j], of column g those in b[j], and c[g][2 t], c[g][2 t + 1],
 * c[g + 8][2 t], c[g + 8][2 t + 1]. LEFT and RIGHT are the factor's numbers from its bits. */
#define MLC_EMULATED_MMA(name, T, BITS, LEFT, RIGHT)                                               \
  inline void mlc_emulated_mma_##name(T *c0, T *c1, T *c2, T *c3, const uint32_t *a, const uint32_t *b) { \
    const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;                            \
    const uint32_t mask = (uint32_t)((1ull << BITS) - 1);                                          \
    for (unsigned j = 0; j < 2; j++)                                                               \
      for (unsigned m = 0; m < 4; m++) {                                                           \
        const uint32_t upper = mlc_emulated_register_of(a[2 * j], 4 * g + m);                      \
        const uint32_t lower = mlc_emulated_register_of(a[2 * j + 1], 4 * g + m);                  \
        const uint32_t first = mlc_emulated_register_of(b[j], 8 * t + m);                          \
        const uint32_t second = mlc_emulated_register_of(b[j], 8 * t + 4 + m);                     \
        for (unsigned e = 0; e < 32; e += BITS) {                                                  \
          const T u = LEFT(upper >> e & mask), l = LEFT(lower >> e & mask);                        \
          const T p = RIGHT(first >> e & mask), q = RIGHT(second >> e & mask);                     \
          *c0 += u * p, *c1 += u * q, *c2 += l * p, *c3 += l * q;                                  \
        }                                                                                          \
      }                                                                                            \
  }
inline float mlc_emulated_tf32(uint32_t bits) { return __int_as_float((int)(bits & ~(uint32_t)0x1fff)); }
inline float mlc_emulated_f16(uint32_t bits) { return mlc_emulated_float((uint16_t)bits); }
inline float mlc_emulated_bf16(uint32_t bits) { return __int_as_float((int)(bits << 16)); }
inline float mlc_emulated_e5m2(uint32_t bits) { return mlc_emulated_float((uint16_t)(bits << 8)); }
inline float mlc_emulated_e4m3(uint32_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const float x = exponent == 0 ? ldexpf((float)fraction, -9)
                  : (bits & 127) == 127 ? NAN : ldexpf((float)(fraction | 8), exponent - 10);
  return bits & 128 ? -x : x;
}
inline int32_t mlc_emulated_u8(uint32_t bits) { return (int32_t)bits; }
inline int32_t mlc_emulated_s8(uint32_t bits) { return (int8_t)bits; }
MLC_EMULATED_MMA(tf32_bits, float, 32, mlc_emulated_tf32, mlc_emulated_tf32)
MLC_EMULATED_MMA(f16, float, 16, mlc_emulated_f16, mlc_emulated_f16)
MLC_EMULATED_MMA(bf16, float, 16, mlc_emulated_bf16, mlc_emulated_bf16)
MLC_EMULATED_MMA(u8, int32_t, 8, mlc_emulated_u8, mlc_emulated_u8)
MLC_EMULATED_MMA(s8, int32_t, 8, mlc_emulated_s8, mlc_emulated_s8)
MLC_EMULATED_MMA(u8_s8, int32_t, 8, mlc_emulated_u8, mlc_emulated_s8)
MLC_EMULATED_MMA(s8_u8, int32_t, 8, mlc_emulated_s8, mlc_emulated_u8)

/* stmatrix: as ldmatrix, to memory. */
inline void mlc_emulated_stmatrix(void *row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const uint32_t r[4] = {r0, r1, r2, r3};
  if ((uintptr_t)row % 16) mlc_emulated_fail("an address of stmatrix that is no multiple of 16");
  for (unsigned i = 0; i < 4; i++) {
    uint32_t *words = (uint32_t *)mlc_emulated_shuffle((int64_t)row, (int)(lane ^ (8 * i + g)));
    words[t] = r[i];
  }
}

/* ldmatrix: lane 8 i + j has the address of row j of matrix i, a multiple of 16 bytes. */
inline void mlc_emulated_ldmatrix(uint32_t *const *r, unsigned count, bool transposed, const void *row) {
  const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  if (lane < 8 * count && (uintptr_t)row % 16) mlc_emulated_fail("an address of ldmatrix that is no multiple of 16");
  for (unsigned i = 0; i < count; i++)
    if (transposed) {
      const uint16_t *even = (const uint16_t *)mlc_emulated_shuffle((int64_t)row, (int)(lane ^ (8 * i + 2 * t)));
      const uint16_t *odd = (const uint16_t *)mlc_emulated_shuffle((int64_t)row, (int)(lane ^ (8 * i + 2 * t + 1)));
      *r[i] = even[g] | (uint32_t)odd[g] << 16;
    } else {
      const uint32_t *words = (const uint32_t *)mlc_emulated_shuffle((int64_t)row, (int)(lane ^ (8 * i + g)));
      *r[i] = words[t];
    }
}

#endif
