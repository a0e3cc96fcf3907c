/* What operators with a seed draw: the numbers of NumPy's RandomState, from the Mersenne twister MT19937 (Matsumoto and
 * Nishimura, 1998). Each follows from those before it, so one thread draws all of an operator's. */
#ifndef MLC_RANDOM_H
#define MLC_RANDOM_H

#include "mlc_kernel.h"

enum { MLC_TWISTER = 624, MLC_TWISTER_FAR = 397 };

typedef struct {
  uint32_t word[MLC_TWISTER];
  int next;
} mlc_twister;

MLC_INLINE uint32_t mlc_twister_spread(uint32_t word, uint32_t factor) { return (word ^ word >> 30) * factor; }

/* As the authors' init_genrand. */
MLC_INLINE void mlc_twister_seed(mlc_twister *t, uint32_t seed) {
  t->word[0] = seed;
  for (uint32_t i = 1; i < MLC_TWISTER; i++) t->word[i] = mlc_twister_spread(t->word[i - 1], 1812433253) + i;
  t->next = MLC_TWISTER;
}

/* As the authors' init_by_array, of at most as many numbers as the twister has. */
MLC_INLINE void mlc_twister_seed_by(mlc_twister *t, const int64_t *key, int64_t n) {
  uint32_t *w = t->word, i = 1;
  mlc_twister_seed(t, 19650218);
  for (int64_t k = 0; k < MLC_TWISTER; k++) {
    w[i] = (w[i] ^ mlc_twister_spread(w[i - 1], 1664525)) + (uint32_t)key[k % n] + (uint32_t)(k % n);
    if (++i == MLC_TWISTER) w[0] = w[MLC_TWISTER - 1], i = 1;
  }
  for (int64_t k = 1; k < MLC_TWISTER; k++) {
    w[i] = (w[i] ^ mlc_twister_spread(w[i - 1], 1566083941)) - i;
    if (++i == MLC_TWISTER) w[0] = w[MLC_TWISTER - 1], i = 1;
  }
  w[0] = 0x80000000;
}

/* The low words of the key without zeros at its end: one alone is a seed, several are an array. */
MLC_INLINE void mlc_twister_start(mlc_twister *t, const int64_t *key, int64_t n) {
  while (n > 1 && !(uint32_t)key[n - 1]) n--;
  if (n == 1) mlc_twister_seed(t, (uint32_t)key[0]);
  else mlc_twister_seed_by(t, key, n);
}

MLC_INLINE uint32_t mlc_twister_twisted(uint32_t word, uint32_t next, uint32_t far) {
  const uint32_t both = (word & 0x80000000) | (next & 0x7fffffff);
  return far ^ both >> 1 ^ (-(both & 1) & 0x9908b0df);
}

/* The next state, in three parts that need no remainders: `far` is the word at a positive or negative distance. */
MLC_INLINE void mlc_twister_turn(mlc_twister *t) {
  enum { ahead = MLC_TWISTER_FAR, back = MLC_TWISTER_FAR - MLC_TWISTER, last = MLC_TWISTER - 1 };
  uint32_t *w = t->word;
  for (int i = 0; i < -back; i++) w[i] = mlc_twister_twisted(w[i], w[i + 1], w[i + ahead]);
  for (int i = -back; i < last; i++) w[i] = mlc_twister_twisted(w[i], w[i + 1], w[i + back]);
  w[last] = mlc_twister_twisted(w[last], w[0], w[last + back]);
  t->next = 0;
}

MLC_INLINE uint32_t mlc_twister_tempered(uint32_t x) {
  x ^= x >> 11;
  x ^= x << 7 & 0x9d2c5680;
  x ^= x << 15 & 0xefc60000;
  return x ^ x >> 18;
}

/* At least 0 and below 1, of 53 bits: two words, and the state has an even number of them. */
MLC_INLINE double mlc_twister_fraction(mlc_twister *t) {
  if (t->next == MLC_TWISTER) mlc_twister_turn(t);
  const uint32_t *w = t->word + t->next;
  t->next += 2;
  return ((mlc_twister_tempered(w[0]) >> 5) * 0x1p26 + (mlc_twister_tempered(w[1]) >> 6)) * 0x1p-53;
}

MLC_INLINE void mlc_random_draw_uniform(const void *key, void *y, int64_t words, int64_t count, int64_t tid,
                                        int64_t threads) {
  mlc_twister t;
  if (tid) return;
  (void)threads;
  mlc_twister_start(&t, key, words);
  for (int64_t i = 0; i < count; i++) ((double *)y)[i] = mlc_twister_fraction(&t);
}

/* Points of the square round 0 that are in the disc, and not its center. */
MLC_INLINE void mlc_random_draw_disc(const void *key, void *y, int64_t words, int64_t count, int64_t tid,
                                     int64_t threads) {
  mlc_twister t;
  if (tid) return;
  (void)threads;
  mlc_twister_start(&t, key, words);
  for (double *p = y, *end = p + 2 * count, square; p < end; p += square > 0 && square < 1 ? 2 : 0) {
    p[0] = 2 * mlc_twister_fraction(&t) - 1;
    p[1] = 2 * mlc_twister_fraction(&t) - 1;
    square = p[0] * p[0] + p[1] * p[1];
  }
}

#endif
