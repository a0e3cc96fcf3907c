/* Non-affine operators as functions that kernels call: order, running sums, writing to computed indices,
 * suppression of boxes; and what mlc_random.h draws.
 *
 * A thread does its share of the rows, all that there is to do for them. Buffers come as the caller has them, without
 * type; what of a result is scratch its operator says (dialects/graph/argsort.py, non_max_suppression.py). */
#ifndef MLC_LIBRARY_H
#define MLC_LIBRARY_H

#include "mlc_kernel.h"
#if MLC_HAS_PART(MLC_USE_DRAWING)
#include "mlc_random.h"
#endif

/* The rows of thread `tid`: all rows, partitioned evenly. */
#define MLC_ROWS(r, rows) for (int64_t r = rows * tid / threads, r##_end = rows * (tid + 1) / threads; r < r##_end; r++)

enum { MLC_RUN = 16 /* elements of an insertion sort */, MLC_MANY = 256 /* elements above which radix sort is used */ };
enum { MLC_VECTORS = 16, MLC_LANES = 8 /* of running sums */ };

/* Unsigned integers with the order of T: NaN is last, and both zeros are equal. */
#define MLC_TOP(U) ((U)1 << (8 * sizeof(U) - 1))
#define MLC_FLOAT_KEY(T, U, E)                                                                                       \
  MLC_INLINE U mlc_key_##E(T x) {                                                                                    \
    const U bits = MLC_BITS(T, U, x + 0);                                                                            \
    return x != x ? ~(U)0 : bits ^ (bits & MLC_TOP(U) ? ~(U)0 : MLC_TOP(U));                                         \
  }
MLC_FLOAT_KEY(float, uint32_t, f32)
MLC_FLOAT_KEY(double, uint64_t, f64)
MLC_INLINE uint32_t mlc_key_i32(int32_t x) { return (uint32_t)x ^ MLC_TOP(uint32_t); }
MLC_INLINE uint64_t mlc_key_i64(int64_t x) { return (uint64_t)x ^ MLC_TOP(uint64_t); }
MLC_INLINE uint64_t mlc_key_ui64(uint64_t x) { return x; }

/* Sorting of T: ascending with NaN last, or descending with NaN first. The functions of one element type:
 * before   whether element `a` of a row comes before element `b`; equal elements by their index (a stable order)
 * sift     restores the order of a heap of indices below `at`; the root comes first, or last where `latest`
 * select   the indices of the first `count` elements, by a heap of as many
 * merge    merges two adjacent sorted runs
 * sort     merge sort of all n indices, in `p`; `q` is scratch of the same size
 * radix    the same for scalars, by radix sort of their keys: no branches that are hard to predict */
#define MLC_ARGSORT(T, U, E)                                                                                           \
  MLC_INLINE int mlc_less_##E(T a, T b) { return a < b || (a == a && b != b); }                                      \
  MLC_INLINE int mlc_before_##E(const T *x, int64_t width, int64_t a, int64_t b, int descending) {                   \
    for (int64_t n = 0; n < width; n++) {                                                                            \
      T u = x[a * width + n], v = x[b * width + n];                                                                  \
      if (descending ? mlc_less_##E(v, u) : mlc_less_##E(u, v)) return 1;                                            \
      if (descending ? mlc_less_##E(u, v) : mlc_less_##E(v, u)) return 0;                                            \
    }                                                                                                                \
    return a < b;                                                                                                    \
  }                                                                                                                  \
  MLC_INLINE void mlc_sift_##E(const T *x, int64_t width, int64_t *p, int64_t at, int64_t n, int descending,         \
                               int latest) {                                                                         \
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {                                                      \
      if (child + 1 < n && mlc_before_##E(x, width, p[child], p[child + 1], descending) == latest) child++;          \
      if (mlc_before_##E(x, width, p[at], p[child], descending) != latest) return;                                   \
      int64_t t = p[at];                                                                                             \
      p[at] = p[child], p[child] = t;                                                                                \
    }                                                                                                                \
  }                                                                                                                  \
  MLC_INLINE void mlc_select_##E(const T *x, int64_t n, int64_t width, int64_t *p, int64_t count, int descending) {  \
    for (int64_t i = 0; i < count; i++) p[i] = i;                                                                    \
    for (int64_t i = count / 2; i-- > 0;) mlc_sift_##E(x, width, p, i, count, descending, 1);                        \
    T worst = count ? x[p[0] * width] : 0;                                                                           \
    for (int64_t i = count; i < n && count; i++) {                                                                   \
      T first = x[i * width];                                                                                        \
      if (descending ? mlc_less_##E(first, worst) : mlc_less_##E(worst, first)) continue;                            \
      if (!mlc_before_##E(x, width, i, p[0], descending)) continue;                                                  \
      p[0] = i;                                                                                                      \
      mlc_sift_##E(x, width, p, 0, count, descending, 1);                                                            \
      worst = x[p[0] * width];                                                                                       \
    }                                                                                                                \
    for (int64_t i = count; i-- > 1;) {                                                                              \
      int64_t t = p[0];                                                                                              \
      p[0] = p[i], p[i] = t;                                                                                         \
      mlc_sift_##E(x, width, p, 0, i, descending, 1);                                                                \
    }                                                                                                                \
  }                                                                                                                  \
  MLC_INLINE void mlc_merge_##E(const T *x, int64_t width, const int64_t *p, int64_t half, int64_t n, int64_t *q,    \
                                int descending) {                                                                    \
    int64_t a = 0, b = half;                                                                                         \
    for (int64_t i = 0; i < n; i++)                                                                                  \
      q[i] = b >= n || (a < half && !mlc_before_##E(x, width, p[b], p[a], descending)) ? p[a++] : p[b++];            \
  }                                                                                                                  \
  MLC_INLINE void mlc_sort_##E(const T *x, int64_t n, int64_t width, int64_t *p, int64_t *q, int descending) {       \
    for (int64_t i = 0; i < n; i++) {                                                                                \
      int64_t element = p[i], at = i, first = i - i % MLC_RUN;                                                       \
      for (; at > first && mlc_before_##E(x, width, element, p[at - 1], descending); at--) p[at] = p[at - 1];        \
      p[at] = element;                                                                                               \
    }                                                                                                                \
    int64_t *from = p, *to = q;                                                                                      \
    for (int64_t run = MLC_RUN; run < n; run *= 2) {                                                                 \
      for (int64_t i = 0; i < n; i += 2 * run) {                                                                     \
        int64_t both = mlc_minimum_i64(2 * run, n - i);                                                              \
        mlc_merge_##E(x, width, from + i, mlc_minimum_i64(run, both), both, to + i, descending);                     \
      }                                                                                                              \
      int64_t *t = from;                                                                                             \
      from = to, to = t;                                                                                             \
    }                                                                                                                \
    if (from != p) memcpy(p, from, (size_t)n * sizeof *p);                                                           \
  }                                                                                                                  \
  MLC_INLINE void mlc_radix_##E(const T *x, int64_t n, int64_t *p, int64_t *q, int descending) {                     \
    int64_t at[sizeof(T)][256] = {{0}}, *from = p, *to = q;                                                          \
    const U flip = descending ? ~(U)0 : 0;                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                                                \
      const U key = mlc_key_##E(x[i]) ^ flip;                                                                        \
      for (unsigned d = 0; d < sizeof(T); d++) at[d][key >> 8 * d & 255]++;                                          \
      p[i] = i;                                                                                                      \
    }                                                                                                                \
    for (unsigned d = 0; d < sizeof(T); d++) {                                                                       \
      int64_t *next = at[d], sum = 0;                                                                                \
      if (next[(mlc_key_##E(x[0]) ^ flip) >> 8 * d & 255] == n) continue; /* all have this digit */                  \
      for (int64_t b = 0, count; b < 256; b++, sum += count) count = next[b], next[b] = sum;                         \
      for (int64_t i = 0; i < n; i++) to[next[(mlc_key_##E(x[from[i]]) ^ flip) >> 8 * d & 255]++] = from[i];         \
      int64_t *t = from;                                                                                             \
      from = to, to = t;                                                                                             \
    }                                                                                                                \
    if (from != p) memcpy(p, from, (size_t)n * sizeof *p);                                                           \
  }                                                                                                                  \
  MLC_INLINE void mlc_ordered_##E(const T *x, int64_t n, int64_t width, int64_t *p, int64_t count, int64_t room,     \
                                  int descending) {                                                                  \
    if (room < 2 * n) return mlc_select_##E(x, n, width, p, count, descending);                                      \
    if (width == 1 && n > MLC_MANY) return mlc_radix_##E(x, n, p, p + n, descending);                                \
    for (int64_t i = 0; i < n; i++) p[i] = i;                                                                        \
    mlc_sort_##E(x, n, width, p, p + n, descending);                                                                 \
  }                                                                                                                  \
  /* Of constants, `width` and `descending` cost nothing. */                                                         \
  MLC_INLINE void mlc_argsort_##E(const void *x, void *p, int64_t rows, int64_t n, int64_t width, int64_t count,     \
                                int64_t room, int64_t descending, int64_t tid, int64_t threads) {                    \
    MLC_ROWS(r, rows) {                                                                                              \
      const T *row = (const T *)x + r * n * width;                                                                   \
      int64_t *found = (int64_t *)p + r * room;                                                                      \
      if (width == 1 && descending) mlc_ordered_##E(row, n, 1, found, count, room, 1);                               \
      else if (width == 1) mlc_ordered_##E(row, n, 1, found, count, room, 0);                                        \
      else mlc_ordered_##E(row, n, width, found, count, room, (int)descending);                                      \
    }                                                                                                                \
  }

#define MLC_WIDEN(v, W) __builtin_convertvector(v, W)
#define MLC_WIDEN_f64 MLC_WIDEN
#define MLC_WIDEN_i32 MLC_WIDEN
#define MLC_WIDEN_i64 MLC_WIDEN
#define MLC_WIDEN_ui64 MLC_WIDEN
#if defined __AVX512F__ && !defined __clang__ /* GCC 12 scalarizes it */
#define MLC_WIDEN_f32(v, W) ((W)__builtin_ia32_cvtps2pd512_mask((f32x8)(v), (f64x8){0}, (unsigned char)-1, 4))
#else
#define MLC_WIDEN_f32 MLC_WIDEN
#endif

/* Running sums of rows of `width` elements, a few cache lines at a time; in W, so that long ones lose nothing. V and S:
 * MLC_LANES of T and of W.
 * scan_line  of single elements
 * scan_block of `lanes` beside each other: a constant where they fill the block, so that the sums stay in registers */
#define MLC_SCAN(name, op, first, T, W, V, S, E)                                                                     \
  MLC_INLINE void mlc_scan_line_##name##_##E(const T *x, T *y, int64_t n, int64_t step, int64_t exclusive) {         \
    W one = first;                                                                                                   \
    for (int64_t i = 0; i < n; i++, x += step, y += step) {                                                          \
      W sum = one op *x;                                                                                             \
      *y = (T)(exclusive ? one : sum);                                                                               \
      one = sum;                                                                                                     \
    }                                                                                                                \
  }                                                                                                                  \
  MLC_INLINE void mlc_scan_block_##name##_##E(const T *x, T *y, int64_t n, int64_t step, int64_t exclusive,          \
                                              int64_t lanes) {                                                       \
    S total[MLC_VECTORS];                                                                                            \
    for (int l = 0; l < MLC_VECTORS; l++) total[l] = (S){0} + (W)first;                                              \
    for (int64_t i = 0; i < n; i++, x += step, y += step) {                                                          \
      _Pragma("GCC unroll 16")                                                                                       \
      for (int64_t l = 0; l < MLC_VECTORS; l++) {                                                                    \
        const int64_t at = l * MLC_LANES, rest = lanes - at;                                                         \
        if (rest <= 0) break;                                                                                        \
        S sum = total[l] op MLC_WIDEN_##E(rest < MLC_LANES ? mlc_load_n_##V(x + at, rest) : mlc_load_##V(x + at), S); \
        V v = __builtin_convertvector(exclusive ? total[l] : sum, V);                                                \
        if (rest < MLC_LANES) mlc_store_n_##V(y + at, v, rest);                                                      \
        else mlc_store_##V(y + at, v);                                                                               \
        total[l] = sum;                                                                                              \
      }                                                                                                              \
    }                                                                                                                \
  }                                                                                                                  \
  MLC_INLINE void mlc_scan_##name##_##E(const void *from, void *to, int64_t rows, int64_t n, int64_t width,          \
                                        int64_t exclusive, int64_t reverse, int64_t tid, int64_t threads) {          \
    const int64_t block = MLC_LANES * MLC_VECTORS, blocks = (width + block - 1) / block;                             \
    const int64_t step = reverse ? -width : width;                                                                   \
    MLC_ROWS(u, rows * blocks) {                                                                                     \
      const int64_t c = u % blocks * block, lanes = mlc_minimum_i64(block, width - c);                               \
      const int64_t start = (u / blocks * n + (reverse ? n - 1 : 0)) * width + c;                                    \
      const T *x = (const T *)from + start;                                                                          \
      T *y = (T *)to + start;                                                                                        \
      if (lanes == 1) mlc_scan_line_##name##_##E(x, y, n, step, exclusive);                                          \
      else if (lanes == block) mlc_scan_block_##name##_##E(x, y, n, step, exclusive, MLC_LANES * MLC_VECTORS);       \
      else mlc_scan_block_##name##_##E(x, y, n, step, exclusive, lanes);                                             \
    }                                                                                                                \
  }

/* A thread copies its share of the cells, which an update in place has already, and applies the updates whose index is
 * in the share. */
#define MLC_OWN_INDICES(i, index, cells, count, data, indices, y, bytes)                                             \
  const int64_t low = cells * tid / threads, high = cells * (tid + 1) / threads;                                     \
  if ((const void *)(y) != (data))                                                                                   \
    memcpy((char *)y + low * (bytes), (const char *)data + low * (bytes), (size_t)((high - low) * (bytes)));         \
  for (int64_t i = 0, index; i < count; i++)                                                                         \
    if ((index = ((const int64_t *)indices)[i]) >= low && index < high)

MLC_INLINE void mlc_scatter(const void *data, const void *indices, const void *updates, void *y, int64_t cells,
                            int64_t count, int64_t bytes, int64_t tid, int64_t threads) {
  MLC_OWN_INDICES(i, index, cells, count, data, indices, y, bytes)
    memcpy((char *)y + index * bytes, (const char *)updates + i * bytes, (size_t)bytes);
}

#define MLC_SCATTER(name, op, T, E)                                                                                  \
  MLC_INLINE void mlc_scatter_##name##_##E(const void *data, const void *indices, const void *updates, void *y,      \
                                           int64_t cells, int64_t count, int64_t width, int64_t tid, int64_t threads) {\
    MLC_OWN_INDICES(i, index, cells, count, data, indices, y, width * (int64_t)sizeof(T)) {                          \
      const T *from = (const T *)updates + i * width;                                                                \
      T *to = (T *)y + index * width;                                                                                \
      for (int64_t n = 0; n < width; n++) {                                                                          \
        T a = to[n], b = from[n];                                                                                    \
        to[n] = op;                                                                                                  \
      }                                                                                                              \
    }                                                                                                                \
  }

#if MLC_HAS_PART(MLC_USE_ORDER)
#define MLC_ORDERS MLC_ARGSORT
#else
#define MLC_ORDERS(T, U, E)
#endif
#if MLC_HAS_PART(MLC_USE_SUMS)
#define MLC_SCANS(T, W, V, S, E) MLC_SCAN(add, +, 0, T, W, V, S, E) MLC_SCAN(mul, *, 1, T, W, V, S, E)
#else
#define MLC_SCANS(T, W, V, S, E)
#endif
#if MLC_HAS_PART(MLC_USE_SCATTERING)
#define MLC_SCATTERS(T, E)                  \
  MLC_SCATTER(add, a + b, T, E)             \
  MLC_SCATTER(mul, a * b, T, E)             \
  MLC_SCATTER(max, MLC_MAXIMUM(a, b), T, E) \
  MLC_SCATTER(min, MLC_MINIMUM(a, b), T, E)
#else
#define MLC_SCATTERS(T, E)
#endif

#define MLC_LIBRARY(T, W, U, V, S, E) MLC_ORDERS(T, U, E) MLC_SCANS(T, W, V, S, E) MLC_SCATTERS(T, E)
#if MLC_HAS_PART(MLC_USE_F32)
MLC_LIBRARY(float, double, uint32_t, f32x8, f64x8, f32)
#endif
#if MLC_HAS_PART(MLC_USE_F64)
MLC_LIBRARY(double, double, uint64_t, f64x8, f64x8, f64)
#endif
#if MLC_HAS_PART(MLC_USE_I32)
MLC_LIBRARY(int32_t, int32_t, uint32_t, i32x8, i32x8, i32)
#endif
#if MLC_HAS_PART(MLC_USE_I64)
MLC_LIBRARY(int64_t, int64_t, uint64_t, i64x8, i64x8, i64)
MLC_LIBRARY(uint64_t, uint64_t, uint64_t, u64x8, u64x8, ui64)
#endif

#if MLC_HAS_PART(MLC_USE_BOXES)
/* Whether the intersection of two boxes is over `share` of their union. */
MLC_INLINE int mlc_overlap(const float *a, const float *b, float share) {
  float high = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
  float wide = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
  if (!(high > 0 && wide > 0)) return 0;
  float common = high * wide, all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common;
  return common / all > share;
}

MLC_INLINE void mlc_non_max_suppression(const void *boxes, const void *scores, const void *most, const void *overlap,
                             const void *least, void *picks, int64_t rows, int64_t images, int64_t n, int64_t limit,
                             int64_t tid, int64_t threads) {
  const float share = *(const float *)overlap, low = *(const float *)least;
  const int64_t wanted = mlc_minimum_i64(limit, *(const int64_t *)most);
  MLC_ROWS(r, rows) {
    const float *score = (const float *)scores + r * n, *corners = (const float *)boxes + r / (rows / images) * n * 4;
    int64_t *taken = (int64_t *)picks + r * (limit + n), *heap = taken + limit, found = 0, count = 0;
    for (int64_t i = 0; i < n; i++)
      if (score[i] > low) heap[count++] = i;
    for (int64_t i = count / 2; i-- > 0;) mlc_sift_f32(score, 1, heap, i, count, 1, 0);
    while (count && found < wanted) {
      const int64_t best = heap[0];
      int64_t other = 0;
      while (other < found && !mlc_overlap(corners + 4 * best, corners + 4 * taken[other], share)) other++;
      if (other == found) taken[found++] = best;
      heap[0] = heap[--count];
      mlc_sift_f32(score, 1, heap, 0, count, 1, 0);
    }
    for (int64_t i = found; i < limit; i++) taken[i] = -1;
  }
}

#endif

#endif
