/* What the parts of the JPEG 2000 decoder share (ITU-T T.800): mlc_j2k.c reads headers and makes pixels,
 * mlc_j2k_packets.c finds the bytes of each code block, mlc_j2k_blocks.c decodes them, mlc_j2k_wavelet.c transforms. */
#ifndef MLC_J2K_H
#define MLC_J2K_H

#include "mlc_image.h"

#pragma GCC visibility push(hidden)

enum { MLC_J2K_LEVELS = 32, MLC_J2K_PLANES = 4 };
enum { MLC_J2K_RESET = 2, MLC_J2K_CAUSAL = 8, MLC_J2K_SYMBOLS = 32 }; /* styles of code blocks */

typedef struct {
  int64_t x0, y0, x1, y1;
} mlc_box;

/* How a component is coded. */
typedef struct {
  int levels, across, down, style, reversible; /* across, down: of a code block, as powers of two */
  uint8_t precincts[MLC_J2K_LEVELS + 1];       /* as powers of two: across, and times 16 down */
  int quantization, guard;
  int exponent[3 * MLC_J2K_LEVELS + 1], mantissa[3 * MLC_J2K_LEVELS + 1];
} mlc_j2k_coding;

typedef struct {
  int order, layers, mixed; /* mixed: components are sums and differences of colours */
  mlc_j2k_coding plane[MLC_J2K_PLANES];
} mlc_j2k_style;

/* Bytes of a code block in one packet. */
typedef struct mlc_j2k_chunk {
  struct mlc_j2k_chunk *next;
  mlc_bytes bytes;
} mlc_j2k_chunk;

typedef struct {
  mlc_box box; /* in its band */
  int included, planes, length_bits, passes;
  size_t length;
  mlc_j2k_chunk *first, *last;
} mlc_j2k_block;

/* A number that is told bit by bit, at least that of its parent. */
typedef struct {
  int parent, value, low;
} mlc_j2k_node;

/* The code blocks of a band in one precinct. */
typedef struct {
  int64_t across, down;
  mlc_j2k_block *blocks;
  mlc_j2k_node *inclusion, *missing; /* the layer in which each comes first, and planes that are zero */
} mlc_j2k_part;

typedef struct {
  mlc_box box;
  int kind, planes; /* kind: 1 high across, 2 high down, 3 both */
  float step;
  int64_t x, y; /* where it stands in the plane */
} mlc_j2k_band;

typedef struct {
  mlc_box box;
  int precinct_x, precinct_y, count; /* powers of two; count: of bands */
  int64_t across, down;              /* precincts */
  mlc_j2k_band band[3];
  mlc_j2k_part *parts; /* [across * down, count] */
} mlc_j2k_resolution;

/* A component of a tile. Whole numbers where it is reversible; both take 4 bytes. */
typedef struct {
  const mlc_j2k_coding *coding;
  int depth; /* bits of a sample */
  int64_t width, height;
  union {
    int32_t *whole;
    float *real;
  };
  mlc_j2k_resolution resolution[MLC_J2K_LEVELS + 1];
} mlc_j2k_plane;

typedef struct {
  mlc_box box;
  int count;
  mlc_j2k_plane plane[MLC_J2K_PLANES];
} mlc_j2k_tile;

static inline int64_t mlc_shift_up(int64_t v, int bits) { return (v + ((int64_t)1 << bits) - 1) >> bits; }

static inline int64_t mlc_larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t mlc_smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* What two boxes have in common. */
static inline mlc_box mlc_common(const mlc_box *a, const mlc_box *b) {
  return (mlc_box){mlc_larger(a->x0, b->x0), mlc_larger(a->y0, b->y0), mlc_smaller(a->x1, b->x1),
                   mlc_smaller(a->y1, b->y1)};
}

/* Reads the packets of a tile; 0 ok. */
int mlc_j2k_packets(mlc_j2k_tile *t, const mlc_j2k_style *style, mlc_bytes s, mlc_image *image);

/* Decodes all blocks of a component into its plane; 0 ok. */
int mlc_j2k_blocks(mlc_j2k_plane *p, mlc_image *image);

/* From bands to samples; 0 ok. */
int mlc_j2k_wavelet(mlc_j2k_plane *p, mlc_image *image);

#pragma GCC visibility pop

#endif
