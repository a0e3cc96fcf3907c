/* Dot products of pairs of bfloat16, for vectors of 4, 8 and 16 lanes:
 *
 *   f32x<L> mlc_dot2_f32x<L>(f32x<L> sum, i32x<L> a, i32x<L> b)
 *
 * dot2 adds, lane by lane, the products of the lower and of the upper halves of `a` and `b`. Products are exact. The
 * instruction vdpbf16ps takes subnormal factors and makes subnormal sums as zeros; its substitute does not. */
#ifndef MLC_PAIRS_H
#define MLC_PAIRS_H

#include "mlc_vec.h"

MLC_INLINE float mlc_dot2_f32(float sum, int32_t a, int32_t b) {
  union { uint32_t bits; float value; } a0 = {(uint32_t)a << 16}, a1 = {(uint32_t)a & 0xffff0000u};
  union { uint32_t bits; float value; } b0 = {(uint32_t)b << 16}, b1 = {(uint32_t)b & 0xffff0000u};
  return sum + a1.value * b1.value + a0.value * b0.value;
}

#define MLC_UPPER(L, x) ((f32x##L)((x) & (int32_t)0xffff0000u))
#define MLC_LOWER(L, x) ((f32x##L)((x) << 16))
#define MLC_DOT2_LANES(L)                                                                          \
  MLC_INLINE f32x##L mlc_dot2_f32x##L(f32x##L sum, i32x##L a, i32x##L b) {                         \
    sum += MLC_UPPER(L, a) * MLC_UPPER(L, b);                                                      \
    return sum + MLC_LOWER(L, a) * MLC_LOWER(L, b);                                                \
  }
#if defined __clang__
#define MLC_VDPBF16PS(bits, lanes) __builtin_ia32_dpbf16ps_##bits
#if __clang_major__ >= 16
#define MLC_BFLOATS __bf16
#else
#define MLC_BFLOATS int
#endif
#else
#define MLC_VDPBF16PS(bits, lanes) __builtin_ia32_dpbf16ps_v##lanes##sf
#if __GNUC__ >= 13
#define MLC_BFLOATS __bf16
#else
#define MLC_BFLOATS short
#endif
#endif
#define MLC_DOT2_BY(L, bits)                                                                       \
  typedef MLC_BFLOATS mlc_bfloats_##L __attribute__((vector_size(4 * L)));                         \
  MLC_INLINE f32x##L mlc_dot2_f32x##L(f32x##L sum, i32x##L a, i32x##L b) {                         \
    return MLC_VDPBF16PS(bits, L)(sum, (mlc_bfloats_##L)a, (mlc_bfloats_##L)b);                    \
  }

#if MLC_HAS_PART(MLC_USE_PAIRS)
#if defined __AVX512BF16__ && defined __AVX512VL__
MLC_DOT2_BY(4, 128) MLC_DOT2_BY(8, 256) MLC_DOT2_BY(16, 512)
#else
MLC_DOT2_LANES(4) MLC_DOT2_LANES(8) MLC_DOT2_LANES(16)
#endif
#endif

#endif
