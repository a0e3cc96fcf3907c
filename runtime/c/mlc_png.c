/* PNG (ISO/IEC 15948): all types of colour and depths, interlaced too. Transparency is left out. */
#include "mlc_image.h"

enum { GRAY, COLOUR = 2, PALETTE = 3, GRAY_ALPHA = 4, COLOUR_ALPHA = 6 };

typedef struct {
  int bits, type, interlaced, channels;
  uint8_t palette[256][3];
  int has_palette;
  uint8_t *packed; /* the data of all IDAT */
  size_t length;
} png;

typedef struct {
  int64_t x, y, dx, dy; /* of the whole image: where a pass begins, and how far its pixels are apart */
} pass;

static const pass WHOLE = {0, 0, 1, 1};
static const pass PASSES[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                              {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

static uint32_t crc_of(const uint8_t *at, const uint8_t *end) {
  static const uint32_t HALF[] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                  0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                  0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t crc = 0xFFFFFFFF;
  for (; at < end; at++) {
    crc = HALF[(crc ^ *at) & 15] ^ crc >> 4;
    crc = HALF[(crc ^ *at >> 4) & 15] ^ crc >> 4;
  }
  return ~crc;
}

static int read_header(mlc_bytes s, png *p, mlc_image *image) {
  uint32_t width = mlc_be32(&s), height = mlc_be32(&s);
  p->bits = (int)mlc_u8(&s), p->type = (int)mlc_u8(&s);
  int others = (int)(mlc_u8(&s) | mlc_u8(&s));
  p->interlaced = (int)mlc_u8(&s);
  p->channels = p->type == COLOUR ? 3 : p->type == COLOUR_ALPHA ? 4 : p->type == GRAY_ALPHA ? 2 : 1;
  int narrow = p->bits == 1 || p->bits == 2 || p->bits == 4;
  int fits = p->type == GRAY                        ? narrow || p->bits == 8 || p->bits == 16
             : p->type == PALETTE                   ? narrow || p->bits == 8
             : p->type < 7 && p->type % 2 == 0      ? p->bits == 8 || p->bits == 16
                                                    : 0;
  return s.over || !fits || others || p->interlaced > 1 || mlc_image_size(image, height, width);
}

static void read_palette(mlc_bytes s, png *p) {
  size_t count = mlc_left(&s) / 3;
  memcpy(p->palette, s.at, 3 * (count < 256 ? count : 256));
  p->has_palette = 1;
}

/* All chunks up to IEND. Those that must be understood begin with a capital letter, and their sum is right. */
static int read_chunks(mlc_bytes s, png *p, mlc_image *image) {
  mlc_take(&s, 8);
  for (int first = 1;; first = 0) {
    uint32_t length = mlc_be32(&s);
    mlc_bytes whole = mlc_take(&s, (uint64_t)length + 4), data = whole;
    uint32_t crc = mlc_be32(&s), name = mlc_be32(&data);
    if (s.over || first != (name == 0x49484452)) return 1;
    if (!(name & 0x20000000) && crc != crc_of(whole.at, whole.end)) return 1;
    if (name == 0x49484452 && (read_header(data, p, image) || !(p->packed = mlc_image_memory(image, mlc_left(&s), 1))))
      return 1;
    if (name == 0x504C5445) read_palette(data, p);
    if (name == 0x49444154) memcpy(p->packed + p->length, data.at, mlc_left(&data)), p->length += mlc_left(&data);
    if (name == 0x49454E44) return p->type == PALETTE && !p->has_palette;
  }
}

static unsigned paeth(int a, int b, int c) {
  int p = a + b - c, pa = p < a ? a - p : p - a, pb = p < b ? b - p : p - b, pc = p < c ? c - p : p - c;
  return (unsigned)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* A row's bytes from their differences to those on the left and above; on the left of the first pixel stand zeros. */
static int unfilter(unsigned filter, uint8_t *row, const uint8_t *above, size_t bytes, size_t apart) {
  for (size_t n = 0; n < apart && filter >= 2; n++) row[n] = (uint8_t)(row[n] + above[n] / (filter == 3 ? 2 : 1));
  const uint8_t *left = row, *corner = above;
  uint8_t *end = row + bytes, *at = row + apart;
  above += apart;
  switch (filter) {
    case 0: return 0;
    case 1:
      for (; at < end; at++, left++) *at = (uint8_t)(*at + *left);
      return 0;
    case 2:
      for (; at < end; at++, above++) *at = (uint8_t)(*at + *above);
      return 0;
    case 3:
      for (; at < end; at++, left++, above++) *at = (uint8_t)(*at + (*left + *above) / 2);
      return 0;
    case 4:
      for (; at < end; at++) *at = (uint8_t)(*at + paeth(*left++, *above++, *corner++));
      return 0;
    default: return 1;
  }
}

static void put_pixel(const png *p, const uint8_t *row, int64_t x, uint8_t *to) {
  int bytes = p->bits == 16 ? 2 : 1; /* of 16 bits the high ones */
  if (p->bits < 8) {
    unsigned v = mlc_sample(row, x, p->bits);
    if (p->type == PALETTE) memcpy(to, p->palette[v], 3);
    else mlc_gray(to, (uint8_t)(v * 255 / ((1u << p->bits) - 1)));
    return;
  }
  const uint8_t *from = row + x * p->channels * bytes;
  if (p->type == PALETTE) memcpy(to, p->palette[*from], 3);
  else if (p->channels < 3) mlc_gray(to, *from);
  else to[0] = from[0], to[1] = from[bytes], to[2] = from[2 * bytes];
}

static size_t row_bytes(const png *p, int64_t width) { return (size_t)((width * p->bits * p->channels + 7) / 8); }

static int64_t steps(int64_t extent, int64_t first, int64_t apart) {
  return extent > first ? (extent - first + apart - 1) / apart : 0;
}

/* Puts a pass into the image; the data behind it, or NULL. `zeros` stand above the first row. */
static uint8_t *put_pass(const png *p, const pass *a, uint8_t *data, const uint8_t *zeros, mlc_image *image) {
  int64_t width = steps(image->width, a->x, a->dx), height = steps(image->height, a->y, a->dy);
  size_t bytes = row_bytes(p, width), apart = (size_t)(p->bits * p->channels + 7) / 8;
  if (!width) return data;
  for (int64_t y = 0; y < height; y++, data += bytes + 1) {
    if (unfilter(*data, data + 1, y ? data - bytes : zeros, bytes, apart)) return NULL;
    uint8_t *to = image->pixels + 3 * ((a->y + y * a->dy) * image->width + a->x);
    for (int64_t x = 0; x < width; x++) put_pixel(p, data + 1, x, to + 3 * x * a->dx);
  }
  return data;
}

int mlc_png_read(mlc_bytes stream, mlc_image *image) {
  png p = {0};
  if (read_chunks(stream, &p, image)) return 1;
  const pass *passes = p.interlaced ? PASSES : &WHOLE;
  int count = p.interlaced ? 7 : 1;
  size_t room = 0;
  for (int n = 0; n < count; n++) {
    int64_t width = steps(image->width, passes[n].x, passes[n].dx);
    if (width) room += (row_bytes(&p, width) + 1) * (size_t)steps(image->height, passes[n].y, passes[n].dy);
  }
  uint8_t *data = mlc_image_memory(image, room, 1);
  uint8_t *zeros = mlc_image_memory(image, row_bytes(&p, image->width) + 8, 1);
  if (!data || !zeros || mlc_inflate((mlc_bytes){p.packed, p.packed + p.length, 0}, data, room)) return 1;
  for (int n = 0; n < count && data; n++) data = put_pass(&p, &passes[n], data, zeros, image);
  return !data;
}
