/* The second part of JPEG 2000: what a tile is divided into, and the packets that say where its bytes belong. */
#include <math.h>
#include <stdlib.h>

#include "mlc_j2k.h"

enum { LRCP, RLCP, RPCL, PCRL, CPRL }; /* layer, resolution, component, position */
enum { UNKNOWN = 1 << 20 };

/* The nodes of a tree over blocks: those of a level behind those of the level below. */
static mlc_j2k_node *make_tree(int64_t across, int64_t down, mlc_image *image) {
  int64_t count = 0;
  for (int64_t w = across, h = down;; w = (w + 1) / 2, h = (h + 1) / 2) {
    count += w * h;
    if (w * h <= 1) break;
  }
  mlc_j2k_node *nodes = mlc_image_memory(image, (uint64_t)count + 1, sizeof *nodes);
  int64_t first = 0;
  for (int64_t w = across, h = down; nodes && w * h > 0; w = (w + 1) / 2, h = (h + 1) / 2) {
    for (int64_t i = 0; i < w * h; i++) {
      int64_t parent = first + w * h + i / w / 2 * ((w + 1) / 2) + i % w / 2;
      nodes[first + i] = (mlc_j2k_node){w * h > 1 ? (int)parent : -1, UNKNOWN, 0};
    }
    first += w * h;
    if (w * h == 1) break;
  }
  return nodes;
}

/* The code blocks of a band in a box of the band. */
static int make_part(mlc_j2k_part *p, const mlc_box *b, int across, int down, mlc_image *image) {
  if (b->x1 <= b->x0 || b->y1 <= b->y0) return 0;
  int64_t x = b->x0 >> across, y = b->y0 >> down;
  p->across = mlc_shift_up(b->x1, across) - x, p->down = mlc_shift_up(b->y1, down) - y;
  p->blocks = mlc_image_memory(image, (uint64_t)(p->across * p->down), sizeof *p->blocks);
  p->inclusion = make_tree(p->across, p->down, image), p->missing = make_tree(p->across, p->down, image);
  if (!p->blocks || !p->inclusion || !p->missing) return 1;
  for (int64_t n = 0; n < p->across * p->down; n++) {
    int64_t left = (x + n % p->across) << across, top = (y + n / p->across) << down;
    p->blocks[n].box = mlc_common(&(mlc_box){left, top, left + (1 << across), top + (1 << down)}, b);
  }
  return 0;
}

static int make_parts(const mlc_j2k_coding *c, mlc_j2k_resolution *r, int low, mlc_image *image) {
  int x = r->precinct_x - !low, y = r->precinct_y - !low; /* in a band */
  int64_t first_x = r->box.x0 >> r->precinct_x, first_y = r->box.y0 >> r->precinct_y;
  int empty = r->box.x1 <= r->box.x0 || r->box.y1 <= r->box.y0;
  r->across = empty ? 0 : mlc_shift_up(r->box.x1, r->precinct_x) - first_x;
  r->down = empty ? 0 : mlc_shift_up(r->box.y1, r->precinct_y) - first_y;
  r->parts = mlc_image_memory(image, (uint64_t)(r->across * r->down * r->count), sizeof *r->parts);
  if (!r->parts) return 1;
  for (int64_t n = 0; n < r->across * r->down; n++)
    for (int k = 0; k < r->count; k++) {
      const mlc_box *b = &r->band[k].box;
      int64_t left = (first_x + n % r->across) << x, top = (first_y + n / r->across) << y;
      mlc_box box = mlc_common(&(mlc_box){left, top, left + ((int64_t)1 << x), top + ((int64_t)1 << y)}, b);
      if (make_part(&r->parts[n * r->count + k], &box, c->across < x ? c->across : x, c->down < y ? c->down : y, image))
        return 1;
    }
  return 0;
}

static mlc_box scaled(const mlc_box *b, int bits, int64_t x, int64_t y) {
  return (mlc_box){mlc_shift_up(b->x0 - x, bits), mlc_shift_up(b->y0 - y, bits), mlc_shift_up(b->x1 - x, bits),
                   mlc_shift_up(b->y1 - y, bits)};
}

static int make_resolution(mlc_j2k_plane *p, const mlc_box *tile, int n, mlc_image *image) {
  const mlc_j2k_coding *c = p->coding;
  mlc_j2k_resolution *r = &p->resolution[n], *below = r - 1;
  int left = c->levels - n, bits = n ? left + 1 : left;
  r->box = scaled(tile, left, 0, 0);
  r->precinct_x = c->precincts[n] & 15, r->precinct_y = c->precincts[n] >> 4, r->count = n ? 3 : 1;
  for (int k = 0; k < r->count; k++) {
    int kind = n ? k + 1 : 0, index = n ? 3 * (n - 1) + kind : 0;
    int64_t half = n ? (int64_t)1 << (bits - 1) : 0;
    mlc_j2k_band *b = &r->band[k];
    b->box = scaled(tile, bits, kind & 1 ? half : 0, kind & 2 ? half : 0), b->kind = kind;
    b->planes = c->exponent[index] + c->guard - 1;
    b->x = kind & 1 ? below->box.x1 - below->box.x0 : 0, b->y = kind & 2 ? below->box.y1 - below->box.y0 : 0;
    b->step = ldexpf(1 + (float)c->mantissa[index] / 2048, p->depth - c->exponent[index] - 1); /* values are doubled */
  }
  return make_parts(c, r, n == 0, image);
}

static int make_plane(mlc_j2k_plane *p, const mlc_j2k_coding *c, const mlc_box *tile, mlc_image *image) {
  p->coding = c;
  p->width = tile->x1 - tile->x0, p->height = tile->y1 - tile->y0;
  p->whole = mlc_image_memory(image, (uint64_t)(p->width * p->height), sizeof *p->whole);
  for (int n = 0; p->whole && n <= c->levels; n++)
    if (make_resolution(p, tile, n, image)) return 1;
  return !p->whole;
}

/* Bits of a packet's header; a byte behind 0xFF has seven. */
typedef struct {
  mlc_bytes s;
  unsigned byte;
  int left;
} bits;

static int take(bits *b) {
  if (b->left == 0) {
    b->left = b->byte == 0xFF ? 7 : 8;
    b->byte = mlc_u8(&b->s);
  }
  return (int)(b->byte >> --b->left & 1);
}

static int take_bits(bits *b, int n) {
  int value = 0;
  for (; n > 0; n--) value = value << 1 | take(b);
  return value;
}

/* Whether the number of a leaf is less than `most`, asking no more than that. */
static int is_less(bits *b, mlc_j2k_node *nodes, int leaf, int most) {
  int path[32], count = 0, low = 0;
  for (int at = leaf; at >= 0; at = nodes[at].parent) path[count++] = at;
  while (count--) {
    mlc_j2k_node *n = &nodes[path[count]];
    if (n->low > low) low = n->low;
    while (low < most && low < n->value) {
      if (take(b)) n->value = low;
      else low++;
    }
    n->low = low;
  }
  return nodes[leaf].value < most;
}

static int take_passes(bits *b) {
  if (!take(b)) return 1;
  if (!take(b)) return 2;
  int more = take_bits(b, 2);
  if (more < 3) return 3 + more;
  more = take_bits(b, 5);
  return more < 31 ? 6 + more : 37 + take_bits(b, 7);
}

/* What a packet says of a block: how many bytes of it follow; negative: damage. */
static int64_t read_block(bits *b, mlc_j2k_part *p, const mlc_j2k_band *band, int n, int layer) {
  mlc_j2k_block *block = &p->blocks[n];
  if (!(block->included ? take(b) : is_less(b, p->inclusion, n, layer + 1))) return 0;
  if (!block->included) {
    int missing = 0;
    while (!is_less(b, p->missing, n, missing + 1))
      if (++missing > band->planes || b->s.over) return -1;
    block->included = 1, block->length_bits = 3, block->planes = band->planes - missing;
    if (block->planes > 30) return -1;
  }
  int passes = take_passes(b), size;
  while (take(b)) block->length_bits++;
  size = block->length_bits;
  for (int p2 = passes; p2 > 1; p2 /= 2) size++;
  if (size > 31 || b->s.over) return -1;
  block->passes += passes;
  return (int64_t)take_bits(b, size) | (int64_t)1 << 40; /* marks that it is included, of no byte too */
}

static int add_bytes(mlc_j2k_block *block, mlc_bytes *s, uint64_t length, mlc_image *image) {
  mlc_j2k_chunk *c = mlc_image_memory(image, 1, sizeof *c);
  if (!c) return 1;
  c->bytes = mlc_take(s, length);
  *(block->last ? &block->last->next : &block->first) = c;
  block->last = c, block->length += length;
  return s->over;
}

static int read_packet(mlc_j2k_resolution *r, mlc_j2k_part *parts, int layer, mlc_bytes *s, int64_t *lengths,
                       mlc_image *image) {
  if (mlc_starts(s, "\xff\x91", 2)) mlc_take(s, 6);
  bits b = {.s = *s};
  int any = take(&b);
  int64_t *at = lengths;
  for (int k = 0; k < r->count && any; k++)
    for (int n = 0; n < parts[k].across * parts[k].down; n++)
      if ((*at++ = read_block(&b, &parts[k], &r->band[k], n, layer)) < 0) return 1;
  if (b.byte == 0xFF) mlc_u8(&b.s);
  *s = b.s, at = lengths;
  if (mlc_starts(s, "\xff\x92", 2)) mlc_take(s, 2);
  for (int k = 0; k < r->count && any; k++)
    for (int n = 0; n < parts[k].across * parts[k].down; n++, at++)
      if (*at && add_bytes(&parts[k].blocks[n], s, (uint64_t)*at & UINT32_MAX, image)) return 1;
  return s->over;
}

/* A precinct of a component, and where it begins. */
typedef struct {
  mlc_j2k_resolution *resolution;
  mlc_j2k_part *parts;
  int64_t key[5];
} place;

static int by_key(const void *a, const void *b) {
  const int64_t *x = ((const place *)a)->key, *y = ((const place *)b)->key;
  for (int n = 0; n < 5; n++)
    if (x[n] != y[n]) return x[n] < y[n] ? -1 : 1;
  return 0;
}

static void set_key(place *p, int order, int resolution, int component, int64_t index, int64_t y, int64_t x) {
  int64_t r = resolution, c = component;
  int64_t keys[][5] = {[LRCP] = {r, c, index}, [RLCP] = {r, c, index}, [RPCL] = {r, y, x, c, index},
                       [PCRL] = {y, x, c, r, index}, [CPRL] = {c, y, x, r, index}};
  memcpy(p->key, keys[order], sizeof p->key);
}

/* All precincts in the order of their packets; `most`: blocks in one. */
static place *make_places(mlc_j2k_tile *t, int order, int64_t *count, int64_t *most, mlc_image *image) {
  *count = *most = 0;
  for (int c = 0; c < t->count; c++)
    for (int n = 0; n <= t->plane[c].coding->levels; n++)
      *count += t->plane[c].resolution[n].across * t->plane[c].resolution[n].down;
  place *all = mlc_image_memory(image, (uint64_t)*count + 1, sizeof *all), *at = all;
  for (int c = 0; all && c < t->count; c++)
    for (int n = 0; n <= t->plane[c].coding->levels; n++) {
      mlc_j2k_resolution *r = &t->plane[c].resolution[n];
      int left = t->plane[c].coding->levels - n;
      for (int64_t i = 0; i < r->across * r->down; i++, at++) {
        int64_t blocks = 0;
        int64_t x = ((r->box.x0 >> r->precinct_x) + i % r->across) << (r->precinct_x + left);
        int64_t y = ((r->box.y0 >> r->precinct_y) + i / r->across) << (r->precinct_y + left);
        *at = (place){r, r->parts + i * r->count, {0}};
        set_key(at, order, n, c, i, mlc_larger(y, t->box.y0), mlc_larger(x, t->box.x0));
        for (int k = 0; k < r->count; k++) blocks += at->parts[k].across * at->parts[k].down;
        *most = mlc_larger(*most, blocks);
      }
    }
  if (all) qsort(all, (size_t)*count, sizeof *all, by_key);
  return all;
}

int mlc_j2k_packets(mlc_j2k_tile *t, const mlc_j2k_style *style, mlc_bytes s, mlc_image *image) {
  for (int n = 0; n < t->count; n++)
    if (make_plane(&t->plane[n], &style->plane[n], &t->box, image)) return 1;
  int64_t count, most;
  place *all = make_places(t, style->order, &count, &most, image);
  int64_t *lengths = mlc_image_memory(image, (uint64_t)most + 1, sizeof *lengths);
  if (!all || !lengths) return 1;
  /* Of these places in a row come all packets of a layer, before those of the next. */
  for (int64_t first = 0, end; first < count; first = end) {
    int all_at_once = style->order == LRCP, by_first = style->order == RLCP;
    for (end = first + 1; end < count; end++)
      if (!all_at_once && !(by_first && all[end].key[0] == all[first].key[0])) break;
    for (int layer = 0; layer < style->layers; layer++)
      for (place *p = all + first; p < all + end; p++)
        if (read_packet(p->resolution, p->parts, layer, &s, lengths, image)) return 1;
  }
  return 0;
}
