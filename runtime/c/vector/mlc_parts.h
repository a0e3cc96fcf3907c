/* The parts of the headers for kernels. A file that needs only some of them says which before it includes a header:
 *
 *   #define MLC_PARTS MLC_USE_F32 | MLC_USE_MATH
 *
 * Without that it gets all of them, which takes a compiler longer than a small kernel. A part brings those that it is
 * built on. */
#ifndef MLC_PARTS_H
#define MLC_PARTS_H

/* Vectors of elements, signed and unsigned. Comparisons of 64 bits give lanes of 32. */
#define MLC_USE_I8 0x1
#define MLC_USE_I16 0x2
#define MLC_USE_I32 0x4
#define MLC_USE_I64 (0x8 | MLC_USE_I32)
#define MLC_USE_F32 0x10
#define MLC_USE_F64 (0x20 | MLC_USE_I64)
#define MLC_USE_F16 (0x40 | MLC_USE_F32 | MLC_USE_I16)
#define MLC_USE_BF16 (0x80 | MLC_USE_F32 | MLC_USE_I32 | MLC_USE_I16) /* vectors of these as those of u16 */

#define MLC_USE_STRIDED 0x100 /* loads of every second, third or fourth element */
#define MLC_USE_TRANSPOSED (0x200 | MLC_USE_F32 | MLC_USE_I32 | MLC_USE_I8)
#define MLC_USE_BYTES (0x400 | MLC_USE_I8 | MLC_USE_I16 | MLC_USE_I32)    /* mlc_int8.h */
#define MLC_USE_DIVISION (0x800 | MLC_USE_I8 | MLC_USE_I16 | MLC_USE_F64) /* of vectors: mlc_divide.h */
#define MLC_USE_ROUNDING (0x1000 | MLC_USE_F32 | MLC_USE_I32) /* of float, and absolute values and square roots */
#define MLC_USE_MATH (0x2000 | MLC_USE_ROUNDING | MLC_USE_F64) /* of float: mlc_math.h */
#define MLC_USE_LIBM (0x4000 | MLC_USE_F32 | MLC_USE_F64)      /* functions of libm, and all of double */
#define MLC_USE_POWERS (0x8000 | MLC_USE_I8 | MLC_USE_I16 | MLC_USE_I64) /* of integers */

/* Parts of mlc_library.h; the elements are those above. */
#define MLC_USE_ORDER 0x10000
#define MLC_USE_SUMS (0x20000 | MLC_USE_F64)
#define MLC_USE_SCATTERING 0x40000
#define MLC_USE_BOXES (0x80000 | MLC_USE_ORDER | MLC_USE_F32)
#define MLC_USE_DRAWING 0x100000

#define MLC_USE_PAIRS (0x200000 | MLC_USE_F32 | MLC_USE_I32) /* mlc_pairs.h */
#define MLC_USE_NIBBLES (0x400000 | MLC_USE_F32 | MLC_USE_I32) /* integers of 4 bits as floats: mlc_int8.h */

#ifndef MLC_PARTS
#define MLC_PARTS -1
#endif
#define MLC_HAS_PART(part) (((MLC_PARTS) & (part)) == (part))

#endif
