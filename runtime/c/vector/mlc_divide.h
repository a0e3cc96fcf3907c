/* Division of integers, scalars and vectors: towards zero (div, and rem, what is left of it) and down (floordiv).
 *
 * It never traps: x / 0 and x % 0 are 0, and the most negative number divided by -1 wraps around. The lanes after
 * the end of a partial vector are zero, so divisors of 0 are common. */
#ifndef MLC_DIVIDE_H
#define MLC_DIVIDE_H

#include "mlc_vec.h"

#define MLC_DIVISION(T, E, minus_one)                                                    \
  MLC_INLINE T mlc_div_##E(T a, T b) { return (T)(b == 0 ? 0 : minus_one ? 0 - a : a / b); }  \
  MLC_INLINE T mlc_rem_##E(T a, T b) { return (T)(b == 0 || minus_one ? 0 : a % b); }
#define MLC_SIGNED_DIVISION(bits) MLC_DIVISION(int##bits##_t, i##bits, b == -1) MLC_FLOORDIV(int##bits##_t, i##bits)
#define MLC_UNSIGNED_DIVISION(bits) MLC_DIVISION(uint##bits##_t, u##bits, 0)
#define MLC_FLOORDIV(T, E)                                                               \
  MLC_INLINE T mlc_floordiv_##E(T a, T b) {                                              \
    if (__builtin_constant_p(b) && b > 0 && !(b & (b - 1)))                              \
      return (T)(a >> __builtin_ctzll((unsigned long long)b));                           \
    T r = mlc_rem_##E(a, b);                                                             \
    return (T)(mlc_div_##E(a, b) - (r != 0 && (r < 0) != (b < 0)));                      \
  }
MLC_SIGNED_DIVISION(8) MLC_SIGNED_DIVISION(16) MLC_SIGNED_DIVISION(32) MLC_SIGNED_DIVISION(64)
MLC_UNSIGNED_DIVISION(8) MLC_UNSIGNED_DIVISION(16) MLC_UNSIGNED_DIVISION(32) MLC_UNSIGNED_DIVISION(64)

/* A function of two vectors, lane by lane. */
#define MLC_LANEWISE(name, fn, V, E, L)                                                  \
  MLC_INLINE V mlc_##name##_##V(V a, V b) {                                              \
    for (int i = 0; i < L; i++) a[i] = mlc_##fn##_##E(a[i], b[i]);                       \
    return a;                                                                            \
  }
#define MLC_LANEWISE_ALL(name, fn, E) \
  MLC_LANEWISE(name, fn, E##x4, E, 4) MLC_LANEWISE(name, fn, E##x8, E, 8) MLC_LANEWISE(name, fn, E##x16, E, 16)
#define MLC_DIVIDE_LANES(T, E, ...) MLC_LANEWISE_ALL(div, div, E) MLC_LANEWISE_ALL(rem, rem, E)
#define MLC_LANES_OF(bits) MLC_INTS(MLC_DIVIDE_LANES, bits) MLC_LANEWISE_ALL(floordiv, floordiv, i##bits)
#if MLC_HAS_PART(MLC_USE_DIVISION)
MLC_LANES_OF(8)
MLC_LANES_OF(16)

#ifdef __AVX512DQ__
#define MLC_DIVIDE_EACH(T, E, ...) MLC_LANEWISE_ALL(div_each, div, E)
#define MLC_EACH_OF(bits) MLC_INTS(MLC_DIVIDE_EACH, bits) MLC_LANEWISE_ALL(floordiv_each, floordiv, i##bits)
MLC_EACH_OF(32)
MLC_EACH_OF(64)

/* By way of double, as no vector unit divides integers: for operands below 2^53 the rounded quotient is between the same
 * two integers as the exact one. Where an operand is `large`, lane by lane. */
#define MLC_DIVIDE_DOUBLES(V, L, large)                                                  \
  MLC_INLINE V mlc_quotient_##V(V a, V b, int down) {                                    \
    const V none = (V)(b == 0);                                                          \
    const f64x##L q = __builtin_convertvector(a, f64x##L) / __builtin_convertvector(b - none, f64x##L); \
    i64x##L t = __builtin_convertvector(q, i64x##L);                                     \
    if (down) t += __builtin_convertvector(t, f64x##L) > q;                              \
    return __builtin_convertvector(t, V) & ~none;                                        \
  }                                                                                      \
  MLC_INLINE V mlc_div_##V(V a, V b) {                                                   \
    if (large) return mlc_div_each_##V(a, b);                                            \
    return mlc_quotient_##V(a, b, 0);                                                    \
  }                                                                                      \
  MLC_INLINE V mlc_rem_##V(V a, V b) { return (a - mlc_div_##V(a, b) * b) & ~(V)(b == 0); }
#define MLC_FLOORDIV_DOUBLES(V, large)                                                   \
  MLC_INLINE V mlc_floordiv_##V(V a, V b) {                                              \
    if (large) return mlc_floordiv_each_##V(a, b);                                       \
    return mlc_quotient_##V(a, b, 1);                                                    \
  }
#define MLC_FAR(L, room) mlc_reduce_maximum_u64x##L((((u64x##L)a + (room)) | ((u64x##L)b + (room))) >> 53)
#define MLC_BELOW_0 (1ULL << 52) /* room for what is */
#define MLC_DIVIDE_VECTORS(E, far4, far8)                                                \
  MLC_DIVIDE_DOUBLES(E##x4, 4, far4) MLC_DIVIDE_DOUBLES(E##x8, 8, far8)                  \
  MLC_VEC_HALF_OP(E##x16, E##x8, div) MLC_VEC_HALF_OP(E##x16, E##x8, rem)
#define MLC_FLOORDIV_VECTORS(E, far4, far8) \
  MLC_FLOORDIV_DOUBLES(E##x4, far4) MLC_FLOORDIV_DOUBLES(E##x8, far8) MLC_VEC_HALF_OP(E##x16, E##x8, floordiv)
MLC_DIVIDE_VECTORS(i32, 0, 0)
MLC_DIVIDE_VECTORS(u32, 0, 0)
MLC_FLOORDIV_VECTORS(i32, 0, 0)
MLC_DIVIDE_VECTORS(i64, MLC_FAR(4, MLC_BELOW_0), MLC_FAR(8, MLC_BELOW_0))
MLC_DIVIDE_VECTORS(u64, MLC_FAR(4, 0), MLC_FAR(8, 0))
MLC_FLOORDIV_VECTORS(i64, MLC_FAR(4, MLC_BELOW_0), MLC_FAR(8, MLC_BELOW_0))
#else
MLC_LANES_OF(32)
MLC_LANES_OF(64)
#endif
#endif

#endif
