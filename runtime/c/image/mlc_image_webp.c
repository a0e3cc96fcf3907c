/* WebP by libwebp, lossy and lossless. Transparency is left out, animations are refused. */
#include <webp/decode.h>

#include "mlc_image.h"

int mlc_image_webp(mlc_bytes stream, mlc_image *image) {
  WebPBitstreamFeatures found;
  size_t length = mlc_left(&stream);
  if (WebPGetFeatures(stream.at, length, &found) != VP8_STATUS_OK || found.has_animation) return 1;
  if (mlc_image_size(image, (uint64_t)found.height, (uint64_t)found.width)) return 1;
  size_t stride = 3 * (size_t)image->width;
  return !WebPDecodeRGBInto(stream.at, length, image->pixels, stride * (size_t)image->height, (int)stride);
}
