/* TIFF 6.0: strips and tiles; plain, PackBits, LZW and deflate; gray, colour, palettes and CMYK. The first image of a
 * file counts. */
#include "mlc_image.h"

enum { WIDTH = 256, HEIGHT, BITS, CODING, MEANING = 262, BIT_ORDER = 266, STRIPS = 273, TURN, SAMPLES = 277, ROWS, SIZES,
       PLANES = 284, DIFFERENCES = 317, COLOURS = 320, TILE_WIDTH = 322, TILE_HEIGHT, TILES, TILE_SIZES, FORMAT = 339 };
enum { WHITE_FIRST, BLACK_FIRST, RGB, PALETTE, CMYK = 5 };

typedef struct {
  mlc_bytes stream;
  uint32_t directory;
  int little, bits, samples, meaning, apart; /* apart: each sample in a plane of its own */
  int64_t block_width, block_height, block_samples;
  uint32_t coding, differences;
} tiff;

static unsigned read16(const tiff *t, mlc_bytes *s) { return t->little ? mlc_le16(s) : mlc_be16(s); }
static uint32_t read32(const tiff *t, mlc_bytes *s) { return t->little ? mlc_le32(s) : mlc_be32(s); }

/* The values under a tag; none where it is not there, or they are no whole numbers. */
typedef struct {
  unsigned size; /* bytes of one */
  uint32_t count;
  mlc_bytes bytes;
} values;

static values find(const tiff *t, unsigned tag) {
  mlc_bytes s = mlc_from(t->stream, t->directory);
  for (unsigned left = read16(t, &s); left > 0 && !s.over; left--) {
    unsigned name = read16(t, &s), type = read16(t, &s), size = type == 4 ? 4 : type == 3 ? 2 : 1;
    uint32_t count = read32(t, &s);
    mlc_bytes value = mlc_take(&s, 4);
    if (name != tag) continue;
    if (s.over || (type != 1 && type != 3 && type != 4)) break;
    if ((uint64_t)count * size > 4) value = mlc_from(t->stream, read32(t, &value));
    return (values){size, count, value};
  }
  return (values){0};
}

static uint32_t value_at(const tiff *t, const values *v, uint32_t index, uint32_t otherwise) {
  if (index >= v->count) return otherwise;
  mlc_bytes s = mlc_from(v->bytes, (uint64_t)index * v->size);
  uint32_t found = v->size == 4 ? read32(t, &s) : v->size == 2 ? read16(t, &s) : mlc_u8(&s);
  return s.over ? otherwise : found;
}

static uint32_t field(const tiff *t, unsigned tag, uint32_t otherwise) {
  values v = find(t, tag);
  return value_at(t, &v, 0, otherwise);
}

static int unpack_bits(mlc_bytes from, uint8_t *to, size_t room) {
  for (uint8_t *end = to + room; to < end;) {
    unsigned n = mlc_u8(&from), run = n > 128;
    size_t length = n == 128 ? 0 : run ? 257 - n : n + 1, left = (size_t)(end - to);
    if (length > left) length = left;
    mlc_bytes values = mlc_take(&from, run ? 1 : length);
    if (from.over) return 1;
    if (run) memset(to, *values.at, length);
    else memcpy(to, values.at, length);
    to += length;
  }
  return 0;
}

/* A word's string is that of another word and a byte behind it, so it is written from its end. */
static int unpack_lzw(mlc_bytes from, uint8_t *to, size_t room) {
  enum { CLEAR = 256, END, FIRST, MOST = 4096 };
  uint16_t before[MOST], length[MOST];
  uint8_t last[MOST];
  for (int n = 0; n < FIRST; n++) length[n] = 1, last[n] = (uint8_t)n, before[n] = 0;
  int next = FIRST, width = 9, old = -1, count = 0;
  uint32_t bits = 0;
  for (size_t made = 0; made < room;) {
    while (count < width) bits = bits << 8 | mlc_u8(&from), count += 8;
    int word = (int)(bits >> (count -= width) & ((1u << width) - 1));
    if (from.over || word == END) return 1;
    if (word == CLEAR) {
      next = FIRST, width = 9, old = -1;
      continue;
    }
    if (word > next || (word >= FIRST && (old < 0 || (word == next && next == MOST)))) return 1;
    if (old >= 0 && next < MOST) {
      int first = word == next ? old : word;
      while (length[first] > 1) first = before[first];
      before[next] = (uint16_t)old, length[next] = (uint16_t)(length[old] + 1), last[next] = last[first], next++;
    }
    for (size_t n = length[word], at = word; n > 0; n--, at = before[at])
      if (made + n - 1 < room) to[made + n - 1] = last[at];
    made += length[word], old = word;
    if (next + 1 >= 1 << width && width < 12) width++;
  }
  return 0;
}

static int unpack(const tiff *t, mlc_bytes from, uint8_t *to, size_t room) {
  switch (t->coding) {
    case 1:
      if (mlc_left(&from) < room) return 1;
      return memcpy(to, from.at, room), 0;
    case 5: return unpack_lzw(from, to, room);
    case 8: case 32946: return mlc_inflate(from, to, room);
    case 32773: return unpack_bits(from, to, room);
    default: return 1;
  }
}

/* Samples of a row from their differences to the pixel on the left. */
static void add_up(const tiff *t, uint8_t *row, int64_t count) {
  int64_t apart = t->block_samples;
  for (int64_t n = apart; n < count && t->bits == 8; n++) row[n] = (uint8_t)(row[n] + row[n - apart]);
  for (int64_t n = apart; n < count && t->bits == 16; n++) {
    int high = t->little ? 1 : 0;
    uint8_t *to = row + 2 * n, *from = to - 2 * apart;
    unsigned sum = (unsigned)to[1 - high] + from[1 - high];
    to[1 - high] = (uint8_t)sum;
    to[high] = (uint8_t)(to[high] + from[high] + (sum >> 8));
  }
}

/* A sample as a number of 8 bits; of a palette as it is. */
static uint8_t sample(const tiff *t, const uint8_t *row, int64_t n) {
  if (t->bits == 16) return row[2 * n + (t->little ? 1 : 0)];
  unsigned value = mlc_sample(row, n, t->bits);
  return (uint8_t)(t->meaning == PALETTE ? value : value * 255 / ((1u << t->bits) - 1));
}

static void put_pixel(const tiff *t, const uint8_t *row, int64_t x, unsigned plane, uint8_t *to) {
  if (t->apart) {
    if (plane < 3) to[plane] = sample(t, row, x);
    if (t->meaning != RGB && plane == 0) mlc_gray(to, to[0]);
    return;
  }
  uint8_t v[4] = {0};
  for (int n = 0; n < t->samples && n < 4; n++) v[n] = sample(t, row, x * t->samples + n);
  if (t->meaning == CMYK) mlc_cmyk(to, v);
  else if (t->meaning == RGB) memcpy(to, v, 3);
  else mlc_gray(to, t->meaning == WHITE_FIRST ? (uint8_t)(255 - v[0]) : v[0]);
}

static void put_block(const tiff *t, uint8_t *rows, size_t bytes, int64_t y, int64_t x, unsigned plane,
                      mlc_image *image) {
  for (int64_t i = 0; i < t->block_height && y + i < image->height; i++, rows += bytes) {
    if (t->differences == 2) add_up(t, rows, t->block_width * t->block_samples);
    uint8_t *to = image->pixels + 3 * ((y + i) * image->width + x);
    for (int64_t j = 0; j < t->block_width && x + j < image->width; j++, to += 3) put_pixel(t, rows, j, plane, to);
  }
}

static void reverse_bits(const uint8_t *from, uint8_t *to, size_t count) {
  for (size_t n = 0; n < count; n++) {
    to[n] = 0;
    for (int bit = 0; bit < 8; bit++) to[n] |= (uint8_t)((from[n] >> bit & 1) << (7 - bit));
  }
}

static int read_blocks(const tiff *t, int tiled, mlc_image *image) {
  size_t bytes = (size_t)((t->block_width * t->block_samples * t->bits + 7) / 8);
  uint8_t *rows = mlc_image_memory(image, (uint64_t)t->block_height, bytes), *turned = NULL;
  if (!rows) return 1;
  int backwards = field(t, BIT_ORDER, 1) == 2;
  if (backwards && !(turned = mlc_image_memory(image, mlc_left(&t->stream), 1))) return 1;
  values starts = find(t, tiled ? TILES : STRIPS), sizes = find(t, tiled ? TILE_SIZES : SIZES);
  uint32_t index = 0;
  for (unsigned plane = 0; plane < (t->apart ? (unsigned)t->samples : 1); plane++)
    for (int64_t y = 0; y < image->height; y += t->block_height)
      for (int64_t x = 0; x < image->width; x += t->block_width, index++) {
        mlc_bytes s = mlc_from(t->stream, value_at(t, &starts, index, UINT32_MAX));
        uint32_t size = value_at(t, &sizes, index, UINT32_MAX);
        if (size < mlc_left(&s)) s = mlc_take(&s, size);
        if (backwards) reverse_bits(s.at, turned, mlc_left(&s)), s.end = turned + mlc_left(&s), s.at = turned;
        int64_t height = !tiled && y + t->block_height > image->height ? image->height - y : t->block_height;
        if (s.over || unpack(t, s, rows, bytes * (size_t)height)) return 1;
        put_block(t, rows, bytes, y, x, plane, image);
      }
  return 0;
}

static void look_up(const tiff *t, mlc_image *image) {
  uint8_t colours[3][256];
  uint32_t count = 1u << t->bits;
  values table = find(t, COLOURS);
  for (uint32_t n = 0; n < 3 * count; n++) colours[n / count][n % count] = (uint8_t)(value_at(t, &table, n, 0) >> 8);
  uint8_t *end = image->pixels + 3 * image->height * image->width;
  for (uint8_t *p = image->pixels; p < end; p += 3)
    for (int n = 2; n >= 0; n--) p[n] = colours[n][p[0]];
}

/* Turns the image as it is to be seen: from the right or from below, and then rows for columns. */
static int turn(const tiff *t, mlc_image *image) {
  uint32_t kind = field(t, TURN, 1);
  int64_t height = image->height, width = image->width;
  if (kind < 2 || kind > 8) return 0;
  uint8_t *stored = mlc_image_memory(image, (uint64_t)(height * width), 3), *from = stored;
  if (!stored) return 1;
  memcpy(stored, image->pixels, (size_t)(3 * height * width));
  int right = kind == 2 || kind == 3 || kind >= 7, below = kind == 3 || kind == 4 || kind == 6 || kind == 7;
  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width; x++, from += 3) {
      int64_t row = below ? height - 1 - y : y, column = right ? width - 1 - x : x;
      memcpy(image->pixels + 3 * (kind < 5 ? row * width + column : column * height + row), from, 3);
    }
  if (kind >= 5) image->height = width, image->width = height;
  return 0;
}

int mlc_tiff_read(mlc_bytes stream, mlc_image *image) {
  tiff t = {.stream = stream, .little = *stream.at == 'I'};
  mlc_bytes s = mlc_from(stream, 4);
  t.directory = read32(&t, &s);
  if (mlc_image_size(image, field(&t, HEIGHT, 0), field(&t, WIDTH, 0))) return 1;
  int tiled = field(&t, TILES, 0) != 0;
  uint32_t rows = field(&t, tiled ? TILE_HEIGHT : ROWS, (uint32_t)image->height);
  uint32_t across = tiled ? field(&t, TILE_WIDTH, 0) : (uint32_t)image->width;
  uint32_t samples = field(&t, SAMPLES, 1), bits = field(&t, BITS, 1), meaning = field(&t, MEANING, 99);
  t.coding = field(&t, CODING, 1), t.differences = field(&t, DIFFERENCES, 1);
  t.apart = field(&t, PLANES, 1) == 2 && samples > 1;
  if (!tiled && rows > (uint32_t)image->height) rows = (uint32_t)image->height;
  uint32_t most = (uint32_t)image->extent;
  if (!rows || !across || rows > most || across > most || samples < 1 || samples > 8) return 1;
  if (tiled && (rows % 16 || across % 16)) return 1;
  int whole = bits == 8 || bits == 16, narrow = bits == 1 || bits == 2 || bits == 4;
  int fits = meaning == RGB                 ? whole && samples >= 3
             : meaning == CMYK              ? whole && samples >= 4 && !t.apart
             : meaning == PALETTE           ? (bits == 8 || narrow) && samples == 1
             : meaning <= BLACK_FIRST       ? whole || narrow
                                            : 0;
  if (!fits || (t.apart && meaning == WHITE_FIRST) || field(&t, FORMAT, 1) != 1) return 1;
  if (t.differences > 2 || (t.differences == 2 && !whole)) return 1;
  t.bits = (int)bits, t.samples = (int)samples, t.meaning = (int)meaning;
  t.block_width = across, t.block_height = rows, t.block_samples = t.apart ? 1 : samples;
  if (read_blocks(&t, tiled, image)) return 1;
  if (meaning == PALETTE) look_up(&t, image);
  return turn(&t, image);
}
