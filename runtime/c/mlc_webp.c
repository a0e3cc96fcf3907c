/* The container of WebP: RIFF, with a lossy or a lossless frame. Transparency is left out, animations are refused. */
#include "mlc_vp8.h"

int mlc_webp_read(mlc_bytes s, mlc_image *image) {
  mlc_take(&s, 8);
  if (!mlc_starts(&s, "WEBP", 4)) return 1;
  mlc_take(&s, 4);
  while (mlc_left(&s) >= 8) {
    mlc_bytes name = mlc_take(&s, 4);
    uint64_t length = mlc_le32(&s);
    mlc_bytes chunk = mlc_take(&s, length);
    if (s.over) return 1;
    if (mlc_starts(&name, "VP8 ", 4)) return mlc_vp8_read(chunk, image);
    if (mlc_starts(&name, "VP8L", 4)) return mlc_vp8l_read(chunk, image);
    if (length % 2) mlc_u8(&s);
  }
  return 1;
}
