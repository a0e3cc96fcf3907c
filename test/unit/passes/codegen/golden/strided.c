void strided(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const float *restrict b0 = buf[0];
  float *restrict b1 = buf[1];
  const int64_t v1 = (2 - 0) * (4 - 0);
  for (int64_t v2 = v1 * tid / threads; v2 < v1 * (tid + 1) / threads; v2++) {
    const int64_t v3 = 0 + v2 / ((4 - 0));
    const int64_t v4 = 0 + v2 % (4 - 0);
    int64_t v5 = v3 * 207;
    int64_t v6 = v4 * 46;
    int64_t v7 = v5 + v6;
    f32x8 v8 = mlc_load_every_2_f32x8(b0 + v7);
    f32x8 v9 = mlc_maximum_f32x8(v8, mlc_fill_f32x8(-__builtin_inff()));
    f32x8 v10 = MLC_SHUFFLE(f32x8, 8, mlc_load_f32x8(b0 + v7), mlc_load_f32x8(b0 + v7 + 8), 1, 3, 5, 7, 9, 11, 13, 15);
    f32x8 v11 = mlc_maximum_f32x8(v10, v9);
    int64_t v12 = v7 + 23;
    f32x8 v13 = mlc_load_every_2_f32x8(b0 + v12);
    f32x8 v14 = mlc_maximum_f32x8(v13, v11);
    f32x8 v15 = MLC_SHUFFLE(f32x8, 8, mlc_load_f32x8(b0 + v12), mlc_load_f32x8(b0 + v12 + 8), 1, 3, 5, 7, 9, 11, 13, 15);
    f32x8 v16 = mlc_maximum_f32x8(v15, v14);
    int64_t v17 = v3 * 44;
    int64_t v18 = v4 * 11;
    int64_t v19 = v17 + v18;
    mlc_store_f32x8(b1 + v19, v16);
    int64_t v20 = v7 + 16;
    f32x4 v21 = mlc_load_every_2_n_f32x4(b0 + v20, 3);
    f32x4 v22 = mlc_maximum_f32x4(v21, mlc_fill_f32x4(-__builtin_inff()));
    f32x4 v23 = mlc_load_every_2_n_f32x4(b0 + v20 + 1, 3);
    f32x4 v24 = mlc_maximum_f32x4(v23, v22);
    int64_t v25 = v7 + 39;
    f32x4 v26 = mlc_load_every_2_n_f32x4(b0 + v25, 3);
    f32x4 v27 = mlc_maximum_f32x4(v26, v24);
    f32x4 v28 = mlc_load_every_2_n_f32x4(b0 + v25 + 1, 3);
    f32x4 v29 = mlc_maximum_f32x4(v28, v27);
    int64_t v30 = v19 + 8;
    mlc_store_n_f32x4(b1 + v30, v29, 3);
  }
}
