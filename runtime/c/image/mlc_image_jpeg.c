/* JPEG by libjpeg-turbo, with the settings it has by default: fancy upsampling and the accurate integer transform. */
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "mlc_image.h"

#ifndef LIBJPEG_TURBO_VERSION
#error "libjpeg-turbo is needed: other libraries called libjpeg upsample in another way"
#endif

enum { SCANS = 500 /* of a progressive image; more are made to keep a decoder busy */ };

typedef struct {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr source;
  struct jpeg_progress_mgr progress;
  jmp_buf failed;
} decoder;

static void fail(j_common_ptr jpeg) { longjmp(((decoder *)jpeg)->failed, 1); }

static void ignore_message(j_common_ptr jpeg) { (void)jpeg; }

static void ignore(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean fill(j_decompress_ptr jpeg) { /* the whole stream has been read, but more is asked for */
  fail((j_common_ptr)jpeg);
  return FALSE;
}

static void skip(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  if ((size_t)count > jpeg->src->bytes_in_buffer) fail((j_common_ptr)jpeg);
  jpeg->src->next_input_byte += count;
  jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void count_scans(j_common_ptr jpeg) {
  if (((j_decompress_ptr)jpeg)->input_scan_number > SCANS) fail(jpeg);
}

/* Four inks as three colours; they are stored inverted, as Adobe does it. */
static void put_inks(const JSAMPLE *row, int64_t width, uint8_t *to) {
  for (int64_t x = 0; x < width; x++, row += 4, to += 3)
    mlc_cmyk(to, (uint8_t[]){(uint8_t)~row[0], (uint8_t)~row[1], (uint8_t)~row[2], (uint8_t)~row[3]});
}

static int read_rows(j_decompress_ptr jpeg, mlc_image *image) {
  jpeg_read_header(jpeg, TRUE);
  if (mlc_image_size(image, jpeg->image_height, jpeg->image_width)) return 1;
  int inks = jpeg->num_components == 4;
  if (!inks && jpeg->num_components != 1 && jpeg->num_components != 3) return 1;
  jpeg->out_color_space = inks ? JCS_CMYK : JCS_RGB;
  JSAMPLE *four = inks ? mlc_image_memory(image, (uint64_t)image->width, 4) : NULL;
  if (inks && !four) return 1;
  jpeg_start_decompress(jpeg);
  for (uint8_t *to = image->pixels; jpeg->output_scanline < jpeg->output_height; to += 3 * image->width) {
    JSAMPROW row = inks ? four : to;
    jpeg_read_scanlines(jpeg, &row, 1);
    if (inks) put_inks(four, image->width, to);
  }
  jpeg_finish_decompress(jpeg);
  return 0;
}

int mlc_image_jpeg(mlc_bytes stream, mlc_image *image) {
  decoder *d = mlc_image_memory(image, 1, sizeof *d);
  volatile int failed = 1;
  if (!d) return 1;
  d->jpeg.err = jpeg_std_error(&d->errors);
  d->errors.error_exit = fail, d->errors.output_message = ignore_message;
  if (!setjmp(d->failed)) {
    jpeg_create_decompress(&d->jpeg);
    d->source = (struct jpeg_source_mgr){.next_input_byte = stream.at, .bytes_in_buffer = mlc_left(&stream),
      .init_source = ignore, .fill_input_buffer = fill, .skip_input_data = skip,
      .resync_to_restart = jpeg_resync_to_restart, .term_source = ignore};
    d->progress.progress_monitor = count_scans;
    d->jpeg.src = &d->source, d->jpeg.progress = &d->progress;
    failed = read_rows(&d->jpeg, image);
  }
  jpeg_destroy_decompress(&d->jpeg);
  return failed;
}
