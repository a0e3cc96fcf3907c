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
    int64_t v6 = (int64_t)1;
    i64x8 v7 = mlc_fill_i64x8(v6);
    i64x8 v8 = (i64x8){0, 1, 2, 3, 4, 5, 6, 7};
    i64x8 v9 = v7 * v8;
    int64_t v10 = (int64_t)0;
    int64_t v11 = (int64_t)12;
    int64_t v12 = v5 * v11;
    int64_t v13 = v12 + v10;
    f16x8 v14 = mlc_load_f16x8(b0 + v13 + 0);
    int64_t v15 = v4 * 12;
    mlc_store_f16x8(b2 + v15, v14);
    int64_t v16 = b1[v4];
    int64_t v17 = (int64_t)1;
    i64x4 v18 = mlc_fill_i64x4(v17);
    i64x4 v19 = (i64x4){0, 1, 2, 3};
    i64x4 v20 = v18 * v19;
    int64_t v21 = (int64_t)8;
    i64x4 v22 = mlc_fill_i64x4(v21);
    i64x4 v23 = v20 + v22;
    int64_t v24 = (int64_t)8;
    int64_t v25 = (int64_t)12;
    int64_t v26 = v16 * v25;
    int64_t v27 = v26 + v24;
    f16x4 v28 = mlc_load_f16x4(b0 + v27 + 0);
    int64_t v29 = v15 + 8;
    mlc_store_f16x4(b2 + v29, v28);
  }
}
