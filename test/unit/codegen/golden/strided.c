void strided(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const float *restrict b0 = buf[0];
  float *restrict b1 = buf[1];
  int64_t v1 = 1 + 1;
  int64_t v2 = 3 + 1;
  const int64_t v3 = (v1 - 0) * (v2 - 0);
  for (int64_t v4 = v3 * tid / threads; v4 < v3 * (tid + 1) / threads; v4++) {
    const int64_t v5 = 0 + v4 / ((v2 - 0));
    const int64_t v6 = 0 + v4 % (v2 - 0);
    int64_t v7 = v5 * 207;
    int64_t v8 = v6 * 46;
    int64_t v9 = v7 + v8;
    f32x8 v10 = mlc_load_every_2_f32x8(b0 + v9);
    f32x8 v11 = mlc_maximum_f32x8(v10, mlc_fill_f32x8(-__builtin_inff()));
    f32x8 v12 = MLC_SHUFFLE(f32x8, 8, mlc_load_f32x8(b0 + v9), mlc_load_f32x8(b0 + v9 + 8), 1, 3, 5, 7, 9, 11, 13, 15);
    f32x8 v13 = mlc_maximum_f32x8(v12, v11);
    int64_t v14 = v9 + 23;
    f32x8 v15 = mlc_load_every_2_f32x8(b0 + v14);
    f32x8 v16 = mlc_maximum_f32x8(v15, v13);
    f32x8 v17 = MLC_SHUFFLE(f32x8, 8, mlc_load_f32x8(b0 + v14), mlc_load_f32x8(b0 + v14 + 8), 1, 3, 5, 7, 9, 11, 13, 15);
    f32x8 v18 = mlc_maximum_f32x8(v17, v16);
    int64_t v19 = v5 * 44;
    int64_t v20 = v6 * 11;
    int64_t v21 = v19 + v20;
    mlc_store_f32x8(b1 + v21, v18);
    int64_t v22 = v9 + 16;
    f32x4 v23 = mlc_load_every_2_n_f32x4(b0 + v22, 3);
    f32x4 v24 = mlc_maximum_f32x4(v23, mlc_fill_f32x4(-__builtin_inff()));
    f32x4 v25 = mlc_load_every_2_n_f32x4(b0 + v22 + 1, 3);
    f32x4 v26 = mlc_maximum_f32x4(v25, v24);
    int64_t v27 = v9 + 39;
    f32x4 v28 = mlc_load_every_2_n_f32x4(b0 + v27, 3);
    f32x4 v29 = mlc_maximum_f32x4(v28, v26);
    f32x4 v30 = mlc_load_every_2_n_f32x4(b0 + v27 + 1, 3);
    f32x4 v31 = mlc_maximum_f32x4(v30, v29);
    int64_t v32 = v21 + 8;
    mlc_store_n_f32x4(b1 + v32, v31, 3);
  }
}
