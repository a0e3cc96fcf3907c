void pool(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const float *restrict b0 = buf[0];
  float *restrict b1 = buf[1];
  int64_t v1 = 1 + 1;
  int64_t v2 = 3 + 1;
  const int64_t v3 = (v1 - 0) * (v2 - 0);
  for (int64_t v4 = v3 * tid / threads; v4 < v3 * (tid + 1) / threads; v4++) {
    const int64_t v5 = 0 + v4 / ((v2 - 0));
    const int64_t v6 = 0 + v4 % (v2 - 0);
    int64_t v7 = 1 + 1;
    for (int64_t v8 = 0; v8 < v7; v8 += 1) {
      f32x8 v9_0 = mlc_fill_f32x8(-__builtin_inff());
      f32x8 v9_1 = mlc_fill_f32x8(-__builtin_inff());
      for (int64_t v10 = 0; v10 < 2; v10 += 1) {
        f32x8 v11_0 = v9_0;
        f32x8 v11_1 = v9_1;
        for (int64_t v12 = 0; v12 < 3; v12 += 1) {
          int64_t v13 = v10 * 88;
          int64_t v14 = v12 * 8;
          int64_t v15 = v13 + v14;
          int64_t v16 = v5 * 792;
          int64_t v17 = v15 + v16;
          int64_t v18 = v6 * 176;
          int64_t v19 = v17 + v18;
          int64_t v20 = v8 * 32;
          int64_t v21 = v19 + v20;
          f32x8 v22_0 = mlc_load_f32x8(b0 + v21);
          f32x8 v22_1 = mlc_load_f32x8(b0 + v21 + 16);
          f32x8 v23_0 = mlc_maximum_f32x8(v11_0, v22_0);
          f32x8 v23_1 = mlc_maximum_f32x8(v11_1, v22_1);
          v11_0 = v23_0;
          v11_1 = v23_1;
        }
        v9_0 = v11_0;
        v9_1 = v11_1;
      }
      int64_t v24 = v5 * 160;
      int64_t v25 = v6 * 40;
      int64_t v26 = v24 + v25;
      int64_t v27 = v8 * 16;
      int64_t v28 = v26 + v27;
      mlc_store_f32x8(b1 + v28, v9_0);
      mlc_store_f32x8(b1 + v28 + 8, v9_1);
    }
    f32x8 v29 = mlc_fill_f32x8(-__builtin_inff());
    for (int64_t v30 = 0; v30 < 2; v30 += 1) {
      f32x8 v31 = v29;
      for (int64_t v32 = 0; v32 < 3; v32 += 1) {
        int64_t v33 = v30 * 88;
        int64_t v34 = v32 * 8;
        int64_t v35 = v33 + v34;
        int64_t v36 = v5 * 792;
        int64_t v37 = v35 + v36;
        int64_t v38 = v6 * 176;
        int64_t v39 = v37 + v38;
        int64_t v40 = v39 + 64;
        f32x8 v41 = mlc_load_f32x8(b0 + v40);
        f32x8 v42 = mlc_maximum_f32x8(v31, v41);
        v31 = v42;
      }
      v29 = v31;
    }
    int64_t v43 = v5 * 160;
    int64_t v44 = v6 * 40;
    int64_t v45 = v43 + v44;
    int64_t v46 = v45 + 32;
    mlc_store_f32x8(b1 + v46, v29);
  }
}
