/* Vectors for generated code, in GCC/Clang vector extensions: types <element><bits>x<lanes> (f32x16, i64x8, u8x4, ...)
 * of f32 f64 i8 u8 i16 u16 i32 u32 i64 u64 with 4, 8 and 16 lanes, and for each type V of elements T:
 *
 *   V##_u                        V at any address that is aligned for T, and aliasing anything
 *   V##_m                        what a comparison of two V gives: all ones or all zeros a lane
 *   V mlc_load_V(const T *p)                 V mlc_load_n_V(const T *p, int64_t n)    the first n lanes, then zeros
 *   void mlc_store_V(T *p, V v)              void mlc_store_n_V(T *p, V v, int64_t n) the first n lanes
 *   V mlc_fill_V(T x)                        V mlc_blend_V(V##_m mask, V yes, V no)
 *   V mlc_maximum_V(V, V)                    V mlc_minimum_V(V, V)
 *   T mlc_reduce_{add,mul,maximum,minimum}_V(V)
 *   i32x<lanes> mlc_{eq,ne,lt,le,gt,ge}_V(V, V)       of 64-bit elements
 *   V mlc_load_every_S_V(const T *p)         V mlc_load_every_S_n_V(const T *p, int64_t n)   of p[0], p[S], p[2 S], ...
 *
 * for S of 2, 3 and 4, and of elements of 1 and 4 bytes also
 *
 *   void mlc_transpose_V(V *v)               exchanges lane j of v[i] and lane i of v[j], for all of its lanes
 *
 * A file may ask for some elements only, and go without strided loads or transpositions (the last three): mlc_parts.h.
 *
 * 0 <= n <= lanes; nothing beyond lane n is touched. Maximum and minimum give NaN where one of the operands is NaN (as
 * IEEE 754-2019 maximum, but either zero may win). Reductions fold the upper half onto the lower until one lane is
 * left, on every machine. MLC_VEC(T, V, lanes) defines another type with all of this.
 *
 * GCC 12 scalarizes a comparison of vectors wider than the machine's (MLC_VECTOR_BYTES): correct, but slow. This header
 * then works by halves. Built on the compiler's builtins, as <immintrin.h> costs 0.25 s a
 * translation unit. Compile with -fwrapv where integers must wrap, and with -Wno-psabi: wide vectors as parameters
 * depend on the instruction set, which is harmless in functions that are all inlined. */
#ifndef MLC_VEC_H
#define MLC_VEC_H

#include <stdint.h>
#include <string.h>

#include "mlc_parts.h"

#if defined __AVX512F__
#define MLC_VECTOR_BYTES 64
#elif defined __AVX2__
#define MLC_VECTOR_BYTES 32
#else
#define MLC_VECTOR_BYTES 16
#endif

#define MLC_INLINE static inline __attribute__((always_inline, unused))

/* ---- the parts a vector type is defined from ---- */

#define MLC_VEC_TYPE(T, V, L)                                                                       \
  typedef T V __attribute__((vector_size(sizeof(T) * L)));                                          \
  typedef T V##_u __attribute__((vector_size(sizeof(T) * L), aligned(__alignof__(T)), may_alias));  \
  typedef __typeof__((V){0} < (V){0}) V##_m;                                                        \
  MLC_INLINE V mlc_load_##V(const T *p) { return *(const V##_u *)p; }                               \
  MLC_INLINE void mlc_store_##V(T *p, V v) { *(V##_u *)p = v; }                                     \
  MLC_INLINE V mlc_fill_##V(T x) { return x - (V){0}; }                                             \
  MLC_INLINE V mlc_blend_##V(V##_m mask, V yes, V no) { return (V)((mask & (V##_m)yes) | (~mask & (V##_m)no)); }

/* ---- lanes of two vectors: those of the first are numbered from 0, those of the second from L ---- */

#if defined __clang__ || __GNUC__ >= 12
#define MLC_SHUFFLE(V, L, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MLC_SHUFFLE(V, L, a, b, ...)                                             \
  __extension__({                                                                \
    V both_[2] = {a, b}, lanes_;                                                 \
    const int at_[L] = {__VA_ARGS__};                                            \
    for (int i_ = 0; i_ < L; i_++) lanes_[i_] = both_[at_[i_] / L][at_[i_] % L]; \
    lanes_;                                                                      \
  })
#endif
#define MLC_EACH_4(F, L, i) F(i, L), F(i + 1, L), F(i + 2, L), F(i + 3, L)
#define MLC_EACH_8(F, L, i) MLC_EACH_4(F, L, i), MLC_EACH_4(F, L, i + 4)
#define MLC_EACH_16(F, L, i) MLC_EACH_8(F, L, i), MLC_EACH_8(F, L, i + 8)
#define MLC_EACH_32(F, L, i) MLC_EACH_16(F, L, i), MLC_EACH_16(F, L, i + 16)
#define MLC_PICK(V, L, F, a, b) MLC_SHUFFLE(V, L, a, b, MLC_EACH_##L(F, L, 0))

/* Every second or third element, from overlapping loads, so that no element after the last needed one is read. */
#define MLC_EVERY_2(i, L) (2 * (i) < L ? 2 * (i) : 2 * (i) + 1)
#define MLC_EVERY_3(i, L) (3 * (i) < 2 * L ? 3 * (i) : 0)
#define MLC_AND_LAST_3(i, L) (3 * (i) < 2 * L ? (i) : 3 * (i) - L + 2)
#define MLC_BETWEEN(n, L) ((n) < 0 ? 0 : (n) < L ? (n) : L)

#if !MLC_HAS_PART(MLC_USE_STRIDED)
#define MLC_VEC_EVERY(T, V, L)
#else
#define MLC_VEC_EVERY(T, V, L)                                                                      \
  MLC_INLINE V mlc_load_every_2_##V(const T *p) {                                                   \
    return MLC_PICK(V, L, MLC_EVERY_2, mlc_load_##V(p), mlc_load_##V(p + L - 1));                   \
  }                                                                                                 \
  MLC_INLINE V mlc_load_every_2_n_##V(const T *p, int64_t n) {                                      \
    V low = mlc_load_n_##V(p, MLC_BETWEEN(2 * n - 1, L));                                           \
    return MLC_PICK(V, L, MLC_EVERY_2, low, mlc_load_n_##V(p + L - 1, MLC_BETWEEN(2 * n - L, L)));  \
  }                                                                                                 \
  MLC_INLINE V mlc_load_every_3_##V(const T *p) {                                                   \
    V low = MLC_PICK(V, L, MLC_EVERY_3, mlc_load_##V(p), mlc_load_##V(p + L));                      \
    return MLC_PICK(V, L, MLC_AND_LAST_3, low, mlc_load_##V(p + 2 * L - 2));                        \
  }                                                                                                 \
  MLC_INLINE V mlc_load_every_3_n_##V(const T *p, int64_t n) {                                      \
    V low = mlc_load_n_##V(p, MLC_BETWEEN(3 * n - 2, L));                                           \
    low = MLC_PICK(V, L, MLC_EVERY_3, low, mlc_load_n_##V(p + L, MLC_BETWEEN(3 * n - 2 - L, L)));   \
    V high = mlc_load_n_##V(p + 2 * L - 2, MLC_BETWEEN(3 * n - 2 * L, L));                          \
    return MLC_PICK(V, L, MLC_AND_LAST_3, low, high);                                               \
  }                                                                                                 \
  MLC_INLINE V mlc_load_every_4_##V(const T *p) {                                                   \
    return MLC_PICK(V, L, MLC_EVERY_2, mlc_load_every_2_##V(p), mlc_load_every_2_##V(p + 2 * L - 2)); \
  }                                                                                                 \
  MLC_INLINE V mlc_load_every_4_n_##V(const T *p, int64_t n) {                                      \
    V low = mlc_load_every_2_n_##V(p, MLC_BETWEEN(2 * n - 1, L));                                   \
    V high = mlc_load_every_2_n_##V(p + 2 * L - 2, MLC_BETWEEN(2 * n - L, L));                      \
    return MLC_PICK(V, L, MLC_EVERY_2, low, high);                                                  \
  }
#endif

/* A transposition: swaps blocks of h lanes with blocks of h vectors, for h = L / 2, ..., 1. */
#define MLC_FIRST_OF(h, i, L) ((i) & h ? L + (i) - h : (i))
#define MLC_SECOND_OF(h, i, L) ((i) & h ? L + (i) : (i) + h)
#define MLC_FIRST_1(i, L) MLC_FIRST_OF(1, i, L)
#define MLC_FIRST_2(i, L) MLC_FIRST_OF(2, i, L)
#define MLC_FIRST_4(i, L) MLC_FIRST_OF(4, i, L)
#define MLC_FIRST_8(i, L) MLC_FIRST_OF(8, i, L)
#define MLC_SECOND_1(i, L) MLC_SECOND_OF(1, i, L)
#define MLC_SECOND_2(i, L) MLC_SECOND_OF(2, i, L)
#define MLC_SECOND_4(i, L) MLC_SECOND_OF(4, i, L)
#define MLC_SECOND_8(i, L) MLC_SECOND_OF(8, i, L)
#define MLC_VEC_EXCHANGE(V, L, h)                                                                   \
  MLC_INLINE void mlc_exchange_##h##_##V(V *v) {                                                    \
    V first = v[0], second = v[h];                                                                  \
    v[0] = MLC_PICK(V, L, MLC_FIRST_##h, first, second);                                            \
    v[h] = MLC_PICK(V, L, MLC_SECOND_##h, first, second);                                           \
  }
#define MLC_PAIRS_1(V, v) mlc_exchange_1_##V(v)
#define MLC_PAIRS_2(V, v) mlc_exchange_2_##V(v), mlc_exchange_2_##V(v + 1)
#define MLC_PAIRS_4(V, v) \
  mlc_exchange_4_##V(v), mlc_exchange_4_##V(v + 1), mlc_exchange_4_##V(v + 2), mlc_exchange_4_##V(v + 3)
#define MLC_BLOCKS_4(V, v) (MLC_PAIRS_2(V, v), MLC_PAIRS_1(V, v), MLC_PAIRS_1(V, v + 2))
#define MLC_BLOCKS_8(V, v) (MLC_PAIRS_4(V, v), MLC_BLOCKS_4(V, v), MLC_BLOCKS_4(V, v + 4))
#define MLC_PAIRS_8(V, v)                                                                           \
  mlc_exchange_8_##V(v), mlc_exchange_8_##V(v + 1), mlc_exchange_8_##V(v + 2), mlc_exchange_8_##V(v + 3), \
  mlc_exchange_8_##V(v + 4), mlc_exchange_8_##V(v + 5), mlc_exchange_8_##V(v + 6), mlc_exchange_8_##V(v + 7)
#define MLC_BLOCKS_16(V, v) (MLC_PAIRS_8(V, v), MLC_BLOCKS_8(V, v), MLC_BLOCKS_8(V, v + 8))
#define MLC_EXCHANGES_4(V, L) MLC_VEC_EXCHANGE(V, L, 1) MLC_VEC_EXCHANGE(V, L, 2)
#define MLC_EXCHANGES_8(V, L) MLC_EXCHANGES_4(V, L) MLC_VEC_EXCHANGE(V, L, 4)
#define MLC_EXCHANGES_16(V, L) MLC_EXCHANGES_8(V, L) MLC_VEC_EXCHANGE(V, L, 8)
#define MLC_VEC_TRANSPOSE(V, L) MLC_EXCHANGES_##L(V, L) MLC_INLINE void mlc_transpose_##V(V *v) { MLC_BLOCKS_##L(V, v); }

/* Partial loads and stores through memory. */
#define MLC_VEC_COPY(T, V, L, H)                                                                    \
  MLC_INLINE V mlc_load_n_##V(const T *p, int64_t n) {                                              \
    V v = {0};                                                                                      \
    memcpy(&v, p, (size_t)n * sizeof(T));                                                           \
    return v;                                                                                       \
  }                                                                                                 \
  MLC_INLINE void mlc_store_n_##V(T *p, V v, int64_t n) { memcpy(p, &v, (size_t)n * sizeof(T)); }

/* Partial loads and stores by the masked instructions of the machine, below. */
#define MLC_VEC_MASKED(T, V, W, S)                                                                  \
  MLC_INLINE V mlc_load_n_##V(const T *p, int64_t n) { return (V)mlc_masked_load_##S(p, n); }       \
  MLC_INLINE void mlc_store_n_##V(T *p, V v, int64_t n) { mlc_masked_store_##S(p, (W)v, n); }

#define MLC_VEC_MINMAX(T, V, L, H)                                                                  \
  MLC_INLINE V mlc_maximum_##V(V a, V b) { return mlc_blend_##V((a > b) | (a != a), a, b); }        \
  MLC_INLINE V mlc_minimum_##V(V a, V b) { return mlc_blend_##V((a < b) | (a != a), a, b); }

/* The halves H of a vector V. */
#define MLC_VEC_SPLIT(V, H)                                                                         \
  typedef union {                                                                                   \
    V whole;                                                                                        \
    H half[2];                                                                                      \
  } mlc_halves_##V;                                                                                 \
  MLC_INLINE H mlc_low_##V(V v) { return ((mlc_halves_##V){v}).half[0]; }                           \
  MLC_INLINE H mlc_high_##V(V v) { return ((mlc_halves_##V){v}).half[1]; }                          \
  MLC_INLINE V mlc_join_##V(H low, H high) {                                                        \
    mlc_halves_##V u;                                                                               \
    u.half[0] = low;                                                                                \
    u.half[1] = high;                                                                               \
    return u.whole;                                                                                 \
  }

#define MLC_VEC_COPY_HALVES(T, V, L, H)                                                             \
  MLC_INLINE V mlc_load_n_##V(const T *p, int64_t n) {                                              \
    int64_t low = n < L / 2 ? n : L / 2;                                                            \
    return mlc_join_##V(mlc_load_n_##H(p, low), mlc_load_n_##H(p + low, n - low));                  \
  }                                                                                                 \
  MLC_INLINE void mlc_store_n_##V(T *p, V v, int64_t n) {                                           \
    int64_t low = n < L / 2 ? n : L / 2;                                                            \
    mlc_store_n_##H(p, mlc_low_##V(v), low);                                                        \
    mlc_store_n_##H(p + low, mlc_high_##V(v), n - low);                                             \
  }


#define MLC_VEC_HALF_OP(V, H, op)                                                                   \
  MLC_INLINE V mlc_##op##_##V(V a, V b) {                                                           \
    H low = mlc_##op##_##H(mlc_low_##V(a), mlc_low_##V(b));                                         \
    return mlc_join_##V(low, mlc_##op##_##H(mlc_high_##V(a), mlc_high_##V(b)));                     \
  }
#define MLC_VEC_MINMAX_HALVES(T, V, L, H) MLC_VEC_HALF_OP(V, H, maximum) MLC_VEC_HALF_OP(V, H, minimum)

/* Reductions of a vector without a half type: the same tree, lane by lane. */
#define MLC_VEC_LANE_TREE(T, V, L, name, op)                                                        \
  MLC_INLINE T mlc_reduce_##name##_##V(V v) {                                                       \
    T x[L];                                                                                         \
    memcpy(x, &v, sizeof v);                                                                        \
    for (int half = L / 2; half; half /= 2)                                                         \
      for (int i = 0; i < half; i++) x[i] = op(x[i], x[i + half]);                                  \
    return x[0];                                                                                    \
  }
#define MLC_ADD(a, b) ((a) + (b))
#define MLC_MUL(a, b) ((a) * (b))
#define MLC_MAXIMUM(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define MLC_MINIMUM(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define MLC_VEC_REDUCE(T, V, L)                     \
  MLC_VEC_LANE_TREE(T, V, L, add, MLC_ADD)          \
  MLC_VEC_LANE_TREE(T, V, L, mul, MLC_MUL)          \
  MLC_VEC_LANE_TREE(T, V, L, maximum, MLC_MAXIMUM)  \
  MLC_VEC_LANE_TREE(T, V, L, minimum, MLC_MINIMUM)

#define MLC_VEC_REDUCE_X4(T, V)                                                                                     \
  MLC_INLINE V mlc_swap_pairs_##V(V v) { return (V){v[2], v[3], v[0], v[1]}; }                                      \
  MLC_INLINE V mlc_swap_lanes_##V(V v) { return (V){v[1], v[0], v[3], v[2]}; }                                      \
  MLC_INLINE T mlc_reduce_add_##V(V v) { return v += mlc_swap_pairs_##V(v), (v + mlc_swap_lanes_##V(v))[0]; }       \
  MLC_INLINE T mlc_reduce_mul_##V(V v) { return v *= mlc_swap_pairs_##V(v), (v * mlc_swap_lanes_##V(v))[0]; }       \
  MLC_INLINE T mlc_reduce_maximum_##V(V v) {                                                                        \
    v = mlc_maximum_##V(v, mlc_swap_pairs_##V(v));                                                                  \
    return mlc_maximum_##V(v, mlc_swap_lanes_##V(v))[0];                                                            \
  }                                                                                                                 \
  MLC_INLINE T mlc_reduce_minimum_##V(V v) {                                                                        \
    v = mlc_minimum_##V(v, mlc_swap_pairs_##V(v));                                                                  \
    return mlc_minimum_##V(v, mlc_swap_lanes_##V(v))[0];                                                            \
  }

#define MLC_VEC_REDUCE_HALVES(T, V, H)                                                                              \
  MLC_INLINE T mlc_reduce_add_##V(V v) { return mlc_reduce_add_##H(mlc_low_##V(v) + mlc_high_##V(v)); }             \
  MLC_INLINE T mlc_reduce_mul_##V(V v) { return mlc_reduce_mul_##H(mlc_low_##V(v) * mlc_high_##V(v)); }             \
  MLC_INLINE T mlc_reduce_maximum_##V(V v) {                                                                        \
    return mlc_reduce_maximum_##H(mlc_maximum_##H(mlc_low_##V(v), mlc_high_##V(v)));                                \
  }                                                                                                                 \
  MLC_INLINE T mlc_reduce_minimum_##V(V v) {                                                                        \
    return mlc_reduce_minimum_##H(mlc_minimum_##H(mlc_low_##V(v), mlc_high_##V(v)));                                \
  }

/* Another vector type, in portable code. */
#define MLC_VEC(T, V, L) \
  MLC_VEC_TYPE(T, V, L) MLC_VEC_COPY(T, V, L, ) MLC_VEC_EVERY(T, V, L) MLC_VEC_MINMAX(T, V, L, ) MLC_VEC_REDUCE(T, V, L)

/* ---- masked instructions: <element bytes>x<lanes> ---- */

#define MLC_VEC_MASKED_PAIR(S, W, load, store)                                               \
  MLC_INLINE W mlc_masked_load_##S(const void *p, int64_t n) { return load; }                \
  MLC_INLINE void mlc_masked_store_##S(void *p, W v, int64_t n) { store; }

#if defined __AVX512F__
typedef float mlc_v16sf __attribute__((vector_size(64)));
typedef double mlc_v8df __attribute__((vector_size(64)));
#define MLC_LOW_BITS ((1u << n) - 1)
MLC_VEC_MASKED_PAIR(4x16, mlc_v16sf, __builtin_ia32_loadups512_mask(p, (mlc_v16sf){0}, (uint16_t)MLC_LOW_BITS),
                    __builtin_ia32_storeups512_mask(p, v, (uint16_t)MLC_LOW_BITS))
MLC_VEC_MASKED_PAIR(8x8, mlc_v8df, __builtin_ia32_loadupd512_mask(p, (mlc_v8df){0}, (uint8_t)MLC_LOW_BITS),
                    __builtin_ia32_storeupd512_mask(p, v, (uint8_t)MLC_LOW_BITS))
#define MLC_PARTIAL_4X16(T, V, L, H) MLC_VEC_MASKED(T, V, mlc_v16sf, 4x16)
#define MLC_PARTIAL_8X8(T, V, L, H) MLC_VEC_MASKED(T, V, mlc_v8df, 8x8)
#elif defined __AVX2__
#define MLC_PARTIAL_4X16 MLC_VEC_COPY_HALVES
#define MLC_PARTIAL_8X8 MLC_VEC_COPY_HALVES
#else
#define MLC_PARTIAL_4X16 MLC_VEC_COPY
#define MLC_PARTIAL_8X8 MLC_VEC_COPY
#endif

#if defined __AVX2__
typedef float mlc_v8sf __attribute__((vector_size(32)));
typedef float mlc_v4sf __attribute__((vector_size(16)));
typedef double mlc_v4df __attribute__((vector_size(32)));
typedef int mlc_v8si __attribute__((vector_size(32)));
typedef int mlc_v4si __attribute__((vector_size(16)));
typedef long long mlc_v4di __attribute__((vector_size(32)));
#if defined __AVX512VL__ /* stores under a mask register: some CPUs take many cycles for those under a vector */
MLC_VEC_MASKED_PAIR(4x8, mlc_v8sf, __builtin_ia32_loadups256_mask(p, (mlc_v8sf){0}, (uint8_t)MLC_LOW_BITS),
                    __builtin_ia32_storeups256_mask(p, v, (uint8_t)MLC_LOW_BITS))
MLC_VEC_MASKED_PAIR(4x4, mlc_v4sf, __builtin_ia32_loadups128_mask(p, (mlc_v4sf){0}, (uint8_t)MLC_LOW_BITS),
                    __builtin_ia32_storeups128_mask(p, v, (uint8_t)MLC_LOW_BITS))
MLC_VEC_MASKED_PAIR(8x4, mlc_v4df, __builtin_ia32_loadupd256_mask(p, (mlc_v4df){0}, (uint8_t)MLC_LOW_BITS),
                    __builtin_ia32_storeupd256_mask(p, v, (uint8_t)MLC_LOW_BITS))
#else
#define MLC_BELOW_4X8 ((mlc_v8si){0, 1, 2, 3, 4, 5, 6, 7} < (mlc_v8si){0} + (int)n)
#define MLC_BELOW_4X4 ((mlc_v4si){0, 1, 2, 3} < (mlc_v4si){0} + (int)n)
#define MLC_BELOW_8X4 ((mlc_v4di){0, 1, 2, 3} < (mlc_v4di){0} + (long long)n)
MLC_VEC_MASKED_PAIR(4x8, mlc_v8sf, __builtin_ia32_maskloadps256(p, MLC_BELOW_4X8),
                    __builtin_ia32_maskstoreps256(p, MLC_BELOW_4X8, v))
MLC_VEC_MASKED_PAIR(4x4, mlc_v4sf, __builtin_ia32_maskloadps(p, MLC_BELOW_4X4),
                    __builtin_ia32_maskstoreps(p, MLC_BELOW_4X4, v))
MLC_VEC_MASKED_PAIR(8x4, mlc_v4df, __builtin_ia32_maskloadpd256(p, MLC_BELOW_8X4),
                    __builtin_ia32_maskstorepd256(p, MLC_BELOW_8X4, v))
#endif
#define MLC_PARTIAL_4X8(T, V, L, H) MLC_VEC_MASKED(T, V, mlc_v8sf, 4x8)
#define MLC_PARTIAL_4X4(T, V, L, H) MLC_VEC_MASKED(T, V, mlc_v4sf, 4x4)
#define MLC_PARTIAL_8X4(T, V, L, H) MLC_VEC_MASKED(T, V, mlc_v4df, 8x4)
#define MLC_PARTIAL_8X16 MLC_VEC_COPY_HALVES
#else
#define MLC_PARTIAL_4X8 MLC_VEC_COPY
#define MLC_PARTIAL_4X4 MLC_VEC_COPY
#define MLC_PARTIAL_8X4 MLC_VEC_COPY
#define MLC_PARTIAL_8X16 MLC_VEC_COPY
#endif

#if defined __AVX512VL__ && defined __AVX512BW__
typedef char mlc_v16qi __attribute__((vector_size(16)));
MLC_VEC_MASKED_PAIR(1x16, mlc_v16qi, __builtin_ia32_loaddquqi128_mask(p, (mlc_v16qi){0}, (uint16_t)MLC_LOW_BITS),
                    __builtin_ia32_storedquqi128_mask(p, v, (uint16_t)MLC_LOW_BITS))
#define MLC_PARTIAL_1X16(T, V, L, H) MLC_VEC_MASKED(T, V, mlc_v16qi, 1x16)
#else
#define MLC_PARTIAL_1X16 MLC_VEC_COPY
#endif

/* ---- maximum and minimum ---- */

#if MLC_VECTOR_BYTES >= 32
#define MLC_MINMAX_32 MLC_VEC_MINMAX
#else
#define MLC_MINMAX_32 MLC_VEC_MINMAX_HALVES
#endif
#if MLC_VECTOR_BYTES >= 64
#define MLC_MINMAX_64 MLC_VEC_MINMAX
#else
#define MLC_MINMAX_64 MLC_VEC_MINMAX_HALVES
#endif

/* AVX-512 in two instructions: max(a, b) is b where either is NaN, and the mask keeps a where a is. Builtins of 512 bits
 * have a rounding mode more. */
#define MLC_VEC_ORDERED(V, size, test, ...)                                                            \
  MLC_INLINE V mlc_maximum_##V(V a, V b) {                                                             \
    return __builtin_ia32_max##size##_mask(a, b, a, MLC_ORDERED(test, __VA_ARGS__) __VA_ARGS__);       \
  }                                                                                                    \
  MLC_INLINE V mlc_minimum_##V(V a, V b) {                                                             \
    return __builtin_ia32_min##size##_mask(a, b, a, MLC_ORDERED(test, __VA_ARGS__) __VA_ARGS__);       \
  }
#define MLC_ORDERED(test, ...) __builtin_ia32_cmp##test##_mask(a, a, 7, -1 __VA_ARGS__)
#define MLC_ROUNDING , 4
#if defined __AVX512VL__ && !defined __clang__
#define MLC_MINMAX_F32X4(T, V, L, H) MLC_VEC_ORDERED(V, ps, ps128, )
#define MLC_MINMAX_F32X8(T, V, L, H) MLC_VEC_ORDERED(V, ps256, ps256, )
#define MLC_MINMAX_F64X4(T, V, L, H) MLC_VEC_ORDERED(V, pd256, pd256, )
#else
#define MLC_MINMAX_F32X4 MLC_VEC_MINMAX
#define MLC_MINMAX_F32X8 MLC_MINMAX_32
#define MLC_MINMAX_F64X4 MLC_VEC_MINMAX
#endif
#if defined __AVX512F__ && !defined __clang__
#define MLC_MINMAX_F32X16(T, V, L, H) MLC_VEC_ORDERED(V, ps512, ps512, MLC_ROUNDING)
#define MLC_MINMAX_F64X8(T, V, L, H) MLC_VEC_ORDERED(V, pd512, pd512, MLC_ROUNDING)
#else
#define MLC_MINMAX_F32X16 MLC_MINMAX_64
#define MLC_MINMAX_F64X8 MLC_MINMAX_64
#endif

/* ---- the types, smallest first, as each is built from its halves ---- */

#define MLC_INTS(F, bits, ...) F(int##bits##_t, i##bits, __VA_ARGS__) F(uint##bits##_t, u##bits, __VA_ARGS__)

#define MLC_VEC_X4(T, E, PARTIAL, MINMAX) \
  MLC_VEC_TYPE(T, E##x4, 4) PARTIAL(T, E##x4, 4, ) MLC_VEC_EVERY(T, E##x4, 4) MINMAX(T, E##x4, 4, ) MLC_VEC_REDUCE_X4(T, E##x4)
#define MLC_VEC_X8(T, E, PARTIAL, MINMAX) MLC_VEC_WIDE(T, E##x8, 8, E##x4, PARTIAL, MINMAX)
#define MLC_VEC_X16(T, E, PARTIAL, MINMAX) MLC_VEC_WIDE(T, E##x16, 16, E##x8, PARTIAL, MINMAX)
#define MLC_VEC_WIDE(T, V, L, H, PARTIAL, MINMAX) \
  MLC_VEC_TYPE(T, V, L) MLC_VEC_SPLIT(V, H) PARTIAL(T, V, L, H) MLC_VEC_EVERY(T, V, L) MINMAX(T, V, L, H) \
  MLC_VEC_REDUCE_HALVES(T, V, H)

#if MLC_HAS_PART(MLC_USE_I8)
MLC_INTS(MLC_VEC_X4, 8, MLC_VEC_COPY, MLC_VEC_MINMAX)
MLC_INTS(MLC_VEC_X8, 8, MLC_VEC_COPY, MLC_VEC_MINMAX)
MLC_INTS(MLC_VEC_X16, 8, MLC_PARTIAL_1X16, MLC_VEC_MINMAX)
#endif
#if MLC_HAS_PART(MLC_USE_I16)
MLC_INTS(MLC_VEC_X4, 16, MLC_VEC_COPY, MLC_VEC_MINMAX)
MLC_INTS(MLC_VEC_X8, 16, MLC_VEC_COPY, MLC_VEC_MINMAX)
MLC_INTS(MLC_VEC_X16, 16, MLC_VEC_COPY, MLC_MINMAX_32)
#endif
#if MLC_HAS_PART(MLC_USE_I32)
MLC_INTS(MLC_VEC_X4, 32, MLC_PARTIAL_4X4, MLC_VEC_MINMAX)
MLC_INTS(MLC_VEC_X8, 32, MLC_PARTIAL_4X8, MLC_MINMAX_32)
MLC_INTS(MLC_VEC_X16, 32, MLC_PARTIAL_4X16, MLC_MINMAX_64)
#endif
#if MLC_HAS_PART(MLC_USE_I64)
MLC_INTS(MLC_VEC_X4, 64, MLC_PARTIAL_8X4, MLC_VEC_MINMAX) /* no half type */
MLC_INTS(MLC_VEC_X8, 64, MLC_PARTIAL_8X8, MLC_MINMAX_64)
MLC_INTS(MLC_VEC_X16, 64, MLC_PARTIAL_8X16, MLC_VEC_MINMAX_HALVES)
#endif
#if MLC_HAS_PART(MLC_USE_F32)
MLC_VEC_X4(float, f32, MLC_PARTIAL_4X4, MLC_MINMAX_F32X4)
MLC_VEC_X8(float, f32, MLC_PARTIAL_4X8, MLC_MINMAX_F32X8)
MLC_VEC_X16(float, f32, MLC_PARTIAL_4X16, MLC_MINMAX_F32X16)
#endif
#if MLC_HAS_PART(MLC_USE_F64)
MLC_VEC_X4(double, f64, MLC_PARTIAL_8X4, MLC_MINMAX_F64X4)
MLC_VEC_X8(double, f64, MLC_PARTIAL_8X8, MLC_MINMAX_F64X8)
MLC_VEC_X16(double, f64, MLC_PARTIAL_8X16, MLC_VEC_MINMAX_HALVES)
#endif

#define MLC_VEC_TRANSPOSES(E) MLC_VEC_TRANSPOSE(E##x4, 4) MLC_VEC_TRANSPOSE(E##x8, 8) MLC_VEC_TRANSPOSE(E##x16, 16)
#if MLC_HAS_PART(MLC_USE_TRANSPOSED)
MLC_VEC_TRANSPOSES(f32)
MLC_VEC_TRANSPOSES(i32)
MLC_VEC_TRANSPOSES(i8)
#endif

/* ---- comparisons of 64-bit elements, as lanes of 32 bits ---- */

#define MLC_VEC_COMPARE(V, L, name, op) \
  MLC_INLINE i32x##L mlc_##name##_##V(V a, V b) { return __builtin_convertvector(a op b, i32x##L); }
#define MLC_VEC_COMPARE_HALVES(V, L, name, H)                                                       \
  MLC_INLINE i32x##L mlc_##name##_##V(V a, V b) {                                                   \
    return mlc_join_i32x##L(mlc_##name##_##H(mlc_low_##V(a), mlc_low_##V(b)), mlc_##name##_##H(mlc_high_##V(a), mlc_high_##V(b))); \
  }
#if MLC_VECTOR_BYTES < 64
#define MLC_VEC_COMPARE_X8(E, name, op) MLC_VEC_COMPARE_HALVES(E##x8, 8, name, E##x4)
#else
#define MLC_VEC_COMPARE_X8(E, name, op) MLC_VEC_COMPARE(E##x8, 8, name, op)
#endif
#define MLC_VEC_COMPARE_BY(E, name, op) \
  MLC_VEC_COMPARE(E##x4, 4, name, op) MLC_VEC_COMPARE_X8(E, name, op) MLC_VEC_COMPARE_HALVES(E##x16, 16, name, E##x8)
#define MLC_VEC_COMPARISONS(E)                                                                      \
  MLC_VEC_COMPARE_BY(E, eq, ==) MLC_VEC_COMPARE_BY(E, ne, !=) MLC_VEC_COMPARE_BY(E, lt, <)          \
  MLC_VEC_COMPARE_BY(E, le, <=) MLC_VEC_COMPARE_BY(E, gt, >) MLC_VEC_COMPARE_BY(E, ge, >=)
#if MLC_HAS_PART(MLC_USE_I64)
MLC_VEC_COMPARISONS(i64)
MLC_VEC_COMPARISONS(u64)
#endif
#if MLC_HAS_PART(MLC_USE_F64)
MLC_VEC_COMPARISONS(f64)
#endif

#endif
