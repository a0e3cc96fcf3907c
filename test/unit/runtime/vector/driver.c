/* Array versions of the functions of mlc_math.h, called by test_vector_math.py. */
#include "mlc_math.h"

#if defined __x86_64__
int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
int has_avx512(void) { return has_avx2() && __builtin_cpu_supports("avx512f"); }
#endif

#define MAP(fn, type, element, lanes) \
  void fn##_##type##x##lanes(const element *a, element *y, long n) { \
    for (long i = 0; i < n; i += lanes) { \
      type##x##lanes x; \
      memcpy(&x, a + i, sizeof x); \
      x = mlc_##fn##_##type##x##lanes(x); \
      memcpy(y + i, &x, sizeof x); \
    } \
  }
#define SCALAR(fn, type, element) \
  void fn##_##type(const element *a, element *y, long n) { \
    for (long i = 0; i < n; i++) y[i] = mlc_##fn##_##type(a[i]); \
  }
#define ALL(fn, type, element) \
  MAP(fn, type, element, 16) MAP(fn, type, element, 8) MAP(fn, type, element, 4) SCALAR(fn, type, element)
#define X(fn) ALL(fn, f32, float) ALL(fn, f64, double)
MLC_MATH_VECTOR(X)
MLC_MATH_LIBM(X)

#define MAP2(type, element, lanes) \
  void pow_##type##x##lanes(const element *a, const element *b, element *y, long n) { \
    for (long i = 0; i < n; i += lanes) { \
      type##x##lanes v, w; \
      memcpy(&v, a + i, sizeof v); \
      memcpy(&w, b + i, sizeof w); \
      v = mlc_pow_##type##x##lanes(v, w); \
      memcpy(y + i, &v, sizeof v); \
    } \
  }
MAP2(f32, float, 16) MAP2(f32, float, 8) MAP2(f32, float, 4)
MAP2(f64, double, 16) MAP2(f64, double, 8) MAP2(f64, double, 4)
