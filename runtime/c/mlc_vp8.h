/* What the parts of the lossy WebP decoder share: mlc_vp8.c reads the frame, mlc_vp8_predict.c makes blocks of it,
 * mlc_vp8_filter.c smooths their edges and makes pixels. Numbers and names are those of RFC 6386. */
#ifndef MLC_VP8_H
#define MLC_VP8_H

#include "mlc_image.h"

#pragma GCC visibility push(hidden)

enum { DC_PRED, V_PRED, H_PRED, TM_PRED, B_PRED };
enum { B_DC_PRED, B_TM_PRED, B_VE_PRED, B_HE_PRED, B_LD_PRED, B_RD_PRED, B_VR_PRED, B_VL_PRED, B_HD_PRED, B_HU_PRED };

/* Decides bools by their probabilities; `past` counts bytes behind the end. */
typedef struct {
  mlc_bytes s;
  uint32_t value, range;
  int bits, past;
} mlc_bools;

/* A macroblock: its modes, and how strongly its edges are smoothed. */
typedef struct {
  uint8_t luma, chroma, segment, skipped, blocks[16];
  uint8_t level, inner; /* inner: the edges in it too */
} mlc_macroblock;

typedef struct {
  int64_t stride;
  uint8_t *samples; /* of the first macroblock; a row above and columns on the left are there */
} mlc_vp8_plane;

typedef struct {
  int64_t across, down; /* macroblocks */
  mlc_vp8_plane plane[3];
  mlc_macroblock *blocks;
  int simple, sharpness;
} mlc_vp8;

/* Adds a macroblock's residue, 16 coefficients for each of 25 blocks, to what its neighbours predict. */
void mlc_vp8_predict(mlc_vp8 *f, int64_t y, int64_t x, int coefficients[25][16]);

/* Smooths edges. */
void mlc_vp8_filter(mlc_vp8 *f);

/* Samples to pixels, chroma upsampled as libwebp does it; 0 ok. */
int mlc_vp8_pixels(const mlc_vp8 *f, mlc_image *image);

int mlc_vp8_read(mlc_bytes stream, mlc_image *image);
int mlc_vp8l_read(mlc_bytes stream, mlc_image *image);

#pragma GCC visibility pop

#endif
