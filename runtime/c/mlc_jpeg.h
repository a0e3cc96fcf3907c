/* What the two halves of the JPEG decoder share: mlc_jpeg.c fills blocks of coefficients, mlc_jpeg_pixels.c makes
 * pixels of them. */
#ifndef MLC_JPEG_H
#define MLC_JPEG_H

#include "mlc_image.h"

#pragma GCC visibility push(hidden)

typedef struct {
  int id, h, v;             /* how often it is sampled, as h of h_most across */
  unsigned quantization;    /* number of its table */
  int64_t width, height;    /* samples */
  int64_t across, down;     /* blocks, of all the units that a scan of several components has */
  int16_t (*blocks)[64];    /* coefficients in rows, not in zigzag */
  uint8_t *samples;         /* [8 down, 8 across] */
} mlc_jpeg_plane;

typedef struct {
  int count, h_most, v_most;
  mlc_jpeg_plane plane[4];
  uint16_t quantization[4][64]; /* in rows */
  int jfif, adobe;              /* adobe: its transform, or -1 */
} mlc_jpeg;

/* Coefficients to pixels, as libjpeg does it: its integer transform, triangular upsampling, colours; 0 ok. */
int mlc_jpeg_pixels(mlc_jpeg *j, mlc_image *image);

#pragma GCC visibility pop

#endif
