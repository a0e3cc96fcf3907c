/* Decoders of images: a file a format. A decoder writes red, green and blue of each pixel, or fails. Those of JPEG, PNG,
 * WebP, TIFF and JPEG 2000 call the formats' own libraries; BMP and PNM have none that distributions ship.
 *
 * Streams are not trusted. A read after the end of a stream returns 0 and sets `over`, and sizes are checked before memory
 * is asked for. */
#ifndef MLC_IMAGE_H
#define MLC_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* The rest of a stream; over: there was a read after its end. */
typedef struct {
  const uint8_t *at, *end;
  int over;
} mlc_bytes;

typedef struct mlc_block mlc_block;

typedef struct {
  int64_t extent; /* the most rows, and columns, that there is room for */
  int64_t height, width;
  uint8_t *pixels;   /* [height, width, 3] */
  int too_large;     /* more of either were asked for */
  mlc_block *blocks; /* the memory of the decoding, in all so many bytes */
  uint64_t used;
} mlc_image;

/* Decodes into `image->pixels`; 0 ok. Otherwise the image is empty. */
int mlc_image_read(mlc_bytes stream, mlc_image *image);

/* A decoder; 0 ok. */
typedef int mlc_decoder(mlc_bytes stream, mlc_image *image);
mlc_decoder mlc_image_bmp, mlc_image_pnm, mlc_image_png, mlc_image_tiff, mlc_image_jpeg, mlc_image_jpeg2000,
    mlc_image_webp;

/* Says how large the image is, before its pixels are written; 0 ok: not empty, and there is room. */
int mlc_image_size(mlc_image *image, uint64_t height, uint64_t width);

/* Zeros for as long as the decoding takes; NULL: there are none, or it is more than an image can need. */
void *mlc_image_memory(mlc_image *image, uint64_t count, size_t size);

static inline size_t mlc_left(const mlc_bytes *b) { return (size_t)(b->end - b->at); }

static inline unsigned mlc_u8(mlc_bytes *b) {
  if (b->at < b->end) return *b->at++;
  return b->over = 1, 0u;
}

static inline unsigned mlc_be16(mlc_bytes *b) {
  unsigned high = mlc_u8(b);
  return high << 8 | mlc_u8(b);
}

static inline unsigned mlc_le16(mlc_bytes *b) {
  unsigned low = mlc_u8(b);
  return low | mlc_u8(b) << 8;
}

static inline uint32_t mlc_le32(mlc_bytes *b) {
  uint32_t low = mlc_le16(b);
  return low | (uint32_t)mlc_le16(b) << 16;
}

/* The next `n` bytes, or fewer where fewer are left. */
static inline mlc_bytes mlc_take(mlc_bytes *b, uint64_t n) {
  if (n > mlc_left(b)) b->over = 1, n = mlc_left(b);
  b->at += n;
  return (mlc_bytes){b->at - n, b->at, b->over};
}

/* What stands from `offset` on in a whole stream. */
static inline mlc_bytes mlc_from(mlc_bytes whole, uint64_t offset) {
  mlc_take(&whole, offset);
  return whole;
}

static inline int mlc_starts(const mlc_bytes *b, const void *with, size_t n) {
  return mlc_left(b) >= n && !memcmp(b->at, with, n);
}

static inline uint8_t mlc_clip8(int64_t v) { return v < 0 ? 0 : v > 255 ? 255 : (uint8_t)v; }

/* Sample `x` of a row of samples of 1, 2, 4 or 8 bits, those in front in the high bits. */
static inline unsigned mlc_sample(const uint8_t *row, int64_t x, int bits) {
  if (bits == 8) return row[x];
  int in_byte = 8 / bits;
  return row[x / in_byte] >> (8 - bits * (1 + x % in_byte)) & ((1u << bits) - 1);
}

static inline void mlc_gray(uint8_t *to, uint8_t value) { to[0] = to[1] = to[2] = value; }

/* Cyan, magenta, yellow and black as red, green and blue. */
static inline void mlc_cmyk(uint8_t *to, const uint8_t *from) {
  int light = 255 - from[3];
  for (int n = 0; n < 3; n++) {
    int dark = from[n] * light + 128;
    to[n] = mlc_clip8(light - ((dark + (dark >> 8)) >> 8));
  }
}

#pragma GCC visibility pop

#endif
