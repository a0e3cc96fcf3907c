/* Lossy WebP (VP8, RFC 6386): the header of a key frame, modes and coefficients of its macroblocks. */
#include "mlc_vp8.h"
#include "mlc_vp8_tables.h"

enum { SEGMENTS = 4, Y_AFTER_Y2 = 0, Y2, CHROMA, Y_WITH_DC };

/* Factors of the first coefficient and of the others. */
typedef struct {
  int y[2], y2[2], chroma[2];
} steps;

typedef struct {
  mlc_vp8 frame;
  mlc_bools head, part[8];
  int parts, segmented, mapped, absolute, level, deltas, ref_delta, mode_delta, skips;
  int segment_step[SEGMENTS], segment_level[SEGMENTS];
  uint8_t segment_odds[3], skip_odds;
  steps step[SEGMENTS];
  uint8_t tokens[4][8][3][11];
  uint8_t *modes_above, modes_left[4]; /* of blocks */
  uint8_t (*above)[9], left[9]; /* whether blocks have coefficients: 4 of luma, 2 and 2 of chroma, the second one */
} reader;

static unsigned next_byte(mlc_bools *b) {
  if (b->s.at < b->s.end) return *b->s.at++;
  return b->past++, 0u;
}

static mlc_bools bools_of(mlc_bytes s) {
  mlc_bools b = {.s = s, .range = 255};
  b.value = next_byte(&b) << 8;
  b.value |= next_byte(&b);
  return b;
}

static int take(mlc_bools *b, int odds) {
  uint32_t split = 1 + (((b->range - 1) * (uint32_t)odds) >> 8), high = split << 8;
  int bit = b->value >= high;
  if (bit) b->range -= split, b->value -= high;
  else b->range = split;
  for (; b->range < 128; b->range <<= 1) {
    b->value <<= 1;
    if (++b->bits == 8) b->bits = 0, b->value |= next_byte(b);
  }
  return bit;
}

static int number(mlc_bools *b, int bits) {
  int value = 0;
  for (; bits > 0; bits--) value = value << 1 | take(b, 128);
  return value;
}

static int signed_number(mlc_bools *b, int bits) {
  int value = number(b, bits);
  return take(b, 128) ? -value : value;
}

static int optional(mlc_bools *b, int bits) { return take(b, 128) ? signed_number(b, bits) : 0; }

/* Two bytes are always read ahead. */
static int is_over(const mlc_bools *b) { return b->past > 2; }

static void read_segments(reader *r) {
  mlc_bools *b = &r->head;
  r->segmented = number(b, 1);
  memset(r->segment_odds, 255, 3);
  if (!r->segmented) return;
  r->mapped = number(b, 1);
  if (number(b, 1)) {
    r->absolute = number(b, 1);
    for (int n = 0; n < SEGMENTS; n++) r->segment_step[n] = optional(b, 7);
    for (int n = 0; n < SEGMENTS; n++) r->segment_level[n] = optional(b, 6);
  }
  for (int n = 0; n < 3 && r->mapped; n++)
    if (number(b, 1)) r->segment_odds[n] = (uint8_t)number(b, 8);
}

static void read_filter(reader *r) {
  mlc_bools *b = &r->head;
  r->frame.simple = number(b, 1), r->level = number(b, 6), r->frame.sharpness = number(b, 3);
  r->deltas = number(b, 1);
  if (!r->deltas || !number(b, 1)) return;
  for (int n = 0; n < 8; n++) {
    int given = number(b, 1), delta = given ? signed_number(b, 6) : 0;
    if (given && n == 0) r->ref_delta = delta; /* of an intra frame */
    if (given && n == 4) r->mode_delta = delta; /* of B_PRED */
  }
}

static int clamped(int v, int most) { return v < 0 ? 0 : v > most ? most : v; }

static void read_steps(reader *r) {
  int base = number(&r->head, 7), delta[5];
  for (int n = 0; n < 5; n++) delta[n] = optional(&r->head, 4);
  for (int n = 0; n < SEGMENTS; n++) {
    int q = !r->segmented ? base : r->segment_step[n] + (r->absolute ? 0 : base);
    int y2 = AC_STEPS[clamped(q + delta[2], 127)] * 155 / 100;
    r->step[n] = (steps){{DC_STEPS[clamped(q + delta[0], 127)], AC_STEPS[clamped(q, 127)]},
                         {DC_STEPS[clamped(q + delta[1], 127)] * 2, y2 < 8 ? 8 : y2},
                         {DC_STEPS[clamped(q + delta[3], 117)], AC_STEPS[clamped(q + delta[4], 127)]}};
  }
}

static void read_odds(reader *r) {
  for (int n = 0; n < 4 * 8 * 3 * 11; n++) {
    uint8_t known = (&TOKENS[0][0][0][0])[n], update = (&UPDATES[0][0][0][0])[n];
    int anew = take(&r->head, update ? update : 255);
    (&r->tokens[0][0][0][0])[n] = (uint8_t)(anew ? number(&r->head, 8) : known ? known : 128);
  }
}

static int read_block_mode(mlc_bools *b, const uint8_t *p) {
  if (!take(b, p[0])) return B_DC_PRED;
  if (!take(b, p[1])) return B_TM_PRED;
  if (!take(b, p[2])) return B_VE_PRED;
  if (!take(b, p[3])) {
    if (!take(b, p[4])) return B_HE_PRED;
    return take(b, p[5]) ? B_VR_PRED : B_RD_PRED;
  }
  if (!take(b, p[6])) return B_LD_PRED;
  if (!take(b, p[7])) return B_VL_PRED;
  return take(b, p[8]) ? B_HU_PRED : B_HD_PRED;
}

static void read_modes(reader *r, mlc_macroblock *m, uint8_t *above) {
  static const uint8_t ALIKE[] = {B_DC_PRED, B_VE_PRED, B_HE_PRED, B_TM_PRED};
  mlc_bools *b = &r->head;
  if (r->mapped)
    m->segment = (uint8_t)(take(b, r->segment_odds[0]) ? 2 + take(b, r->segment_odds[2]) : take(b, r->segment_odds[1]));
  m->skipped = (uint8_t)(r->skips ? take(b, r->skip_odds) : 0);
  if (!take(b, 145)) m->luma = B_PRED;
  else if (take(b, 156)) m->luma = take(b, 128) ? TM_PRED : H_PRED;
  else m->luma = take(b, 163) ? V_PRED : DC_PRED;
  for (int n = 0; n < 16; n++) {
    uint8_t *up = &above[n % 4], *left = &r->modes_left[n / 4];
    *up = *left = m->blocks[n] = m->luma == B_PRED ? (uint8_t)read_block_mode(b, MODES[*up][*left]) : ALIKE[m->luma];
  }
  m->chroma = !take(b, 142) ? DC_PRED : !take(b, 114) ? V_PRED : take(b, 183) ? TM_PRED : H_PRED;
}

static int read_large(mlc_bools *b, const uint8_t *p) {
  static const uint8_t LARGE[4][12] = {{173, 148, 140}, {176, 155, 140, 135}, {180, 157, 141, 134, 130},
                                       {254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129}};
  if (!take(b, p[3])) return !take(b, p[4]) ? 2 : 3 + take(b, p[5]);
  if (!take(b, p[6])) {
    if (!take(b, p[7])) return 5 + take(b, 159);
    int two = 2 * take(b, 165);
    return 7 + two + take(b, 145);
  }
  int high = take(b, p[8]), kind = 2 * high + take(b, p[9 + high]), value = 0;
  for (const uint8_t *odds = LARGE[kind]; *odds; odds++) value = 2 * value + take(b, *odds);
  return value + 3 + (8 << kind);
}

/* The coefficients of a block from number `n` on; behind the last of them. */
static int read_block(mlc_bools *b, uint8_t tokens[8][3][11], int context, int n, const int *step, int *to) {
  static const uint8_t BANDS[] = {0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0};
  static const uint8_t ZIGZAG[] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
  for (const uint8_t *p = tokens[BANDS[n]][context]; n < 16; n++, p = tokens[BANDS[n]][context]) {
    if (!take(b, p[0])) return n;
    for (; !take(b, p[1]); p = tokens[BANDS[n]][0])
      if (++n == 16) return 16;
    int value = take(b, p[2]) ? read_large(b, p) : 1;
    context = value == 1 ? 1 : 2;
    to[ZIGZAG[n]] = (take(b, 128) ? -value : value) * step[n > 0];
  }
  return 16;
}

/* The first coefficients of all blocks of luma from a block of their own (Walsh and Hadamard). */
static void spread(const int *in, int coefficients[25][16]) {
  int t[16];
  for (int i = 0; i < 4; i++) {
    int a = in[i] + in[12 + i], b = in[4 + i] + in[8 + i], c = in[4 + i] - in[8 + i], d = in[i] - in[12 + i];
    t[i] = a + b, t[4 + i] = d + c, t[8 + i] = a - b, t[12 + i] = d - c;
  }
  for (int i = 0; i < 4; i++) {
    int *v = t + 4 * i, a = v[0] + 3 + v[3], b = v[1] + v[2], c = v[1] - v[2], d = v[0] + 3 - v[3];
    coefficients[4 * i][0] = (a + b) >> 3, coefficients[4 * i + 1][0] = (d + c) >> 3;
    coefficients[4 * i + 2][0] = (a - b) >> 3, coefficients[4 * i + 3][0] = (d - c) >> 3;
  }
}

/* The residue of a macroblock; whether there is any. */
static int read_residue(reader *r, mlc_bools *b, const mlc_macroblock *m, uint8_t *above, int coefficients[25][16]) {
  const steps *q = &r->step[m->segment];
  int whole = m->luma != B_PRED, kind = whole ? Y_AFTER_Y2 : Y_WITH_DC, any = 0;
  if (whole) {
    int n = read_block(b, r->tokens[Y2], above[8] + r->left[8], 0, q->y2, coefficients[24]);
    above[8] = r->left[8] = n > 0;
    spread(coefficients[24], coefficients);
  }
  for (int n = 0; n < 24; n++) {
    int luma = n < 16, chroma = 4 + (n - 16) / 4 * 2;
    int at = luma ? n % 4 : chroma + n % 2, left = luma ? n / 4 : chroma + n / 2 % 2;
    int first = luma && whole;
    int end = read_block(b, r->tokens[luma ? kind : CHROMA], above[at] + r->left[left], first, luma ? q->y : q->chroma,
                         coefficients[n]);
    above[at] = r->left[left] = end > first;
    any |= end > 1 || coefficients[n][0];
  }
  return any;
}

static void set_filter(const reader *r, mlc_macroblock *m, int residue) {
  int level = r->level;
  if (r->segmented) level = r->segment_level[m->segment] + (r->absolute ? 0 : r->level);
  if (r->deltas) level += r->ref_delta + (m->luma == B_PRED ? r->mode_delta : 0);
  m->level = (uint8_t)(r->level ? clamped(level, 63) : 0);
  m->inner = (uint8_t)(residue || m->luma == B_PRED);
}

static int read_macroblocks(reader *r) {
  for (int64_t y = 0; y < r->frame.down; y++) {
    mlc_bools *b = &r->part[y % r->parts];
    memset(r->modes_left, B_DC_PRED, 4), memset(r->left, 0, 9);
    for (int64_t x = 0; x < r->frame.across; x++) {
      mlc_macroblock *m = &r->frame.blocks[y * r->frame.across + x];
      int coefficients[25][16] = {{0}}, residue = 0, whole;
      read_modes(r, m, r->modes_above + 4 * x);
      whole = m->luma != B_PRED;
      if (m->skipped) memset(r->above[x], 0, 8 + (size_t)whole), memset(r->left, 0, 8 + (size_t)whole);
      else residue = read_residue(r, b, m, r->above[x], coefficients);
      set_filter(r, m, residue);
      mlc_vp8_predict(&r->frame, y, x, coefficients);
    }
    if (is_over(b) || is_over(&r->head)) return 1;
  }
  return 0;
}

/* Planes with what is predicted from where nothing is: 127 above, 129 on the left. */
static int make_planes(reader *r, mlc_image *image) {
  mlc_vp8 *f = &r->frame;
  f->across = (image->width + 15) / 16, f->down = (image->height + 15) / 16;
  for (int n = 0; n < 3; n++) {
    int64_t side = n ? 8 : 16, stride = side * f->across + 32, rows = side * f->down;
    uint8_t *memory = mlc_image_memory(image, (uint64_t)(rows + 1), (size_t)stride);
    if (!memory) return 1;
    memset(memory, 127, (size_t)stride);
    for (int64_t y = 1; y <= rows; y++) memory[y * stride + 15] = 129;
    f->plane[n] = (mlc_vp8_plane){stride, memory + stride + 16};
  }
  uint64_t across = (uint64_t)f->across;
  f->blocks = mlc_image_memory(image, across * (uint64_t)f->down, sizeof *f->blocks);
  r->modes_above = mlc_image_memory(image, across, 4);
  r->above = mlc_image_memory(image, across, sizeof *r->above);
  return !f->blocks || !r->modes_above || !r->above;
}

/* Where the parts with coefficients lie: their lengths stand behind the first part. */
static int read_parts(reader *r, mlc_bytes s) {
  mlc_bytes lengths = mlc_take(&s, 3 * ((uint64_t)r->parts - 1));
  for (int n = 0; n < r->parts; n++) {
    uint32_t length = mlc_le16(&lengths);
    length |= mlc_u8(&lengths) << 16;
    r->part[n] = bools_of(n + 1 < r->parts ? mlc_take(&s, length) : s);
  }
  return s.over;
}

int mlc_vp8_read(mlc_bytes s, mlc_image *image) {
  reader *r = mlc_image_memory(image, 1, sizeof *r);
  uint32_t tag = mlc_le16(&s);
  tag |= mlc_u8(&s) << 16;
  if (!r || tag & 1 || !mlc_starts(&s, "\x9d\x01\x2a", 3)) return 1;
  mlc_take(&s, 3);
  unsigned width = mlc_le16(&s) & 0x3FFF, height = mlc_le16(&s) & 0x3FFF;
  mlc_bytes first = mlc_take(&s, tag >> 5);
  if (s.over || mlc_image_size(image, height, width) || make_planes(r, image)) return 1;
  r->head = bools_of(first);
  number(&r->head, 2); /* colour space and clamping */
  read_segments(r);
  read_filter(r);
  r->parts = 1 << number(&r->head, 2);
  read_steps(r);
  number(&r->head, 1);
  read_odds(r);
  r->skips = number(&r->head, 1);
  if (r->skips) r->skip_odds = (uint8_t)number(&r->head, 8);
  if (is_over(&r->head) || read_parts(r, s) || read_macroblocks(r)) return 1;
  mlc_vp8_filter(&r->frame);
  return mlc_vp8_pixels(&r->frame, image);
}
