/* The second part of lossy WebP: samples of a macroblock from its neighbours and its residue. */
#include "mlc_vp8.h"

static void add_residue(const int *in, uint8_t *to, int64_t stride) {
#define MUL1(a) ((int)((int64_t)(a) * 20091 >> 16) + (a))
#define MUL2(a) ((int)((int64_t)(a) * 35468 >> 16))
  int t[16];
  for (int i = 0; i < 4; i++, in++) {
    int a = in[0] + in[8], b = in[0] - in[8], c = MUL2(in[4]) - MUL1(in[12]), d = MUL1(in[4]) + MUL2(in[12]);
    t[4 * i] = a + d, t[4 * i + 1] = b + c, t[4 * i + 2] = b - c, t[4 * i + 3] = a - d;
  }
  for (int i = 0; i < 4; i++, to += stride) {
    int a = t[i] + 4 + t[8 + i], b = t[i] + 4 - t[8 + i];
    int c = MUL2(t[4 + i]) - MUL1(t[12 + i]), d = MUL1(t[4 + i]) + MUL2(t[12 + i]);
    int v[] = {a + d, b + c, b - c, a - d};
    for (int x = 0; x < 4; x++) to[x] = mlc_clip8(to[x] + (v[x] >> 3));
  }
#undef MUL1
#undef MUL2
}

/* A square of the mean of what is above and on the left, as far as that is in the image. */
static void predict_mean(uint8_t *to, int64_t stride, int side, int above, int left) {
  int sum = 0, count = side * (above + left);
  for (int n = 0; n < side; n++) sum += above * to[n - stride] + left * to[n * stride - 1];
  int mean = count ? (sum + count / 2) / count : 128;
  for (int y = 0; y < side; y++) memset(to + y * stride, mean, (size_t)side);
}

/* Above plus left less the corner. */
static void predict_slope(uint8_t *to, int64_t stride, int side) {
  int corner = to[-stride - 1];
  for (int y = 0; y < side; y++)
    for (int x = 0; x < side; x++) to[y * stride + x] = mlc_clip8(to[x - stride] + to[y * stride - 1] - corner);
}

static void predict_square(uint8_t *to, int64_t stride, int side, int mode, int above, int left) {
  if (mode == DC_PRED) predict_mean(to, stride, side, above, left);
  if (mode == TM_PRED) predict_slope(to, stride, side);
  for (int y = 0; y < side && mode == V_PRED; y++) memcpy(to + y * stride, to - stride, (size_t)side);
  for (int y = 0; y < side && mode == H_PRED; y++) memset(to + y * stride, to[y * stride - 1], (size_t)side);
}

/* Of a block of 4 x 4, which means along its border each sample is: the border goes from the lower left, twice, up to
 * the corner (5), and to the right (6 to 13), the last twice. `n`: of n and its neighbours, n twice; 16 + n: of n and
 * n + 1. */
static const uint8_t ALONG[][16] = {
    [B_VE_PRED] = {6, 7, 8, 9, 6, 7, 8, 9, 6, 7, 8, 9, 6, 7, 8, 9},
    [B_HE_PRED] = {4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1},
    [B_LD_PRED] = {7, 8, 9, 10, 8, 9, 10, 11, 9, 10, 11, 12, 10, 11, 12, 13},
    [B_RD_PRED] = {5, 6, 7, 8, 4, 5, 6, 7, 3, 4, 5, 6, 2, 3, 4, 5},
    [B_VR_PRED] = {21, 22, 23, 24, 5, 6, 7, 8, 4, 21, 22, 23, 3, 5, 6, 7},
    [B_VL_PRED] = {22, 23, 24, 25, 7, 8, 9, 10, 23, 24, 25, 11, 8, 9, 10, 12},
    [B_HD_PRED] = {20, 5, 6, 7, 19, 4, 20, 5, 18, 3, 19, 4, 17, 2, 18, 3},
    [B_HU_PRED] = {19, 3, 18, 2, 18, 2, 17, 1, 17, 1, 16, 16, 16, 16, 16, 16}};

static void predict_block(uint8_t *to, int64_t stride, int mode, const uint8_t *right) {
  if (mode == B_DC_PRED) return predict_mean(to, stride, 4, 1, 1);
  if (mode == B_TM_PRED) return predict_slope(to, stride, 4);
  uint8_t p[15];
  for (int n = 0; n < 4; n++) p[4 - n] = to[n * stride - 1], p[6 + n] = to[n - stride], p[10 + n] = right[n];
  p[0] = p[1], p[5] = to[-stride - 1], p[14] = p[13];
  for (int n = 0; n < 16; n++) {
    int at = ALONG[mode][n], pair = at >= 16, i = at % 16;
    int value = pair ? (p[i] + p[i + 1] + 1) >> 1 : (p[i - 1] + 2 * p[i] + p[i + 1] + 2) >> 2;
    to[n / 4 * stride + n % 4] = (uint8_t)value;
  }
}

/* What is above on the right of the macroblock serves all rows of blocks; at the border the last sample above does. */
static void predict_blocks(const mlc_vp8 *f, const mlc_macroblock *m, uint8_t *to, int64_t y, int64_t x,
                           int coefficients[25][16]) {
  int64_t stride = f->plane[0].stride;
  uint8_t corner[4];
  for (int n = 0; n < 4; n++) corner[n] = to[(y > 0 && x == f->across - 1 ? 15 : 16 + n) - stride];
  for (int n = 0; n < 16; n++) {
    uint8_t *block = to + n / 4 * 4 * stride + n % 4 * 4;
    predict_block(block, stride, m->blocks[n], n % 4 == 3 ? corner : block + 4 - stride);
    add_residue(coefficients[n], block, stride);
  }
}

void mlc_vp8_predict(mlc_vp8 *f, int64_t y, int64_t x, int coefficients[25][16]) {
  const mlc_macroblock *m = &f->blocks[y * f->across + x];
  for (int plane = 0; plane < 3; plane++) {
    int64_t stride = f->plane[plane].stride;
    int side = plane ? 8 : 16, across = side / 4;
    uint8_t *to = f->plane[plane].samples + side * (y * stride + x);
    if (!plane && m->luma == B_PRED) {
      predict_blocks(f, m, to, y, x, coefficients);
      continue;
    }
    predict_square(to, stride, side, plane ? m->chroma : m->luma, y > 0, x > 0);
    int (*residue)[16] = coefficients + (plane ? 12 + 4 * plane : 0);
    for (int n = 0; n < across * across; n++)
      add_residue(residue[n], to + n / across * 4 * stride + n % across * 4, stride);
  }
}
