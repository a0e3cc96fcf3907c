/* The second half of JPEG: coefficients to samples, samples to pixels, with the roundings of libjpeg. */
#include "mlc_jpeg.h"

enum { ONE = 13 /* bits behind the point of a factor */, KEPT = 2 /* of them kept between the passes */ };

static int64_t descale(int64_t v, int bits) { return (v + ((int64_t)1 << (bits - 1))) >> bits; }

/* Eight values, `apart` from each other, transformed in place (Loeffler, Ligtenberg, Moschytz); `bits` are dropped. */
static void transform8(int64_t *v, int apart, int bits) {
  int64_t z2 = v[2 * apart], z3 = v[6 * apart], z1 = (z2 + z3) * 4433;
  int64_t t2 = z1 - z3 * 15137, t3 = z1 + z2 * 6270;
  int64_t t0 = (v[0] + v[4 * apart]) * (1 << ONE), t1 = (v[0] - v[4 * apart]) * (1 << ONE);
  int64_t even[] = {t0 + t3, t1 + t2, t1 - t2, t0 - t3};
  int64_t a = v[7 * apart], b = v[5 * apart], c = v[3 * apart], d = v[apart];
  int64_t s1 = a + d, s2 = b + c, s3 = a + c, s4 = b + d, s5 = (s3 + s4) * 9633;
  s1 *= -7373, s2 *= -20995, s3 = s3 * -16069 + s5, s4 = s4 * -3196 + s5;
  int64_t odd[] = {d * 12299 + s1 + s4, c * 25172 + s2 + s3, b * 16819 + s2 + s4, a * 2446 + s1 + s3};
  for (int n = 0; n < 4; n++) {
    v[n * apart] = descale(even[n] + odd[n], bits);
    v[(7 - n) * apart] = descale(even[n] - odd[n], bits);
  }
}

/* The first pass over a column, which is often even: then only its first coefficient is not 0. */
static void transform_column(int64_t *v) {
  int64_t others = 0;
  for (int n = 1; n < 8; n++) others |= v[8 * n];
  if (others) return transform8(v, 8, ONE - KEPT);
  for (int n = 7; n >= 0; n--) v[8 * n] = v[0] * (1 << KEPT);
}

static void transform(const int16_t *block, const uint16_t *quantization, uint8_t *to, int64_t stride) {
  int64_t v[64];
  for (int n = 0; n < 64; n++) v[n] = (int64_t)block[n] * quantization[n];
  for (int x = 0; x < 8; x++) transform_column(v + x);
  for (int y = 0; y < 8; y++, to += stride) {
    transform8(v + 8 * y, 1, ONE + KEPT + 3);
    for (int x = 0; x < 8; x++) to[x] = mlc_clip8(v[8 * y + x] + 128);
  }
}

static int transform_all(mlc_jpeg *j, mlc_image *image) {
  for (mlc_jpeg_plane *p = j->plane; p < j->plane + j->count; p++) {
    p->samples = mlc_image_memory(image, (uint64_t)(p->across * p->down), 64);
    if (!p->samples) return 1;
    for (int64_t y = 0; y < p->down; y++)
      for (int64_t x = 0; x < p->across; x++)
        transform(p->blocks[y * p->across + x], j->quantization[p->quantization],
                  p->samples + 64 * y * p->across + 8 * x, 8 * p->across);
  }
  return 0;
}

static const uint8_t *row_at(const mlc_jpeg_plane *p, int64_t y) {
  y = y < 0 ? 0 : y < p->height ? y : p->height - 1;
  return p->samples + 8 * p->across * y;
}

/* Twice the samples of a row of sums: three quarters of the nearer, one of the other; halves go down and up in turn. */
static void widen(const int *sums, int64_t width, int bits, int down, int up, uint8_t *to) {
  for (int64_t x = 0; x < width; x++) {
    int left = sums[x ? x - 1 : 0], right = sums[x + 1 < width ? x + 1 : x];
    to[2 * x] = (uint8_t)((3 * sums[x] + left + down) >> bits);
    to[2 * x + 1] = (uint8_t)((3 * sums[x] + right + up) >> bits);
  }
}

/* A row of the image's width of one component; `sums` is scratch. */
static void upsample(const mlc_jpeg *j, const mlc_jpeg_plane *p, int64_t y, int64_t width, int *sums, uint8_t *to) {
  int h = j->h_most / p->h, v = j->v_most / p->v;
  const uint8_t *near = row_at(p, y / v), *far = row_at(p, y / v + (y % v ? 1 : -1));
  if (h == 1 && v == 2) {
    for (int64_t x = 0; x < p->width; x++) to[x] = (uint8_t)((3 * near[x] + far[x] + (y % 2 ? 2 : 1)) >> 2);
  } else if (h == 2 && v <= 2 && p->width > 2) {
    for (int64_t x = 0; x < p->width; x++) sums[x] = v == 2 ? 3 * near[x] + far[x] : near[x];
    widen(sums, p->width, v == 2 ? 4 : 2, v == 2 ? 8 : 1, v == 2 ? 7 : 2, to);
  } else {
    for (int64_t x = 0; x < width; x++) to[x] = near[x / h];
  }
}

/* Luma and the differences of blue and red to it as red, green and blue. */
static void from_luma(uint8_t *to, int luma, int blue, int red) {
  blue -= 128, red -= 128;
  to[0] = mlc_clip8(luma + ((91881 * red + 32768) >> 16));
  to[1] = mlc_clip8(luma + ((-22554 * blue - 46802 * red + 32768) >> 16));
  to[2] = mlc_clip8(luma + ((116130 * blue + 32768) >> 16));
}

static int has_luma(const mlc_jpeg *j) {
  const mlc_jpeg_plane *p = j->plane;
  if (j->count == 4) return j->adobe > 0;
  if (j->jfif || j->adobe >= 0) return j->jfif || j->adobe != 0;
  return !(p[0].id == 'R' && p[1].id == 'G' && p[2].id == 'B');
}

int mlc_jpeg_pixels(mlc_jpeg *j, mlc_image *image) {
  for (mlc_jpeg_plane *p = j->plane; p < j->plane + j->count; p++)
    if (j->h_most % p->h || j->v_most % p->v) return 1;
  size_t room = (size_t)image->width + 8;
  uint8_t *rows = mlc_image_memory(image, 4, room), *to = image->pixels;
  int *sums = mlc_image_memory(image, room, sizeof *sums), luma = has_luma(j);
  if (!rows || !sums || transform_all(j, image)) return 1;
  for (int64_t y = 0; y < image->height; y++) {
    for (int n = 0; n < j->count; n++) upsample(j, &j->plane[n], y, image->width, sums, rows + (size_t)n * room);
    const uint8_t *a = rows, *b = a + room, *c = b + room, *d = c + room;
    for (int64_t x = 0; x < image->width; x++, to += 3) {
      uint8_t v[] = {a[x], b[x], c[x], (uint8_t)(255 - d[x])}; /* Adobe's inks are upside down */
      if (j->count == 1) mlc_gray(to, v[0]);
      else if (luma) from_luma(v, a[x], b[x], c[x]);
      if (j->count == 3) memcpy(to, v, 3);
      if (j->count < 4) continue;
      for (int n = 0; n < 3; n++) v[n] = (uint8_t)(luma ? v[n] : 255 - v[n]);
      mlc_cmyk(to, v);
    }
  }
  return 0;
}
