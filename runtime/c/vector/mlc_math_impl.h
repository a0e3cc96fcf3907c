/* The vector functions of mlc_math.h for VW lanes, written once. Included with VW defined, without a guard.
 * Only for VW lanes that fit a machine register: compilers split wider comparisons into single lanes.
 *
 * Polynomials are minimax fits of the relative error over the reduced range, rounded to float from the lowest
 * coefficient up, each time refitting the rest. The error bounds are valid with fused and with unfused a*b+c. */
#define VF MLC_CAT(f32x, VW)
#define VI MLC_CAT(i32x, VW)
#define VD MLC_CAT(f64x, VW)
#define VL MLC_CAT(i64x, VW)
#define MLC_V(fn) MLC_CAT(MLC_CAT(mlc_##fn, _f32x), VW)

#include "mlc_math_native.h"

#if MLC_HAS_PART(MLC_USE_MATH)

/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2 */
MLC_INLINE VF MLC_V(exp_tail)(VF r) {
  VF q = r * 0x1.6b97c2p-10f + 0x1.122536p-7f;
  q = q * r + 0x1.5556f6p-5f;
  q = q * r + 0x1.5554b4p-3f;
  return q * r + 0x1.fffffep-2f;
}

/* x - n ln(2). The first part of ln(2) has 15 bits, so that n times it is exact without a fused multiply-add. */
MLC_INLINE VF MLC_V(exp_rest)(VF x, VF n) { return x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f; }

#ifndef MLC_TABLE
MLC_INLINE VF MLC_V(exp)(VF x) {
  x = MLC_V(max)(MLC_V(min)(x, 89.f), -104.f);
  VF biased = x * MLC_LOG2E + MLC_TO_INT, n = biased - MLC_TO_INT, r = MLC_V(exp_rest)(x, n);
  return MLC_V(scale)(1.f + (r + r * r * MLC_V(exp_tail)(r)), n, biased);
}
#endif

MLC_INLINE VF MLC_V(exp2)(VF x) {
  x = MLC_V(max)(MLC_V(min)(x, 129.f), -151.f);
  VF biased = x + MLC_TO_INT, n = biased - MLC_TO_INT, r = x - n;
  VF q = r * 0x1.4295f2p-13f + 0x1.5ef136p-10f;
  q = q * r + 0x1.3b2c3ep-7f;
  q = q * r + 0x1.c6afa4p-5f;
  q = q * r + 0x1.ebfbdep-3f;
  q = q * r + 0x1.62e430p-1f;
  return MLC_V(scale)(1.f + q * r, n, biased);
}

/* e^x = power (1 + m), for x in (-88, 89], with power halved for `halve` = 1. */
MLC_INLINE VF MLC_V(exp_parts)(VF x, int halve, VF *power) {
  VF biased = x * MLC_LOG2E + (MLC_TO_INT + 127), r = MLC_V(exp_rest)(x, biased - (MLC_TO_INT + 127));
  *power = (VF)(((VI)biased - halve) << 23);
  return r + r * r * MLC_V(exp_tail)(r);
}

/* Halved inside, because 2^128 is no float. A denormal is its own result, and would lose a bit. */
MLC_INLINE VF MLC_V(expm1)(VF x) {
  VF power, m = MLC_V(exp_parts)(MLC_V(max)(MLC_V(min)(x, 89.f), -20.f), 1, &power);
  VF y = 2.f * (power * m + (power - .5f));
  return MLC_V(copysign)(MLC_V(blend)(MLC_V(abs)(x) < 0x1p-25f, x, y), x);
}

#ifndef MLC_TABLE
/* An odd polynomial to 0.6, then 1 - 2 / (1 + e^2x), which is 1 from 9.02 on. */
MLC_INLINE VF MLC_V(tanh)(VF x) {
  VF a = MLC_V(min)(MLC_V(abs)(x), 10.f), z = a * a;
  VF p = z * -0x1.828776p-8f + 0x1.54c3c2p-6f;
  p = p * z - 0x1.b89abap-5f;
  p = p * z + 0x1.1109bep-3f;
  p = p * z - 0x1.55553ep-2f;
  VF power, m = MLC_V(exp_parts)(2.f * a, 0, &power), large = 1.f - 2.f / (power * m + (power + 1.f));
  return MLC_V(copysign)(MLC_V(blend)(a < .6f, a + a * (z * p), large), x);
}

/* An odd polynomial to 0.8, then 1 - exp(-x + x q(x)), which is 1 from 3.92 on. */
MLC_INLINE VF MLC_V(erf)(VF x) {
  VF a = MLC_V(min)(MLC_V(abs)(x), 4.f), z = a * a;
  VF p = z * -0x1.570096p-11f + 0x1.4d5f72p-8f;
  p = p * z - 0x1.b774a4p-6f;
  p = p * z + 0x1.ce2888p-4f;
  p = p * z - 0x1.812732p-2f;
  p = p * z + 0x1.06eba8p-3f;
  VF q = a * -0x1.7b5d46p-18f + 0x1.19ad7cp-12f;
  q = q * a - 0x1.c179c2p-9f;
  q = q * a + 0x1.7e2e7cp-6f;
  q = q * a - 0x1.b1268ap-4f;
  q = q * a - 0x1.4557aep-1f;
  q = q * a - 0x1.0755c6p-3f;
  VF power, m = MLC_V(exp_parts)(a * q - a, 0, &power), tail = 1.f - (power + power * m);
  return MLC_V(copysign)(MLC_V(blend)(a < .8f, a + a * p, tail), x);
}
#endif

/* x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for normal positive x. */
MLC_INLINE VF MLC_V(log_split)(VF x, VI *e) {
  VI i = ((VI)x & 0x7fffffff) - MLC_SQRT_HALF_BITS;
  *e = i >> 23;
  return (VF)((i & 0x7fffff) + MLC_SQRT_HALF_BITS) - 1.f;
}

/* The same for every positive x. */
MLC_INLINE VF MLC_V(log_split_any)(VF x, VI *e) {
  VI denormal = x < 0x1p-126f;
  VF f = MLC_V(log_split)(MLC_V(blend)(denormal, x * 0x1p23f, x), e);
  *e -= denormal & 23;
  return f;
}

/* y where x is positive and finite, else what a logarithm has at 0, below it, at infinity and for NaN. */
MLC_INLINE VF MLC_V(log_edges)(VF x, VF y) {
  VF edge = MLC_V(blend)(x == 0.f, MLC_V(fill)(-INFINITY), MLC_V(fill)(NAN));
  return MLC_V(blend)(x > 0.f, MLC_V(blend)(x < INFINITY, y, x), edge);
}

/* e ln(2) + ln(1 + f) */
MLC_INLINE VF MLC_V(log_join)(VI exponent, VF f) {
  VF e = __builtin_convertvector(exponent, VF);
  VF z = f * f, p = f * -0x1.38c9d4p-4f + 0x1.055ec4p-3f;
  p = p * f - 0x1.0d8242p-3f;
  p = p * f + 0x1.22d92ep-3f;
  p = p * f - 0x1.54728ap-3f;
  p = p * f + 0x1.99a01cp-3f;
  p = p * f - 0x1.000226p-2f;
  p = p * f + 0x1.555554p-2f;
  VF tail = p * f * z + (e * 0x1.7f7d1cp-20f - z * .5f);
  return e * 0x1.62e4p-1f + (f + tail);
}

MLC_INLINE VF MLC_V(log)(VF x) {
  VI e;
  VF f = MLC_V(log_split_any)(x, &e);
  return MLC_V(log_edges)(x, MLC_V(log_join)(e, f));
}

MLC_INLINE VF MLC_V(log2)(VF x) {
  VI e;
  VF f = MLC_V(log_split_any)(x, &e), p = f * -0x1.c1f26ap-4f + 0x1.7eaec6p-3f;
  p = p * f - 0x1.881038p-3f;
  p = p * f + 0x1.a2dd62p-3f;
  p = p * f - 0x1.eaa1aep-3f;
  p = p * f + 0x1.277ec6p-2f;
  p = p * f - 0x1.715afep-2f;
  p = p * f + 0x1.ec7096p-2f;
  p = p * f - 0x1.715470p-1f;
  p = p * f + 0x1.49dcc8p-26f;
  return MLC_V(log_edges)(x, __builtin_convertvector(e, VF) + (f * MLC_LOG2E + p * f));
}

/* ln(1 + x), the mantissa taken from x itself while 1 + x rounds. */
MLC_INLINE VF MLC_V(log1p)(VF x) {
  VI e;
  VF u = 1.f + x, f = MLC_V(log_split)(u, &e), power = (VF)((VI)MLC_V(fill)(1.f) - (e << 23));
  f = MLC_V(blend)(x < 0x1p25f, x * power + (power - 1.f), f);
  VF y = MLC_V(log_edges)(u, MLC_V(log_join)(e, f));
  return MLC_V(blend)(MLC_V(abs)(x) < 0x1p-25f, x, y);
}

/* x - n pi/2 in double, where n times 33 bits of pi/2 is exact. */
MLC_INLINE VF MLC_V(trig_rest)(VF x, VF n) {
  VD d = __builtin_convertvector(n, VD);
  d = __builtin_convertvector(x, VD) - d * 0x1.921fb544p+0 - d * 0x1.0b4611a626331p-34;
  return __builtin_convertvector(d, VF);
}

MLC_INLINE VF MLC_V(sin_octant)(VF r, VF z) {
  VF p = z * -0x1.990d74p-13f + 0x1.1106aap-7f;
  p = p * z - 0x1.555544p-3f;
  return r + p * (z * r);
}

MLC_INLINE VF MLC_V(cos_octant)(VF z) {
  VF p = z * 0x1.99911cp-16f - 0x1.6c0af4p-10f;
  p = p * z + 0x1.555548p-5f;
  return 1.f - (z * .5f - p * (z * z));
}

/* sin(x + shift pi/2) for |x| <= MLC_TRIG_BOUND; the low bits of `biased` are the quadrant. */
MLC_INLINE VF MLC_V(sin_inside)(VF x, int shift) {
  VF biased = x * MLC_TWO_OVER_PI + MLC_TO_INT, r = MLC_V(trig_rest)(x, biased - MLC_TO_INT), z = r * r;
  VI quadrant = (VI)biased + shift;
  VF y = MLC_V(blend)((quadrant & 1) == 1, MLC_V(cos_octant)(z), MLC_V(sin_octant)(r, z));
  return (VF)((VI)y ^ ((quadrant & 2) << 30));
}

/* y, with libm's answer in the lanes beyond the bound and in NaN. */
static __attribute__((noinline, cold, unused)) VF MLC_V(trig_far)(VF x, VF y, float (*libm)(float)) {
  for (int i = 0; i < VW; i++)
    if (!(fabsf(x[i]) <= MLC_TRIG_BOUND)) y[i] = libm(x[i]);
  return y;
}

MLC_INLINE VF MLC_V(trig_all)(VF x, VF y, float (*libm)(float)) {
  VI near = MLC_V(abs)(x) <= MLC_TRIG_BOUND;
  return __builtin_expect(MLC_V(any)(~near), 0) ? MLC_V(trig_far)(x, y, libm) : y;
}

/* The polynomial loses the sign of a zero. */
MLC_INLINE VF MLC_V(sin)(VF x) {
  return MLC_V(trig_all)(x, MLC_V(blend)(x == 0.f, x, MLC_V(sin_inside)(x, 0)), sinf);
}

MLC_INLINE VF MLC_V(cos)(VF x) { return MLC_V(trig_all)(x, MLC_V(sin_inside)(x, 1), cosf); }

/* log2(x) for x > 0, in double, where no float is denormal: |error| < 2^-38 |log2(x)|. With x = 2^e m and
 * t = (m - 1) / (m + 1), ln(m) = 2 (t + t^3 / 3 + t^5 / 5 + ...). */
MLC_INLINE VD MLC_V(log2_double)(VF x) {
  VL bits = (VL)__builtin_convertvector(x, VD), e = (bits - 0x3fe6a09e667f3bcd) >> 52;
  VD m = (VD)(bits - (e << 52)), t = (m - 1.) / (m + 1.), s = t * t;
  VD q = s * (1. / 13) + 1. / 11;
  q = q * s + 1. / 9;
  q = q * s + 1. / 7;
  q = q * s + 1. / 5;
  q = q * s + 1. / 3;
  q = q * s + 1.;
  return (VD)(e + MLC_DOUBLE_TO_LONG_BITS) - MLC_DOUBLE_TO_LONG + t * q * 0x1.71547652b82fep+1;
}

/* In double: exact at powers of ten that are floats. */
MLC_INLINE VF MLC_V(log10)(VF x) {
  return MLC_V(log_edges)(x, __builtin_convertvector(MLC_V(log2_double)(x) * 0x1.34413509f79ffp-2, VF));
}

/* 2^z for n next to z, |n| <= 200. */
MLC_INLINE VF MLC_V(exp2_double)(VD z, VF n) {
  VD whole = __builtin_convertvector(n, VD), r = (z - whole) * 0x1.62e42fefa39efp-1;
  VD q = r * (1. / 362880) + 1. / 40320;
  q = q * r + 1. / 5040;
  q = q * r + 1. / 720;
  q = q * r + 1. / 120;
  q = q * r + 1. / 24;
  q = q * r + 1. / 6;
  q = q * r + 1. / 2;
  q = q * r + 1.;
  q = q * r + 1.;
  return __builtin_convertvector((VD)((VL)q + ((VL)(whole + MLC_DOUBLE_TO_LONG) << 52)), VF);
}

/* |x|^y = 2^(y log2|x|), in double; then all that is special, C11 F.10.4.4. */
MLC_INLINE VF MLC_V(pow)(VF x, VF y) {
  const VF one = MLC_V(fill)(1.f), none = MLC_V(fill)(0.f), large = MLC_V(fill)(INFINITY), a = MLC_V(abs)(x);
  VD z = __builtin_convertvector(y, VD) * MLC_V(log2_double)(a);
  VF near = __builtin_convertvector(z, VF), half = y * .5f;
  VF r = MLC_V(exp2_double)(z, MLC_V(roundeven)(MLC_V(max)(MLC_V(min)(near, 200.f), -200.f)));
  r = MLC_V(blend)((near > 130.f) | ((a == 0.f) & (y < 0.f)) | ((a == large) & (y > 0.f)), large, r);
  r = MLC_V(blend)((near < -160.f) | ((a == 0.f) & (y > 0.f)) | ((a == large) & (y < 0.f)), none, r);
  r = MLC_V(blend)(a == 1.f, one, r);
  VI whole = MLC_V(floor)(y) == y, odd = whole & (MLC_V(floor)(half) != half);
  r = (VF)((VI)r | (odd & (VI)x & INT32_MIN));
  VI undefined = (x < 0.f) & ~whole & (a != large);
  r = MLC_V(blend)((x != x) | (y != y) | undefined, MLC_V(fill)(NAN), r);
  return MLC_V(blend)((y == 0.f) | (x == 1.f), one, r);
}

#endif

#undef VF
#undef VI
#undef VD
#undef VL
#undef MLC_V
