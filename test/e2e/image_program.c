/* Decodes the file it is given and writes the pixels to the standard output. */
#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"

int main(int argc, char **argv) {
  static unsigned char stream[1 << 20];
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (!file) return 2;
  int64_t dims[] = {(int64_t)fread(stream, 1, sizeof stream, file)}, shape[3], height, width;
  decoder_model *model = decoder_create(NULL, 1);
  if (!model || decoder_output_shape(0, dims, shape) != 3) return puts(decoder_error()), 1;
  unsigned char *pixels = malloc((size_t)(shape[0] * shape[1] * shape[2]));
  const void *inputs[] = {stream};
  void *outputs[] = {pixels, &height, &width};
  if (!pixels || decoder_run(model, inputs, outputs, dims, NULL)) return puts(decoder_error()), 1;
  printf("%d %d\n", (int)height, (int)width);
  fwrite(pixels, 1, (size_t)(height * width * shape[2]), stdout);
  free(pixels);
  decoder_destroy(model);
  return fclose(file);
}
