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
    int64_t v12 = v9 + 1;
    f32x8 v13 = mlc_load_every_2_f32x8(b0 + v12);
    f32x8 v14 = mlc_maximum_f32x8(v13, v11);
    int64_t v15 = v9 + 23;
    f32x8 v16 = mlc_load_every_2_f32x8(b0 + v15);
    f32x8 v17 = mlc_maximum_f32x8(v16, v14);
    int64_t v18 = v9 + 24;
    f32x8 v19 = mlc_load_every_2_f32x8(b0 + v18);
    f32x8 v20 = mlc_maximum_f32x8(v19, v17);
    int64_t v21 = v5 * 44;
    int64_t v22 = v6 * 11;
    int64_t v23 = v21 + v22;
    mlc_store_f32x8(b1 + v23, v20);
    int64_t v24 = v9 + 16;
    f32x4 v25 = mlc_load_every_2_n_f32x4(b0 + v24, 3);
    f32x4 v26 = mlc_maximum_f32x4(v25, mlc_fill_f32x4(-__builtin_inff()));
    int64_t v27 = v9 + 17;
    f32x4 v28 = mlc_load_every_2_n_f32x4(b0 + v27, 3);
    f32x4 v29 = mlc_maximum_f32x4(v28, v26);
    int64_t v30 = v9 + 39;
    f32x4 v31 = mlc_load_every_2_n_f32x4(b0 + v30, 3);
    f32x4 v32 = mlc_maximum_f32x4(v31, v29);
    int64_t v33 = v9 + 40;
    f32x4 v34 = mlc_load_every_2_n_f32x4(b0 + v33, 3);
    f32x4 v35 = mlc_maximum_f32x4(v34, v32);
    int64_t v36 = v23 + 8;
    mlc_store_n_f32x4(b1 + v36, v35, 3);
  }
}
