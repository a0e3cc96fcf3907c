/* PNG by libpng. Of 16 bits the high 8 count; transparency is left out. */
#include <png.h>

#include "mlc_image.h"

static void read_bytes(png_structp png, png_bytep to, size_t count) {
  mlc_bytes bytes = mlc_take(png_get_io_ptr(png), count);
  if (mlc_left(&bytes) < count) png_error(png, "end of the stream");
  memcpy(to, bytes.at, count);
}

static void fail(png_structp png, png_const_charp message) {
  (void)message;
  png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp message) { (void)png, (void)message; }

/* Pixels of 3 bytes, whatever the stream has. */
static void convert_to_rgb(png_structp png) {
  png_set_strip_16(png);
  png_set_palette_to_rgb(png);
  png_set_expand_gray_1_2_4_to_8(png);
  png_set_gray_to_rgb(png);
  png_set_strip_alpha(png);
}

static int read_rows(png_structp png, png_infop info, mlc_image *image) {
  png_read_info(png, info);
  if (mlc_image_size(image, png_get_image_height(png, info), png_get_image_width(png, info))) return 1;
  png_bytep *rows = mlc_image_memory(image, (uint64_t)image->height, sizeof *rows);
  if (!rows) return 1;
  convert_to_rgb(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  size_t bytes = 3 * (size_t)image->width;
  if (png_get_rowbytes(png, info) != bytes) return 1;
  for (int64_t y = 0; y < image->height; y++) rows[y] = image->pixels + (size_t)y * bytes;
  png_read_image(png, rows);
  png_read_end(png, NULL);
  return 0;
}

int mlc_image_png(mlc_bytes stream, mlc_image *image) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail, ignore);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  volatile int failed = 1;
  if (info && !setjmp(png_jmpbuf(png))) {
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* mlc_image_size has the limit */
    png_set_read_fn(png, &stream, read_bytes);
    failed = read_rows(png, info, image);
  }
  png_destroy_read_struct(&png, &info, NULL);
  return failed;
}
