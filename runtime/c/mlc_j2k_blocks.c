/* The third part of JPEG 2000: code blocks, plane of bits by plane of bits, by an arithmetic decoder (MQ). */
#include "mlc_j2k.h"

enum { SIGN_CONTEXT = 9, REFINE_CONTEXT = 14, RUN_CONTEXT = 17, UNIFORM_CONTEXT, CONTEXTS };
enum { SIGNIFICANT = 1, NEGATIVE = 2, VISITED = 4, REFINED = 8 };

static const struct {
  uint16_t odds;
  uint8_t likely, unlikely, swaps;
} STATES[47] = {
    {0x5601, 1, 1, 1},    {0x3401, 2, 6, 0},    {0x1801, 3, 9, 0},    {0x0AC1, 4, 12, 0},   {0x0521, 5, 29, 0},
    {0x0221, 38, 33, 0},  {0x5601, 7, 6, 1},    {0x5401, 8, 14, 0},   {0x4801, 9, 14, 0},   {0x3801, 10, 14, 0},
    {0x3001, 11, 17, 0},  {0x2401, 12, 18, 0},  {0x1C01, 13, 20, 0},  {0x1601, 29, 21, 0},  {0x5601, 15, 14, 1},
    {0x5401, 16, 14, 0},  {0x5101, 17, 15, 0},  {0x4801, 18, 16, 0},  {0x3801, 19, 17, 0},  {0x3401, 20, 18, 0},
    {0x3001, 21, 19, 0},  {0x2801, 22, 19, 0},  {0x2401, 23, 20, 0},  {0x2201, 24, 21, 0},  {0x1C01, 25, 22, 0},
    {0x1801, 26, 23, 0},  {0x1601, 27, 24, 0},  {0x1401, 28, 25, 0},  {0x1201, 29, 26, 0},  {0x1101, 30, 27, 0},
    {0x0AC1, 31, 28, 0},  {0x09C1, 32, 29, 0},  {0x08A1, 33, 30, 0},  {0x0521, 34, 31, 0},  {0x0441, 35, 32, 0},
    {0x02A1, 36, 33, 0},  {0x0221, 37, 34, 0},  {0x0141, 38, 35, 0},  {0x0111, 39, 36, 0},  {0x0085, 40, 37, 0},
    {0x0049, 41, 38, 0},  {0x0025, 42, 39, 0},  {0x0015, 43, 40, 0},  {0x0009, 44, 41, 0},  {0x0005, 45, 42, 0},
    {0x0001, 45, 43, 0},  {0x5601, 46, 46, 0}};

/* `flags` has a border of one around the block; `values` are twice the magnitudes. */
typedef struct {
  const uint8_t *at, *end;
  uint32_t c, a;
  int left;
  uint8_t state[CONTEXTS], likely[CONTEXTS];
  int width, height, kind, causal;
  uint8_t flags[(1024 + 2) * (64 + 2)]; /* the most of (2^a + 2) (2^b + 2) with a, b <= 10 and a + b <= 12 */
  int32_t values[4096];
} decoder;

static unsigned byte_at(const decoder *d, int n) { return d->end - d->at > n ? d->at[n] : 0xFF; }

static void next_byte(decoder *d) {
  int stuffed = byte_at(d, 0) == 0xFF;
  if (stuffed && byte_at(d, 1) > 0x8F) {
    d->c += 0xFF00, d->left = 8;
    return;
  }
  d->c += byte_at(d, 1) << (stuffed ? 9 : 8), d->left = stuffed ? 7 : 8;
  if (d->at < d->end) d->at++;
}

static void reset_contexts(decoder *d) {
  memset(d->state, 0, CONTEXTS), memset(d->likely, 0, CONTEXTS);
  d->state[0] = 4, d->state[RUN_CONTEXT] = 3, d->state[UNIFORM_CONTEXT] = 46;
}

static void start(decoder *d, const uint8_t *at, size_t length) {
  d->at = at, d->end = at + length;
  d->c = byte_at(d, 0) << 16;
  next_byte(d);
  d->c <<= 7, d->left -= 7, d->a = 0x8000;
  reset_contexts(d);
}

static int take(decoder *d, int context) {
  uint8_t *state = &d->state[context], *likely = &d->likely[context];
  uint32_t odds = STATES[*state].odds;
  d->a -= odds;
  int low = d->c >> 16 < odds;
  if (!low) {
    d->c -= odds << 16;
    if (d->a & 0x8000) return *likely;
  }
  int bit = *likely, unlikely = low ? d->a >= odds : d->a < odds;
  if (low) d->a = odds;
  if (unlikely) {
    bit = !bit;
    if (STATES[*state].swaps) *likely = !*likely;
  }
  *state = unlikely ? STATES[*state].unlikely : STATES[*state].likely;
  do {
    if (d->left == 0) next_byte(d);
    d->a <<= 1, d->c <<= 1, d->left--;
  } while (!(d->a & 0x8000));
  return bit;
}

static uint8_t *flag_at(decoder *d, int x, int y) { return d->flags + (y + 1) * (d->width + 2) + x + 1; }

/* How many neighbours are significant: beside, above and below, diagonally. A causal block does not look below the four
 * rows that are coded together. */
static void count_neighbours(decoder *d, int x, int y, int *h, int *v, int *diagonal) {
  const uint8_t *f = flag_at(d, x, y);
  int w = d->width + 2, below = !(d->causal && y % 4 == 3);
  *h = (f[-1] & 1) + (f[1] & 1);
  *v = (f[-w] & 1) + (below ? f[w] & 1 : 0);
  *diagonal = (f[-w - 1] & 1) + (f[-w + 1] & 1) + (below ? (f[w - 1] & 1) + (f[w + 1] & 1) : 0);
}

static int zero_context(decoder *d, int x, int y) {
  int h, v, n;
  count_neighbours(d, x, y, &h, &v, &n);
  if (d->kind == 3) {
    int both = h + v;
    return n >= 3 ? 8 : n == 2 ? 6 + (both > 0) : n == 1 ? 3 + (both > 2 ? 2 : both) : both > 2 ? 2 : both;
  }
  if (d->kind == 1) {
    int t = h;
    h = v, v = t;
  }
  if (h == 2) return 8;
  if (h == 1) return v ? 7 : n ? 6 : 5;
  return v ? 2 + v : n > 2 ? 2 : n;
}

static int sign_of(uint8_t flags) { return flags & SIGNIFICANT ? (flags & NEGATIVE ? -1 : 1) : 0; }

static int limited(int v) { return v < -1 ? -1 : v > 1 ? 1 : v; }

static void become_significant(decoder *d, int x, int y, int plane) {
  uint8_t *f = flag_at(d, x, y);
  int w = d->width + 2, below = !(d->causal && y % 4 == 3);
  int h = limited(sign_of(f[-1]) + sign_of(f[1])), v = limited(sign_of(f[-w]) + (below ? sign_of(f[w]) : 0));
  int turned = h < 0 || (h == 0 && v < 0);
  if (turned) h = -h, v = -v;
  int negative = take(d, SIGN_CONTEXT + (h ? 3 + v : v)) ^ turned;
  *f |= (uint8_t)(SIGNIFICANT | (negative ? NEGATIVE : 0));
  d->values[y * d->width + x] = 3 << plane;
}

static void significance_pass(decoder *d, int x, int y, int plane) {
  uint8_t *f = flag_at(d, x, y);
  int context = *f & SIGNIFICANT ? 0 : zero_context(d, x, y);
  if (!context) return;
  if (take(d, context)) become_significant(d, x, y, plane);
  *f |= VISITED;
}

static void refinement_pass(decoder *d, int x, int y, int plane) {
  uint8_t *f = flag_at(d, x, y);
  int h, v, n;
  if ((*f & (SIGNIFICANT | VISITED)) != SIGNIFICANT) return;
  count_neighbours(d, x, y, &h, &v, &n);
  int bit = take(d, REFINE_CONTEXT + (*f & REFINED ? 2 : h + v + n > 0));
  d->values[y * d->width + x] += bit ? 1 << plane : -(1 << plane);
  *f |= REFINED;
}

/* Four rows of a column, of which none has a significant neighbour, may be told at once: where the first one is. */
static void cleanup_column(decoder *d, int x, int y, int plane) {
  int row = 0, plain = y + 4 <= d->height, found = 0;
  for (int n = 0; n < 4 && plain; n++)
    plain = !(*flag_at(d, x, y + n) & (SIGNIFICANT | VISITED)) && zero_context(d, x, y + n) == 0;
  if (plain) {
    if (!take(d, RUN_CONTEXT)) return;
    row = 2 * take(d, UNIFORM_CONTEXT);
    row += take(d, UNIFORM_CONTEXT), found = 1;
  }
  for (; row < 4 && y + row < d->height; row++, found = 0) {
    uint8_t *f = flag_at(d, x, y + row);
    if (!found && *f & (SIGNIFICANT | VISITED)) continue;
    if (found || take(d, zero_context(d, x, y + row))) become_significant(d, x, y + row, plane);
  }
}

static void cleanup_pass(decoder *d, int plane) {
  for (int y = 0; y < d->height; y += 4)
    for (int x = 0; x < d->width; x++) cleanup_column(d, x, y, plane);
  for (int n = 0; n < (d->width + 2) * (d->height + 2); n++) d->flags[n] &= (uint8_t)~VISITED;
}

static void other_pass(decoder *d, int plane, void (*pass)(decoder *, int, int, int)) {
  for (int y = 0; y < d->height; y += 4)
    for (int x = 0; x < d->width; x++)
      for (int n = y; n < y + 4 && n < d->height; n++) pass(d, x, n, plane);
}

static void decode_passes(decoder *d, const mlc_j2k_block *b, int style) {
  int plane = b->planes - 1;
  for (int n = 0; n < b->passes && plane >= 0; n++) {
    int kind = (n + 2) % 3; /* a cleanup comes first */
    if (kind == 2) cleanup_pass(d, plane);
    else other_pass(d, plane, kind ? refinement_pass : significance_pass);
    if (kind == 2 && style & MLC_J2K_SYMBOLS)
      for (int k = 0; k < 4; k++) take(d, UNIFORM_CONTEXT);
    if (style & MLC_J2K_RESET) reset_contexts(d);
    if (kind == 2) plane--;
  }
}

static int decode_block(decoder *d, mlc_j2k_plane *p, const mlc_j2k_band *band, const mlc_j2k_block *b,
                        mlc_image *image) {
  uint8_t *bytes = b->first ? (uint8_t *)(uintptr_t)b->first->bytes.at : NULL, *end;
  if (!b->first) return 0;
  if (b->first->next) {
    bytes = end = mlc_image_memory(image, b->length + 1, 1);
    if (!bytes) return 1;
    for (const mlc_j2k_chunk *c = b->first; c; c = c->next)
      memcpy(end, c->bytes.at, mlc_left(&c->bytes)), end += mlc_left(&c->bytes);
  }
  d->width = (int)(b->box.x1 - b->box.x0), d->height = (int)(b->box.y1 - b->box.y0), d->kind = band->kind;
  d->causal = p->coding->style & MLC_J2K_CAUSAL;
  memset(d->flags, 0, sizeof d->flags), memset(d->values, 0, sizeof d->values);
  start(d, bytes, b->length);
  decode_passes(d, b, p->coding->style);
  for (int n = 0; n < d->width * d->height; n++) {
    int64_t y = b->box.y0 - band->box.y0 + band->y + n / d->width;
    int64_t x = b->box.x0 - band->box.x0 + band->x + n % d->width;
    int negative = *flag_at(d, n % d->width, n / d->width) & NEGATIVE;
    int32_t value = negative ? -d->values[n] : d->values[n];
    if (p->coding->reversible) p->whole[y * p->width + x] = value / 2;
    else p->real[y * p->width + x] = (float)value * band->step;
  }
  return 0;
}

int mlc_j2k_blocks(mlc_j2k_plane *p, mlc_image *image) {
  decoder *d = mlc_image_memory(image, 1, sizeof *d);
  if (!d) return 1;
  for (mlc_j2k_resolution *r = p->resolution; r <= p->resolution + p->coding->levels; r++)
    for (int64_t n = 0; n < r->across * r->down * r->count; n++)
      for (int64_t k = 0; k < r->parts[n].across * r->parts[n].down; k++)
        if (decode_block(d, p, &r->band[n % r->count], &r->parts[n].blocks[k], image)) return 1;
  return 0;
}
