void gather(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const _Float16 *restrict b0 = buf[0];
  const int64_t *restrict b1 = buf[1];
  _Float16 *restrict b2 = buf[2];
  int64_t v1 = 6 + 1;
  const int64_t v2 = (v1 - 0);
  for (int64_t v3 = v2 * tid / threads; v3 < v2 * (tid + 1) / threads; v3++) {
    const int64_t v4 = 0 + v3;
    int64_t v5 = b1[v4];
    i64x8 v6 = (i64x8){0, 1, 2, 3, 4, 5, 6, 7};
    int64_t v7 = (int64_t)0;
    int64_t v8 = (int64_t)12;
    int64_t v9 = v5 * v8;
    int64_t v10 = v9 + v7;
    f16x8 v11 = mlc_load_f16x8(b0 + v10 + 0);
    int64_t v12 = v4 * 12;
    mlc_store_f16x8(b2 + v12, v11);
    int64_t v13 = b1[v4];
    int64_t v14 = (int64_t)8;
    i64x4 v15 = mlc_fill_i64x4(v14);
    i64x4 v16 = (i64x4){0, 1, 2, 3};
    i64x4 v17 = v15 + v16;
    int64_t v18 = (int64_t)8;
    int64_t v19 = (int64_t)12;
    int64_t v20 = v13 * v19;
    int64_t v21 = v20 + v18;
    f16x4 v22 = mlc_load_f16x4(b0 + v21 + 0);
    int64_t v23 = v12 + 8;
    mlc_store_f16x4(b2 + v23, v22);
  }
}
