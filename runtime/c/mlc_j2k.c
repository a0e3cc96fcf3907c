/* JPEG 2000: boxes, headers, tiles, and pixels of their components. Components are sampled alike; palettes, regions of
 * interest, packed headers and changes of the order of packets are refused. */
#include "mlc_j2k.h"

#include <math.h>

enum { SOC = 0xFF4F, SIZ = 0xFF51, COD, COC, QCD = 0xFF5C, QCC, RGN, POC, PPM, PPT, SOT = 0xFF90, SOD = 0xFF93 };

typedef struct part {
  struct part *next; /* of the tile */
  mlc_bytes header, body;
} part;

typedef struct {
  mlc_box image, tile; /* tile: the first one, from where it begins to where the second does */
  int64_t across, down;
  int count, depth[MLC_J2K_PLANES], is_signed[MLC_J2K_PLANES];
  mlc_j2k_style style;
  part **parts; /* by tile */
} reader;

static int read_size(reader *r, mlc_bytes s, mlc_image *image) {
  mlc_be16(&s);
  r->image.x1 = mlc_be32(&s), r->image.y1 = mlc_be32(&s), r->image.x0 = mlc_be32(&s), r->image.y0 = mlc_be32(&s);
  int64_t width = mlc_be32(&s), height = mlc_be32(&s);
  r->tile.x0 = mlc_be32(&s), r->tile.y0 = mlc_be32(&s);
  r->tile.x1 = r->tile.x0 + width, r->tile.y1 = r->tile.y0 + height;
  r->count = (int)mlc_be16(&s);
  if (r->count < 1 || r->count > MLC_J2K_PLANES || !width || !height) return 1;
  for (int n = 0; n < r->count; n++) {
    unsigned depth = mlc_u8(&s), apart = mlc_be16(&s);
    r->depth[n] = (int)(depth & 127) + 1, r->is_signed[n] = depth >> 7;
    if (r->depth[n] > 16 || apart != 0x0101) return 1;
  }
  const mlc_box *i = &r->image, *t = &r->tile;
  if (s.over || i->x1 <= i->x0 || i->y1 <= i->y0 || t->x0 > i->x0 || t->y0 > i->y0 || t->x1 <= i->x0 || t->y1 <= i->y0)
    return 1;
  r->across = (i->x1 - t->x0 + width - 1) / width, r->down = (i->y1 - t->y0 + height - 1) / height;
  if (mlc_image_size(image, (uint64_t)(i->y1 - i->y0), (uint64_t)(i->x1 - i->x0))) return 1;
  if (r->across * r->down > 65535) return 1;
  r->parts = mlc_image_memory(image, (uint64_t)(r->across * r->down), sizeof *r->parts);
  return !r->parts;
}

static int read_coding(mlc_j2k_coding *c, int precincts, mlc_bytes *s) {
  c->levels = (int)mlc_u8(s), c->across = (int)mlc_u8(s) + 2, c->down = (int)mlc_u8(s) + 2;
  c->style = (int)mlc_u8(s), c->reversible = (int)mlc_u8(s);
  if (c->levels > MLC_J2K_LEVELS || c->reversible > 1) return 1;
  if (c->across > 10 || c->down > 10 || c->across + c->down > 12) return 1;
  for (int n = 0; n <= c->levels; n++) {
    c->precincts[n] = precincts ? (uint8_t)mlc_u8(s) : 0xFF;
    if (n && (c->precincts[n] < 16 || !(c->precincts[n] & 15))) return 1;
  }
  return s->over || (c->style & ~(MLC_J2K_RESET | MLC_J2K_CAUSAL | MLC_J2K_SYMBOLS | 16)) != 0;
}

static int read_quantization(mlc_j2k_coding *c, mlc_bytes *s) {
  unsigned style = mlc_u8(s);
  c->quantization = (int)(style & 31), c->guard = (int)(style >> 5);
  if (c->quantization > 2) return 1;
  for (int n = 0; n <= 3 * MLC_J2K_LEVELS; n++) {
    int derived = c->quantization == 1 && n > 0, given = !derived && mlc_left(s) > 0;
    unsigned value = !given ? 0 : c->quantization ? mlc_be16(s) : mlc_u8(s) << 8;
    c->exponent[n] = derived ? c->exponent[0] - (n - 1) / 3 : (int)(value >> 11);
    c->mantissa[n] = derived ? c->mantissa[0] : (int)(value & 0x7FF);
    if (c->exponent[n] < 0) c->exponent[n] = 0;
  }
  return s->over;
}

/* A segment of the main header or of a tile's. */
static int read_style(const reader *r, mlc_j2k_style *style, unsigned marker, mlc_bytes s) {
  mlc_j2k_coding common = style->plane[0];
  unsigned flags = marker == COD ? mlc_u8(&s) : 0, one = marker == COC || marker == QCC ? mlc_u8(&s) : 0;
  if (marker == RGN || marker == POC || marker == PPM || marker == PPT || one >= (unsigned)r->count) return 1;
  if (marker == COD) style->order = (int)mlc_u8(&s), style->layers = (int)mlc_be16(&s), style->mixed = (int)mlc_u8(&s);
  if (marker == COD && (style->order > 4 || !style->layers || read_coding(&common, flags & 1, &s))) return 1;
  if (marker == QCD && read_quantization(&common, &s)) return 1;
  for (int n = 0; n < r->count && (marker == COD || marker == QCD); n++) {
    mlc_j2k_coding before = style->plane[n], *c = &style->plane[n];
    *c = common;
    if (marker == QCD) memcpy(c, &before, offsetof(mlc_j2k_coding, quantization));
    else memcpy(&c->quantization, &before.quantization, sizeof *c - offsetof(mlc_j2k_coding, quantization));
  }
  if (marker == COC) return read_coding(&style->plane[one], mlc_u8(&s) & 1, &s);
  return marker == QCC && read_quantization(&style->plane[one], &s);
}

/* A part of a tile, at its SOT marker: what stands in its header, and its packets. */
static int read_part(reader *r, mlc_bytes *s, mlc_image *image) {
  mlc_bytes whole = *s;
  mlc_take(s, 4);
  unsigned tile = mlc_be16(s);
  uint64_t length = mlc_be32(s);
  mlc_take(s, 2);
  part *p = mlc_image_memory(image, 1, sizeof *p), **last;
  if (!p || s->over || tile >= r->across * r->down || (length && length < 14)) return 1;
  mlc_bytes all = mlc_take(&whole, length ? length : mlc_left(&whole));
  mlc_take(&all, 12);
  p->header = all;
  for (unsigned marker; (marker = mlc_be16(&all)) != SOD;) {
    unsigned size = mlc_be16(&all);
    if (size < 2 || all.over) return 1;
    mlc_take(&all, size - 2);
  }
  p->header.end = all.at - 2, p->body = all;
  if (all.over || whole.over) return 1;
  for (last = &r->parts[tile]; *last;) last = &(*last)->next;
  *last = p, *s = whole;
  return 0;
}

static int read_codestream(reader *r, mlc_bytes s, mlc_image *image) {
  if (mlc_be16(&s) != SOC) return 1;
  int styled = 0, sized = 0, parts = 0;
  while (mlc_left(&s) >= 12) {
    mlc_bytes at = s;
    unsigned marker = mlc_be16(&s), size;
    if (marker == SOT) {
      if (styled != 3 || ++parts > 65535 || read_part(r, &at, image)) return 1;
      s = at;
      continue;
    }
    if (marker == 0xFFD9) return 0;
    size = mlc_be16(&s);
    mlc_bytes segment = mlc_take(&s, size < 2 ? 0 : size - 2);
    if (size < 2 || s.over || sized != (marker != SIZ)) return 1;
    if (marker == SIZ ? read_size(r, segment, image) : read_style(r, &r->style, marker, segment)) return 1;
    sized = 1, styled |= marker == COD ? 1 : marker == QCD ? 2 : 0;
  }
  return 0;
}

/* A sample as 8 bits. */
static uint8_t sample(const reader *r, int n, int32_t value) {
  int depth = r->depth[n];
  value += 1 << (depth - 1); /* of signed ones too: those are moved to where 0 is their least */
  value = value < 0 ? 0 : value >= 1 << depth ? (1 << depth) - 1 : value;
  return (uint8_t)(depth > 8 ? value >> (depth - 8) : value << (8 - depth));
}

static int32_t rounded(float v) { return v > 1e6f ? 1000000 : v < -1e6f ? -1000000 : v == v ? (int32_t)lrintf(v) : 0; }

static int32_t bounded(int32_t v) { return v > 1 << 24 ? 1 << 24 : v < -(1 << 24) ? -(1 << 24) : v; }

static void unmix(const mlc_j2k_tile *t, int64_t i, int32_t *v) {
  if (t->plane[0].coding->reversible) {
    int32_t green = v[0] - ((v[1] + v[2]) >> 2), red = v[2] + green;
    v[2] = v[1] + green, v[1] = green, v[0] = red;
    return;
  }
  float y = t->plane[0].real[i], blue = t->plane[1].real[i], red = t->plane[2].real[i];
  v[0] = rounded(y + 1.402f * red), v[2] = rounded(y + 1.772f * blue);
  v[1] = rounded(y - 0.34413f * blue - 0.71414f * red);
}

static void put_tile(const reader *r, const mlc_j2k_tile *t, int mixed, mlc_image *image) {
  int64_t width = t->box.x1 - t->box.x0;
  for (int64_t i = 0; i < width * (t->box.y1 - t->box.y0); i++) {
    int32_t v[MLC_J2K_PLANES];
    for (int n = 0; n < t->count; n++)
      v[n] = t->plane[n].coding->reversible ? bounded(t->plane[n].whole[i]) : rounded(t->plane[n].real[i]);
    if (mixed) unmix(t, i, v);
    int64_t y = t->box.y0 - r->image.y0 + i / width, x = t->box.x0 - r->image.x0 + i % width;
    uint8_t *to = image->pixels + 3 * (y * image->width + x);
    for (int n = 0; n < 3; n++) to[n] = sample(r, t->count < 3 ? 0 : n, v[t->count < 3 ? 0 : n]);
  }
}

static int read_tile(const reader *r, int64_t number, mlc_image *image) {
  mlc_j2k_tile *t = mlc_image_memory(image, 1, sizeof *t);
  mlc_j2k_style *style = mlc_image_memory(image, 1, sizeof *style);
  size_t length = 0;
  for (const part *p = r->parts[number]; p; p = p->next) length += mlc_left(&p->body);
  uint8_t *bytes = mlc_image_memory(image, length + 1, 1), *end = bytes;
  if (!t || !style || !bytes) return 1;
  *style = r->style;
  for (const part *p = r->parts[number]; p; p = p->next) {
    for (mlc_bytes s = p->header; mlc_left(&s) >= 4;) {
      unsigned marker = mlc_be16(&s), size = mlc_be16(&s);
      if (read_style(r, style, marker, mlc_take(&s, size - 2))) return 1;
    }
    memcpy(end, p->body.at, mlc_left(&p->body)), end += mlc_left(&p->body);
  }
  int64_t width = r->tile.x1 - r->tile.x0, height = r->tile.y1 - r->tile.y0;
  int64_t x = r->tile.x0 + number % r->across * width, y = r->tile.y0 + number / r->across * height;
  t->box = mlc_common(&(mlc_box){x, y, x + width, y + height}, &r->image);
  t->count = r->count;
  for (int n = 0; n < r->count; n++) t->plane[n].depth = r->depth[n];
  if (mlc_j2k_packets(t, style, (mlc_bytes){bytes, end, 0}, image)) return 1;
  for (int n = 0; n < t->count; n++)
    if (mlc_j2k_blocks(&t->plane[n], image) || mlc_j2k_wavelet(&t->plane[n], image)) return 1;
  int alike = t->count >= 3 && style->plane[0].reversible == style->plane[1].reversible &&
              style->plane[0].reversible == style->plane[2].reversible;
  if (style->mixed && !alike) return 1;
  put_tile(r, t, style->mixed, image);
  return 0;
}

/* The codestream in a file's boxes, if they have one; a palette, or luma and differences as colours, are refused. */
static int find_codestream(mlc_bytes s, mlc_bytes *found) {
  while (mlc_left(&s) >= 8) {
    uint64_t length = mlc_be32(&s), head = 8;
    mlc_bytes name = mlc_take(&s, 4), box;
    if (length == 1) length = (uint64_t)mlc_be32(&s) << 32, length |= mlc_be32(&s), head = 16;
    if (length && length < head) return 1;
    box = mlc_take(&s, length ? length - head : mlc_left(&s));
    if (mlc_starts(&name, "jp2c", 4)) return *found = box, 0;
    if (s.over || mlc_starts(&name, "pclr", 4)) return 1;
    if (mlc_starts(&name, "colr", 4) && mlc_starts(&box, "\1", 1) && mlc_left(&box) >= 7 && box.at[6] == 18) return 1;
    if (mlc_starts(&name, "jp2h", 4) && find_codestream(box, found)) return 1;
  }
  return 0;
}

int mlc_j2k_read(mlc_bytes stream, mlc_image *image) {
  reader *r = mlc_image_memory(image, 1, sizeof *r);
  mlc_bytes code = stream;
  int in_boxes = *stream.at == 0;
  if (in_boxes) code.at = code.end;
  if (!r || (in_boxes && find_codestream(stream, &code)) || read_codestream(r, code, image) || !r->parts) return 1;
  for (int64_t n = 0; n < r->across * r->down; n++)
    if (read_tile(r, n, image)) return 1;
  return 0;
}
