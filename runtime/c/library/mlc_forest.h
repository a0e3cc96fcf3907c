/* Tree ensembles: rows descend trees, and the weights of the leaves that they reach are combined in the order of the
 * trees (dialects/graph/forest.py has the tables). There are two ways, with the same numbers:
 *
 * descent      MLC_IN_FLIGHT descents at a time, of rows in one tree or of one row in trees, so that none waits for its
 *              loads. A leaf is its own child; after each MLC_LEVELS levels one asks whether any descent has moved.
 * bit vectors  A row a lane. All tests of a tree are done; one that fails removes the leaves below its left child from
 *              a bit vector, and the first leaf that remains is the one reached. No load depends on another, and there
 *              are no branches. Sources: Lucchese et al., "QuickScorer", 2015; Ye et al., "RapidScorer", 2018.
 *
 * A vector of bits pays from `least` rows on. The integers are constants, so that what they rule out costs nothing. */
#ifndef MLC_FOREST_H
#define MLC_FOREST_H

#include "mlc_kernel.h"

enum { MLC_IN_FLIGHT = 8, MLC_LEVELS = 4, MLC_TREE_ROWS = 256 /* that descend a tree before the next one */ };
enum { MLC_ALONE = 4096 /* descents that one thread does */ };
enum { MLC_TRANSPOSED = 32 << 10 /* bytes of the keys of a vector of rows */ };
enum { MLC_TEST = 3 /* numbers of a test: key, column, leaves that remain */ };
enum { MLC_TREE = 3 /* numbers of a tree: root, first target, first leaf; after them the end of each word's tests */ };

typedef int32_t mlc_keys_i32 __attribute__((vector_size(MLC_VECTOR_BYTES)));
typedef int64_t mlc_keys_i64 __attribute__((vector_size(MLC_VECTOR_BYTES)));

/* bits & keep in lanes where key > bound. GCC 12 makes four instructions of the mask. */
#if defined __AVX512F__ && !defined __clang__
typedef long long mlc_quads __attribute__((vector_size(64)));
MLC_INLINE mlc_keys_i32 mlc_keep_i32(mlc_keys_i32 bits, mlc_keys_i32 key, mlc_keys_i32 bound, mlc_keys_i32 keep) {
  return __builtin_ia32_pandd512_mask(bits, keep, bits, __builtin_ia32_pcmpgtd512_mask(key, bound, (uint16_t)-1));
}
MLC_INLINE mlc_keys_i64 mlc_keep_i64(mlc_keys_i64 bits, mlc_keys_i64 key, mlc_keys_i64 bound, mlc_keys_i64 keep) {
  const uint8_t over = (uint8_t)__builtin_ia32_pcmpgtq512_mask((mlc_quads)key, (mlc_quads)bound, (uint8_t)-1);
  return (mlc_keys_i64)__builtin_ia32_pandq512_mask((mlc_quads)bits, (mlc_quads)keep, (mlc_quads)bits, over);
}
#else
MLC_INLINE mlc_keys_i32 mlc_keep_i32(mlc_keys_i32 bits, mlc_keys_i32 key, mlc_keys_i32 bound, mlc_keys_i32 keep) {
  return bits & (keep | ~(key > bound));
}
MLC_INLINE mlc_keys_i64 mlc_keep_i64(mlc_keys_i64 bits, mlc_keys_i64 key, mlc_keys_i64 bound, mlc_keys_i64 keep) {
  return bits & (keep | ~(key > bound));
}
#endif

/* For keys T (without sign U), whose links have the column in `bits` bits, and 32 or 64 leaves in a word:
 * leaf     the row of a leaf's weights
 * descend  moves all descents `at` to leaves; x has the row of each. A node is a key and a link: the column that is
 *          compared, and above it the right child; the left one is before it
 * test     the leaves that remain in a word; `test` moves to its end */
#define MLC_DESCENTS(T, U, E)                                                                                          \
  MLC_INLINE int64_t mlc_leaf_##E(const T *nodes, U at) { return (int64_t)((U)nodes[2 * at] << 1 >> 1); }              \
  MLC_INLINE void mlc_descend_##E(const T *nodes, const T *const *x, U *at, int64_t bits) {                            \
    for (U moved = 1; moved;) {                                                                                        \
      moved = 0;                                                                                                       \
      _Pragma("GCC unroll 4") for (int level = 1; level <= MLC_LEVELS; level++)                                        \
        _Pragma("GCC unroll 8") for (int l = 0; l < MLC_IN_FLIGHT; l++) {                                              \
          const U link = (U)nodes[2 * at[l] + 1];                                                                      \
          const U next = (link >> bits) - (x[l][link & (((U)1 << bits) - 1)] <= nodes[2 * at[l]]);                     \
          if (level == MLC_LEVELS) moved |= next ^ at[l];                                                              \
          at[l] = next;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
  }                                                                                                                    \
  MLC_INLINE mlc_keys_##E mlc_test_##E(const T *keys, const T **test, const T *end) {                                  \
    enum { LANES = MLC_VECTOR_BYTES / sizeof(T) };                                                                     \
    mlc_keys_##E left = ~(mlc_keys_##E){0};                                                                            \
    for (; *test < end; *test += MLC_TEST)                                                                             \
      left = mlc_keep_##E(left, *(const mlc_keys_##E *)(keys + (*test)[1] * LANES), (mlc_keys_##E){0} + (*test)[0],    \
                          (mlc_keys_##E){0} + (*test)[2]);                                                             \
    return left;                                                                                                       \
  }
MLC_DESCENTS(int32_t, uint32_t, i32)
MLC_DESCENTS(int64_t, uint64_t, i64)

/* With scores R:
 * weigh    combines the weights of a leaf with the scores of a row: their sum (how 0), the least (1), the greatest (2)
 * rows     rows [from, to), a multiple of those in flight, in all trees
 * row      one row in all trees
 * lanes    the first `used` of a vector of rows in all trees, by bit vectors */
#define MLC_FOREST(T, U, E, R, S)                                                                                      \
  MLC_INLINE void mlc_weigh_##E##_##S(R *y, const R *w, int64_t width, int64_t how) {                                  \
    for (int64_t n = 0; n < width; n++) y[n] = !how ? y[n] + w[n] : (how == 1) == (w[n] < y[n]) ? w[n] : y[n];         \
  }                                                                                                                    \
  MLC_INLINE void mlc_rows_##E##_##S(const T *keys, const T *nodes, const int32_t *tree, const R *weights, R *y,       \
                                     int64_t from, int64_t to, int64_t columns, int64_t trees, int64_t width,          \
                                     int64_t targets, int64_t bits, int64_t words, int64_t how) {                      \
    for (int64_t t = 0; t < trees; t++, tree += MLC_TREE + words)                                                      \
      for (int64_t r = from; r < to; r += MLC_IN_FLIGHT) {                                                             \
        const T *x[MLC_IN_FLIGHT];                                                                                     \
        U at[MLC_IN_FLIGHT];                                                                                           \
        _Pragma("GCC unroll 8") for (int l = 0; l < MLC_IN_FLIGHT; l++) {                                              \
          x[l] = keys + r * columns + l * columns;                                                                     \
          at[l] = (U)tree[0];                                                                                          \
        }                                                                                                              \
        mlc_descend_##E(nodes, x, at, bits);                                                                           \
        for (int64_t l = 0; l < MLC_IN_FLIGHT; l++)                                                                    \
          mlc_weigh_##E##_##S(y + (r + l) * targets + tree[1], weights + mlc_leaf_##E(nodes, at[l]) * width, width,    \
                            how);                                                                                      \
      }                                                                                                                \
  }                                                                                                                    \
  MLC_INLINE void mlc_row_##E##_##S(const T *key, const T *nodes, const int32_t *tree, const R *weights, R *y,         \
                                    int64_t trees, int64_t width, int64_t bits, int64_t words, int64_t how) {          \
    for (int64_t t = 0; t < trees; t += MLC_IN_FLIGHT, tree += MLC_IN_FLIGHT * (MLC_TREE + words)) {                   \
      const int64_t count = mlc_minimum_i64(MLC_IN_FLIGHT, trees - t);                                                 \
      const T *x[MLC_IN_FLIGHT];                                                                                       \
      U at[MLC_IN_FLIGHT];                                                                                             \
      _Pragma("GCC unroll 8") for (int l = 0; l < MLC_IN_FLIGHT; l++) {                                                \
        x[l] = key;                                                                                                    \
        at[l] = (U)tree[(l < count ? l : 0) * (MLC_TREE + words)];                                                     \
      }                                                                                                                \
      mlc_descend_##E(nodes, x, at, bits);                                                                             \
      for (int64_t l = 0; l < count; l++)                                                                              \
        mlc_weigh_##E##_##S(y + tree[l * (MLC_TREE + words) + 1], weights + mlc_leaf_##E(nodes, at[l]) * width, width, \
                            how);                                                                                      \
    }                                                                                                                  \
  }                                                                                                                    \
  MLC_INLINE void mlc_lanes_##E##_##S(const T *keys, const int32_t *tree, const R *weights, const T *tests, R *y,      \
                                      int64_t used, int64_t columns, int64_t trees, int64_t width, int64_t targets,    \
                                      int64_t words, int64_t how) {                                                    \
    enum { LANES = MLC_VECTOR_BYTES / sizeof(T), BITS = 8 * sizeof(T) };                                               \
    T x[MLC_TRANSPOSED / sizeof(T)] __attribute__((aligned(64)));                                                      \
    const T *test = tests;                                                                                             \
    for (int64_t l = 0; l < LANES; l++)                                                                                \
      for (int64_t c = 0; c < columns; c++) x[c * LANES + l] = keys[(l < used ? l : 0) * columns + c];                 \
    for (int64_t t = 0; t < trees; t++, tree += MLC_TREE + words) {                                                    \
      mlc_keys_##E found = {0}, word = {0};                                                                            \
      for (int64_t n = 0; n < words; n++) {                                                                            \
        const mlc_keys_##E left = mlc_test_##E(x, &test, tests + (int64_t)tree[MLC_TREE + n] * MLC_TEST);              \
        const mlc_keys_##E first = (found == 0) & (left != 0);                                                         \
        found |= first & left;                                                                                         \
        word |= first & (T)n;                                                                                          \
      }                                                                                                                \
      const R *w = weights + tree[2] * width;                                                                          \
      R *row = y + tree[1];                                                                                            \
      for (int64_t l = 0; l < used; l++, row += targets) {                                                             \
        const int64_t leaf = __builtin_ctzll((U)found[l]) + (words > 1 ? word[l] * BITS : 0);                          \
        mlc_weigh_##E##_##S(row, w + leaf * width, width, how);                                                        \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  MLC_INLINE void mlc_forest_##E##_##S(const void *keys, const void *nodes, const void *tree, const void *weights,     \
                                       const void *tests, void *scores, int64_t rows, int64_t columns, int64_t trees,  \
                                       int64_t width, int64_t targets, int64_t bits, int64_t words, int64_t least,     \
                                       int64_t how, int64_t tid, int64_t threads) {                                    \
    const int64_t lanes = MLC_VECTOR_BYTES / (int64_t)sizeof(T), shares = rows * trees < MLC_ALONE ? 1 : threads;      \
    const int64_t start = rows * mlc_minimum_i64(tid, shares) / shares;                                                \
    const int64_t end = rows * mlc_minimum_i64(tid + 1, shares) / shares;                                              \
    const int by_bits = words && least <= lanes && columns * MLC_VECTOR_BYTES <= MLC_TRANSPOSED;                       \
    const T *x = (const T *)keys;                                                                                      \
    R *y = (R *)scores;                                                                                                \
    for (int64_t n = start * targets; n < end * targets; n++)                                                          \
      y[n] = !how ? 0 : (R)(how == 1 ? 1 : -1) * (R)__builtin_inf();                                                   \
    int64_t r = start;                                                                                                 \
    if (by_bits)                                                                                                       \
      for (; end - r >= least; r = mlc_minimum_i64(r + lanes, end))                                                    \
        mlc_lanes_##E##_##S(x + r * columns, tree, weights, tests, y + r * targets, mlc_minimum_i64(end - r, lanes),   \
                            columns, trees, width, targets, words, how);                                               \
    for (int64_t to, whole = by_bits ? r : end - (end - r) % MLC_IN_FLIGHT; r < whole; r = to) {                       \
      to = mlc_minimum_i64(r + MLC_TREE_ROWS, whole);                                                                  \
      mlc_rows_##E##_##S(x, nodes, tree, weights, y, r, to, columns, trees, width, targets, bits, words, how);         \
    }                                                                                                                  \
    for (; r < end; r++)                                                                                               \
      mlc_row_##E##_##S(x + r * columns, nodes, tree, weights, y + r * targets, trees, width, bits, words, how);       \
  }
MLC_FOREST(int32_t, uint32_t, i32, float, f32)
MLC_FOREST(int64_t, uint64_t, i64, float, f32)
MLC_FOREST(int64_t, uint64_t, i64, double, f64)

#endif
