/* The functions of mlc_factors.h for elements T, with the suffix E. */
#define NAME(name) MLC_CAT(MLC_CAT(mlc_, name), MLC_CAT(_, E))
#define VECTOR NAME(factor_vector)
#define LANES ((int64_t)(MLC_WIDE / sizeof(T)))
#define STRIP (2 * LANES)

typedef T VECTOR __attribute__((vector_size(MLC_WIDE), aligned(sizeof(T)), may_alias));

/* tile [MLC_TILE_ROWS, STRIP] = a b, of a [depth, MLC_TILE_ROWS] transposed and b [depth, STRIP]. */
static inline void NAME(factor_tile)(const T *a, const T *b, int64_t depth, T *tile) {
  VECTOR sum[MLC_TILE_ROWS][2] = {{{0}}};
  for (int64_t d = 0; d < depth; d++, a += MLC_TILE_ROWS, b += STRIP) {
    const VECTOR low = *(const VECTOR *)b, high = *(const VECTOR *)(b + LANES);
#pragma GCC unroll 16
    for (int r = 0; r < MLC_TILE_ROWS; r++) {
      sum[r][0] += a[r] * low;
      sum[r][1] += a[r] * high;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < MLC_TILE_ROWS; r++) {
    *(VECTOR *)(tile + r * STRIP) = sum[r][0];
    *(VECTOR *)(tile + r * STRIP + LANES) = sum[r][1];
  }
}

/* c [m, n] -= a b, of a [m, k], whose rows and columns are `row` and `column` elements apart, and b [k, n]. */
static void NAME(factor_update)(T *c, int64_t ldc, const T *a, int64_t row, int64_t column, const T *b, int64_t ldb,
                                int64_t m, int64_t n, int64_t k) {
  T rows[MLC_DEPTH * MLC_TILE_ROWS], columns[MLC_DEPTH * MLC_STRIPS * STRIP], tile[MLC_TILE_ROWS * STRIP];
  for (int64_t d0 = 0; d0 < k; d0 += MLC_DEPTH) {
    const int64_t depth = mlc_minimum_i64(MLC_DEPTH, k - d0);
    for (int64_t j0 = 0; j0 < n; j0 += MLC_STRIPS * STRIP) {
      const int64_t wide = mlc_minimum_i64(MLC_STRIPS * STRIP, n - j0);
      for (int64_t s = 0; s < wide; s += STRIP)
        for (int64_t d = 0; d < depth; d++) {
          const T *from = b + (d0 + d) * ldb + j0 + s;
          T *to = columns + s * MLC_DEPTH + d * STRIP;
          if (wide - s >= STRIP) memcpy(to, from, STRIP * sizeof(T));
          else
            for (int64_t j = 0; j < STRIP; j++) to[j] = s + j < wide ? from[j] : 0;
        }
      for (int64_t i0 = 0; i0 < m; i0 += MLC_TILE_ROWS) {
        const int64_t high = mlc_minimum_i64(MLC_TILE_ROWS, m - i0);
        for (int64_t r = 0; r < MLC_TILE_ROWS; r++)
          for (int64_t d = 0; d < depth; d++)
            rows[d * MLC_TILE_ROWS + r] = r < high ? a[(i0 + r) * row + (d0 + d) * column] : 0;
        for (int64_t s = 0; s < wide; s += STRIP) {
          NAME(factor_tile)(rows, columns + s * MLC_DEPTH, depth, tile);
          for (int64_t r = 0; r < high; r++) {
            T *to = c + (i0 + r) * ldc + j0 + s;
            for (int64_t j = 0, end = mlc_minimum_i64(STRIP, wide - s); j < end; j++) to[j] -= tile[r * STRIP + j];
          }
        }
      }
    }
  }
}

/* x [n, m] of a x = b in the place of b, for triangular `a` with rows and columns `row` and `column` elements apart. */
static void NAME(factor_substitute)(const T *a, int64_t row, int64_t column, int64_t n, T *x, int64_t ld, int64_t m,
                                    int64_t upper, int64_t unit) {
  if (n > MLC_LEAF) {
    const int64_t half = mlc_half(n), first = upper ? half : 0, second = half - first;
    const int64_t sizes[2] = {upper ? n - half : half, upper ? half : n - half};
    NAME(factor_substitute)(a + first * (row + column), row, column, sizes[0], x + first * ld, ld, m, upper, unit);
    NAME(factor_update)(x + second * ld, ld, a + second * row + first * column, row, column, x + first * ld, ld,
                        sizes[1], m, sizes[0]);
    NAME(factor_substitute)(a + second * (row + column), row, column, sizes[1], x + second * ld, ld, m, upper, unit);
    return;
  }
  for (int64_t step = 0; step < n; step++) {
    const int64_t i = upper ? n - 1 - step : step, end = upper ? n : i;
    T *restrict to = x + i * ld;
    for (int64_t k = upper ? i + 1 : 0; k < end; k++) {
      const T factor = a[i * row + k * column], *restrict from = x + k * ld;
      for (int64_t j = 0; j < m; j++) to[j] -= factor * from[j];
    }
    if (unit) continue;
    const T pivot = a[i * (row + column)];
    for (int64_t j = 0; j < m; j++) to[j] /= pivot;
  }
}

/* The same for one right side: by sums along rows of `a`, or by updates along columns, whichever are adjacent. */
static void NAME(factor_vector_substitute)(const T *a, int64_t row, int64_t column, int64_t n, T *restrict x,
                                           int64_t upper, int64_t unit) {
  for (int64_t step = 0; step < n; step++) {
    const int64_t i = upper ? n - 1 - step : step, first = upper ? i + 1 : 0, end = upper ? n : i;
    if (column == 1) {
      const T *along = a + i * row;
      VECTOR sums[2] = {{0}};
      int64_t k = first;
      T total = 0;
      for (; k + STRIP <= end; k += STRIP)
        for (int h = 0; h < 2; h++)
          sums[h] += *(const VECTOR *)(along + k + h * LANES) * *(const VECTOR *)(x + k + h * LANES);
      for (; k < end; k++) total += along[k] * x[k];
      sums[0] += sums[1];
      for (int64_t l = 0; l < LANES; l++) total += sums[0][l];
      x[i] -= total;
    }
    if (!unit) x[i] /= a[i * (row + column)];
    if (column == 1) continue;
    const T value = x[i], *restrict along = a + i * column;
    for (int64_t k = upper ? 0 : i + 1, last = upper ? i : n; k < last; k++) x[k] -= along[k * row] * value;
  }
}

/* x of op(a) x = b, of a [count, n, n] and b [count, n, m]; op transposes. */
static inline void NAME(triangular_solve)(const void *as, const void *bs, void *xs, int64_t count, int64_t n, int64_t m,
                                          int64_t lower, int64_t unit, int64_t transposed, int64_t tid,
                                          int64_t threads) {
  const int64_t row = transposed ? 1 : n, column = transposed ? n : 1, upper = !lower != !!transposed;
  for (int64_t at = count * m * tid / threads, end = count * m * (tid + 1) / threads; at < end;) {
    const int64_t matrix = at / m, first = at % m, wide = mlc_minimum_i64(end - at, m - first);
    const T *a = (const T *)as + matrix * n * n, *b = (const T *)bs + matrix * n * m + first;
    T *x = (T *)xs + matrix * n * m + first;
    for (int64_t i = 0; i < n; i++) memcpy(x + i * m, b + i * m, (size_t)wide * sizeof(T));
    if (m == 1) NAME(factor_vector_substitute)(a, row, column, n, x, upper, unit);
    else NAME(factor_substitute)(a, row, column, n, x, m, wide, upper, unit);
    at += wide;
  }
}

/* U of a = U^T U in the place of the upper triangle of `a`; 0 where `a` is not positive definite. */
static int NAME(factor_upper)(T *u, int64_t ld, int64_t n) {
  if (n > MLC_LEAF) {
    const int64_t half = mlc_half(n), rest = n - half;
    T *right = u + half, *next = u + half * (ld + 1);
    if (!NAME(factor_upper)(u, ld, half)) return 0;
    NAME(factor_substitute)(u, 1, ld, half, right, ld, rest, 0, 0);
    for (int64_t i = 0; i < rest; i += 4 * MLC_TILE_ROWS)
      NAME(factor_update)(next + i * (ld + 1), ld, right + i, 1, ld, right + i, ld,
                          mlc_minimum_i64(4 * MLC_TILE_ROWS, rest - i), rest - i, half);
    return NAME(factor_upper)(next, ld, rest);
  }
  for (int64_t k = 0; k < n; k++) {
    T *restrict line = u + k * ld;
    if (!(line[k] > 0)) return 0;
    line[k] = SQRT(line[k]);
    for (int64_t j = k + 1; j < n; j++) line[j] /= line[k];
    for (int64_t i = k + 1; i < n; i++) {
      T *restrict to = u + i * ld;
      for (int64_t j = i; j < n; j++) to[j] -= line[i] * line[j];
    }
  }
  return 1;
}

/* to[j, i] = from[i, j] for i >= j, a square of both at a time. */
static void NAME(factor_transpose)(const T *from, T *to, int64_t n) {
  for (int64_t i0 = 0; i0 < n; i0 += MLC_SQUARE)
    for (int64_t j0 = 0; j0 <= i0; j0 += MLC_SQUARE)
      for (int64_t i = i0; i < i0 + MLC_SQUARE && i < n; i++)
        for (int64_t j = j0; j < j0 + MLC_SQUARE && j <= i; j++) to[j * n + i] = from[i * n + j];
}

/* The lower triangular L of x = L L^T, of the lower triangles of x [count, n, n]; NaN where x is not positive definite. */
static inline void NAME(cholesky)(const void *xs, void *ys, int64_t count, int64_t n, int64_t tid, int64_t threads) {
  for (int64_t matrix = count * tid / threads; matrix < count * (tid + 1) / threads; matrix++) {
    T *y = (T *)ys + matrix * n * n;
    NAME(factor_transpose)((const T *)xs + matrix * n * n, y, n);
    const int found = NAME(factor_upper)(y, n, n);
    for (int64_t i0 = 0; i0 < n; i0 += MLC_SQUARE)
      for (int64_t j0 = 0; j0 <= i0; j0 += MLC_SQUARE)
        for (int64_t i = i0; i < i0 + MLC_SQUARE && i < n; i++)
          for (int64_t j = j0; j < j0 + MLC_SQUARE && j <= i; j++) {
            y[i * n + j] = found ? y[j * n + i] : (T)NAN;
            if (j < i) y[j * n + i] = 0;
          }
  }
}

/* Columns first … first + count of LU in the place of y [n, n]: rows are exchanged, and so are elements of `order`. */
static void NAME(factor_columns)(T *y, int64_t n, int64_t first, int64_t count, T *order) {
  if (count > MLC_LEAF) {
    const int64_t half = mlc_half(count), middle = first + half, rest = count - half;
    T *corner = y + first * n + middle;
    NAME(factor_columns)(y, n, first, half, order);
    NAME(factor_substitute)(y + first * (n + 1), n, 1, half, corner, n, rest, 0, 1);
    NAME(factor_update)(y + middle * (n + 1), n, y + middle * n + first, n, 1, corner, n, n - middle, rest, half);
    NAME(factor_columns)(y, n, middle, rest, order);
    return;
  }
  for (int64_t k = first; k < first + count; k++) {
    int64_t pivot = k;
    T *restrict line = y + k * n, most = -1;
    for (int64_t i = k; i < n; i++) {
      const T size = y[i * n + k] < 0 ? -y[i * n + k] : y[i * n + k];
      if (!(size <= most)) most = size, pivot = i; /* the first NaN as well */
      if (size != size) break;
    }
    if (pivot != k) {
      T *restrict other = y + pivot * n, t = order[k];
      order[k] = order[pivot], order[pivot] = t;
      for (int64_t j = 0; j < n; j++) t = line[j], line[j] = other[j], other[j] = t;
    }
    if (line[k] == 0) continue;
    for (int64_t i = k + 1; i < n; i++) {
      T *restrict to = y + i * n;
      const T factor = to[k] /= line[k];
      for (int64_t j = k + 1; j < first + count; j++) to[j] -= factor * line[j];
    }
  }
}

/* y [count, n + 1, n]: L below the diagonal and U above, of the rows of x [count, n, n] in the order of row n. */
static inline void NAME(lu)(const void *xs, void *ys, int64_t count, int64_t n, int64_t tid, int64_t threads) {
  for (int64_t matrix = count * tid / threads; matrix < count * (tid + 1) / threads; matrix++) {
    T *y = (T *)ys + matrix * n * (n + 1), *order = y + n * n;
    memcpy(y, (const T *)xs + matrix * n * n, (size_t)(n * n) * sizeof(T));
    for (int64_t i = 0; i < n; i++) order[i] = (T)i;
    NAME(factor_columns)(y, n, 0, n, order);
  }
}

#undef NAME
#undef VECTOR
#undef LANES
#undef STRIP
