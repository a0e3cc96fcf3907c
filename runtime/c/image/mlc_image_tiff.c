/* TIFF by libtiff: strips and tiles in every coding that it has; gray, colour, palettes and CMYK of whole numbers. The
 * first image of a file counts; transparency is left out. */
#include <tiffio.h>

#include "mlc_image.h"

enum { BYTES_A_PIXEL = 64 /* more memory than that libtiff needs for no image */ };

typedef struct {
  TIFF *file;
  uint16_t bits, samples, meaning, planes, format, orientation;
  uint32_t tile_width, tile_height;
} tiff;

typedef struct {
  mlc_bytes whole;
  uint64_t at;
} source;

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t count) {
  source *s = handle;
  mlc_bytes rest = mlc_from(s->whole, s->at), bytes = mlc_take(&rest, (uint64_t)count);
  memcpy(to, bytes.at, mlc_left(&bytes));
  s->at += mlc_left(&bytes);
  return (tmsize_t)mlc_left(&bytes);
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t count) {
  (void)handle, (void)from, (void)count;
  return -1;
}

static toff_t seek(thandle_t handle, toff_t to, int from) {
  source *s = handle;
  s->at = from == SEEK_SET ? to : (from == SEEK_CUR ? s->at : mlc_left(&s->whole)) + to;
  return s->at;
}

static int close_source(thandle_t handle) { return (void)handle, 0; }

static toff_t size_of(thandle_t handle) { return mlc_left(&((source *)handle)->whole); }

#if TIFFLIB_VERSION >= 20221213 /* 4.5; older ones print messages to the standard error */
static int ignore(TIFF *file, void *user, const char *module, const char *format, va_list values) {
  (void)file, (void)user, (void)module, (void)format, (void)values;
  return 1;
}

static TIFF *open_source(source *s, const mlc_image *image) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options) return NULL;
  TIFFOpenOptionsSetErrorHandlerExtR(options, ignore, NULL);
  TIFFOpenOptionsSetWarningHandlerExtR(options, ignore, NULL);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, BYTES_A_PIXEL * image->extent * image->extent + (1 << 20));
  TIFF *file = TIFFClientOpenExt("stream", "rm", s, read_bytes, write_bytes, seek, close_source, size_of, NULL, NULL,
                                 options);
  TIFFOpenOptionsFree(options);
  return file;
}
#else
static TIFF *open_source(source *s, const mlc_image *image) {
  (void)image;
  return TIFFClientOpen("stream", "rm", s, read_bytes, write_bytes, seek, close_source, size_of, NULL, NULL);
}
#endif

/* A sample as a number of 8 bits; of a palette as it is. */
static uint8_t sample(const tiff *t, const uint8_t *row, int64_t n) {
  if (t->bits == 16) {
    uint16_t value;
    memcpy(&value, row + 2 * n, sizeof value);
    return (uint8_t)(value >> 8);
  }
  unsigned value = mlc_sample(row, n, t->bits);
  return (uint8_t)(t->meaning == PHOTOMETRIC_PALETTE ? value : value * 255 / ((1u << t->bits) - 1));
}

static void put_pixel(const tiff *t, const uint8_t *row, int64_t x, unsigned plane, uint8_t *to) {
  if (t->planes == PLANARCONFIG_SEPARATE) {
    if (plane < 3) to[plane] = sample(t, row, x);
    if (t->meaning != PHOTOMETRIC_RGB && plane == 0) mlc_gray(to, to[0]);
    return;
  }
  uint8_t v[4] = {0};
  for (int n = 0; n < t->samples && n < 4; n++) v[n] = sample(t, row, x * t->samples + n);
  if (t->meaning == PHOTOMETRIC_SEPARATED) mlc_cmyk(to, v);
  else if (t->meaning == PHOTOMETRIC_RGB) memcpy(to, v, 3);
  else mlc_gray(to, t->meaning == PHOTOMETRIC_MINISWHITE ? (uint8_t)(255 - v[0]) : v[0]);
}

static void put_row(const tiff *t, const uint8_t *row, int64_t y, int64_t x, int64_t count, unsigned plane,
                    mlc_image *image) {
  uint8_t *to = image->pixels + 3 * (y * image->width + x);
  for (int64_t j = 0; j < count && x + j < image->width; j++, to += 3) put_pixel(t, row, j, plane, to);
}

static int read_strips(const tiff *t, unsigned plane, mlc_image *image) {
  tmsize_t bytes = TIFFScanlineSize(t->file);
  uint8_t *row = bytes > 0 ? mlc_image_memory(image, (uint64_t)bytes, 1) : NULL;
  for (int64_t y = 0; row && y < image->height; y++) {
    if (TIFFReadScanline(t->file, row, (uint32_t)y, (uint16_t)plane) < 0) return 1;
    put_row(t, row, y, 0, image->width, plane, image);
  }
  return !row;
}

static int read_tiles(const tiff *t, unsigned plane, mlc_image *image) {
  tmsize_t bytes = TIFFTileSize(t->file), stride = TIFFTileRowSize(t->file);
  uint8_t *tile = bytes > 0 && stride > 0 ? mlc_image_memory(image, (uint64_t)bytes, 1) : NULL;
  for (int64_t y = 0; tile && y < image->height; y += t->tile_height)
    for (int64_t x = 0; x < image->width; x += t->tile_width) {
      if (TIFFReadTile(t->file, tile, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane) < 0) return 1;
      for (int64_t i = 0; i < t->tile_height && y + i < image->height; i++)
        put_row(t, tile + i * stride, y + i, x, t->tile_width, plane, image);
    }
  return !tile;
}

static int look_up(const tiff *t, mlc_image *image) {
  uint16_t *table[3];
  if (!TIFFGetField(t->file, TIFFTAG_COLORMAP, &table[0], &table[1], &table[2])) return 1;
  uint8_t *end = image->pixels + 3 * image->height * image->width;
  for (uint8_t *p = image->pixels; p < end; p += 3)
    for (int n = 2; n >= 0; n--) p[n] = (uint8_t)(table[n][p[0]] >> 8);
  return 0;
}

/* Applies the image's orientation: mirrors columns or rows, then transposes. */
static int orient(const tiff *t, mlc_image *image) {
  int kind = t->orientation;
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

/* Whether the samples are of a kind that is read here. */
static int is_known(const tiff *t) {
  int whole = t->bits == 8 || t->bits == 16, narrow = t->bits == 1 || t->bits == 2 || t->bits == 4;
  int separate = t->planes == PLANARCONFIG_SEPARATE;
  if (t->format != SAMPLEFORMAT_UINT || t->samples < 1 || t->samples > 8) return 0;
  switch (t->meaning) {
    case PHOTOMETRIC_RGB: return whole && t->samples >= 3;
    case PHOTOMETRIC_SEPARATED: return whole && t->samples >= 4 && !separate;
    case PHOTOMETRIC_PALETTE: return (t->bits == 8 || narrow) && t->samples == 1;
    case PHOTOMETRIC_MINISWHITE: return (whole || narrow) && !separate;
    case PHOTOMETRIC_MINISBLACK: return whole || narrow;
    default: return 0;
  }
}

static int read_image(tiff *t, mlc_image *image) {
  uint32_t width = 0, height = 0, most = (uint32_t)image->extent;
  TIFFGetField(t->file, TIFFTAG_IMAGEWIDTH, &width), TIFFGetField(t->file, TIFFTAG_IMAGELENGTH, &height);
  if (mlc_image_size(image, height, width)) return 1;
  TIFFGetFieldDefaulted(t->file, TIFFTAG_BITSPERSAMPLE, &t->bits);
  TIFFGetFieldDefaulted(t->file, TIFFTAG_SAMPLESPERPIXEL, &t->samples);
  TIFFGetFieldDefaulted(t->file, TIFFTAG_PLANARCONFIG, &t->planes);
  TIFFGetFieldDefaulted(t->file, TIFFTAG_SAMPLEFORMAT, &t->format);
  TIFFGetFieldDefaulted(t->file, TIFFTAG_ORIENTATION, &t->orientation);
  if (!TIFFGetField(t->file, TIFFTAG_PHOTOMETRIC, &t->meaning)) return 1;
  if (t->samples == 1) t->planes = PLANARCONFIG_CONTIG;
  int tiled = TIFFIsTiled(t->file);
  TIFFGetField(t->file, TIFFTAG_TILEWIDTH, &t->tile_width), TIFFGetField(t->file, TIFFTAG_TILELENGTH, &t->tile_height);
  if (tiled && (!t->tile_width || !t->tile_height || t->tile_width > most || t->tile_height > most)) return 1;
  if (!is_known(t)) return 1;
  for (unsigned plane = 0; plane < (t->planes == PLANARCONFIG_SEPARATE ? t->samples : 1u); plane++)
    if (tiled ? read_tiles(t, plane, image) : read_strips(t, plane, image)) return 1;
  return (t->meaning == PHOTOMETRIC_PALETTE && look_up(t, image)) || orient(t, image);
}

int mlc_image_tiff(mlc_bytes stream, mlc_image *image) {
  source s = {stream, 0};
  tiff t = {.file = open_source(&s, image)};
  if (!t.file) return 1;
  int failed = read_image(&t, image);
  TIFFClose(t.file);
  return failed;
}
