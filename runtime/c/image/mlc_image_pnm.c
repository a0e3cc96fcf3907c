/* Portable images (PBM, PGM, PPM), as text (P1 to P3) and as bytes (P4 to P6). */
#include "mlc_image.h"

#include <math.h>

static int is_space(unsigned c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Skips white space and comments. */
static unsigned next_sign(mlc_bytes *s) {
  unsigned c = mlc_u8(s);
  while (!s->over && (is_space(c) || c == '#')) {
    while (c == '#' && !s->over)
      for (c = mlc_u8(s); !s->over && c != '\n' && c != '\r';) c = mlc_u8(s);
    c = mlc_u8(s);
  }
  return c;
}

/* Reads an integer and the one character after it; a single digit where `digit`. */
static uint32_t number(mlc_bytes *s, int digit) {
  unsigned c = next_sign(s);
  if (s->over || c < '0' || c > '9') return s->over = 1, 0;
  uint32_t value = c - '0';
  while (!digit && s->at < s->end && *s->at >= '0' && *s->at <= '9' && value < 1000000)
    value = 10 * value + (mlc_u8(s) - '0');
  return value;
}

/* The rows of a PBM as bytes: bits, 1 is black. */
static int read_bits(mlc_bytes *s, mlc_image *image) {
  uint8_t *to = image->pixels;
  for (int64_t y = 0; y < image->height && !s->over; y++) {
    mlc_bytes row = mlc_take(s, (uint64_t)(image->width + 7) / 8);
    for (int64_t x = 0; x < image->width && !s->over; x++, to += 3) mlc_gray(to, mlc_sample(row.at, x, 1) ? 0 : 255);
  }
  return s->over;
}

int mlc_image_pnm(mlc_bytes s, mlc_image *image) {
  mlc_u8(&s);
  unsigned kind = mlc_u8(&s) - '0', plain = kind <= 3, channels = kind % 3 == 0 ? 3 : 1, bits = kind % 3 == 1;
  uint32_t width = number(&s, 0), height = number(&s, 0), most = bits ? 1 : number(&s, 0);
  if (!plain) mlc_u8(&s); /* one sign of white space */
  if (s.over || most == 0 || most > 65535 || mlc_image_size(image, height, width)) return 1;
  if (bits && !plain) return read_bits(&s, image);
  uint8_t *to = image->pixels;
  for (int64_t i = 0; i < image->height * image->width && !s.over; i++, to += 3) {
    for (unsigned n = 0; n < channels; n++) {
      uint32_t value = plain ? number(&s, (int)bits) : most > 255 ? mlc_be16(&s) : mlc_u8(&s);
      if (value > most) value = most;
      to[n] = bits ? (value ? 0 : 255) : mlc_clip8(lrint((double)value / most * 255));
    }
    if (channels == 1) mlc_gray(to, to[0]);
  }
  return s.over;
}
