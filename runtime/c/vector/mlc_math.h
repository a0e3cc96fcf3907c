/* Vector mathematics for generated code, in GCC/Clang vector extensions: mlc_<fn>_f32x16, _f32x8 and _f32x4 on
 * vectors, mlc_<fn>_f32 on scalars (the same bits), mlc_<fn>_f64x16/8/4 and mlc_<fn>_f64 (libm, lane by lane).
 *
 * Largest error in units in the last place (of the float result, denormals included), over all floats and with or
 * without fused multiply-add; the tests assert these bounds:
 *
 *   exp 1.1      exp2 1.2      expm1 1.7    log 0.9    log2 2.0    log1p 1.5
 *   tanh 1.3     erf 1.4       sin 1.6      cos 1.6    rsqrt 1.5
 *   floor 0.0    ceil 0.0      trunc 0.0    round 0.0  roundeven 0.0   sqrt 0.5
 *   pow 0.6      log10 0.6, computed in double
 *   tan sinh cosh asin acos atan asinh acosh atanh cbrt erfc: libm's, lane by lane
 *
 * Infinities, NaN, zeros with their sign, denormals, overflow and underflow are as in IEEE 754 and C11 Annex F. All are
 * branch-free but sin and cos, which leave vectors with a lane beyond 2^17 to libm. Rounding must be to nearest, the
 * reset state; errno and the exception flags are not kept. Not to be compiled with -ffast-math. */
#ifndef MLC_MATH_H
#define MLC_MATH_H

#include "mlc_vec.h"

#if MLC_HAS_PART(MLC_USE_MATH) || MLC_HAS_PART(MLC_USE_LIBM)
#include <math.h>
#endif

#ifdef __has_builtin
#define MLC_HAS(builtin) __has_builtin(builtin)
#else
#define MLC_HAS(builtin) 0
#endif
#define MLC_CAT2(a, b) a##b
#define MLC_CAT(a, b) MLC_CAT2(a, b)

#define MLC_LOG2E 0x1.715476p+0f
#define MLC_TWO_OVER_PI 0x1.45f306p-1f
#define MLC_TO_INT 0x1.8p23f             /* x + this has round(x) in its low 22 bits, for |x| < 2^21 */
#define MLC_SQRT_HALF_BITS 0x3f3504f3    /* sqrt(1/2) as a float */
#define MLC_TRIG_BOUND 0x1p17f
#define MLC_DOUBLE_TO_LONG 0x1.8p52      /* x + this has round(x) in its low 51 bits, for |x| < 2^50 */
#define MLC_DOUBLE_TO_LONG_BITS 0x4338000000000000

/* With registers of 16 floats, exp, erf and tanh use lookup tables. */
#if defined __AVX512F__ && !defined __clang__ && MLC_HAS(__builtin_shufflevector)
#define MLC_TABLE
#endif

/* Functions with a vector implementation, of the parts MLC_USE_ROUNDING and MLC_USE_MATH; X(name). */
#define MLC_MATH_ROUNDING(X) X(floor) X(ceil) X(trunc) X(roundeven) X(round) X(sqrt) X(rsqrt)
#define MLC_MATH_CURVES(X) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(tanh) X(erf) X(sin) X(cos)
#define MLC_MATH_VECTOR(X) MLC_MATH_CURVES(X) MLC_MATH_ROUNDING(X)
/* Functions of libm. */
#define MLC_MATH_LIBM(X) \
  X(tan) X(sinh) X(cosh) X(asin) X(acos) X(atan) X(asinh) X(acosh) X(atanh) X(cbrt) X(erfc)

/* --- float vectors ------------------------------------------------------------------------------------------------ */

#if MLC_HAS_PART(MLC_USE_ROUNDING)
#define VW 4
#include "mlc_math_impl.h"
#undef VW

/* Lanes beyond a machine register go half by half. */
#define MLC_MATH_HALVES(fn, V, H) \
  MLC_INLINE V mlc_##fn##_##V(V x) { \
    return mlc_join_##V(mlc_##fn##_##H(mlc_low_##V(x)), mlc_##fn##_##H(mlc_high_##V(x))); \
  }

#if MLC_VECTOR_BYTES >= 32
#define VW 8
#include "mlc_math_impl.h"
#undef VW
#else
#define X(fn) MLC_MATH_HALVES(fn, f32x8, f32x4)
MLC_MATH_ROUNDING(X)
#if MLC_HAS_PART(MLC_USE_MATH)
MLC_MATH_CURVES(X)
MLC_VEC_HALF_OP(f32x8, f32x4, pow)
#endif
#undef X
#endif

#if MLC_VECTOR_BYTES >= 64
#define VW 16
#include "mlc_math_impl.h"
#undef VW
#else
#define X(fn) MLC_MATH_HALVES(fn, f32x16, f32x8)
MLC_MATH_ROUNDING(X)
#if MLC_HAS_PART(MLC_USE_MATH)
MLC_MATH_CURVES(X)
MLC_VEC_HALF_OP(f32x16, f32x8, pow)
#endif
#undef X
#endif

#if defined MLC_TABLE && MLC_HAS_PART(MLC_USE_MATH)
#include "mlc_math_table.h"
#endif

/* --- scalars ------------------------------------------------------------------------------------------------------ */

#define X(fn) MLC_INLINE float mlc_##fn##_f32(float x) { return mlc_##fn##_f32x4((f32x4){x})[0]; }
MLC_MATH_ROUNDING(X)
#if MLC_HAS_PART(MLC_USE_MATH)
MLC_MATH_CURVES(X)
MLC_INLINE float mlc_pow_f32(float x, float y) { return mlc_pow_f32x4((f32x4){x}, (f32x4){y})[0]; }
#endif
#undef X
#endif

/* --- functions of libm, and double; vectors lane by lane ---------------------------------------------------------- */

#if MLC_HAS_PART(MLC_USE_LIBM)
#define X(fn) MLC_INLINE float mlc_##fn##_f32(float x) { return fn##f(x); }
MLC_MATH_LIBM(X)
#undef X
#define X(fn) MLC_INLINE double mlc_##fn##_f64(double x) { return fn(x); }
MLC_MATH_LIBM(X)
MLC_MATH_CURVES(X) X(floor) X(ceil) X(trunc) X(round) X(sqrt)
#undef X
MLC_INLINE double mlc_pow_f64(double x, double y) { return pow(x, y); }
MLC_INLINE double mlc_roundeven_f64(double x) { return rint(x); }
MLC_INLINE double mlc_rsqrt_f64(double x) { return 1. / sqrt(x); }

#define MLC_LANES(fn, type, lanes) \
  MLC_INLINE type##x##lanes mlc_##fn##_##type##x##lanes(type##x##lanes x) { \
    for (int i = 0; i < lanes; i++) x[i] = mlc_##fn##_##type(x[i]); \
    return x; \
  }
#define MLC_POW_LANES(lanes) \
  MLC_INLINE f64x##lanes mlc_pow_f64x##lanes(f64x##lanes x, f64x##lanes y) { \
    for (int i = 0; i < lanes; i++) x[i] = mlc_pow_f64(x[i], y[i]); \
    return x; \
  }
MLC_POW_LANES(16) MLC_POW_LANES(8) MLC_POW_LANES(4)

#define X(fn) MLC_LANES(fn, f32, 16) MLC_LANES(fn, f32, 8) MLC_LANES(fn, f32, 4)
MLC_MATH_LIBM(X)
#undef X
#define X(fn) MLC_LANES(fn, f64, 16) MLC_LANES(fn, f64, 8) MLC_LANES(fn, f64, 4)
MLC_MATH_LIBM(X)
MLC_MATH_VECTOR(X)
#undef X
#endif

#endif
