/* Canonical prefix codes over bits, lowest first: of deflate and of lossless WebP. */
#ifndef MLC_PREFIX_H
#define MLC_PREFIX_H

#include "mlc_image.h"

enum { MLC_LONGEST = 15, MLC_QUICK = 8 };

typedef struct {
  mlc_bytes from;
  uint64_t bits; /* the next `count`, lowest first */
  int count, padded; /* padded: of them zeros behind the end */
} mlc_bits;

/* How many words of each length, the symbols in the order of their words; and by the next bits, for short words, length
 * and symbol. */
typedef struct {
  uint16_t count[MLC_LONGEST + 1];
  uint16_t *symbol;
  uint16_t quick[1 << MLC_QUICK];
} mlc_prefix;

static inline void mlc_fill(mlc_bits *b) {
  for (; b->count <= 56; b->count += 8) {
    if (b->from.at < b->from.end) b->bits |= (uint64_t)*b->from.at++ << b->count;
    else b->padded += 8;
  }
}

static inline unsigned mlc_take_bits(mlc_bits *b, int n) {
  if (b->count < n) mlc_fill(b);
  unsigned value = (unsigned)(b->bits & ((1u << n) - 1));
  b->bits >>= n, b->count -= n;
  return value;
}

/* Whether bits behind the end have been taken. */
static inline int mlc_bits_over(const mlc_bits *b) { return b->padded > b->count; }

/* The code of words of these lengths, 0: none; `symbols` has room for all. What is left of the words: 0 where the code
 * is complete, negative where it is none. */
static inline int mlc_make_prefix(mlc_prefix *c, const uint8_t *length, int n, uint16_t *symbols) {
  uint16_t start[MLC_LONGEST + 1] = {0};
  int left = 1, word = 0;
  *c = (mlc_prefix){.symbol = symbols};
  for (int i = 0; i < n; i++) c->count[length[i]]++;
  c->count[0] = 0;
  for (int k = 1; k <= MLC_LONGEST; k++) {
    left = 2 * left - c->count[k];
    if (left < 0) return left;
    start[k] = (uint16_t)(start[k - 1] + c->count[k - 1]);
  }
  for (int i = 0; i < n; i++)
    if (length[i]) symbols[start[length[i]]++] = (uint16_t)i;
  for (int k = 1, s = 0; k <= MLC_QUICK; k++, word <<= 1)
    for (int i = 0; i < c->count[k]; i++, word++, s++) {
      int turned = 0;
      for (int bit = 0; bit < k; bit++) turned |= (word >> bit & 1) << (k - 1 - bit);
      for (; turned < 1 << MLC_QUICK; turned += 1 << k) c->quick[turned] = (uint16_t)(k << 12 | symbols[s]);
    }
  return left;
}

/* The next symbol, or -1. Words of a length are numbers in sequence: `first` is the first of them. */
static inline int mlc_take_symbol(mlc_bits *b, const mlc_prefix *c) {
  if (b->count < MLC_LONGEST) mlc_fill(b);
  unsigned quick = c->quick[b->bits & ((1 << MLC_QUICK) - 1)];
  if (quick) return b->bits >>= quick >> 12, b->count -= (int)(quick >> 12), (int)(quick & 0xFFF);
  int word = 0, first = 0, index = 0;
  for (int k = 1; k <= MLC_LONGEST; k++) {
    word |= (int)(b->bits >> (k - 1) & 1);
    int count = c->count[k];
    if (word - first < count) return b->bits >>= k, b->count -= k, c->symbol[index + word - first];
    index += count, first = (first + count) << 1, word <<= 1;
  }
  return -1;
}

#endif
