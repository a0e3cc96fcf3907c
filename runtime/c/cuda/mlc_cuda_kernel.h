/* The device vocabulary of generated CUDA kernels: the scalar functions that the code generator prints, with the meaning
 * that they have on CPUs, and how the threads of a warp and of a block combine. It needs no other header, so that nvcc
 * and NVRTC both compile it. */
#ifndef MLC_CUDA_KERNEL_H
#define MLC_CUDA_KERNEL_H

#ifdef __CUDACC_RTC__
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#else
#include <stdint.h>
#endif

#define MLC_DEVICE static __device__ __forceinline__
#define MLC_INFINITY __int_as_float(0x7f800000)
#define MLC_NAN __int_as_float(0x7fc00000)
#define __builtin_nanf(text) MLC_NAN
#define __builtin_inff() MLC_INFINITY

/* The number of this thread in the grid, and how many there are. */
#define MLC_GRID_THREAD ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define MLC_GRID_THREADS ((int64_t)gridDim.x * blockDim.x)

template <class T, class U> MLC_DEVICE U mlc_bits(T x) {
  union { T from; U to; } both;
  both.from = x;
  return both.to;
}
/* The bits of `x`, of type T, as those of a U of the same size. */
#define MLC_BITS(T, U, x) (mlc_bits<T, U>(x))

/* Half precision: every operation is computed in f32 and rounded. */
MLC_DEVICE uint16_t mlc_half_of(float x) {
#ifdef MLC_EMULATED
  return mlc_emulated_half(x);
#else
  uint16_t h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
#endif
}
MLC_DEVICE uint16_t mlc_half_of(double x) {
#ifdef MLC_EMULATED
  return mlc_emulated_half(x);
#else
  uint16_t h;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(x));
  return h;
#endif
}
MLC_DEVICE float mlc_float_of(uint16_t h) {
#ifdef MLC_EMULATED
  return mlc_emulated_float(h);
#else
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
  return x;
#endif
}
struct mlc_half {
  uint16_t bits;
  mlc_half() = default;
  template <class T> __device__ __forceinline__ mlc_half(T x) : bits(mlc_half_of((float)x)) {}
  __device__ __forceinline__ mlc_half(double x) : bits(mlc_half_of(x)) {}
  __device__ __forceinline__ operator float() const { return mlc_float_of(bits); }
};
#define _Float16 mlc_half /* the name under which C has it */

/* Division of integers: towards zero (div, and rem, what is left of it) and down (floordiv). x / 0 and x % 0 are 0, and
 * the most negative number divided by -1 wraps around. */
#define MLC_DIVISION(T, E, minus_one)                                                              \
  MLC_DEVICE T mlc_div_##E(T a, T b) { return (T)(b == 0 ? 0 : minus_one ? 0 - a : a / b); }       \
  MLC_DEVICE T mlc_rem_##E(T a, T b) { return (T)(b == 0 || minus_one ? 0 : a % b); }
#define MLC_SIGNED(bits)                                                                           \
  MLC_DIVISION(int##bits##_t, i##bits, b == -1)                                                    \
  MLC_DEVICE int##bits##_t mlc_floordiv_i##bits(int##bits##_t a, int##bits##_t b) {                \
    const int##bits##_t r = mlc_rem_i##bits(a, b);                                                 \
    return (int##bits##_t)(mlc_div_i##bits(a, b) - (r != 0 && (r < 0) != (b < 0)));                \
  }                                                                                                \
  MLC_DEVICE int##bits##_t mlc_ipow_i##bits(int##bits##_t a, int##bits##_t n) {                    \
    int##bits##_t power = 1;                                                                       \
    if (n < 0) return (int##bits##_t)(a == 1 ? 1 : a == -1 ? (n % 2 ? -1 : 1) : 0);                \
    for (; n; n = (int##bits##_t)(n / 2), a = (int##bits##_t)(a * a))                              \
      if (n % 2) power = (int##bits##_t)(power * a);                                               \
    return power;                                                                                  \
  }
#define MLC_MAXIMUM(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define MLC_MINIMUM(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define MLC_EXTREMES(T, E)                                                                         \
  MLC_DEVICE T mlc_maximum_##E(T a, T b) { return MLC_MAXIMUM(a, b); }                             \
  MLC_DEVICE T mlc_minimum_##E(T a, T b) { return MLC_MINIMUM(a, b); }
#define MLC_INTEGERS(bits)                                                                         \
  MLC_SIGNED(bits)                                                                                 \
  MLC_DIVISION(uint##bits##_t, u##bits, 0)                                                         \
  MLC_EXTREMES(int##bits##_t, i##bits)                                                             \
  MLC_EXTREMES(uint##bits##_t, u##bits)
MLC_INTEGERS(8)
MLC_INTEGERS(16)
MLC_INTEGERS(32)
MLC_INTEGERS(64)
MLC_EXTREMES(double, f64)
/* Of floats one instruction, which returns a NaN where one of both is (FMNMX.NAN), and not three. */
#ifdef MLC_EMULATED
MLC_EXTREMES(float, f32)
#else
#define MLC_EXTREME_OF_FLOATS(name, instruction)                                                   \
  MLC_DEVICE float mlc_##name##_f32(float a, float b) {                                            \
    float y;                                                                                       \
    asm(instruction ".NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));                            \
    return y;                                                                                      \
  }
MLC_EXTREME_OF_FLOATS(maximum, "max")
MLC_EXTREME_OF_FLOATS(minimum, "min")
#endif
MLC_DEVICE mlc_half mlc_maximum_f16(mlc_half a, mlc_half b) { return MLC_MAXIMUM((float)a, (float)b) == (float)a ? a : (float)a != (float)a ? a : b; }
MLC_DEVICE mlc_half mlc_minimum_f16(mlc_half a, mlc_half b) { return MLC_MINIMUM((float)a, (float)b) == (float)a ? a : (float)a != (float)a ? a : b; }

/* Functions of one and of two numbers, by CUDA's names of the float and the double one. */
#define MLC_FUNCTION(name, single, twice)                                                          \
  MLC_DEVICE float mlc_##name##_f32(float x) { return single(x); }                                 \
  MLC_DEVICE double mlc_##name##_f64(double x) { return twice(x); }
MLC_FUNCTION(exp, expf, exp)
MLC_FUNCTION(exp2, exp2f, exp2)
MLC_FUNCTION(expm1, expm1f, expm1)
MLC_FUNCTION(log, logf, log)
MLC_FUNCTION(log2, log2f, log2)
MLC_FUNCTION(log10, log10f, log10)
MLC_FUNCTION(log1p, log1pf, log1p)
MLC_FUNCTION(tanh, tanhf, tanh)
MLC_FUNCTION(erf, erff, erf)
MLC_FUNCTION(erfc, erfcf, erfc)
MLC_FUNCTION(sin, sinf, sin)
MLC_FUNCTION(cos, cosf, cos)
MLC_FUNCTION(tan, tanf, tan)
MLC_FUNCTION(sinh, sinhf, sinh)
MLC_FUNCTION(cosh, coshf, cosh)
MLC_FUNCTION(asin, asinf, asin)
MLC_FUNCTION(acos, acosf, acos)
MLC_FUNCTION(atan, atanf, atan)
MLC_FUNCTION(asinh, asinhf, asinh)
MLC_FUNCTION(acosh, acoshf, acosh)
MLC_FUNCTION(atanh, atanhf, atanh)
MLC_FUNCTION(floor, floorf, floor)
MLC_FUNCTION(ceil, ceilf, ceil)
MLC_FUNCTION(trunc, truncf, trunc)
MLC_FUNCTION(roundeven, rintf, rint)
MLC_FUNCTION(round, roundf, round)
MLC_FUNCTION(sqrt, sqrtf, sqrt)
MLC_FUNCTION(rsqrt, 1.0f / sqrtf, 1.0 / sqrt)
MLC_FUNCTION(abs, fabsf, fabs)
MLC_DEVICE float mlc_exp2_approximate(float x) {
#ifdef MLC_EMULATED
  return exp2f(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}
MLC_DEVICE mlc_half mlc_abs_f16(mlc_half x) { return fabsf((float)x); }
#define MLC_FUNCTION_OF_TWO(name, single, twice)                                                   \
  MLC_DEVICE float mlc_##name##_f32(float a, float b) { return single(a, b); }                     \
  MLC_DEVICE double mlc_##name##_f64(double a, double b) { return twice(a, b); }
MLC_FUNCTION_OF_TWO(pow, powf, pow)
MLC_FUNCTION_OF_TWO(atan2, atan2f, atan2)
MLC_FUNCTION_OF_TWO(fmod, fmodf, fmod)

/* bfloat16: the upper half of a float, in a 16-bit integer; rounded to the nearest, ties to even. */
MLC_DEVICE float mlc_widen_bf16(uint16_t x) { return mlc_bits<uint32_t, float>((uint32_t)x << 16); }
MLC_DEVICE uint16_t mlc_narrow_bf16(float x) {
  const uint32_t u = mlc_bits<float, uint32_t>(x);
  return (uint16_t)(x != x ? 0x7fc0 : (u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

/* Floats of 8 bits (E4M3 and E5M2 of the OCP 8-bit Floating Point Specification), of which halves hold each value:
 * UPPER says which two of four codes become halves, the first one in the low half. An E5M2 is the upper byte of a half;
 * the bits of an E4M3 at their positions of a half are those of 2^-8 times its value. */
#if defined(MLC_EMULATED) || __CUDA_ARCH__ < 890
MLC_DEVICE uint32_t mlc_upper_bytes(uint32_t codes, int upper) {
  const uint32_t pair = upper ? codes >> 16 : codes;
  return (pair & 0xff) << 8 | (pair & 0xff00) << 16;
}
MLC_DEVICE uint32_t mlc_times_256(uint32_t halves) {
#ifdef MLC_EMULATED
  return mlc_half_of(mlc_float_of((uint16_t)halves) * 256) |
         (uint32_t)mlc_half_of(mlc_float_of((uint16_t)(halves >> 16)) * 256) << 16;
#else
  asm("mul.rn.f16x2 %0, %0, %1;" : "+r"(halves) : "r"(0x5c005c00));
  return halves;
#endif
}
template <int UPPER> MLC_DEVICE uint32_t mlc_halves_e5m2(uint32_t codes) { return mlc_upper_bytes(codes, UPPER); }
template <int UPPER> MLC_DEVICE uint32_t mlc_halves_e4m3(uint32_t codes) {
  const uint32_t bits = mlc_upper_bytes(codes, UPPER), size = bits & 0x7f007f00;
  const uint32_t nan = (size + 0x01000100) >> 15 & 0x00010001; /* a carry: all bits of the code are 1 */
  return mlc_times_256((bits & 0x80008000) | size >> 1) | ((nan << 15) - nan);
}
#else
#define MLC_HALVES(E)                                                                              \
  template <int UPPER> MLC_DEVICE uint32_t mlc_halves_##E(uint32_t codes) {                        \
    uint32_t halves;                                                                               \
    asm("cvt.rn.f16x2." #E "x2 %0, %1;" : "=r"(halves) : "h"((uint16_t)(UPPER ? codes >> 16 : codes))); \
    return halves;                                                                                 \
  }
MLC_HALVES(e4m3)
MLC_HALVES(e5m2)
#endif
MLC_DEVICE float mlc_widen_f8e4m3fn(int8_t x) { return mlc_float_of((uint16_t)mlc_halves_e4m3<0>((uint8_t)x)); }
MLC_DEVICE float mlc_widen_f8e5m2(int8_t x) { return mlc_float_of((uint16_t)mlc_halves_e5m2<0>((uint8_t)x)); }

/* Bytes as floats and halves: the lowest bits of 2^23 and of 2^10 are 1. Conversions are taken to be slower than a sum. */
MLC_DEVICE float mlc_f32_of_u8(uint8_t x) { return mlc_bits<uint32_t, float>(0x4b000000u | x) - 8388608.0f; }
MLC_DEVICE float mlc_f32_of_i8(int8_t x) {
  return mlc_bits<uint32_t, float>(0x4b000000u | (uint8_t)(x ^ 0x80)) - (8388608.0f + 128.0f);
}
MLC_DEVICE mlc_half mlc_half_less(uint16_t bits, uint16_t other) {
  mlc_half h;
#ifdef MLC_EMULATED
  h.bits = mlc_half_of(mlc_float_of(bits) - mlc_float_of(other));
#else
  asm("sub.rn.f16 %0, %1, %2;" : "=h"(h.bits) : "h"(bits), "h"(other));
#endif
  return h;
}
MLC_DEVICE mlc_half mlc_f16_of_u8(uint8_t x) { return mlc_half_less((uint16_t)(0x6400 | x), 0x6400); }
MLC_DEVICE mlc_half mlc_f16_of_i8(int8_t x) { return mlc_half_less((uint16_t)(0x6400 | (uint8_t)(x ^ 0x80)), 0x6480); }

/* Two neighbours of a factor of the tensor cores in a register, the first one in the low half; of floats, rounded. */
MLC_DEVICE uint32_t mlc_pair(uint16_t a, uint16_t b) { return (uint32_t)b << 16 | a; }
MLC_DEVICE uint32_t mlc_pair(mlc_half a, mlc_half b) { return mlc_pair(a.bits, b.bits); }
#ifdef MLC_EMULATED
MLC_DEVICE uint32_t mlc_pair_f16(float a, float b) { return mlc_pair(mlc_half(a), mlc_half(b)); }
MLC_DEVICE uint32_t mlc_pair_bf16(float a, float b) { return mlc_pair(mlc_narrow_bf16(a), mlc_narrow_bf16(b)); }
#else
#define MLC_PAIR(E)                                                                                \
  MLC_DEVICE uint32_t mlc_pair_##E(float a, float b) {                                             \
    uint32_t both;                                                                                 \
    asm("cvt.rn." #E "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(b), "f"(a));                          \
    return both;                                                                                   \
  }
MLC_PAIR(f16)
MLC_PAIR(bf16)
#endif

/* A factor of the tensor cores: a float rounded to 10 bits after the point (TF32), ties away from zero. */
MLC_DEVICE uint32_t mlc_tf32(float x) {
#ifdef MLC_EMULATED
  return (mlc_bits<float, uint32_t>(x) + 0x1000) & ~(uint32_t)0x1fff;
#else
  uint32_t y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
#endif
}

/* c += a b of the fragments of a warp, which are 16 x 8 sums, and factors in registers of 32 bits. */
#ifdef MLC_EMULATED
#define MLC_MMA(name, shape, types, T, place)                                                      \
  MLC_DEVICE void mlc_mma_##name(T &c0, T &c1, T &c2, T &c3, const uint32_t (&a)[4], const uint32_t (&b)[2]) { \
    mlc_emulated_mma_##name(&c0, &c1, &c2, &c3, a, b);                                             \
  }
#else
#define MLC_MMA(name, shape, types, T, place)                                                      \
  MLC_DEVICE void mlc_mma_##name(T &c0, T &c1, T &c2, T &c3, const uint32_t (&a)[4], const uint32_t (&b)[2]) { \
    asm volatile("mma.sync.aligned." shape ".row.col." types                                       \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                \
                 : "+" place(c0), "+" place(c1), "+" place(c2), "+" place(c3)                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));              \
  }
#endif
MLC_MMA(tf32_bits, "m16n8k8", "f32.tf32.tf32.f32", float, "f")
MLC_MMA(f16, "m16n8k16", "f32.f16.f16.f32", float, "f")
MLC_MMA(bf16, "m16n8k16", "f32.bf16.bf16.f32", float, "f")
MLC_MMA(u8, "m16n8k32", "s32.u8.u8.s32", int32_t, "r")
MLC_MMA(s8, "m16n8k32", "s32.s8.s8.s32", int32_t, "r")
MLC_MMA(u8_s8, "m16n8k32", "s32.u8.s8.s32", int32_t, "r")
MLC_MMA(s8_u8, "m16n8k32", "s32.s8.u8.s32", int32_t, "r")

/* The same of floats of 8 bits, each a half: two products of 16 steps, each of every other pair of steps. That is what
 * mma.m16n8k32 of these types is on sm_90, and its sums are those of halves. sm_89 adds in fewer bits than f32 has. */
#define MLC_MMA_F8(name, A, B)                                                                     \
  MLC_DEVICE void mlc_mma_##name(float &c0, float &c1, float &c2, float &c3, const uint32_t (&a)[4], const uint32_t (&b)[2]) { \
    for (int i = 0; i < 2; i++) {                                                                  \
      const uint32_t x[4] = {mlc_halves_##A<0>(a[2 * i]), mlc_halves_##A<0>(a[2 * i + 1]),         \
                             mlc_halves_##A<1>(a[2 * i]), mlc_halves_##A<1>(a[2 * i + 1])};        \
      const uint32_t y[2] = {mlc_halves_##B<0>(b[i]), mlc_halves_##B<1>(b[i])};                    \
      mlc_mma_f16(c0, c1, c2, c3, x, y);                                                           \
    }                                                                                              \
  }
MLC_MMA_F8(e4m3, e4m3, e4m3)
MLC_MMA_F8(e5m2, e5m2, e5m2)
MLC_MMA_F8(e4m3_e5m2, e4m3, e5m2)
MLC_MMA_F8(e5m2_e4m3, e5m2, e4m3)

/* The same of floats, each rounded to TF32. */
MLC_DEVICE void mlc_mma_tf32(float &c0, float &c1, float &c2, float &c3, const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  uint32_t x[4], y[2];
  for (int i = 0; i < 4; i++) x[i] = mlc_tf32(mlc_bits<uint32_t, float>(a[i]));
  for (int i = 0; i < 2; i++) y[i] = mlc_tf32(mlc_bits<uint32_t, float>(b[i]));
  mlc_mma_tf32_bits(c0, c1, c2, c3, x, y);
}
/* The same of floats, each the sum of two TF32; the product of the small parts is below the last bit (3xTF32). */
MLC_DEVICE void mlc_mma_tf32x3(float &c0, float &c1, float &c2, float &c3, const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  uint32_t x[4], y[2], u[4], v[2];
  for (int i = 0; i < 4; i++) {
    x[i] = mlc_tf32(mlc_bits<uint32_t, float>(a[i]));
    u[i] = mlc_tf32(mlc_bits<uint32_t, float>(a[i]) - mlc_bits<uint32_t, float>(x[i]));
  }
  for (int i = 0; i < 2; i++) {
    y[i] = mlc_tf32(mlc_bits<uint32_t, float>(b[i]));
    v[i] = mlc_tf32(mlc_bits<uint32_t, float>(b[i]) - mlc_bits<uint32_t, float>(y[i]));
  }
  mlc_mma_tf32_bits(c0, c1, c2, c3, u, y);
  mlc_mma_tf32_bits(c0, c1, c2, c3, x, v);
  mlc_mma_tf32_bits(c0, c1, c2, c3, x, y);
}

/* Matrices of 8 rows of 16 bytes from shared memory, one a register: lane 8 i + j gives the address of row j of matrix
 * i, bytes from an array on; lane 4 g + t gets the t-th 4 bytes of row g, or of a transposed matrix of halves column g
 * of rows 2 t, 2 t + 1. */
#ifdef MLC_EMULATED
#define MLC_LDMATRIX(name, which, transposed)                                                      \
  MLC_DEVICE void mlc_ldmatrix_x4##name(uint32_t &r0, uint32_t &r1, uint32_t &r2, uint32_t &r3, const void *array, int at) { \
    uint32_t *const r[4] = {&r0, &r1, &r2, &r3};                                                   \
    mlc_emulated_ldmatrix(r, 4, transposed, (const char *)array + at);                                                  \
  }                                                                                                \
  MLC_DEVICE void mlc_ldmatrix_x2##name(uint32_t &r0, uint32_t &r1, const void *array, int at) { \
    uint32_t *const r[2] = {&r0, &r1};                                                             \
    mlc_emulated_ldmatrix(r, 2, transposed, (const char *)array + at);                                                  \
  }
#else
#define MLC_LDMATRIX(name, which, transposed)                                                      \
  MLC_DEVICE void mlc_ldmatrix_x4##name(uint32_t &r0, uint32_t &r1, uint32_t &r2, uint32_t &r3, const void *array, int at) { \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" which ".shared.b16 {%0, %1, %2, %3}, [%4];"       \
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)                                          \
                 : "r"((uint32_t)__cvta_generic_to_shared(array) + at)                             \
                 : "memory");                                                                      \
  }                                                                                                \
  MLC_DEVICE void mlc_ldmatrix_x2##name(uint32_t &r0, uint32_t &r1, const void *array, int at) {   \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" which ".shared.b16 {%0, %1}, [%2];"               \
                 : "=r"(r0), "=r"(r1)                                                              \
                 : "r"((uint32_t)__cvta_generic_to_shared(array) + at)                             \
                 : "memory");                                                                      \
  }
#endif
MLC_LDMATRIX(, "", 0)
MLC_LDMATRIX(_trans, ".trans", 1)

/* The shared memory of a kernel whose launch asks for so many bytes. */
#ifdef MLC_EMULATED
#define MLC_DYNAMIC_SHARED(name, bytes) __shared__ __align__(1024) char name[bytes]
#else
#define MLC_DYNAMIC_SHARED(name, bytes) extern __shared__ __align__(1024) char name[]
#endif

/* `left`, as the number of elements from 0 to `most`. */
MLC_DEVICE int mlc_within(int64_t left, int most) { return left <= 0 ? 0 : left < most ? (int)left : most; }

template <int BYTES> MLC_DEVICE bool mlc_is_aligned(const void *p) { return ((uint64_t)p & (BYTES - 1)) == 0; }

/* The asynchronous copy of N elements to shared memory, both aligned to their 4, 8 or 16 bytes: the first `valid` are
 * read, zeros arrive for the others. */
template <class T, int N> MLC_DEVICE void mlc_copy_async(T *to, const T *from, int valid) {
  const int bytes = valid * (int)sizeof(T);
#ifdef MLC_EMULATED
  mlc_emulated_copy_async(to, from, (int)sizeof(T) * N, bytes);
#else
  const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);
  if constexpr (sizeof(T) * N == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
  else if constexpr (sizeof(T) * N == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
#endif
}

/* The same at once, without alignment. */
template <class T, int N> MLC_DEVICE void mlc_copy(T *to, const T *from, int valid) {
#pragma unroll
  for (int n = 0; n < N; n++) to[n] = n < valid ? from[n] : (T)0;
}

/* The asynchronous copies of a thread since the last one are a group; it waits for all groups but the last GROUPS. */
MLC_DEVICE void mlc_async_group() {
#ifdef MLC_EMULATED
  mlc_emulated_async_group();
#else
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int GROUPS> MLC_DEVICE void mlc_async_wait() {
#ifdef MLC_EMULATED
  mlc_emulated_async_wait(GROUPS);
#else
  asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
#endif
}

/* Whether this block is the last of `blocks` blocks that arrive at a semaphore, which is 0 before and after. The barriers
 * and the order of thread 0's atomic operation (PTX ISA, causality order) make what the others wrote before their
 * arrivals visible to all threads of the last block. */
MLC_DEVICE bool mlc_arrive(int32_t *semaphore, int blocks) {
  __syncthreads();
  if (blocks == 1) return true;
  int before = 0;
  if (threadIdx.x == 0) {
#ifdef MLC_EMULATED
    before = mlc_emulated_arrive(semaphore, blocks - 1);
#else
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(semaphore), "r"(blocks - 1) : "memory");
#endif
  }
  return __syncthreads_or(before == blocks - 1);
}

/* Whether all other blocks of `blocks` have arrived; false where `when` is, and perhaps for those that just have. */
MLC_DEVICE bool mlc_others_arrived(const int32_t *semaphore, int blocks, bool when) {
  if (blocks == 1 || !when) return when;
  int arrived = 0;
  if (threadIdx.x == 0) {
#ifdef MLC_EMULATED
    arrived = mlc_emulated_arrived(semaphore);
#else
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(semaphore) : "memory");
#endif
  }
  return __syncthreads_or(arrived == blocks - 1);
}

/* A value that all lanes of a warp have, in a register that they share. */
MLC_DEVICE int mlc_uniform(int value) {
#ifdef MLC_EMULATED
  return value;
#else
  return __shfl_sync(0xffffffffu, value, 0);
#endif
}

/* The value of the thread of this warp whose number differs in the bits of `mask`. */
template <class T> MLC_DEVICE T mlc_shuffle_xor(T x, int mask) {
  if constexpr (sizeof(T) == 8) return mlc_bits<int64_t, T>(__shfl_xor_sync(0xffffffffu, mlc_bits<T, int64_t>(x), mask));
  else if constexpr (sizeof(T) == 4) return mlc_bits<int32_t, T>(__shfl_xor_sync(0xffffffffu, mlc_bits<T, int32_t>(x), mask));
  else {
    union { int32_t word; T value; } both;
    both.word = 0;
    both.value = x;
    both.word = __shfl_xor_sync(0xffffffffu, both.word, mask);
    return both.value;
  }
}

/* One element of each warp, in shared memory: the first thread of a warp puts it, after a barrier any thread gets it. */
MLC_DEVICE uint64_t *mlc_warps() {
  __shared__ uint64_t of_warps[32];
  return of_warps;
}
template <class T> MLC_DEVICE void mlc_put(T x) {
  if (threadIdx.x % 32 == 0) *(T *)(mlc_warps() + threadIdx.x / 32) = x;
}
template <class T> MLC_DEVICE T mlc_get(int warp) { return *(const T *)(mlc_warps() + warp); }

#endif
