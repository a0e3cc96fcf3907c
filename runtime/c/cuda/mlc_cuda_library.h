/* Non-affine operators as device functions with a grid of threads: order, running sums, writing to computed indices,
 * suppression of boxes, sequential random numbers, and trees. Arguments and results are those of mlc_library.h. */
#ifndef MLC_CUDA_LIBRARY_H
#define MLC_CUDA_LIBRARY_H

#include "mlc_cuda_kernel.h"

/* The units of thread `tid`: every `threads`-th one. */
#define MLC_UNITS(u, count) for (int64_t u = tid; u < (count); u += threads)

template <class T> MLC_DEVICE bool mlc_less(T a, T b) { return a < b || (a == a && b != b); }

/* Whether element `a` of a row comes before element `b`: ascending with NaN last, or descending with NaN first; equal
 * elements by their index. */
template <class T> MLC_DEVICE bool mlc_before(const T *x, int64_t width, int64_t a, int64_t b, bool descending) {
  for (int64_t n = 0; n < width; n++) {
    const T u = x[a * width + n], v = x[b * width + n];
    if (descending ? mlc_less(v, u) : mlc_less(u, v)) return true;
    if (descending ? mlc_less(u, v) : mlc_less(v, u)) return false;
  }
  return a < b;
}

/* The position of an element is the number of those before it: a thread an element, and no order between threads. */
template <class T>
MLC_DEVICE void mlc_argsort_by_ranks(const T *x, int64_t *p, int64_t rows, int64_t n, int64_t width, int64_t count,
                                     int64_t room, bool descending, int64_t tid, int64_t threads) {
  MLC_UNITS(u, rows * n) {
    const int64_t r = u / n, i = u % n;
    const T *row = x + r * n * width;
    int64_t at = 0;
    for (int64_t other = 0; other < n; other++) at += mlc_before(row, width, other, i, descending);
    if (at < count) p[r * room + at] = i;
  }
}

/* The i of thread threadIdx.x of a block. */
#define MLC_BLOCK_UNITS(i, count) for (int64_t i = threadIdx.x; i < (count); i += blockDim.x)

template <class W, bool product> MLC_DEVICE W mlc_combine(W a, W b) { return product ? a * b : a + b; }

/* The sum, or product, of `x` of all threads of the warp; `before` is that of the threads before this one. */
template <class W, bool product> MLC_DEVICE W mlc_warp_scan(W x, W *before) {
  W sum = x;
  *before = product ? 1 : 0;
  for (int mask = 1; mask < 32; mask *= 2) {
    const W other = mlc_shuffle_xor(sum, mask);
    if (threadIdx.x & mask) *before = mlc_combine<W, product>(other, *before);
    sum = mlc_combine<W, product>(sum, other);
  }
  return sum;
}

/* The same of all threads of the block. */
template <class W, bool product> MLC_DEVICE W mlc_block_scan(W x, W *before) {
  W all = product ? 1 : 0;
  mlc_put(mlc_warp_scan<W, product>(x, before));
  __syncthreads();
  for (int warp = 0; warp < (int)(blockDim.x / 32); warp++) {
    if (warp == (int)(threadIdx.x / 32)) *before = mlc_combine<W, product>(all, *before);
    all = mlc_combine<W, product>(all, mlc_get<W>(warp));
  }
  __syncthreads();
  return all;
}
MLC_DEVICE int64_t mlc_block_sum(int64_t x, int64_t *before) { return mlc_block_scan<int64_t, false>(x, before); }

/* Quickselect by a block: the element of the row with `rank` others before it. Each thread proposes a random one of its
 * elements between the bounds, and the pivot is the proposal in the middle of the threads. */
template <class T>
MLC_DEVICE int64_t mlc_select(const T *row, int64_t n, int64_t width, int64_t rank, bool descending) {
  for (int64_t low = -1, high = -1;;) {
    int64_t mine = -1, before, smaller = 0;
    uint32_t most = 0;
    MLC_BLOCK_UNITS(i, n) {
      uint32_t hash = (uint32_t)i * 0x9e3779b1u;
      hash = (hash ^ hash >> 15) * 0x85ebca6bu;
      if (mine >= 0 && hash <= most) continue;
      if (low >= 0 && !mlc_before(row, width, low, i, descending)) continue;
      if (high >= 0 && !mlc_before(row, width, i, high, descending)) continue;
      mine = i;
      most = hash;
    }
    const int64_t proposals = mlc_block_sum(mine >= 0, &before);
    const int64_t middle = mlc_block_sum(mine >= 0 && before == proposals / 2 ? mine : 0, &before);
    MLC_BLOCK_UNITS(i, n) smaller += mlc_before(row, width, i, middle, descending);
    smaller = mlc_block_sum(smaller, &before);
    if (smaller == rank) return middle;
    (smaller < rank ? low : high) = middle;
  }
}

/* The first `count` elements of a row, not in order. */
template <class T>
MLC_DEVICE void mlc_partition(const T *row, int64_t *p, int64_t n, int64_t width, int64_t count, bool descending) {
  const int64_t last = mlc_select(row, n, width, count - 1, descending);
  int64_t found = 0, at;
  MLC_BLOCK_UNITS(i, n) found += !mlc_before(row, width, last, i, descending);
  mlc_block_sum(found, &at);
  MLC_BLOCK_UNITS(i, n)
    if (!mlc_before(row, width, last, i, descending)) p[at++] = i;
}

/* Bitonic sort of `n` indices by a block, in place (Batcher, 1968): positions beyond n count as the last elements, so a
 * stage first compares mirrored positions of a run, and all comparators point upwards. */
template <class T>
MLC_DEVICE void mlc_bitonic_sort(const T *row, int64_t *p, int64_t n, int64_t width, bool descending) {
  for (int64_t run = 2; run < 2 * n; run *= 2)
    for (int64_t half = run / 2; half; half /= 2) {
      const int64_t mask = half == run / 2 ? run - 1 : half;
      __syncthreads();
      for (int64_t u = threadIdx.x, i; (i = 2 * u - (u & (half - 1))) < n; u += blockDim.x) {
        const int64_t other = i ^ mask, a = p[i];
        if (other >= n || !mlc_before(row, width, p[other], a, descending)) continue;
        p[i] = p[other];
        p[other] = a;
      }
    }
}

/* A block a row. */
template <class T>
MLC_DEVICE void mlc_argsort_rows(const T *x, int64_t *p, int64_t rows, int64_t n, int64_t width, int64_t count,
                                 int64_t room, bool descending) {
  for (int64_t r = blockIdx.x; r < rows && count > 0; r += gridDim.x) {
    const T *row = x + r * n * width;
    int64_t *found = p + r * room;
    if (count < n) mlc_partition(row, found, n, width, count, descending);
    else MLC_BLOCK_UNITS(i, n) found[i] = i;
    mlc_bitonic_sort(row, found, count, width, descending);
    __syncthreads();
  }
}

/* The number of bits of n, about log2(n); at least 1. */
MLC_DEVICE int64_t mlc_log2(int64_t n) {
  int64_t log = 1;
  while (n >> log) log++;
  return log;
}

/* Ranks take n comparisons an element but all threads of the grid; a block a row takes O(n log n) for the selection and
 * O(count log(count)^2) for the sort. The smaller number of cycles of a thread, by estimates of a step, is chosen. */
template <class T>
MLC_DEVICE void mlc_argsort(const T *x, int64_t *p, int64_t rows, int64_t n, int64_t width, int64_t count, int64_t room,
                            int64_t descending, int64_t tid, int64_t threads) {
  const int64_t block = blockDim.x, log = mlc_log2(count), ranks = (rows * n + threads - 1) / threads * n;
  const int64_t select = count < n ? 16 * mlc_log2(n) * ((n + block - 1) / block) : 0;
  const int64_t sort = 8 * log * log * ((count + block - 1) / block);
  if (ranks <= (rows + gridDim.x - 1) / gridDim.x * (select + sort))
    mlc_argsort_by_ranks(x, p, rows, n, width, count, room, descending != 0, tid, threads);
  else
    mlc_argsort_rows(x, p, rows, n, width, count, room, descending != 0);
}

/* The elements of a line that one thread has at a time. They are neighbours, so a step of all threads, which costs the
 * shuffles of a warp, sums as many elements for each thread. */
enum { MLC_SCAN_ITEMS = 8 };

/* The elements of a line in the order in which they are summed: the first one, and the distance of neighbours. */
struct mlc_line {
  int64_t first, step, n;
};
MLC_DEVICE mlc_line mlc_line_of(int64_t line, int64_t n, int64_t width, bool reverse) {
  const int64_t start = line / width * n * width + line % width;
  return reverse ? mlc_line{start + (n - 1) * width, -width, n} : mlc_line{start, width, n};
}
/* How many elements a thread has from `start` on: one SM computes a long line, so that indices count. */
MLC_DEVICE int mlc_scan_items(mlc_line line, int64_t start) {
  const int64_t left = line.n - start;
  return left < MLC_SCAN_ITEMS ? (int)left : MLC_SCAN_ITEMS;
}
template <class T> MLC_DEVICE void mlc_read_items(T *items, const T *x, mlc_line line, int64_t start) {
  const int count = mlc_scan_items(line, start);
  x += line.first + start * line.step;
#pragma unroll
  for (int k = 0; k < MLC_SCAN_ITEMS; k++, x += line.step)
    if (k < count) items[k] = *x;
}

/* A line of a warp or of a block. Threads read their next elements before they wait for each other's sums. */
template <class T, class W, bool product, bool block>
MLC_DEVICE void mlc_scan_line(const T *x, T *y, mlc_line line, bool exclusive) {
  const int threads = block ? blockDim.x : 32, chunk = threads * MLC_SCAN_ITEMS;
  W total = product ? 1 : 0, before;
  T items[MLC_SCAN_ITEMS];
  int64_t start = (int)threadIdx.x % threads * MLC_SCAN_ITEMS;
  mlc_read_items(items, x, line, start);
  for (int64_t base = 0; base < line.n; base += chunk, start += chunk) {
    const int count = mlc_scan_items(line, start);
    W own[MLC_SCAN_ITEMS], sum = product ? 1 : 0;
#pragma unroll
    for (int k = 0; k < MLC_SCAN_ITEMS; k++) {
      own[k] = k < count ? (W)items[k] : (W)(product ? 1 : 0);
      sum = mlc_combine<W, product>(sum, own[k]);
    }
    mlc_read_items(items, x, line, start + chunk);
    const W all = block ? mlc_block_scan<W, product>(sum, &before) : mlc_warp_scan<W, product>(sum, &before);
    W running = mlc_combine<W, product>(total, before);
    T *to = y + line.first + start * line.step;
#pragma unroll
    for (int k = 0; k < MLC_SCAN_ITEMS; k++, to += line.step) {
      const W next = mlc_combine<W, product>(running, own[k]);
      if (k < count) *to = (T)(exclusive ? running : next);
      running = next;
    }
    total = mlc_combine<W, product>(total, all);
  }
}

/* A line of a thread. */
template <class T, class W, bool product>
MLC_DEVICE void mlc_scan_alone(const T *x, T *y, mlc_line line, bool exclusive) {
  W total = product ? 1 : 0;
  for (int64_t i = 0; i < line.n; i++) {
    const int64_t at = line.first + i * line.step;
    const W next = mlc_combine<W, product>(total, (W)x[at]);
    y[at] = (T)(exclusive ? total : next);
    total = next;
  }
}

MLC_DEVICE int64_t mlc_scan_cycles(int64_t lines, int64_t groups, int64_t n, int64_t items, int64_t step) {
  return (lines + groups - 1) / groups * ((n + items - 1) / items) * step;
}

/* A thread, a warp or a block a line: that which takes the fewest cycles, by estimates of a step of each. The read of a
 * thread costs more where neighbouring threads read no neighbouring elements. Sums of floats are made in double, and in
 * one order in each run. */
template <class T, class W, bool product>
MLC_DEVICE void mlc_scan(const T *x, T *y, int64_t rows, int64_t n, int64_t width, bool exclusive, bool reverse,
                         int64_t tid, int64_t threads) {
  const int64_t lines = rows * width, each = MLC_SCAN_ITEMS;
  const int64_t alone = mlc_scan_cycles(lines, threads, n, 1, width == 1 ? 40 : 10);
  const int64_t warps = mlc_scan_cycles(lines, threads / 32, n, 32 * each, 400);
  const int64_t blocks = mlc_scan_cycles(lines, gridDim.x, n, blockDim.x * each, 600);
  if (alone <= warps && alone <= blocks)
    MLC_UNITS(u, lines) mlc_scan_alone<T, W, product>(x, y, mlc_line_of(u, n, width, reverse), exclusive);
  else if (warps <= blocks)
    for (int64_t u = tid / 32; u < lines; u += threads / 32)
      mlc_scan_line<T, W, product, false>(x, y, mlc_line_of(u, n, width, reverse), exclusive);
  else
    for (int64_t u = blockIdx.x; u < lines; u += gridDim.x)
      mlc_scan_line<T, W, product, true>(x, y, mlc_line_of(u, n, width, reverse), exclusive);
}

/* Updates that a block has found among those scanned together, in order: the cell of each, counted from the block's
 * first, and its position. Of a batch of them, `next` is the next one of the same cell, and `first` says which are the
 * first of their cell. */
enum { MLC_SCANNED = 4096, MLC_BATCH = 512, MLC_LAST = 0xffff };
struct mlc_updates {
  int32_t cell[MLC_SCANNED];
  uint16_t position[MLC_SCANNED], next[MLC_BATCH];
  uint8_t first[MLC_BATCH];
};
MLC_DEVICE mlc_updates *mlc_block_updates() {
  __shared__ mlc_updates found;
  return &found;
}

/* Each thread looks at neighbouring indices; the number of updates of the cells from `low` to `high`. */
MLC_DEVICE int64_t mlc_find_updates(mlc_updates *found, const int64_t *indices, int64_t count, int64_t low,
                                    int64_t high) {
  const int64_t each = MLC_SCANNED / blockDim.x, start = threadIdx.x * each;
  int64_t mine = 0, at;
  for (int64_t i = start; i < start + each && i < count; i++) mine += indices[i] >= low && indices[i] < high;
  const int64_t all = mlc_block_sum(mine, &at);
  for (int64_t i = start; mine && i < start + each && i < count; i++) {
    const int64_t index = indices[i];
    if (index < low || index >= high) continue;
    found->cell[at] = (int32_t)(index - low);
    found->position[at++] = (uint16_t)i;
  }
  __syncthreads();
  return all;
}

/* Lists of the updates of each cell, in a batch. */
MLC_DEVICE void mlc_link_updates(mlc_updates *found, const int32_t *cell, int64_t size) {
  MLC_BLOCK_UNITS(e, size) {
    int64_t other = e + 1;
    while (other < size && cell[other] != cell[e]) other++;
    found->next[e] = (uint16_t)(other < size ? other : MLC_LAST);
    found->first[e] = 1;
  }
  __syncthreads();
  MLC_BLOCK_UNITS(e, size)
    if (found->next[e] != MLC_LAST) found->first[found->next[e]] = 0;
  __syncthreads();
}

/* A block copies its cells, and applies the updates whose index is one of them, those of a cell in order: results are
 * the same in each run. All blocks read all indices, the threads of a block at a time. Few cells have several blocks
 * each, which share the columns. */
template <class T, class F>
MLC_DEVICE void mlc_scatter_cells(const T *data, const int64_t *indices, const T *updates, T *y, int64_t cells,
                                  int64_t count, int64_t width, F combine) {
  mlc_updates *found = mlc_block_updates();
  const int64_t blocks = gridDim.x, most = (width + blockDim.x - 1) / blockDim.x, several = cells ? blocks / cells : 0;
  const int64_t parts = several < 2 || most < 2 ? 1 : several < most ? several : most;
  const int64_t groups = blocks / parts, group = blockIdx.x / parts, part = blockIdx.x % parts;
  const int64_t low = cells * group / groups, high = group < groups ? cells * (group + 1) / groups : low;
  const int64_t left = width * part / parts, columns = width * (part + 1) / parts - left;
  if (low == high) return;
  data += low * width + left;
  y += low * width + left;
  if (y != data) /* else it is an update in place */
    MLC_BLOCK_UNITS(u, (high - low) * columns) {
      const int64_t n = u / columns * width + u % columns;
      y[n] = data[n];
    }
  for (int64_t base = 0; base < count; base += MLC_SCANNED) {
    const int64_t all = mlc_find_updates(found, indices + base, count - base, low, high);
    for (int64_t start = 0; start < all; start += MLC_BATCH) {
      const int64_t size = all - start < MLC_BATCH ? all - start : MLC_BATCH;
      mlc_link_updates(found, found->cell + start, size);
      MLC_BLOCK_UNITS(u, size * columns) {
        const int64_t e = u / columns, n = u % columns;
        if (!found->first[e]) continue;
        T *const cell = y + found->cell[start + e] * width + n;
        T total = *cell;
        for (int64_t v = e; v != MLC_LAST; v = found->next[v])
          total = combine(total, updates[(base + found->position[start + v]) * width + left + n]);
        *cell = total;
      }
      __syncthreads();
    }
  }
}

template <class T>
MLC_DEVICE void mlc_scatter_words(const void *data, const void *indices, const void *updates, void *y, int64_t cells,
                                  int64_t count, int64_t bytes) {
  mlc_scatter_cells((const T *)data, (const int64_t *)indices, (const T *)updates, (T *)y, cells, count,
                    bytes / (int64_t)sizeof(T), [](T, T b) { return b; });
}

#define MLC_GRID_ARGUMENTS int64_t tid, int64_t threads
MLC_DEVICE void mlc_scatter(const void *data, const void *indices, const void *updates, void *y, int64_t cells,
                            int64_t count, int64_t bytes, MLC_GRID_ARGUMENTS) {
  (void)tid, (void)threads;
  if ((((uint64_t)data | (uint64_t)updates | (uint64_t)y | (uint64_t)bytes) & 3) == 0)
    mlc_scatter_words<uint32_t>(data, indices, updates, y, cells, count, bytes);
  else
    mlc_scatter_words<uint8_t>(data, indices, updates, y, cells, count, bytes);
}

#define MLC_SCATTER(name, op, T, E)                                                                                  \
  MLC_DEVICE void mlc_scatter_##name##_##E(const void *data, const void *indices, const void *updates, void *y,      \
                                           int64_t cells, int64_t count, int64_t width, MLC_GRID_ARGUMENTS) {        \
    (void)tid, (void)threads;                                                                                        \
    mlc_scatter_cells((const T *)data, (const int64_t *)indices, (const T *)updates, (T *)y, cells, count, width,    \
                      [](T a, T b) { return (T)(op); });                                                             \
  }
#define MLC_SCAN(name, product, T, W, E)                                                                             \
  MLC_DEVICE void mlc_scan_##name##_##E(const void *x, void *y, int64_t rows, int64_t n, int64_t width,              \
                                        int64_t exclusive, int64_t reverse, MLC_GRID_ARGUMENTS) {                    \
    mlc_scan<T, W, product>((const T *)x, (T *)y, rows, n, width, exclusive != 0, reverse != 0, tid, threads);                 \
  }
#define MLC_LIBRARY(T, W, E)                                                                                         \
  MLC_DEVICE void mlc_argsort_##E(const void *x, void *p, int64_t rows, int64_t n, int64_t width, int64_t count,     \
                                  int64_t room, int64_t descending, MLC_GRID_ARGUMENTS) {                            \
    mlc_argsort((const T *)x, (int64_t *)p, rows, n, width, count, room, descending, tid, threads);                  \
  }                                                                                                                  \
  MLC_SCAN(add, false, T, W, E)                                                                                      \
  MLC_SCAN(mul, true, T, W, E)                                                                                       \
  MLC_SCATTER(add, a + b, T, E)                                                                                      \
  MLC_SCATTER(mul, a * b, T, E)                                                                                      \
  MLC_SCATTER(max, MLC_MAXIMUM(a, b), T, E)                                                                          \
  MLC_SCATTER(min, MLC_MINIMUM(a, b), T, E)
MLC_LIBRARY(float, double, f32)
MLC_LIBRARY(double, double, f64)
MLC_LIBRARY(int32_t, int32_t, i32)
MLC_LIBRARY(int64_t, int64_t, i64)
MLC_LIBRARY(uint64_t, uint64_t, ui64)

/* Whether the intersection of two boxes is over `share` of their union. */
MLC_DEVICE bool mlc_overlap(const float *a, const float *b, float share) {
  const float high = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]);
  const float wide = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]);
  if (!(high > 0 && wide > 0)) return false;
  const float common = high * wide, all = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common;
  return common / all > share;
}

/* The box with the next lower score, of equal ones the next index; n where none is over `low`. */
MLC_DEVICE int64_t mlc_next_box(const float *score, int64_t n, int64_t last, float low) {
  int64_t best = n;
  for (int64_t i = 0; i < n; i++) {
    const bool after = last < 0 || score[i] < score[last] || (score[i] == score[last] && i > last);
    if (score[i] > low && after && (best == n || score[i] > score[best])) best = i;
  }
  return best;
}

/* A thread a class of an image. */
MLC_DEVICE void mlc_non_max_suppression(const void *boxes, const void *scores, const void *most, const void *overlap,
                                        const void *least, void *picks, int64_t rows, int64_t images, int64_t n,
                                        int64_t limit, MLC_GRID_ARGUMENTS) {
  const float share = *(const float *)overlap, low = *(const float *)least;
  const int64_t given = *(const int64_t *)most, wanted = limit < given ? limit : given;
  MLC_UNITS(r, rows) {
    const float *score = (const float *)scores + r * n, *corners = (const float *)boxes + r / (rows / images) * n * 4;
    int64_t *taken = (int64_t *)picks + r * (limit + n), found = 0;
    for (int64_t box = -1; found < wanted && (box = mlc_next_box(score, n, box, low)) < n;) {
      int64_t other = 0;
      while (other < found && !mlc_overlap(corners + 4 * box, corners + 4 * taken[other], share)) other++;
      if (other == found) taken[found++] = box;
    }
    for (int64_t i = found; i < limit; i++) taken[i] = -1;
  }
}

/* The numbers of NumPy's RandomState, from the Mersenne twister MT19937 (Matsumoto and Nishimura, 1998). Each follows
 * from those before it, so one thread draws all of an operator's. */
struct mlc_twister {
  uint32_t word[624];
  int next;
};

MLC_DEVICE uint32_t mlc_twister_spread(uint32_t word, uint32_t factor) { return (word ^ word >> 30) * factor; }

MLC_DEVICE void mlc_twister_seed(mlc_twister *t, uint32_t seed) {
  t->word[0] = seed;
  for (uint32_t i = 1; i < 624; i++) t->word[i] = mlc_twister_spread(t->word[i - 1], 1812433253u) + i;
  t->next = 624;
}

/* The low words of the key without zeros at its end: one alone is a seed, several are an array. */
static __device__ void mlc_twister_start(mlc_twister *t, const int64_t *key, int64_t n) {
  while (n > 1 && !(uint32_t)key[n - 1]) n--;
  mlc_twister_seed(t, n == 1 ? (uint32_t)key[0] : 19650218u);
  if (n == 1) return;
  uint32_t *w = t->word, i = 1;
  for (int64_t k = 0; k < 624; k++) {
    w[i] = (w[i] ^ mlc_twister_spread(w[i - 1], 1664525u)) + (uint32_t)key[k % n] + (uint32_t)(k % n);
    if (++i == 624) w[0] = w[623], i = 1;
  }
  for (int64_t k = 1; k < 624; k++) {
    w[i] = (w[i] ^ mlc_twister_spread(w[i - 1], 1566083941u)) - i;
    if (++i == 624) w[0] = w[623], i = 1;
  }
  w[0] = 0x80000000u;
}

MLC_DEVICE uint32_t mlc_twister_word(mlc_twister *t) {
  if (t->next == 624) {
    for (int i = 0; i < 624; i++) {
      const uint32_t both = (t->word[i] & 0x80000000u) | (t->word[(i + 1) % 624] & 0x7fffffffu);
      t->word[i] = t->word[(i + 397) % 624] ^ both >> 1 ^ (both & 1 ? 0x9908b0dfu : 0u);
    }
    t->next = 0;
  }
  uint32_t x = t->word[t->next++];
  x ^= x >> 11;
  x ^= x << 7 & 0x9d2c5680u;
  x ^= x << 15 & 0xefc60000u;
  return x ^ x >> 18;
}

/* At least 0 and below 1, of 53 bits. */
static __device__ double mlc_twister_fraction(mlc_twister *t) {
  const uint32_t high = mlc_twister_word(t) >> 5, low = mlc_twister_word(t) >> 6;
  return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

MLC_DEVICE void mlc_random_draw_uniform(const void *key, void *y, int64_t words, int64_t count, MLC_GRID_ARGUMENTS) {
  if (tid) return;
  (void)threads;
  mlc_twister t;
  mlc_twister_start(&t, (const int64_t *)key, words);
  for (int64_t i = 0; i < count; i++) ((double *)y)[i] = mlc_twister_fraction(&t);
}

/* Points of the square round 0 that are in the disc, and not its center. */
MLC_DEVICE void mlc_random_draw_disc(const void *key, void *y, int64_t words, int64_t count, MLC_GRID_ARGUMENTS) {
  if (tid) return;
  (void)threads;
  mlc_twister t;
  mlc_twister_start(&t, (const int64_t *)key, words);
  for (double *p = (double *)y, *end = p + 2 * count; p < end;) {
    p[0] = 2 * mlc_twister_fraction(&t) - 1;
    p[1] = 2 * mlc_twister_fraction(&t) - 1;
    const double square = p[0] * p[0] + p[1] * p[1];
    p += square > 0 && square < 1 ? 2 : 0;
  }
}

/* Tree ensembles (mlc_forest.h): a thread a row, which descends all trees in order. */
template <class T, class U, class R>
MLC_DEVICE void mlc_forest(const T *keys, const T *nodes, const int32_t *tree, const R *weights, R *y, int64_t rows,
                           int64_t columns, int64_t trees, int64_t width, int64_t targets, int64_t bits, int64_t words,
                           int64_t how, MLC_GRID_ARGUMENTS) {
  MLC_UNITS(r, rows) {
    const T *x = keys + r * columns;
    R *scores = y + r * targets;
    for (int64_t n = 0; n < targets; n++) scores[n] = !how ? (R)0 : how == 1 ? (R)MLC_INFINITY : -(R)MLC_INFINITY;
    for (int64_t t = 0; t < trees; t++) {
      const int32_t *numbers = tree + t * (3 + words);
      U at = (U)-1, next = (U)numbers[0];
      while (next != at) {
        at = next;
        const U link = (U)nodes[2 * at + 1];
        next = (link >> bits) - (x[link & (((U)1 << bits) - 1)] <= nodes[2 * at]);
      }
      const R *w = weights + (int64_t)((U)nodes[2 * at] << 1 >> 1) * width;
      R *to = scores + numbers[1];
      for (int64_t n = 0; n < width; n++) to[n] = !how ? to[n] + w[n] : (how == 1) == (w[n] < to[n]) ? w[n] : to[n];
    }
  }
}

#define MLC_FOREST(T, U, E, R, S)                                                                                    \
  MLC_DEVICE void mlc_forest_##E##_##S(const void *keys, const void *nodes, const void *tree, const void *weights,   \
                                       const void *, void *y, int64_t rows, int64_t columns, int64_t trees,          \
                                       int64_t width, int64_t targets, int64_t bits, int64_t words, int64_t,         \
                                       int64_t how, MLC_GRID_ARGUMENTS) {                                            \
    mlc_forest<T, U, R>((const T *)keys, (const T *)nodes, (const int32_t *)tree, (const R *)weights, (R *)y, rows,  \
                        columns, trees, width, targets, bits, words, how, tid, threads);                             \
  }
MLC_FOREST(int32_t, uint32_t, i32, float, f32)
MLC_FOREST(int64_t, uint64_t, i64, float, f32)
MLC_FOREST(int64_t, uint64_t, i64, double, f64)

/* Class probabilities of those of pairs (mlc_coupling.h): a thread a row. */
MLC_DEVICE void mlc_coupling(const void *pairs, void *result, int64_t rows, int64_t classes, MLC_GRID_ARGUMENTS) {
  MLC_UNITS(row, rows) {
    const double *r = (const double *)pairs + row * classes * classes;
    double *p = (double *)result + row * 3 * classes, *own = p + classes, *qp = own + classes;
    for (int64_t i = 0; i < classes; i++) {
      p[i] = 1.0 / (double)classes;
      own[i] = 0;
      for (int64_t j = 0; j < classes; j++) own[i] += j == i ? 0 : r[j * classes + i] * r[j * classes + i];
    }
    for (int iteration = 0; iteration < 100; iteration++) {
      double total = 0, error = 0;
      for (int64_t i = 0; i < classes; i++) {
        qp[i] = own[i] * p[i];
        for (int64_t j = 0; j < classes; j++) qp[i] -= j == i ? 0 : r[j * classes + i] * r[i * classes + j] * p[j];
        total += p[i] * qp[i];
      }
      for (int64_t i = 0; i < classes; i++) error = fmax(error, fabs(qp[i] - total));
      if (error < 0.005 / (double)classes) break;
      for (int64_t n = 0; n < classes; n++) {
        const double step = (total - qp[n]) / own[n];
        total = (total + step * (step * own[n] + 2 * qp[n])) / (1 + step) / (1 + step);
        p[n] += step;
        for (int64_t j = 0; j < classes; j++) {
          qp[j] = (qp[j] + step * (j == n ? own[n] : -r[j * classes + n] * r[n * classes + j])) / (1 + step);
          p[j] /= 1 + step;
        }
      }
    }
  }
}

#include "mlc_cuda_factors.h"

#endif
