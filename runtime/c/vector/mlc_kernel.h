/* What generated kernels need beside vectors and vector mathematics: absolute values, integer
 * powers and NaN-propagating extremes of scalars, under the names the code generator prints. */
#ifndef MLC_KERNEL_H
#define MLC_KERNEL_H

#include "mlc_divide.h"
#include "mlc_int8.h"
#include "mlc_math.h" /* and mlc_vec.h */
#include "mlc_pairs.h"

MLC_INLINE int64_t mlc_clamp(int64_t n, int64_t limit) { return n < 0 ? 0 : n > limit ? limit : n; }

/* Asks for a cache line that is read later, for L2. */
MLC_INLINE void mlc_prefetch(const void *p) { __builtin_prefetch(p, 0, 2); }

/* Forces a variable into memory. */
#define MLC_IN_MEMORY(x) __asm__("" : "+m"(x))

/* The bits of `x`, of type T, as those of a U of the same size. */
#define MLC_BITS(T, U, x) (((union { T from; U to; }){x}).to)

#define MLC_SCALAR_MINMAX(T, E, ...)                                                     \
  MLC_INLINE T mlc_maximum_##E(T a, T b) { return MLC_MAXIMUM(a, b); }                   \
  MLC_INLINE T mlc_minimum_##E(T a, T b) { return MLC_MINIMUM(a, b); }
MLC_INTS(MLC_SCALAR_MINMAX, 8)
MLC_INTS(MLC_SCALAR_MINMAX, 16)
MLC_INTS(MLC_SCALAR_MINMAX, 32)
MLC_INTS(MLC_SCALAR_MINMAX, 64)
MLC_SCALAR_MINMAX(float, f32)
MLC_SCALAR_MINMAX(double, f64)

#define MLC_INT_MATH(T, E)                                                               \
  MLC_INLINE T mlc_ipow_##E(T a, T n) {                                                  \
    T power = 1;                                                                         \
    if (n < 0) return a == 1 ? 1 : a == -1 ? (T)(n % 2 ? -1 : 1) : 0;                    \
    for (; n; n = (T)(n / 2), a = (T)(a * a))                                            \
      if (n % 2) power = (T)(power * a);                                                 \
    return power;                                                                        \
  }                                                                                      \
  MLC_LANEWISE_ALL(ipow, ipow, E)
#if MLC_HAS_PART(MLC_USE_POWERS)
MLC_INT_MATH(int8_t, i8)
MLC_INT_MATH(int16_t, i16)
MLC_INT_MATH(int32_t, i32)
MLC_INT_MATH(int64_t, i64)
#endif

#if MLC_HAS_PART(MLC_USE_LIBM)
MLC_INLINE float mlc_fmod_f32(float a, float b) { return fmodf(a, b); }
MLC_INLINE double mlc_fmod_f64(double a, double b) { return fmod(a, b); }
MLC_LANEWISE_ALL(fmod, fmod, f32)
MLC_LANEWISE_ALL(fmod, fmod, f64)
MLC_INLINE float mlc_atan2_f32(float a, float b) { return atan2f(a, b); }
MLC_INLINE double mlc_atan2_f64(double a, double b) { return atan2(a, b); }
MLC_LANEWISE_ALL(atan2, atan2, f32)
MLC_LANEWISE_ALL(atan2, atan2, f64)
#endif

#define MLC_ABS(V, I, mask) \
  MLC_INLINE V mlc_abs_##V(V x) { return (V)((I)x & mask); }
#if MLC_HAS_PART(MLC_USE_F64)
MLC_ABS(f64x4, i64x4, INT64_MAX)
MLC_ABS(f64x8, i64x8, INT64_MAX)
MLC_ABS(f64x16, i64x16, INT64_MAX)
#endif
MLC_INLINE float mlc_abs_f32(float x) { return __builtin_fabsf(x); }
MLC_INLINE double mlc_abs_f64(double x) { return __builtin_fabs(x); }

/* bfloat16: the upper half of a float, in a 16-bit integer; computed on as float, rounded to the nearest, ties to even. */
#define MLC_NARROW_BITS(u) (((u) + 0x7fff + (((u) >> 16) & 1)) >> 16)
MLC_INLINE float mlc_widen_bf16(uint16_t x) {
  union { uint32_t bits; float value; } u = {(uint32_t)x << 16};
  return u.value;
}
MLC_INLINE uint16_t mlc_narrow_bf16(float x) {
  union { float value; uint32_t bits; } u = {x};
  return (uint16_t)(x != x ? 0x7fc0 : MLC_NARROW_BITS(u.bits));
}
#define MLC_BFLOAT_VECTOR(L)                                                             \
  MLC_INLINE f32x##L mlc_widen_u16x##L(u16x##L x) { return (f32x##L)(__builtin_convertvector(x, u32x##L) << 16); } \
  MLC_INLINE u16x##L mlc_narrow_u16x##L(f32x##L x) {                                     \
    u32x##L u = (u32x##L)x, nan = (u32x##L)(x != x);                                     \
    return __builtin_convertvector((nan & 0x7fc0) | (~nan & MLC_NARROW_BITS(u)), u16x##L); \
  }
#if MLC_HAS_PART(MLC_USE_BF16)
MLC_BFLOAT_VECTOR(4)
MLC_BFLOAT_VECTOR(8)
MLC_BFLOAT_VECTOR(16)
#endif

/* Half precision: as bfloat16, but that scalars are the compiler's. */
#ifdef __FLT16_MAX__
#define MLC_HALF_VECTOR(V, L)                                                            \
  typedef _Float16 V __attribute__((vector_size(2 * L)));                                \
  typedef _Float16 V##_u __attribute__((vector_size(2 * L), aligned(2), may_alias));     \
  typedef __typeof__((V){0} < (V){0}) V##_m;                                             \
  MLC_INLINE V mlc_load_##V(const _Float16 *p) { return *(const V##_u *)p; }             \
  MLC_INLINE void mlc_store_##V(_Float16 *p, V v) { *(V##_u *)p = v; }                   \
  MLC_INLINE V mlc_blend_##V(V##_m mask, V yes, V no) { return (V)((mask & (V##_m)yes) | (~mask & (V##_m)no)); } \
  MLC_INLINE V mlc_fill_##V(_Float16 x) {                                                \
    V v;                                                                                 \
    for (int i = 0; i < L; i++) v[i] = x;                                                \
    return v;                                                                            \
  }                                                                                      \
  MLC_VEC_COPY(_Float16, V, L, ) MLC_VEC_EVERY(_Float16, V, L)
#if MLC_HAS_PART(MLC_USE_F16)
MLC_HALF_VECTOR(f16x4, 4)
MLC_HALF_VECTOR(f16x8, 8)
MLC_HALF_VECTOR(f16x16, 16)

/* GCC 12 scalarizes these conversions, so they use intrinsics. */
#define MLC_HALF_CONVERSIONS(L)                                                          \
  MLC_INLINE f32x##L mlc_widen_f16x##L(f16x##L x) { return __builtin_convertvector(x, f32x##L); } \
  MLC_INLINE f16x##L mlc_narrow_f16x##L(f32x##L x) { return __builtin_convertvector(x, f16x##L); }
MLC_HALF_CONVERSIONS(4)
#if defined __F16C__ && !defined __clang__
MLC_INLINE f32x8 mlc_widen_f16x8(f16x8 x) { return (f32x8)__builtin_ia32_vcvtph2ps256((i16x8)x); }
MLC_INLINE f16x8 mlc_narrow_f16x8(f32x8 x) { return (f16x8)__builtin_ia32_vcvtps2ph256(x, 0); }
#else
MLC_HALF_CONVERSIONS(8)
#endif
#if defined __AVX512F__ && !defined __clang__
MLC_INLINE f32x16 mlc_widen_f16x16(f16x16 x) { return __builtin_ia32_vcvtph2ps512_mask((i16x16)x, (f32x16){0}, -1, 4); }
MLC_INLINE f16x16 mlc_narrow_f16x16(f32x16 x) { return (f16x16)__builtin_ia32_vcvtps2ph512_mask(x, 0, (i16x16){0}, -1); }
#else
MLC_HALF_CONVERSIONS(16)
#endif
#endif
MLC_SCALAR_MINMAX(_Float16, f16)
MLC_INLINE _Float16 mlc_abs_f16(_Float16 x) { return (_Float16)__builtin_fabsf((float)x); }
#endif

#endif
