void gather(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const _Float16 *restrict b0 = buf[0];
  const int64_t *restrict b1 = buf[1];
  _Float16 *restrict b2 = buf[2];
  const int64_t v1 = (7 - 0);
  for (int64_t v2 = v1 * tid / threads; v2 < v1 * (tid + 1) / threads; v2++) {
    const int64_t v3 = 0 + v2;
    int64_t v4 = b1[v3];
    i64x8 v5 = (i64x8){0, 1, 2, 3, 4, 5, 6, 7};
    int64_t v6 = (int64_t)0;
    int64_t v7 = (int64_t)12;
    int64_t v8 = v4 * v7;
    int64_t v9 = v8 + v6;
    f16x8 v10 = mlc_load_f16x8(b0 + v9 + 0);
    int64_t v11 = v3 * 12;
    mlc_store_f16x8(b2 + v11, v10);
    int64_t v12 = b1[v3];
    int64_t v13 = (int64_t)8;
    i64x4 v14 = mlc_fill_i64x4(v13);
    i64x4 v15 = (i64x4){0, 1, 2, 3};
    i64x4 v16 = v14 + v15;
    int64_t v17 = (int64_t)8;
    int64_t v18 = (int64_t)12;
    int64_t v19 = v12 * v18;
    int64_t v20 = v19 + v17;
    f16x4 v21 = mlc_load_f16x4(b0 + v20 + 0);
    int64_t v22 = v11 + 8;
    mlc_store_f16x4(b2 + v22, v21);
  }
}
