/* Bytes and 32-bit integers, for vectors of 4, 8 and 16 lanes:
 *
 *   i32x<L> mlc_widen_i8x<L>(i8x<L>)      i32x<L> mlc_widen_u8x<L>(u8x<L>)
 *   i8x<L> mlc_narrow_i32x<L>(i32x<L>)                                       the lowest byte of each
 *   i32x<L> mlc_dot4_i32x<L>(i32x<L> sum, i32x<L> a, i32x<L> b)
 *   i32x<L> mlc_dot2_i16_i32x<L>(i32x<L> sum, i32x<L> a, i32x<L> b)
 *   i32x<L> mlc_dot2x2_i32x<L>(i32x<L> sum, i32x<L> a, i32x<L> b)
 *   i32x<L> mlc_add2_i32x<L>(i32x<L> a, i32x<L> b)    i32x<L> mlc_sum2_i32x<L>(i32x<L>)
 *
 * dot4 adds, lane by lane, the dot product of the four bytes of `a`, unsigned, and those of `b`, signed. It is exact:
 * pmaddubsw, which adds pairs in 16 bits and saturates, is not used. dot2_i16 adds that of two i16 each. dot2x2 is pmaddubsw, added to two sums of 16 bits: for
 * factors of which these cannot overflow. add2 adds two such pairs, sum2 the two sums of one. GCC 12 takes conversions between bytes and 32 bits
 * lane by lane (scalarized), so that they take two steps here, or the machine's instruction. */
#ifndef MLC_INT8_H
#define MLC_INT8_H

#include "mlc_vec.h"

#define MLC_BYTES_BY_STEPS(L)                                                                      \
  MLC_INLINE i32x##L mlc_widen_i8x##L(i8x##L x) {                                                  \
    return __builtin_convertvector(__builtin_convertvector(x, i16x##L), i32x##L);                  \
  }                                                                                                \
  MLC_INLINE i32x##L mlc_widen_u8x##L(u8x##L x) {                                                  \
    return __builtin_convertvector(__builtin_convertvector(x, u16x##L), i32x##L);                  \
  }
#define MLC_NARROW_BY_STEPS(L)                                                                     \
  MLC_INLINE i8x##L mlc_narrow_i32x##L(i32x##L x) {                                                \
    return __builtin_convertvector(__builtin_convertvector(x, i16x##L), i8x##L);                   \
  }
#define MLC_NARROW_AT_ONCE(L) \
  MLC_INLINE i8x##L mlc_narrow_i32x##L(i32x##L x) { return __builtin_convertvector(x, i8x##L); }

#if MLC_HAS_PART(MLC_USE_BYTES)
typedef char mlc_bytes __attribute__((vector_size(16)));
typedef long long mlc_words __attribute__((vector_size(16)));

MLC_BYTES_BY_STEPS(4)
#if defined __AVX2__ && !defined __clang__
#define MLC_LOW_BYTES(x) ((mlc_bytes)(mlc_words){((union { i8x8 from; long long to; }){(i8x8)(x)}).to, 0})
MLC_INLINE i32x8 mlc_widen_i8x8(i8x8 x) { return (i32x8)__builtin_ia32_pmovsxbd256(MLC_LOW_BYTES(x)); }
MLC_INLINE i32x8 mlc_widen_u8x8(u8x8 x) { return (i32x8)__builtin_ia32_pmovzxbd256(MLC_LOW_BYTES(x)); }
#else
MLC_BYTES_BY_STEPS(8)
#endif
#if defined __AVX512F__ && !defined __clang__
MLC_INLINE i32x16 mlc_widen_i8x16(i8x16 x) { return __builtin_ia32_pmovsxbd512_mask((mlc_bytes)x, (i32x16){0}, -1); }
MLC_INLINE i32x16 mlc_widen_u8x16(u8x16 x) { return __builtin_ia32_pmovzxbd512_mask((mlc_bytes)x, (i32x16){0}, -1); }
#else
MLC_BYTES_BY_STEPS(16)
#endif
#if defined __AVX512VL__ || defined __clang__
MLC_NARROW_AT_ONCE(4) MLC_NARROW_AT_ONCE(8) MLC_NARROW_AT_ONCE(16)
#else
MLC_NARROW_BY_STEPS(4) MLC_NARROW_BY_STEPS(8) MLC_NARROW_BY_STEPS(16)
#endif

#endif

/* The low 4 bits of each word, and a number, as floats: a table in a register gives 16 by one instruction. */
#if MLC_HAS_PART(MLC_USE_NIBBLES)
#if defined __AVX512F__ && !defined __clang__
MLC_INLINE f32x16 mlc_nibbles_f32x16(i32x16 words, float first) {
  f32x16 table = (f32x16){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + first;
  return __builtin_ia32_permvarsf512_mask(table, words, table, -1);
}
#else
MLC_INLINE f32x16 mlc_nibbles_f32x16(i32x16 words, float first) {
  return __builtin_convertvector((words & 15) + (int)first, f32x16);
}
#endif
#endif

/* ---- dot products ---- */

MLC_INLINE int32_t mlc_dot4_i32(int32_t sum, int32_t a, int32_t b) {
  for (int n = 0; n < 32; n += 8) sum += (int32_t)(uint8_t)((uint32_t)a >> n) * (int8_t)((uint32_t)b >> n);
  return sum;
}

MLC_INLINE int32_t mlc_dot2_i16_i32(int32_t sum, int32_t a, int32_t b) {
  return sum + (int16_t)a * (int16_t)b + (a >> 16) * (b >> 16);
}

MLC_INLINE int16_t mlc_dot2_bytes(int32_t a, int32_t b) {
  int32_t sum = (uint8_t)a * (int8_t)b + (uint8_t)((uint32_t)a >> 8) * (int8_t)((uint32_t)b >> 8);
  return (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
}
MLC_INLINE int32_t mlc_add2_i32(int32_t a, int32_t b) {
  uint32_t low = ((uint32_t)a + (uint32_t)b) & 0xffff;
  return (int32_t)(((((uint32_t)a >> 16) + ((uint32_t)b >> 16)) << 16) | low);
}
MLC_INLINE int32_t mlc_sum2_i32(int32_t x) { return (int16_t)x + (int16_t)((uint32_t)x >> 16); }
MLC_INLINE int32_t mlc_dot2x2_i32(int32_t sum, int32_t a, int32_t b) {
  uint32_t low = (uint16_t)mlc_dot2_bytes(a, b), high = (uint16_t)mlc_dot2_bytes((int32_t)((uint32_t)a >> 16), (int32_t)((uint32_t)b >> 16));
  return mlc_add2_i32(sum, (int32_t)(high << 16 | low));
}

#define MLC_DOT4_BY(L, builtin) \
  MLC_INLINE i32x##L mlc_dot4_i32x##L(i32x##L sum, i32x##L a, i32x##L b) { return (i32x##L)builtin(sum, a, b); }
#define MLC_DOT4_HALVES(L, H)                                                                      \
  MLC_INLINE i32x##L mlc_dot4_i32x##L(i32x##L s, i32x##L a, i32x##L b) {                           \
    i32x##H low = mlc_dot4_i32x##H(mlc_low_i32x##L(s), mlc_low_i32x##L(a), mlc_low_i32x##L(b));    \
    return mlc_join_i32x##L(low, mlc_dot4_i32x##H(mlc_high_i32x##L(s), mlc_high_i32x##L(a), mlc_high_i32x##L(b))); \
  }
/* The even and the odd bytes as 16 bits, by an instruction that multiplies these and adds pairs in 32. GCC reorders
 * integer additions, so that all products of a loop's body wait in memory and not in registers: `add` is an instruction,
 * or a sum that passes an empty one. */
#if defined __GNUC__ && (defined __x86_64__ || defined __i386__)
#define MLC_KEEP_SUM(x) __asm__("" : "+x"(x))
#else
#define MLC_KEEP_SUM(x) (void)(x)
#endif
#define MLC_KEPT_ADD(L)                                                                        \
  MLC_INLINE i32x##L mlc_kept_add_##L(i32x##L a, i32x##L b) {                                      \
    a += b;                                                                                        \
    MLC_KEEP_SUM(a);                                                                               \
    return a;                                                                                      \
  }
#define MLC_DOT4_PAIRS(L, madd, add)                                                                \
  typedef int16_t mlc_pairs_##L __attribute__((vector_size(4 * L)));                               \
  typedef uint16_t mlc_upairs_##L __attribute__((vector_size(4 * L)));                             \
  MLC_INLINE i32x##L mlc_dot4_i32x##L(i32x##L sum, i32x##L a, i32x##L b) {                         \
    mlc_upairs_##L u = (mlc_upairs_##L)a;                                                          \
    mlc_pairs_##L s = (mlc_pairs_##L)b;                                                            \
    sum = (i32x##L)add(sum, (i32x##L)madd((mlc_pairs_##L)(u & 255), (s << 8) >> 8));               \
    return (i32x##L)add(sum, (i32x##L)madd((mlc_pairs_##L)(u >> 8), s >> 8));                      \
  }
#define MLC_DOT2_I16_PAIRS(L, madd, add)                                                            \
  typedef int16_t mlc_words_##L __attribute__((vector_size(4 * L)));                               \
  MLC_INLINE i32x##L mlc_dot2_i16_i32x##L(i32x##L sum, i32x##L a, i32x##L b) {                     \
    return (i32x##L)add(sum, (i32x##L)madd((mlc_words_##L)a, (mlc_words_##L)b));                   \
  }
#define MLC_DOT2_I16_LANES(L)                                                                      \
  MLC_INLINE i32x##L mlc_dot2_i16_i32x##L(i32x##L sum, i32x##L a, i32x##L b) {                     \
    return sum + ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);                    \
  }
#define MLC_DOT4_LANES(L)                                                                          \
  MLC_INLINE i32x##L mlc_dot4_i32x##L(i32x##L sum, i32x##L a, i32x##L b) {                         \
    sum += (a & 255) * ((b << 24) >> 24) + ((a >> 8) & 255) * ((b << 16) >> 24);                   \
    return sum + ((a >> 16) & 255) * ((b << 8) >> 24) + ((a >> 24) & 255) * (b >> 24);             \
  }

/* Sums of 16 bits by the machine's instructions, by halves of a vector, or lane by lane. */
#define MLC_DOT2X2_PAIRS(L, maddubs, madd, add)                                                       \
  typedef int16_t mlc_halves_##L __attribute__((vector_size(4 * L)));                              \
  typedef char mlc_quads_##L __attribute__((vector_size(4 * L)));                                  \
  MLC_INLINE i32x##L mlc_add2_i32x##L(i32x##L a, i32x##L b) {                                      \
    return (i32x##L)add((mlc_halves_##L)a, (mlc_halves_##L)b);                                      \
  }                                                                                                \
  MLC_INLINE i32x##L mlc_sum2_i32x##L(i32x##L x) {                                                 \
    return (i32x##L)madd((mlc_halves_##L)x, (mlc_halves_##L)((i32x##L){0} + 0x10001));              \
  }                                                                                                \
  MLC_INLINE i32x##L mlc_dot2x2_i32x##L(i32x##L sum, i32x##L a, i32x##L b) {                       \
    return mlc_add2_i32x##L(sum, (i32x##L)maddubs((mlc_quads_##L)a, (mlc_quads_##L)b));             \
  }
#define MLC_DOT2X2_HALVES(L, H)                                                                    \
  MLC_INLINE i32x##L mlc_add2_i32x##L(i32x##L a, i32x##L b) {                                      \
    i32x##H low = mlc_add2_i32x##H(mlc_low_i32x##L(a), mlc_low_i32x##L(b));                        \
    return mlc_join_i32x##L(low, mlc_add2_i32x##H(mlc_high_i32x##L(a), mlc_high_i32x##L(b)));       \
  }                                                                                                \
  MLC_INLINE i32x##L mlc_sum2_i32x##L(i32x##L x) {                                                 \
    return mlc_join_i32x##L(mlc_sum2_i32x##H(mlc_low_i32x##L(x)), mlc_sum2_i32x##H(mlc_high_i32x##L(x))); \
  }                                                                                                \
  MLC_INLINE i32x##L mlc_dot2x2_i32x##L(i32x##L s, i32x##L a, i32x##L b) {                         \
    i32x##H low = mlc_dot2x2_i32x##H(mlc_low_i32x##L(s), mlc_low_i32x##L(a), mlc_low_i32x##L(b));  \
    return mlc_join_i32x##L(low, mlc_dot2x2_i32x##H(mlc_high_i32x##L(s), mlc_high_i32x##L(a), mlc_high_i32x##L(b))); \
  }
#define MLC_DOT2X2_LANES(L)                                                                        \
  MLC_INLINE i32x##L mlc_add2_i32x##L(i32x##L a, i32x##L b) {                                      \
    for (int n = 0; n < L; n++) a[n] = mlc_add2_i32(a[n], b[n]);                                   \
    return a;                                                                                      \
  }                                                                                                \
  MLC_INLINE i32x##L mlc_sum2_i32x##L(i32x##L x) { return ((x << 16) >> 16) + (x >> 16); }          \
  MLC_INLINE i32x##L mlc_dot2x2_i32x##L(i32x##L sum, i32x##L a, i32x##L b) {                       \
    for (int n = 0; n < L; n++) sum[n] = mlc_dot2x2_i32(sum[n], a[n], b[n]);                       \
    return sum;                                                                                    \
  }

#if MLC_HAS_PART(MLC_USE_BYTES)
#if defined __AVX2__
#if defined __clang__
#define MLC_PADDW128(a, b) ((a) + (b))
#define MLC_PADDW256(a, b) ((a) + (b))
#define MLC_PADDD128(a, b) ((a) + (b))
#define MLC_PADDD256(a, b) ((a) + (b))
#else /* which GCC does not reorder: in a tree all products would need registers at once */
#define MLC_PADDW128 __builtin_ia32_paddw128
#define MLC_PADDW256 __builtin_ia32_paddw256
#define MLC_PADDD128 __builtin_ia32_paddd128
#define MLC_PADDD256 __builtin_ia32_paddd256
#endif
MLC_DOT2X2_PAIRS(4, __builtin_ia32_pmaddubsw128, __builtin_ia32_pmaddwd128, MLC_PADDW128)
MLC_DOT2X2_PAIRS(8, __builtin_ia32_pmaddubsw256, __builtin_ia32_pmaddwd256, MLC_PADDW256)
#else
MLC_DOT2X2_LANES(4) MLC_DOT2X2_HALVES(8, 4)
#endif
MLC_DOT2X2_HALVES(16, 8)
#if defined __AVX2__
MLC_DOT2_I16_PAIRS(4, __builtin_ia32_pmaddwd128, MLC_PADDD128)
MLC_DOT2_I16_PAIRS(8, __builtin_ia32_pmaddwd256, MLC_PADDD256)
#else
MLC_DOT2_I16_LANES(4) MLC_DOT2_I16_LANES(8)
#endif
MLC_DOT2_I16_LANES(16)
#if defined __clang__
#define MLC_VPDPBUSD(bits, lanes) __builtin_ia32_vpdpbusd##bits
#else
#define MLC_VPDPBUSD(bits, lanes) __builtin_ia32_vpdpbusd_v##lanes##si
#endif
#if defined __AVXVNNI__ || (defined __AVX512VNNI__ && defined __AVX512VL__)
MLC_DOT4_BY(4, MLC_VPDPBUSD(128, 4)) MLC_DOT4_BY(8, MLC_VPDPBUSD(256, 8))
#elif defined __AVX2__
MLC_DOT4_PAIRS(4, __builtin_ia32_pmaddwd128, MLC_PADDD128)
MLC_DOT4_PAIRS(8, __builtin_ia32_pmaddwd256, MLC_PADDD256)
#elif defined __SSE2__
MLC_KEPT_ADD(4)
MLC_DOT4_PAIRS(4, __builtin_ia32_pmaddwd128, mlc_kept_add_4) MLC_DOT4_HALVES(8, 4)
#else
MLC_DOT4_LANES(4) MLC_DOT4_HALVES(8, 4)
#endif
#if defined __AVX512VNNI__
MLC_DOT4_BY(16, MLC_VPDPBUSD(512, 16))
#elif defined __AVX512BW__ && !defined __clang__
#define MLC_PMADDWD512(a, b) __builtin_ia32_pmaddwd512_mask(a, b, (i32x16){0}, -1)
MLC_KEPT_ADD(16)
MLC_DOT4_PAIRS(16, MLC_PMADDWD512, mlc_kept_add_16)
#else
MLC_DOT4_HALVES(16, 8)
#endif
#endif

#endif
