/* The third part of lossy WebP: edges of blocks are smoothed, and the planes become pixels. */
#include "mlc_vp8.h"

static int within(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
static int small(int v) { return within(v, -128, 127); }
static int far(int a, int b) { return a < b ? b - a : a - b; }

typedef struct {
  int edge, flat, sharp; /* the most of a step at the edge, of those beside it, and where one of these is an edge too */
} limits;

/* Two samples: those at the edge. */
static void smooth2(uint8_t *q, int64_t step) {
  int p1 = q[-2 * step], p0 = q[-step], q0 = q[0], q1 = q[step], a = 3 * (q0 - p0) + small(p1 - q1);
  q[-step] = mlc_clip8(p0 + within((a + 3) >> 3, -16, 15));
  q[0] = mlc_clip8(q0 - within((a + 4) >> 3, -16, 15));
}

static void smooth4(uint8_t *q, int64_t step) {
  int p1 = q[-2 * step], p0 = q[-step], q0 = q[0], q1 = q[step], a = 3 * (q0 - p0);
  int high = within((a + 4) >> 3, -16, 15), low = within((a + 3) >> 3, -16, 15), half = (high + 1) >> 1;
  q[-2 * step] = mlc_clip8(p1 + half), q[-step] = mlc_clip8(p0 + low);
  q[0] = mlc_clip8(q0 - high), q[step] = mlc_clip8(q1 - half);
}

static void smooth6(uint8_t *q, int64_t step) {
  int a = small(3 * (q[0] - q[-step]) + small(q[-2 * step] - q[step]));
  for (int n = 0; n < 3; n++) {
    int part = ((27 - 9 * n) * a + 63) >> 7;
    uint8_t *left = q - (n + 1) * step, *right = q + n * step;
    *left = mlc_clip8(*left + part), *right = mlc_clip8(*right - part);
  }
}

static int is_step(const uint8_t *q, int64_t step, int edge) {
  return 4 * far(q[-step], q[0]) + far(q[-2 * step], q[step]) <= 2 * edge + 1;
}

static int is_flat(const uint8_t *q, int64_t step, int flat) {
  for (int n = -4; n < 3; n++)
    if (n != -1 && far(q[n * step], q[(n + 1) * step]) > flat) return 0;
  return 1;
}

/* An edge of `count` samples, `along` apart; `step` leads across it. */
static void smooth_edge(uint8_t *q, int64_t step, int64_t along, int count, const limits *l, int outer, int simple) {
  for (int n = 0; n < count; n++, q += along) {
    if (!is_step(q, step, l->edge + 4 * outer)) continue;
    if (simple) {
      smooth2(q, step);
      continue;
    }
    if (!is_flat(q, step, l->flat)) continue;
    int sharp = far(q[-2 * step], q[-step]) > l->sharp || far(q[step], q[0]) > l->sharp;
    if (sharp) smooth2(q, step);
    else if (outer) smooth6(q, step);
    else smooth4(q, step);
  }
}

static limits limits_of(const mlc_vp8 *f, int level) {
  int flat = level >> ((f->sharpness > 0) + (f->sharpness > 4));
  if (f->sharpness && flat > 9 - f->sharpness) flat = 9 - f->sharpness;
  if (flat < 1) flat = 1;
  return (limits){2 * level + flat, flat, (level >= 40) + (level >= 15)};
}

void mlc_vp8_filter(mlc_vp8 *f) {
  for (int64_t i = 0; i < f->across * f->down; i++) {
    const mlc_macroblock *m = &f->blocks[i];
    int64_t y = i / f->across, x = i % f->across;
    limits l = limits_of(f, m->level);
    if (!m->level) continue;
    for (int plane = 0; plane < (f->simple ? 1 : 3); plane++) {
      int64_t stride = f->plane[plane].stride;
      int side = plane ? 8 : 16;
      uint8_t *q = f->plane[plane].samples + side * (y * stride + x);
      for (int n = 0; n < (m->inner ? side : 1); n += 4)
        if (n || x) smooth_edge(q + n, 1, stride, side, &l, !n, f->simple);
      for (int n = 0; n < (m->inner ? side : 1); n += 4)
        if (n || y) smooth_edge(q + n * stride, stride, 1, side, &l, !n, f->simple);
    }
  }
}

/* A row of chroma twice as wide, from its nearer and its farther row. */
static void upsample(const uint8_t *near, const uint8_t *other, int64_t width, uint8_t *to) {
  int64_t count = (width + 1) / 2;
  to[0] = (uint8_t)((3 * near[0] + other[0] + 2) >> 2);
  for (int64_t x = 1; x < count; x++) {
    int sum = near[x - 1] + near[x] + other[x - 1] + other[x] + 8;
    to[2 * x - 1] = (uint8_t)((((sum + 2 * (near[x] + other[x - 1])) >> 3) + near[x - 1]) >> 1);
    to[2 * x] = (uint8_t)((((sum + 2 * (near[x - 1] + other[x])) >> 3) + near[x]) >> 1);
  }
  if (width % 2 == 0) to[width - 1] = (uint8_t)((3 * near[count - 1] + other[count - 1] + 2) >> 2);
}

static void put_pixel(int y, int u, int v, uint8_t *to) {
  int light = (y * 19077) >> 8;
  to[0] = mlc_clip8((light + ((v * 26149) >> 8) - 14234) >> 6);
  to[1] = mlc_clip8((light - ((u * 6419) >> 8) - ((v * 13320) >> 8) + 8708) >> 6);
  to[2] = mlc_clip8((light + ((u * 33050) >> 8) - 17685) >> 6);
}

int mlc_vp8_pixels(const mlc_vp8 *f, mlc_image *image) {
  uint8_t *u = mlc_image_memory(image, (uint64_t)image->width + 2, 2), *to = image->pixels;
  if (!u) return 1;
  uint8_t *v = u + image->width + 2, *rows[] = {u, v};
  int64_t last = (image->height + 1) / 2 - 1;
  for (int64_t y = 0; y < image->height; y++) {
    int64_t near = y / 2, other = near + (y % 2 ? 1 : -1);
    other = other < 0 ? 0 : other > last ? last : other;
    for (int n = 0; n < 2; n++) {
      const mlc_vp8_plane *p = &f->plane[n + 1];
      upsample(p->samples + near * p->stride, p->samples + other * p->stride, image->width, rows[n]);
    }
    const uint8_t *luma = f->plane[0].samples + y * f->plane[0].stride;
    for (int64_t x = 0; x < image->width; x++, to += 3) put_pixel(luma[x], u[x], v[x], to);
  }
  return 0;
}
