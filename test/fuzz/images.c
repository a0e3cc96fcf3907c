/* Decodes images from the standard input, each after its length in four bytes, and prints their heights and widths. */
#include <stdio.h>
#include <stdlib.h>

#include "mlc_image.h"
#include "mlc_runtime.h"

enum { EXTENT = 256 };

void mlc_stop(mlc_call *c, const char *why) { (void)c, (void)why; }

int main(void) {
  uint8_t *pixels = malloc(3 * EXTENT * EXTENT);
  for (uint32_t length; fread(&length, sizeof length, 1, stdin) == 1;) {
    uint8_t *stream = malloc(length ? length : 1);
    if (fread(stream, 1, length, stdin) != length) return 1;
    mlc_image image = {.extent = EXTENT, .pixels = pixels};
    mlc_image_read((mlc_bytes){stream, stream + length, 0}, &image);
    printf("%d %d\n", (int)image.height, (int)image.width), fflush(stdout);
    free(stream);
  }
  free(pixels);
}
