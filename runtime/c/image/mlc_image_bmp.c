/* Windows bitmaps (BMP): 1, 4, 8, 16, 24 and 32 bits a pixel, runs of 4 and 8 bits, masks. */
#include "mlc_image.h"

enum { PLAIN, RUNS8, RUNS4, MASKS };

typedef struct {
  int bits, upwards;
  unsigned coding;
  uint32_t mask[3];
  uint8_t palette[256][3];
} bitmap;

static int read_header(mlc_bytes stream, bitmap *b, mlc_bytes *data, mlc_image *image) {
  mlc_bytes s = stream;
  mlc_take(&s, 10);
  uint32_t offset = mlc_le32(&s), header = mlc_le32(&s);
  int old = header == 12; /* OS/2's */
  if (!old && header < 40) return 1;
  int64_t width = old ? (int64_t)mlc_le16(&s) : (int32_t)mlc_le32(&s);
  int64_t height = old ? (int64_t)mlc_le16(&s) : (int32_t)mlc_le32(&s);
  mlc_le16(&s);
  b->bits = (int)mlc_le16(&s), b->upwards = height > 0;
  b->coding = old ? PLAIN : mlc_le32(&s);
  mlc_take(&s, old ? 0 : 12);
  uint32_t colours = old ? 0 : mlc_le32(&s);
  mlc_le32(&s);
  int five = b->bits == 16;
  for (int n = 0; n < 3; n++) b->mask[n] = five ? 0x7C00u >> 5 * n : 0xFF0000u >> 8 * n;
  for (int n = 0; n < 3 && b->coding == MASKS; n++) b->mask[n] = mlc_le32(&s);
  uint64_t palette = 14 + (uint64_t)header + (b->coding == MASKS && header == 40 ? 12 : 0);
  if (b->bits <= 8) {
    uint32_t most = 1u << b->bits;
    mlc_bytes p = mlc_from(stream, palette);
    for (uint32_t n = 0; n < (colours && colours < most ? colours : most); n++) {
      for (int k = 2; k >= 0; k--) b->palette[n][k] = (uint8_t)mlc_u8(&p);
      if (!old) mlc_u8(&p);
    }
  }
  *data = mlc_from(stream, offset);
  return width < 0 || s.over || mlc_image_size(image, (uint64_t)(height < 0 ? -height : height), (uint64_t)width);
}

static uint8_t *row_of(const bitmap *b, const mlc_image *image, int64_t y) {
  return image->pixels + 3 * image->width * (b->upwards ? image->height - 1 - y : y);
}

/* A channel of a pixel as 8 bits: what its mask leaves, of at most 255. */
static uint8_t channel(uint32_t pixel, uint32_t mask) {
  if (!mask) return 0;
  uint32_t low = mask & (0 - mask);
  return (uint8_t)((uint64_t)((pixel & mask) / low) * 255 / (mask / low));
}

static int read_rows(const bitmap *b, mlc_bytes *s, mlc_image *image) {
  for (int64_t y = 0; y < image->height && !s->over; y++) {
    mlc_bytes row = mlc_take(s, (uint64_t)((image->width * b->bits + 31) / 32 * 4));
    uint8_t *to = row_of(b, image, y);
    for (int64_t x = 0; x < image->width && !s->over; x++, to += 3) {
      if (b->bits <= 8) {
        memcpy(to, b->palette[mlc_sample(row.at, x, b->bits)], 3);
        continue;
      }
      uint32_t pixel = 0;
      for (int n = 0; n < b->bits / 8; n++) pixel |= (uint32_t)row.at[x * b->bits / 8 + n] << 8 * n;
      for (int n = 0; n < 3; n++) to[n] = channel(pixel, b->mask[n]);
    }
  }
  return s->over;
}

/* Runs: a count and a value; or 0 and what it says: end of a row, of the image, a way to go, or so many values. */
static int read_runs(const bitmap *b, mlc_bytes *s, mlc_image *image) {
  int64_t x = 0, y = 0;
  int half = b->bits == 4;
  for (int64_t i = 0; i < image->height * image->width; i++) memcpy(image->pixels + 3 * i, b->palette[0], 3);
  while (!s->over) {
    unsigned count = mlc_u8(s), value = mlc_u8(s), plain = count == 0;
    if (plain && value == 0) x = 0, y++;
    if (plain && value == 1) return s->over;
    if (plain && value == 2) x += mlc_u8(s), y += mlc_u8(s);
    if (plain && value <= 2) continue;
    if (plain) count = value;
    unsigned used = half ? (count + 1) / 2 : count;
    mlc_bytes values = plain ? mlc_take(s, used + used % 2) : *s;
    for (unsigned n = 0; n < count && x < image->width && y < image->height; n++, x++) {
      unsigned both = plain && !s->over ? values.at[half ? n / 2 : n] : value;
      memcpy(row_of(b, image, y) + 3 * x, b->palette[half ? (n % 2 ? both & 15 : both >> 4) : both], 3);
    }
  }
  return 1;
}

int mlc_image_bmp(mlc_bytes stream, mlc_image *image) {
  bitmap b = {0};
  mlc_bytes data;
  if (read_header(stream, &b, &data, image) || data.over) return 1;
  if ((b.coding == RUNS8 && b.bits == 8) || (b.coding == RUNS4 && b.bits == 4)) return read_runs(&b, &data, image);
  int known = b.bits == 1 || b.bits == 2 || b.bits == 4 || b.bits == 8 || b.bits == 24;
  int masked = b.bits == 16 || b.bits == 32;
  return !((known && b.coding == PLAIN) || (masked && (b.coding == PLAIN || b.coding == MASKS))) ||
         read_rows(&b, &data, image);
}
