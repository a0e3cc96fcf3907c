/* Factors of matrices: Cholesky, LU with row pivots, and triangular systems (dialects/graph/factors.py).
 *
 * All are recursive: of a matrix of two halves the first is factored, and what is left of the second is updated by a
 * matrix product, which has nearly all operations and runs in tiles of registers. Rows of a matrix are adjacent in
 * memory. A thread does its share of the matrices, or of the right sides. */
#ifndef MLC_FACTORS_H
#define MLC_FACTORS_H

#include <math.h>

#include "mlc_kernel.h"

#if defined __AVX512F__
enum { MLC_WIDE = 64, MLC_TILE_ROWS = 12 };
#elif defined __AVX__
enum { MLC_WIDE = 32, MLC_TILE_ROWS = 6 };
#else
enum { MLC_WIDE = 16, MLC_TILE_ROWS = 6 };
#endif
enum { MLC_DEPTH = 128, MLC_STRIPS = 8 /* of two vectors */, MLC_LEAF = 8 /* rows that are not halved */, MLC_SQUARE = 16 };

/* An even partition of a matrix of `n` > MLC_LEAF rows. */
MLC_INLINE int64_t mlc_half(int64_t n) { return (n / 2 + MLC_LEAF - 1) / MLC_LEAF * MLC_LEAF; }

#if MLC_HAS_PART(MLC_USE_F32)
#define T float
#define E f32
#define SQRT sqrtf
#include "mlc_factors_impl.h"
#undef T
#undef E
#undef SQRT
#endif
#if MLC_HAS_PART(MLC_USE_F64)
#define T double
#define E f64
#define SQRT sqrt
#include "mlc_factors_impl.h"
#undef T
#undef E
#undef SQRT
#endif

#endif
