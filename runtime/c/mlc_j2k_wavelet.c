/* The fourth part of JPEG 2000: the inverse wavelet transforms, of whole numbers (5/3) and of real ones (9/7). */
#include "mlc_j2k.h"

/* Reads or writes every second one of `n` values, whose first is at `first`, of its two neighbours; at an end both are
 * the same. */
#define EACH(first, n, body)                                               \
  for (int64_t i = first; i < (n); i += 2) {                               \
    int64_t l = i > 0 ? i - 1 : i + 1, r = i + 1 < (n) ? i + 1 : i - 1;    \
    body;                                                                  \
  }

/* `odd`: the first value is one of the high half. Sums wrap around, as damaged streams may make them. */
static void lift_whole(int32_t *v, int64_t n, int odd) {
  if (n == 1) {
    if (odd) v[0] /= 2;
    return;
  }
#define SUM(l, r) ((int32_t)((uint32_t)v[l] + (uint32_t)v[r]))
  EACH(odd, n, v[i] = (int32_t)((uint32_t)v[i] - (uint32_t)((int32_t)((uint32_t)SUM(l, r) + 2) >> 2)))
  EACH(!odd, n, v[i] = (int32_t)((uint32_t)v[i] + (uint32_t)(SUM(l, r) >> 1)))
#undef SUM
}

static void lift_real(float *v, int64_t n, int odd) {
  static const float FACTORS[] = {0.443506852f, 0.882911075f, -0.052980118f, -1.586134342f};
  if (n == 1) return;
  for (int64_t i = 0; i < n; i++) v[i] *= (i % 2 == odd) ? 1.230174105f : 1.625732422f;
  for (int step = 0; step < 4; step++) EACH(odd ^ (step & 1), n, v[i] -= FACTORS[step] * (v[l] + v[r]))
}

/* One line of `n` values, `step` apart: its low half in front, then its high one, become interleaved samples. */
static void transform(mlc_j2k_plane *p, int64_t at, int64_t step, int64_t n, int64_t low, int odd, void *line) {
  int32_t *v = line; /* bits, of reals too */
  for (int64_t i = 0; i < n; i++) v[i < low ? 2 * i + odd : 2 * (i - low) + !odd] = p->whole[at + i * step];
  if (p->coding->reversible) lift_whole(line, n, odd);
  else lift_real(line, n, odd);
  for (int64_t i = 0; i < n; i++) p->whole[at + i * step] = v[i];
}

int mlc_j2k_wavelet(mlc_j2k_plane *p, mlc_image *image) {
  void *line = mlc_image_memory(image, (uint64_t)(p->width + p->height) + 2, sizeof(int32_t));
  if (!line) return 1;
  for (int n = 1; n <= p->coding->levels; n++) {
    const mlc_box *b = &p->resolution[n].box, *low = &p->resolution[n - 1].box;
    int64_t width = b->x1 - b->x0, height = b->y1 - b->y0;
    for (int64_t y = 0; y < height; y++) transform(p, y * p->width, 1, width, low->x1 - low->x0, b->x0 & 1, line);
    for (int64_t x = 0; x < width; x++) transform(p, x, p->width, height, low->y1 - low->y0, b->y0 & 1, line);
  }
  return 0;
}
