/* Lossless WebP (VP8L): prefix codes, references back, colours seen before, and what is undone behind them. */
#include "mlc_prefix.h"
#include "mlc_vp8.h"

enum { PREDICT, CROSS, GREEN, INDEX };
enum { CODES = 5, LENGTHS = 24 /* of references, behind 256 values of green */ };

typedef struct {
  mlc_bits in;
  mlc_image *image;
} reader;

typedef struct {
  mlc_prefix code[CODES]; /* green with lengths and seen colours, red, blue, alpha, distance */
} group;

typedef struct {
  int kind, bits;
  int64_t width; /* of the image in front of it */
  uint32_t *data;
} transform;

static unsigned take(reader *r, int n) { return mlc_take_bits(&r->in, n); }

static int64_t parts(int64_t n, int bits) { return (n + (1 << bits) - 1) >> bits; }

static int read_simple(reader *r, uint8_t *length) {
  int two = (int)take(r, 1);
  length[take(r, take(r, 1) ? 8 : 1)] = 1;
  if (two) length[take(r, 8)] = 1;
  return 0;
}

static int read_lengths(reader *r, uint8_t *length, int n) {
  static const uint8_t ORDER[] = {17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  uint8_t own[19] = {0}, before = 8;
  uint16_t symbols[19];
  mlc_prefix code;
  int known = 4 + (int)take(r, 4), left = n;
  for (int i = 0; i < known; i++) own[ORDER[i]] = (uint8_t)take(r, 3);
  if (take(r, 1)) {
    int bits = 2 + 2 * (int)take(r, 3);
    left = 2 + (int)take(r, bits);
  }
  if (left > n || mlc_make_prefix(&code, own, 19, symbols) < 0) return 1;
  int single = -1, count = 0;
  for (int i = 0; i < 19; i++)
    if (own[i]) single = i, count++;
  for (int i = 0; i < n && left > 0; left--) {
    int symbol = count == 1 ? single : mlc_take_symbol(&r->in, &code);
    if (symbol < 0 || mlc_bits_over(&r->in)) return 1;
    if (symbol < 16) {
      length[i++] = (uint8_t)symbol;
      if (symbol) before = (uint8_t)symbol;
      continue;
    }
    int times = symbol == 16 ? 3 + (int)take(r, 2) : symbol == 17 ? 3 + (int)take(r, 3) : 11 + (int)take(r, 7);
    if (i + times > n) return 1;
    for (; times > 0; times--) length[i++] = symbol == 16 ? before : 0;
  }
  return 0;
}

/* A code; that of a single symbol has a word of no bits. */
static int read_code(reader *r, mlc_prefix *c, int n) {
  uint8_t length[256 + LENGTHS + (1 << 11)] = {0};
  if (take(r, 1) ? read_simple(r, length) : read_lengths(r, length, n)) return 1;
  int count = 0, single = 0;
  for (int i = 0; i < (int)sizeof length; i++)
    if (length[i]) single = i, count++;
  uint16_t *symbols = mlc_image_memory(r->image, (uint64_t)count + 1, sizeof *symbols);
  if (!symbols || !count || single >= n) return 1;
  if (count > 1) return mlc_make_prefix(c, length, n, symbols) != 0;
  *c = (mlc_prefix){.symbol = symbols};
  symbols[0] = (uint16_t)single;
  return 0;
}

static int next(reader *r, const mlc_prefix *c) {
  for (int k = 1; k <= MLC_LONGEST; k++)
    if (c->count[k]) return mlc_take_symbol(&r->in, c);
  return c->symbol[0];
}

static int read_groups(reader *r, group *groups, int64_t count, int seen_bits) {
  static const int SIZES[] = {256 + LENGTHS, 256, 256, 256, 40};
  for (int64_t g = 0; g < count; g++)
    for (int n = 0; n < CODES; n++) {
      int more = n == 0 && seen_bits ? 1 << seen_bits : 0;
      if (read_code(r, &groups[g].code[n], SIZES[n] + more) || mlc_bits_over(&r->in)) return 1;
    }
  return 0;
}

/* A length or distance: its first bits are in its symbol. */
static int64_t extended(reader *r, int symbol) {
  if (symbol < 4) return symbol + 1;
  int extra = (symbol - 2) >> 1;
  return ((int64_t)(2 + (symbol & 1)) << extra) + take(r, extra) + 1;
}

/* Distances up to 120 are places near by: rows up and columns to the left, 8 less the low digit. */
static int64_t distance(int64_t code, int64_t width) {
  static const uint8_t NEAR[] = {
      0x18, 0x07, 0x17, 0x19, 0x28, 0x06, 0x27, 0x29, 0x16, 0x1a, 0x26, 0x2a, 0x38, 0x05, 0x37, 0x39, 0x15, 0x1b,
      0x36, 0x3a, 0x25, 0x2b, 0x48, 0x04, 0x47, 0x49, 0x14, 0x1c, 0x35, 0x3b, 0x46, 0x4a, 0x24, 0x2c, 0x58, 0x45,
      0x4b, 0x34, 0x3c, 0x03, 0x57, 0x59, 0x13, 0x1d, 0x56, 0x5a, 0x23, 0x2d, 0x44, 0x4c, 0x55, 0x5b, 0x33, 0x3d,
      0x68, 0x02, 0x67, 0x69, 0x12, 0x1e, 0x66, 0x6a, 0x22, 0x2e, 0x54, 0x5c, 0x43, 0x4d, 0x65, 0x6b, 0x32, 0x3e,
      0x78, 0x01, 0x77, 0x79, 0x53, 0x5d, 0x11, 0x1f, 0x64, 0x6c, 0x42, 0x4e, 0x76, 0x7a, 0x21, 0x2f, 0x75, 0x7b,
      0x31, 0x3f, 0x63, 0x6d, 0x52, 0x5e, 0x00, 0x74, 0x7c, 0x41, 0x4f, 0x10, 0x20, 0x62, 0x6e, 0x30, 0x73, 0x7d,
      0x51, 0x5f, 0x40, 0x72, 0x7e, 0x61, 0x6f, 0x50, 0x71, 0x7f, 0x60, 0x70};
  if (code > 120) return code - 120;
  int64_t found = (NEAR[code - 1] >> 4) * width + 8 - (NEAR[code - 1] & 15);
  return found < 1 ? 1 : found;
}

static uint32_t *read_pixels(reader *r, int64_t width, int64_t height, int outer);

/* Pixels of which each block has a group of codes. */
static int read_coded(reader *r, uint32_t *to, int64_t width, int64_t height, const group *groups,
                      const uint32_t *which, int bits, int seen_bits) {
  uint32_t *seen = mlc_image_memory(r->image, (uint64_t)1 << seen_bits, sizeof *seen);
  int64_t blocks = parts(width, bits);
  if (!seen) return 1;
  for (int64_t i = 0; i < width * height && !mlc_bits_over(&r->in);) {
    int64_t block = (i / width >> bits) * blocks + (i % width >> bits);
    const mlc_prefix *code = groups[which ? which[block] >> 8 & 0xFFFF : 0].code;
    int symbol = next(r, &code[0]);
    int64_t from = i;
    if (symbol < 0) return 1;
    if (symbol < 256) {
      int red = next(r, &code[1]), blue = next(r, &code[2]), alpha = next(r, &code[3]);
      if (red < 0 || blue < 0 || alpha < 0) return 1;
      to[i++] = (uint32_t)alpha << 24 | (uint32_t)red << 16 | (uint32_t)symbol << 8 | (uint32_t)blue;
    } else if (symbol < 256 + LENGTHS) {
      int64_t length = extended(r, symbol - 256);
      int far = next(r, &code[4]);
      if (far < 0) return 1;
      int64_t back = distance(extended(r, far), width);
      if (back > i || length > width * height - i) return 1;
      for (; length > 0; length--, i++) to[i] = to[i - back];
    } else {
      to[i++] = seen[symbol - 256 - LENGTHS];
    }
    for (; from < i && seen_bits; from++) seen[0x1e35a7bdu * to[from] >> (32 - seen_bits)] = to[from];
  }
  return mlc_bits_over(&r->in);
}

static uint32_t *read_pixels(reader *r, int64_t width, int64_t height, int outer) {
  int seen_bits = take(r, 1) ? (int)take(r, 4) : -1, bits = 0;
  int64_t count = 1;
  uint32_t *which = NULL;
  if (seen_bits == 0 || seen_bits > 11) return NULL;
  if (seen_bits < 0) seen_bits = 0;
  if (outer && take(r, 1)) {
    bits = 2 + (int)take(r, 3);
    which = read_pixels(r, parts(width, bits), parts(height, bits), 0);
    if (!which) return NULL;
    for (int64_t i = 0; i < parts(width, bits) * parts(height, bits); i++)
      if ((which[i] >> 8 & 0xFFFF) >= count) count = (which[i] >> 8 & 0xFFFF) + 1;
  }
  if ((uint64_t)count > 8 * mlc_left(&r->in.from) + 64) return NULL; /* a group takes more than a bit */
  group *groups = mlc_image_memory(r->image, (uint64_t)count, sizeof *groups);
  uint32_t *to = mlc_image_memory(r->image, (uint64_t)(width * height), sizeof *to);
  if (!groups || !to || read_groups(r, groups, count, seen_bits)) return NULL;
  return read_coded(r, to, width, height, groups, which, bits, seen_bits) ? NULL : to;
}

/* Each channel of two pixels by itself. */
static uint32_t sum(uint32_t a, uint32_t b) {
  const uint32_t odd = 0xFF00FF00u, even = 0x00FF00FFu;
  return (((a & odd) + (b & odd)) & odd) | (((a & even) + (b & even)) & even);
}

static uint32_t mean(uint32_t a, uint32_t b) { return (((a ^ b) & 0xFEFEFEFEu) >> 1) + (a & b); }

static int at(uint32_t pixel, int shift) { return (int)(pixel >> shift & 255); }

static int far(int a, int b) { return a < b ? b - a : a - b; }

static uint32_t nearer(uint32_t left, uint32_t up, uint32_t corner) {
  int sum_left = 0, sum_up = 0;
  for (int n = 0; n < 32; n += 8) sum_left += far(at(up, n), at(corner, n)), sum_up += far(at(left, n), at(corner, n));
  return sum_left < sum_up ? left : up;
}

/* a + b - c, or a + (a - b) / 2, within 0 and 255. */
static uint32_t slope(uint32_t a, uint32_t b, uint32_t c, int half) {
  uint32_t found = 0;
  for (int n = 0; n < 32; n += 8) {
    int value = half ? at(a, n) + (at(a, n) - at(b, n)) / 2 : at(a, n) + at(b, n) - at(c, n);
    found |= (uint32_t)mlc_clip8(value) << n;
  }
  return found;
}

static uint32_t predicted(unsigned mode, const uint32_t *p, int64_t width) {
  uint32_t left = p[-1], up = p[-width], right = p[1 - width], corner = p[-1 - width];
  switch (mode) {
    case 1: return left;
    case 2: return up;
    case 3: return right;
    case 4: return corner;
    case 5: return mean(mean(left, right), up);
    case 6: return mean(left, corner);
    case 7: return mean(left, up);
    case 8: return mean(corner, up);
    case 9: return mean(up, right);
    case 10: return mean(mean(left, corner), mean(up, right));
    case 11: return nearer(left, up, corner);
    case 12: return slope(left, up, corner, 0);
    case 13: return slope(mean(left, up), corner, 0, 1);
    default: return 0xFF000000u;
  }
}

static uint32_t uncrossed(uint32_t p, uint32_t factors) {
  int8_t green = (int8_t)(p >> 8), f[] = {(int8_t)factors, (int8_t)(factors >> 8), (int8_t)(factors >> 16)};
  int red = at(p, 16) + (f[0] * green >> 5), blue = at(p, 0) + (f[1] * green >> 5);
  blue += f[2] * (int8_t)red >> 5;
  return (p & 0xFF00FF00u) | (uint32_t)(red & 255) << 16 | (uint32_t)(blue & 255);
}

static void undo(const transform *t, uint32_t *p, int64_t height) {
  int64_t blocks = parts(t->width, t->bits);
  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < t->width; x++, p++) {
      uint32_t data = t->data ? t->data[(y >> t->bits) * blocks + (x >> t->bits)] : 0;
      if (t->kind == GREEN) *p = sum(*p, (*p >> 8 & 255) * 0x10001u);
      if (t->kind == CROSS) *p = uncrossed(*p, data);
      if (t->kind != PREDICT) continue;
      unsigned mode = y == 0 ? x > 0 : x == 0 ? 2 : data >> 8 & 15;
      *p = sum(*p, y == 0 && x == 0 ? 0xFF000000u : y == 0 ? p[-1] : predicted(mode, p, t->width));
    }
}

/* The colours that indices stand for; of few colours, several indices lie in a pixel. */
static uint32_t *look_up(reader *r, const transform *t, const uint32_t *from, int64_t height) {
  uint32_t *to = mlc_image_memory(r->image, (uint64_t)(t->width * height), sizeof *to);
  int64_t across = parts(t->width, t->bits);
  int each = 8 >> t->bits;
  for (int64_t y = 0; y < height && to; y++)
    for (int64_t x = 0; x < t->width; x++) {
      uint32_t packed = from[y * across + (x >> t->bits)] >> 8 & 255;
      to[y * t->width + x] = t->data[packed >> each * (x & ((1 << t->bits) - 1)) & ((1u << each) - 1)];
    }
  return to;
}

static int read_transform(reader *r, transform *t, int64_t width, int64_t height) {
  t->width = width;
  if (t->kind == GREEN) return 0;
  if (t->kind != INDEX) {
    t->bits = 2 + (int)take(r, 3);
    return !(t->data = read_pixels(r, parts(width, t->bits), parts(height, t->bits), 0));
  }
  int colours = 1 + (int)take(r, 8);
  t->bits = colours <= 2 ? 3 : colours <= 4 ? 2 : colours <= 16 ? 1 : 0;
  uint32_t *table = read_pixels(r, colours, 1, 0);
  t->data = mlc_image_memory(r->image, 256, sizeof *t->data); /* behind its end all is black */
  if (!table || !t->data) return 1;
  for (int n = 0; n < colours; n++) t->data[n] = sum(table[n], n ? t->data[n - 1] : 0);
  return 0;
}

int mlc_vp8l_read(mlc_bytes stream, mlc_image *image) {
  reader r = {.in.from = stream, .image = image};
  unsigned mark = take(&r, 8), width = take(&r, 14) + 1, height = take(&r, 14) + 1;
  take(&r, 1);
  if (mark != 0x2f || take(&r, 3) || mlc_image_size(image, height, width)) return 1;
  transform done[4] = {{0}};
  int count = 0, kinds = 0;
  int64_t across = width;
  for (; take(&r, 1); count++) {
    int kind = (int)take(&r, 2);
    if (kinds >> kind & 1) return 1;
    kinds |= 1 << kind, done[count].kind = kind;
    if (read_transform(&r, &done[count], across, height)) return 1;
    if (kind == INDEX) across = parts(across, done[count].bits);
  }
  uint32_t *pixels = read_pixels(&r, across, height, 1);
  while (pixels && count--) {
    if (done[count].kind == INDEX) pixels = look_up(&r, &done[count], pixels, height);
    else undo(&done[count], pixels, height);
  }
  for (int64_t i = 0; pixels && i < image->height * image->width; i++)
    for (int n = 0; n < 3; n++) image->pixels[3 * i + n] = (uint8_t)(pixels[i] >> (16 - 8 * n));
  return !pixels;
}
