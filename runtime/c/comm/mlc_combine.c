/* Elementwise combination of two arrays, for reductions over ranks. */
#include "mlc_collectives.h"

#define LARGER(a, b) ((a) >= (b) || (a) != (a) ? (a) : (b)) /* NaN where one is, as NumPy's maximum */
#define SMALLER(a, b) ((a) <= (b) || (a) != (a) ? (a) : (b))
#define EACH(value) \
  for (int64_t i = 0; i < count; i++) to[i] = value

/* Integers are added as unsigned ones, which wrap around. */
#define DEFINE(name, type, wrapping)                                                                 \
  static void combine_##name(int how, type *to, const type *a, const type *b, int64_t count) {       \
    switch (how) {                                                                                   \
      case MLC_ADD: EACH((type)((wrapping)a[i] + (wrapping)b[i])); break;                            \
      case MLC_MUL: EACH((type)((wrapping)a[i] * (wrapping)b[i])); break;                            \
      case MLC_MAX: EACH(LARGER(a[i], b[i])); break;                                                 \
      default: EACH(SMALLER(a[i], b[i]));                                                            \
    }                                                                                                \
  }

DEFINE(f32, float, float)
DEFINE(f64, double, double)
DEFINE(i8, int8_t, uint32_t)
DEFINE(i16, int16_t, uint32_t)
DEFINE(i32, int32_t, uint32_t)
DEFINE(i64, int64_t, uint64_t)
DEFINE(u8, uint8_t, uint32_t)
DEFINE(u16, uint16_t, uint32_t)
DEFINE(u32, uint32_t, uint32_t)
DEFINE(u64, uint64_t, uint64_t)

void mlc_combine(int element, int how, void *to, const void *a, const void *b, int64_t count) {
  switch (element) {
    case MLC_F32: combine_f32(how, to, a, b, count); break;
    case MLC_F64: combine_f64(how, to, a, b, count); break;
    case MLC_I8: combine_i8(how, to, a, b, count); break;
    case MLC_I16: combine_i16(how, to, a, b, count); break;
    case MLC_I32: combine_i32(how, to, a, b, count); break;
    case MLC_I64: combine_i64(how, to, a, b, count); break;
    case MLC_U8: combine_u8(how, to, a, b, count); break;
    case MLC_U16: combine_u16(how, to, a, b, count); break;
    case MLC_U32: combine_u32(how, to, a, b, count); break;
    default: combine_u64(how, to, a, b, count);
  }
}
