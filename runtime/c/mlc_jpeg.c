/* JPEG (ITU-T T.81): markers and Huffman codes of baseline, extended and progressive images of 8 bits. */
#include "mlc_jpeg.h"

enum { MOST_SCANS = 64 /* a progressive image has some ten; each may ask for work on all blocks */ };

typedef struct {
  uint8_t symbol[256];
  uint16_t quick[256]; /* by the next 8 bits: length and symbol of a word, or 0 */
  int32_t most[17];    /* the greatest word of a length, or -1 */
  int32_t offset[17];  /* from a word of a length to its symbol */
} code;

typedef struct {
  mlc_jpeg image;
  mlc_bytes s;
  code codes[2][4]; /* of DC, of AC */
  unsigned interval;
  int progressive, scans;
  int64_t units_across, units_down;
  uint64_t bits; /* the next `count` */
  int count, padded, wrong; /* padded: of them zeros; wrong: there was no word like that */
  int from, to, high, low; /* of the scan: coefficients, and bits of them */
  int64_t run;             /* blocks without further coefficients */
  int dc[4];
} reader;

static const uint8_t ZIGZAG[64] = {
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61,
    54, 47, 55, 62, 63};

/* At least 32 bits; zeros in front of a marker, which only damaged streams consume. */
static void fill(reader *r) {
  while (r->count <= 48) {
    unsigned byte = 0;
    const uint8_t *at = r->s.at;
    while (r->s.end - at > 1 && at[0] == 0xFF && at[1] == 0xFF) at++;
    if (at < r->s.end && at[0] != 0xFF) byte = *at, r->s.at = at + 1;
    else if (r->s.end - at > 1 && at[1] == 0) byte = 0xFF, r->s.at = at + 2;
    else r->padded += 8;
    r->bits = r->bits << 8 | byte, r->count += 8;
  }
}

static unsigned take_bits(reader *r, int n) {
  if (r->count < n) fill(r);
  return (unsigned)(r->bits >> (r->count -= n)) & ((1u << n) - 1);
}

static int take_symbol(reader *r, const code *c) {
  if (r->count < 16) fill(r);
  int32_t next = (int32_t)(r->bits >> (r->count - 16) & 0xFFFF);
  uint16_t quick = c->quick[next >> 8];
  if (quick) return r->count -= quick >> 8, quick & 255;
  for (int k = 9; k <= 16; k++)
    if (next >> (16 - k) <= c->most[k]) return r->count -= k, c->symbol[(next >> (16 - k)) + c->offset[k]];
  return r->count -= 16, r->wrong = 1, 0;
}

/* A number of n bits, whose first bit says that it is positive. */
static int take_value(reader *r, int n) {
  if (n == 0) return 0;
  int value = (int)take_bits(r, n);
  return value < 1 << (n - 1) ? value - (1 << n) + 1 : value;
}

static int damaged(const reader *r) { return r->wrong || r->padded > r->count; }

static int read_codes(reader *r, mlc_bytes s) {
  while (mlc_left(&s)) {
    unsigned kind = mlc_u8(&s), total = 0;
    if (kind >> 4 > 1 || (kind & 15) > 3) return 1;
    code *c = &r->codes[kind >> 4][kind & 15];
    *c = (code){0};
    uint8_t count[17] = {0};
    for (int k = 1; k <= 16; k++) count[k] = (uint8_t)mlc_u8(&s), total += count[k];
    if (total > 256) return 1;
    for (unsigned n = 0; n < total; n++) c->symbol[n] = (uint8_t)mlc_u8(&s);
    int32_t word = 0, n = 0;
    for (int k = 1; k <= 16; k++, word <<= 1) {
      int32_t alike = k <= 8 ? 1 << (8 - k) : 0; /* of the next 8 bits, those that begin with a word */
      c->offset[k] = n - word;
      for (int i = 0; i < count[k]; i++, word++, n++)
        for (int32_t w = word * alike; w < (word + 1) * alike && w < 256; w++)
          c->quick[w] = (uint16_t)(k << 8 | c->symbol[n]);
      c->most[k] = count[k] ? word - 1 : -1;
      if (word > 1 << k) return 1;
    }
  }
  return s.over;
}

static int read_quantization(mlc_jpeg *j, mlc_bytes s) {
  while (mlc_left(&s)) {
    unsigned kind = mlc_u8(&s);
    if (kind >> 4 > 1 || (kind & 15) > 3) return 1;
    for (int k = 0; k < 64; k++)
      j->quantization[kind & 15][ZIGZAG[k]] = (uint16_t)(kind >> 4 ? mlc_be16(&s) : mlc_u8(&s));
  }
  return s.over;
}

static int64_t parts(int64_t n, int64_t of) { return (n + of - 1) / of; }

static int read_frame(reader *r, mlc_bytes s, mlc_image *image) {
  mlc_jpeg *j = &r->image;
  unsigned depth = mlc_u8(&s), height = mlc_be16(&s), width = mlc_be16(&s), count = mlc_u8(&s);
  if (j->count || depth != 8 || (count != 1 && count != 3 && count != 4)) return 1;
  if (mlc_image_size(image, height, width)) return 1;
  j->count = (int)count;
  for (mlc_jpeg_plane *p = j->plane; p < j->plane + count; p++) {
    p->id = (int)mlc_u8(&s);
    unsigned factors = mlc_u8(&s);
    p->h = (int)(factors >> 4), p->v = (int)(factors & 15), p->quantization = mlc_u8(&s);
    if (count == 1) p->h = p->v = 1;
    if (p->h < 1 || p->h > 4 || p->v < 1 || p->v > 4 || p->quantization > 3) return 1;
    if (p->h > j->h_most) j->h_most = p->h;
    if (p->v > j->v_most) j->v_most = p->v;
  }
  r->units_across = parts(width, 8 * j->h_most), r->units_down = parts(height, 8 * j->v_most);
  for (mlc_jpeg_plane *p = j->plane; p < j->plane + count; p++) {
    p->width = parts((int64_t)width * p->h, j->h_most), p->height = parts((int64_t)height * p->v, j->v_most);
    p->across = r->units_across * p->h, p->down = r->units_down * p->v;
    p->blocks = mlc_image_memory(image, (uint64_t)(p->across * p->down), sizeof *p->blocks);
    if (!p->blocks) return 1;
  }
  return s.over;
}

static void read_dc(reader *r, const code *c, int *before, int16_t *block) {
  if (r->high) {
    block[0] = (int16_t)(block[0] | (int)take_bits(r, 1) << r->low);
    return;
  }
  *before = (int16_t)(*before + take_value(r, take_symbol(r, c) & 15));
  block[0] = (int16_t)(*before * (1 << r->low));
}

static void read_ac(reader *r, const code *c, int16_t *block) {
  if (r->run) {
    r->run--;
    return;
  }
  for (int k = r->from; k <= r->to; k++) {
    int symbol = take_symbol(r, c), zeros = symbol >> 4, size = symbol & 15;
    if (size == 0 && zeros < 15) {
      r->run = (1 << zeros) - 1 + (int)take_bits(r, zeros);
      return;
    }
    k += zeros;
    int value = take_value(r, size) * (1 << r->low);
    if (k < 64) block[ZIGZAG[k]] = (int16_t)value;
  }
}

static void refine(reader *r, int16_t *coefficient, int bit) {
  int more = take_bits(r, 1) && !(*coefficient & bit) ? bit : 0;
  *coefficient = (int16_t)(*coefficient + (*coefficient < 0 ? -more : more));
}

/* One more bit of the coefficients that there are, and those that begin with this bit. */
static void refine_ac(reader *r, const code *c, int16_t *block) {
  int k = r->from, bit = 1 << r->low;
  for (; k <= r->to && !r->run; k++) {
    int symbol = take_symbol(r, c), zeros = symbol >> 4, value = 0;
    if (symbol & 15) value = take_bits(r, 1) ? bit : -bit;
    else if (zeros < 15) {
      r->run = (1 << zeros) + (int)take_bits(r, zeros);
      break;
    }
    for (; k <= r->to; k++) {
      int16_t *at = &block[ZIGZAG[k]];
      if (*at) refine(r, at, bit);
      else if (zeros-- == 0) {
        *at = (int16_t)value;
        break;
      }
    }
  }
  if (!r->run) return;
  for (; k <= r->to; k++)
    if (block[ZIGZAG[k]]) refine(r, &block[ZIGZAG[k]], bit);
  r->run--;
}

static void read_block(reader *r, int n, unsigned tables, int16_t *block) {
  const code *dc = &r->codes[0][tables >> 4 & 3], *ac = &r->codes[1][tables & 3];
  if (r->from == 0) read_dc(r, dc, &r->dc[n], block);
  if (r->to == 0) return;
  if (r->progressive) {
    if (r->high) refine_ac(r, ac, block);
    else read_ac(r, ac, block);
    return;
  }
  r->from = 1;
  read_ac(r, ac, block);
  r->from = 0, r->run = 0;
}

/* Begins anew behind a restart marker, or at the beginning of a scan. */
static int restart(reader *r, int marker) {
  if (marker) {
    while (mlc_left(&r->s) > 1 && r->s.at[0] == 0xFF && r->s.at[1] == 0xFF) r->s.at++;
    if (mlc_left(&r->s) < 2 || r->s.at[0] != 0xFF || (r->s.at[1] & 0xF8) != 0xD0) return 1;
    r->s.at += 2;
  }
  r->bits = 0, r->count = r->padded = 0, r->run = 0;
  memset(r->dc, 0, sizeof r->dc);
  return 0;
}

/* A scan of one component goes through its own blocks, one of several through units of blocks of all. */
static int read_units(reader *r, const int *chosen, const unsigned *tables, int count) {
  mlc_jpeg_plane *only = count == 1 ? &r->image.plane[chosen[0]] : NULL;
  int64_t across = only ? parts(only->width, 8) : r->units_across;
  int64_t down = only ? parts(only->height, 8) : r->units_down;
  for (int64_t unit = 0; unit < across * down; unit++) {
    if (unit == 0 || (r->interval && unit % r->interval == 0))
      if (restart(r, unit > 0)) return 1;
    for (int n = 0; n < count; n++) {
      mlc_jpeg_plane *p = &r->image.plane[chosen[n]];
      int h = only ? 1 : p->h, v = only ? 1 : p->v;
      for (int i = 0; i < h * v; i++) {
        int64_t y = unit / across * v + i / h, x = unit % across * h + i % h;
        read_block(r, chosen[n], tables[n], p->blocks[y * p->across + x]);
      }
    }
    if (damaged(r)) return 1;
  }
  return 0;
}

static int read_scan(reader *r, mlc_bytes s) {
  int chosen[4], count = (int)mlc_u8(&s);
  unsigned tables[4];
  if (count < 1 || count > r->image.count || ++r->scans > MOST_SCANS) return 1;
  for (int n = 0; n < count; n++) {
    int id = (int)mlc_u8(&s);
    tables[n] = mlc_u8(&s), chosen[n] = -1;
    for (int k = 0; k < r->image.count; k++)
      if (r->image.plane[k].id == id) chosen[n] = k;
    if (chosen[n] < 0) return 1;
  }
  r->from = (int)mlc_u8(&s), r->to = (int)mlc_u8(&s);
  unsigned bits = mlc_u8(&s);
  r->high = (int)(bits >> 4), r->low = (int)(bits & 15);
  if (!r->progressive) r->from = 0, r->to = 63, r->high = r->low = 0;
  int mixed = r->progressive && r->from == 0 && r->to > 0;
  if (s.over || mixed || r->from > r->to || r->to > 63 || r->low > 13 || (r->from > 0 && count > 1)) return 1;
  return read_units(r, chosen, tables, count);
}

/* The next marker, whatever stands in front of it. */
static unsigned next_marker(mlc_bytes *s) {
  unsigned byte = mlc_u8(s);
  while (!s->over) {
    unsigned next = mlc_u8(s);
    if (byte == 0xFF && next != 0 && next != 0xFF) return next;
    byte = next;
  }
  return 0xD9;
}

static int read_segment(reader *r, unsigned marker, mlc_bytes s, mlc_image *image) {
  switch (marker) {
    case 0xC0: case 0xC1: case 0xC2:
      r->progressive = marker == 0xC2;
      return read_frame(r, s, image);
    case 0xC4: return read_codes(r, s);
    case 0xDA: return read_scan(r, s);
    case 0xDB: return read_quantization(&r->image, s);
    case 0xDD: return r->interval = mlc_be16(&s), s.over;
    case 0xE0: return r->image.jfif |= mlc_starts(&s, "JFIF", 5), 0;
    case 0xEE:
      if (mlc_starts(&s, "Adobe", 5) && mlc_left(&s) >= 12) r->image.adobe = s.at[11];
      return 0;
    default: return marker >= 0xC0 && marker <= 0xCF; /* other ways to code: arithmetic, lossless */
  }
}

int mlc_jpeg_read(mlc_bytes stream, mlc_image *image) {
  reader *r = mlc_image_memory(image, 1, sizeof *r);
  if (!r) return 1;
  r->s = stream, r->image.adobe = -1;
  for (unsigned marker; (marker = next_marker(&r->s)) != 0xD9;) {
    if (marker == 1 || (marker >= 0xD0 && marker <= 0xD8)) continue; /* they have no length */
    uint64_t length = mlc_be16(&r->s);
    mlc_bytes segment = mlc_take(&r->s, length < 2 ? 0 : length - 2);
    if (r->s.over || length < 2 || read_segment(r, marker, segment, image)) return 1;
  }
  return !r->scans || mlc_jpeg_pixels(&r->image, image);
}
