/* ImageDecoder as a step of the host program: which decoder, memory, and the order of the channels. */
#include "mlc_image.h"

#include <stdlib.h>

#include "mlc_runtime.h"

enum { RGB, BGR, GRAYSCALE };
enum { PLANES = 16 /* of 4 bytes a pixel: more memory than this no decoder needs */ };

struct mlc_block {
  _Alignas(max_align_t) mlc_block *next;
};

void *mlc_image_memory(mlc_image *image, uint64_t count, size_t size) {
  uint64_t most = (uint64_t)image->extent * (uint64_t)image->extent * 4 * PLANES + (1 << 20);
  if (count > (most - image->used) / size) return NULL;
  mlc_block *block = calloc(1, sizeof *block + (size_t)count * size);
  if (!block) return NULL;
  image->used += count * size;
  block->next = image->blocks, image->blocks = block;
  return block + 1;
}

int mlc_image_size(mlc_image *image, uint64_t height, uint64_t width) {
  if (!height || !width) return 1;
  uint64_t extent = (uint64_t)image->extent;
  if (height > extent || width > extent) return image->too_large = 1;
  image->height = (int64_t)height, image->width = (int64_t)width;
  return 0;
}

static mlc_decoder *decoder_of(const mlc_bytes *s) {
  if (mlc_starts(s, "BM", 2)) return mlc_image_bmp;
  if (mlc_starts(s, "\x89PNG\r\n\x1a\n", 8)) return mlc_image_png;
  if (mlc_starts(s, "\xff\xd8\xff", 3)) return mlc_image_jpeg;
  if (mlc_starts(s, "\0\0\0\x0cjP  ", 8) || mlc_starts(s, "\xff\x4f\xff\x51", 4)) return mlc_image_jpeg2000;
  if (mlc_starts(s, "II*\0", 4) || mlc_starts(s, "MM\0*", 4)) return mlc_image_tiff;
  if (mlc_starts(s, "RIFF", 4)) return mlc_image_webp;
  if (mlc_left(s) > 2 && s->at[0] == 'P' && s->at[1] >= '1' && s->at[1] <= '6') return mlc_image_pnm;
  return NULL;
}

int mlc_image_read(mlc_bytes stream, mlc_image *image) {
  mlc_decoder *decode = decoder_of(&stream);
  int failed = !decode || decode(stream, image);
  for (mlc_block *b; (b = image->blocks);) image->blocks = b->next, free(b);
  if (failed) image->height = image->width = 0;
  return failed;
}

static void reorder(mlc_image *image, int64_t format) {
  uint8_t *p = image->pixels, *end = p + 3 * image->height * image->width, *gray = p;
  for (; p < end && format != RGB; p += 3) {
    uint8_t red = p[0];
    if (format == BGR) p[0] = p[2], p[2] = red;
    else *gray++ = (uint8_t)((19595u * red + 38470u * p[1] + 7471u * p[2] + 32768u) >> 16); /* ITU-R 601-2 */
  }
}

/* The stream in[0] as dense pixels at the beginning of `out`, and in its last four bytes height and width. number[0] is
 * the most of either, number[1] the format; `word` says what is wrong with a larger image. */
void mlc_image_decode(mlc_call *c, const mlc_step *s) {
  const uint8_t *from = s->in[0];
  mlc_image image = {.extent = s->number[0], .pixels = s->out};
  mlc_image_read((mlc_bytes){from, from + s->count[0], 0}, &image);
  if (image.too_large) mlc_stop(c, s->word);
  reorder(&image, s->number[1]);
  uint8_t *sizes = image.pixels + s->made - 4;
  sizes[0] = (uint8_t)image.height, sizes[1] = (uint8_t)(image.height >> 8);
  sizes[2] = (uint8_t)image.width, sizes[3] = (uint8_t)(image.width >> 8);
}
