/* Factors of matrices and triangular systems as device functions: a block a matrix, or a thread a right side. Arguments
 * and results are those of mlc_factors.h. */
#ifndef MLC_CUDA_FACTORS_H
#define MLC_CUDA_FACTORS_H

#include "mlc_cuda_kernel.h"

/* The matrices of this block. */
#define MLC_BLOCK_MATRICES(matrix, count) for (int64_t matrix = blockIdx.x; matrix < (count); matrix += gridDim.x)

template <class T> MLC_DEVICE T mlc_factor_root(T x) { return sizeof(T) == 4 ? (T)sqrtf((float)x) : (T)sqrt((double)x); }

/* Column by column; all threads see each pivot, and leave at the first that is not positive. */
template <class T> MLC_DEVICE void mlc_cholesky(const T *x, T *y, int64_t n) {
  MLC_BLOCK_UNITS(u, n * n) y[u] = u % n <= u / n ? x[u] : 0;
  __syncthreads();
  for (int64_t k = 0; k < n; k++) {
    const T pivot = y[k * n + k];
    __syncthreads();
    if (!(pivot > 0)) {
      MLC_BLOCK_UNITS(u, n * n) y[u] = u % n <= u / n ? (T)MLC_NAN : 0;
      return;
    }
    const T root = mlc_factor_root(pivot);
    MLC_BLOCK_UNITS(i, n - k) y[(k + i) * n + k] = i ? y[(k + i) * n + k] / root : root;
    __syncthreads();
    const int64_t rest = n - k - 1;
    MLC_BLOCK_UNITS(u, rest * rest) {
      const int64_t i = k + 1 + u / rest, j = k + 1 + u % rest;
      if (j <= i) y[i * n + j] -= y[i * n + k] * y[j * n + k];
    }
    __syncthreads();
  }
}

/* The row, of those from k on, whose element of column k is largest in magnitude: the first of several, or the first NaN. */
template <class T> MLC_DEVICE int64_t mlc_factor_pivot(const T *y, int64_t n, int64_t k) {
  T most = -1;
  int64_t row = n;
  MLC_BLOCK_UNITS(i, n - k) {
    const T x = y[(k + i) * n + k], size = x != x ? (T)MLC_INFINITY : x < 0 ? -x : x;
    if (size > most) most = size, row = k + i;
  }
  for (int mask = 1; mask < 32; mask *= 2) {
    const T other = mlc_shuffle_xor(most, mask);
    const int64_t at = mlc_shuffle_xor(row, mask);
    if (other > most || (other == most && at < row)) most = other, row = at;
  }
  mlc_put(most);
  __syncthreads();
  for (int warp = 0; warp < (int)(blockDim.x / 32); warp++) {
    const T other = mlc_get<T>(warp);
    if (other > most) row = n;
    if (other > most) most = other;
  }
  __syncthreads();
  mlc_put(row);
  __syncthreads();
  int64_t first = n;
  for (int warp = 0; warp < (int)(blockDim.x / 32); warp++) {
    const int64_t at = mlc_get<int64_t>(warp);
    if (at < n) {
      const T x = y[at * n + k], size = x != x ? (T)MLC_INFINITY : x < 0 ? -x : x;
      if (size == most && at < first) first = at;
    }
  }
  __syncthreads();
  return first < n ? first : k;
}

template <class T> MLC_DEVICE void mlc_lu(const T *x, T *y, int64_t n) {
  MLC_BLOCK_UNITS(u, n * n + n) y[u] = u < n * n ? x[u] : (T)(u - n * n);
  __syncthreads();
  for (int64_t k = 0; k < n; k++) {
    const int64_t pivot = mlc_factor_pivot(y, n, k), rest = n - k - 1;
    MLC_BLOCK_UNITS(j, n + 1) {
      T *a = j < n ? y + k * n + j : y + n * n + k, *b = j < n ? y + pivot * n + j : y + n * n + pivot;
      const T t = *a;
      *a = *b;
      *b = t;
    }
    __syncthreads();
    const T divisor = y[k * n + k];
    if (divisor == 0) continue; /* of all threads */
    MLC_BLOCK_UNITS(i, rest) y[(k + 1 + i) * n + k] /= divisor;
    __syncthreads();
    MLC_BLOCK_UNITS(u, rest * rest) {
      const int64_t i = k + 1 + u / rest, j = k + 1 + u % rest;
      y[i * n + j] -= y[i * n + k] * y[k * n + j];
    }
    __syncthreads();
  }
}

template <class T>
MLC_DEVICE void mlc_triangular_solve(const T *a, const T *b, T *x, int64_t count, int64_t n, int64_t m, int64_t lower,
                                     int64_t unit, int64_t transposed, int64_t tid, int64_t threads) {
  const int64_t row = transposed ? 1 : n, column = transposed ? n : 1;
  const bool upper = (lower != 0) == (transposed != 0);
  for (int64_t u = tid; u < count * m; u += threads) {
    const T *matrix = a + u / m * n * n, *right = b + u / m * n * m + u % m;
    T *found = x + u / m * n * m + u % m;
    for (int64_t step = 0; step < n; step++) {
      const int64_t i = upper ? n - 1 - step : step;
      T sum = right[i * m];
      for (int64_t k = upper ? i + 1 : 0, end = upper ? n : i; k < end; k++)
        sum -= matrix[i * row + k * column] * found[k * m];
      found[i * m] = unit ? sum : sum / matrix[i * (row + column)];
    }
  }
}

#define MLC_FACTORS(T, E)                                                                                              \
  MLC_DEVICE void mlc_cholesky_##E(const void *x, void *y, int64_t count, int64_t n, MLC_GRID_ARGUMENTS) {             \
    MLC_BLOCK_MATRICES(m, count) mlc_cholesky<T>((const T *)x + m * n * n, (T *)y + m * n * n, n);                     \
  }                                                                                                                    \
  MLC_DEVICE void mlc_lu_##E(const void *x, void *y, int64_t count, int64_t n, MLC_GRID_ARGUMENTS) {                   \
    MLC_BLOCK_MATRICES(m, count) mlc_lu<T>((const T *)x + m * n * n, (T *)y + m * n * (n + 1), n);                     \
  }                                                                                                                    \
  MLC_DEVICE void mlc_triangular_solve_##E(const void *a, const void *b, void *x, int64_t count, int64_t n, int64_t m, \
                                           int64_t lower, int64_t unit, int64_t transposed, MLC_GRID_ARGUMENTS) {      \
    mlc_triangular_solve<T>((const T *)a, (const T *)b, (T *)x, count, n, m, lower, unit, transposed, tid, threads);   \
  }
MLC_FACTORS(float, f32)
MLC_FACTORS(double, f64)

#endif
