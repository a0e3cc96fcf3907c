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
    i64x8 v10 = mlc_fill_i64x8(v5);
    int64_t v11 = (int64_t)12;
    i64x8 v12 = mlc_fill_i64x8(v11);
    i64x8 v13 = v10 * v12;
    i64x8 v14 = v13 + v9;
    f16x8 v15 = (f16x8){b0[v14[0]], b0[v14[1]], b0[v14[2]], b0[v14[3]], b0[v14[4]], b0[v14[5]], b0[v14[6]], b0[v14[7]]};
    int64_t v16 = v4 * 12;
    mlc_store_f16x8(b2 + v16, v15);
    int64_t v17 = b1[v4];
    int64_t v18 = (int64_t)1;
    i64x4 v19 = mlc_fill_i64x4(v18);
    i64x4 v20 = (i64x4){0, 1, 2, 3};
    i64x4 v21 = v19 * v20;
    int64_t v22 = (int64_t)8;
    i64x4 v23 = mlc_fill_i64x4(v22);
    i64x4 v24 = v21 + v23;
    i64x4 v25 = mlc_fill_i64x4(v17);
    int64_t v26 = (int64_t)12;
    i64x4 v27 = mlc_fill_i64x4(v26);
    i64x4 v28 = v25 * v27;
    i64x4 v29 = v28 + v24;
    f16x4 v30 = (f16x4){b0[v29[0]], b0[v29[1]], b0[v29[2]], b0[v29[3]]};
    int64_t v31 = v16 + 8;
    mlc_store_f16x4(b2 + v31, v30);
  }
}
