/* Vector primitives of VW lanes for mlc_math_impl.h: one machine instruction where the compiler offers a builtin for
 * it, portable vector-extension code otherwise. Included once a lane count, without a guard. */

#define MLC_ROUND_EVEN 8   /* rounding immediates of roundps: bit 3 keeps the inexact flag unraised */
#define MLC_ROUND_DOWN 9
#define MLC_ROUND_UP 10

#if !defined __clang__ && VW == 16 && defined __AVX512F__ && MLC_HAS(__builtin_ia32_rndscaleps_mask)
#define MLC_ROUND(x, mode) __builtin_ia32_rndscaleps_mask(x, mode, x, -1, 4)
#define MLC_SQRT(x) __builtin_ia32_sqrtps512_mask(x, x, -1, 4)
#define MLC_MIN(c, x) __builtin_ia32_minps512_mask(c, x, x, -1, 4)
#define MLC_MAX(c, x) __builtin_ia32_maxps512_mask(c, x, x, -1, 4)
#define MLC_SCALEF(x, n) __builtin_ia32_scalefps512_mask(x, n, x, -1, 4)
#define MLC_ANY(m) __builtin_ia32_ptestmd512(m, m, -1)
#elif !defined __clang__ && VW == 8 && defined __AVX__ && MLC_HAS(__builtin_ia32_roundps256)
#define MLC_ROUND(x, mode) __builtin_ia32_roundps256(x, mode)
#define MLC_SQRT(x) __builtin_ia32_sqrtps256(x)
#define MLC_MIN(c, x) __builtin_ia32_minps256(c, x)
#define MLC_MAX(c, x) __builtin_ia32_maxps256(c, x)
#define MLC_ANY(m) __builtin_ia32_movmskps256((VF)(m))
#elif !defined __clang__ && VW == 4 && defined __SSE2__ && MLC_HAS(__builtin_ia32_sqrtps)
#define MLC_SQRT(x) __builtin_ia32_sqrtps(x)
#define MLC_MIN(c, x) __builtin_ia32_minps(c, x)
#define MLC_MAX(c, x) __builtin_ia32_maxps(c, x)
#define MLC_ANY(m) __builtin_ia32_movmskps((VF)(m))
#ifdef __SSE4_1__
#define MLC_ROUND(x, mode) __builtin_ia32_roundps(x, mode)
#endif
#elif MLC_HAS(__builtin_elementwise_sqrt)
#define MLC_SQRT(x) __builtin_elementwise_sqrt(x)
#endif

MLC_INLINE VF MLC_V(abs)(VF x) { return (VF)((VI)x & 0x7fffffff); }

MLC_INLINE VF MLC_V(copysign)(VF x, VF sign) { return (VF)(((VI)x & 0x7fffffff) | ((VI)sign & INT32_MIN)); }

/* min and max against a constant; both answer NaN for a NaN x. */
MLC_INLINE VF MLC_V(min)(VF x, float limit) {
  VF c = MLC_V(fill)(limit);
#ifdef MLC_MIN
  return MLC_MIN(c, x);
#else
  return MLC_V(blend)(c < x, c, x);
#endif
}

MLC_INLINE VF MLC_V(max)(VF x, float limit) {
  VF c = MLC_V(fill)(limit);
#ifdef MLC_MAX
  return MLC_MAX(c, x);
#else
  return MLC_V(blend)(c > x, c, x);
#endif
}

/* Whether a comparison is true in some lane. */
MLC_INLINE int MLC_V(any)(VI m) {
#ifdef MLC_ANY
  return MLC_ANY(m) != 0;
#else
  uint64_t part[VW / 2], all = 0;
  memcpy(part, &m, sizeof m);
  for (int i = 0; i < VW / 2; i++) all |= part[i];
  return all != 0;
#endif
}

MLC_INLINE VF MLC_V(sqrt)(VF x) {
#ifdef MLC_SQRT
  return MLC_SQRT(x);
#else
  for (int i = 0; i < VW; i++) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}

/* To the nearest integer, ties to even. Adding 2^23 leaves no fraction bits; larger floats are integers already. */
MLC_INLINE VF MLC_V(roundeven)(VF x) {
#ifdef MLC_ROUND
  return MLC_ROUND(x, MLC_ROUND_EVEN);
#else
  VF a = MLC_V(abs)(x), n = (a + 0x1p23f) - 0x1p23f;
  return MLC_V(blend)(a < 0x1p23f, MLC_V(copysign)(n, x), x);
#endif
}

/* Subtracting +0 keeps the sign of a zero, which adding would lose. */
MLC_INLINE VF MLC_V(floor)(VF x) {
#ifdef MLC_ROUND
  return MLC_ROUND(x, MLC_ROUND_DOWN);
#else
  VF n = MLC_V(roundeven)(x);
  return n - (VF)((n > x) & (VI)MLC_V(fill)(1.f));
#endif
}

MLC_INLINE VF MLC_V(ceil)(VF x) {
#ifdef MLC_ROUND
  return MLC_ROUND(x, MLC_ROUND_UP);
#else
  return -MLC_V(floor)(-x);
#endif
}

MLC_INLINE VF MLC_V(rsqrt)(VF x) { return 1.f / MLC_V(sqrt)(x); }

/* Toward zero. */
MLC_INLINE VF MLC_V(trunc)(VF x) { return MLC_V(copysign)(MLC_V(floor)(MLC_V(abs)(x)), x); }

/* Ties away from zero; the float below 1/2 does not lift 0.49999997 to 1. */
MLC_INLINE VF MLC_V(round)(VF x) {
  return MLC_V(copysign)(MLC_V(floor)(MLC_V(abs)(x) + 0x1.fffffep-2f), x);
}

/* x * 2^n, rounded once, for |x| in [0.5, 2) and an integer n in [-180, 180]; `biased` is n + 1.5 * 2^23, whose low
 * bits hold n. 2^n may be no float, so it is applied as 2^floor(n/2) * 2^ceil(n/2). */
MLC_INLINE VF MLC_V(scale)(VF x, VF n, VF biased) {
#ifdef MLC_SCALEF
  (void)biased;
  return MLC_SCALEF(x, n);
#else
  (void)n;
  VI one = (VI)MLC_V(fill)(1.f), half = ((VI)biased << 22) & -0x800000;
  return x * (VF)(half + one) * (VF)(((VI)biased << 23) - half + one);
#endif
}

#undef MLC_ROUND_EVEN
#undef MLC_ROUND_DOWN
#undef MLC_ROUND_UP
#undef MLC_ROUND
#undef MLC_SQRT
#undef MLC_MIN
#undef MLC_MAX
#undef MLC_SCALEF
#undef MLC_ANY
