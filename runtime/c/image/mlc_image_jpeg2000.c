/* JPEG 2000 by OpenJPEG, in boxes (JP2) or as the code stream alone. Transparency is left out; components that are
 * sampled differently, or that are luma and differences of colours, are refused. */
#include <openjpeg.h>

#include "mlc_image.h"

typedef struct {
  mlc_bytes whole;
  OPJ_UINT64 at;
} source;

static OPJ_SIZE_T read_bytes(void *to, OPJ_SIZE_T count, void *user) {
  source *s = user;
  mlc_bytes rest = mlc_from(s->whole, s->at), bytes = mlc_take(&rest, count);
  size_t found = mlc_left(&bytes);
  memcpy(to, bytes.at, found);
  s->at += found;
  return found ? found : (OPJ_SIZE_T)-1;
}

static OPJ_BOOL seek(OPJ_OFF_T to, void *user) {
  source *s = user;
  if (to < 0 || (uint64_t)to > mlc_left(&s->whole)) return OPJ_FALSE;
  s->at = (OPJ_UINT64)to;
  return OPJ_TRUE;
}

static OPJ_OFF_T skip(OPJ_OFF_T count, void *user) {
  return seek((OPJ_OFF_T)((source *)user)->at + count, user) ? count : -1;
}

static opj_stream_t *stream_of(source *s) {
  opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
  if (!stream) return NULL;
  opj_stream_set_user_data(stream, s, NULL);
  opj_stream_set_user_data_length(stream, mlc_left(&s->whole));
  opj_stream_set_read_function(stream, read_bytes);
  opj_stream_set_seek_function(stream, seek);
  opj_stream_set_skip_function(stream, skip);
  return stream;
}

static int is_plain(const opj_image_t *found) {
  if (found->numcomps < 1 || found->numcomps > 4 || found->color_space == OPJ_CLRSPC_SYCC) return 0;
  for (OPJ_UINT32 n = 0; n < found->numcomps; n++) {
    const opj_image_comp_t *c = &found->comps[n];
    if (c->dx != 1 || c->dy != 1 || c->prec < 1 || c->prec > 16) return 0;
  }
  return 1;
}

/* A sample as 8 bits; signed ones are moved to where 0 is their least. */
static uint8_t sample(const opj_image_comp_t *c, int64_t at) {
  int64_t value = (int64_t)c->data[at] + (c->sgnd ? 1 << (c->prec - 1) : 0);
  return mlc_clip8(c->prec > 8 ? value >> (c->prec - 8) : value * (1 << (8 - c->prec)));
}

static int put_pixels(const opj_image_t *found, mlc_image *image) {
  OPJ_UINT32 colours = found->numcomps < 3 ? 1 : 3;
  if (!is_plain(found)) return 1;
  for (OPJ_UINT32 n = 0; n < colours; n++) {
    const opj_image_comp_t *c = &found->comps[n];
    if (!c->data || c->w != image->width || c->h != image->height) return 1;
  }
  uint8_t *to = image->pixels;
  for (int64_t i = 0; i < image->height * image->width; i++, to += 3)
    for (OPJ_UINT32 n = 0; n < 3; n++) to[n] = sample(&found->comps[n % colours], i);
  return 0;
}

static int decode(opj_codec_t *codec, opj_stream_t *stream, opj_image_t **found, mlc_image *image) {
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (!opj_setup_decoder(codec, &parameters) || !opj_read_header(stream, codec, found)) return 1;
  const opj_image_t *i = *found;
  if (i->x1 <= i->x0 || i->y1 <= i->y0 || mlc_image_size(image, i->y1 - i->y0, i->x1 - i->x0) || !is_plain(i)) return 1;
  return !opj_decode(codec, stream, *found) || !opj_end_decompress(codec, stream) || put_pixels(*found, image);
}

int mlc_image_jpeg2000(mlc_bytes bytes, mlc_image *image) {
  source s = {bytes, 0};
  opj_stream_t *stream = stream_of(&s);
  opj_codec_t *codec = opj_create_decompress(*bytes.at ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  opj_image_t *found = NULL;
  int failed = !stream || !codec || decode(codec, stream, &found, image);
  if (found) opj_image_destroy(found);
  if (codec) opj_destroy_codec(codec);
  if (stream) opj_stream_destroy(stream);
  return failed;
}
