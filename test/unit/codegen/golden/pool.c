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
          int64_t v22 = 0 * 8;
          int64_t v23 = v21 + v22;
          f32x8 v24_0 = mlc_load_f32x8(b0 + v23);
          f32x8 v24_1 = mlc_load_f32x8(b0 + v23 + 16);
          f32x8 v25_0 = mlc_maximum_f32x8(v11_0, v24_0);
          f32x8 v25_1 = mlc_maximum_f32x8(v11_1, v24_1);
          v11_0 = v25_0;
          v11_1 = v25_1;
        }
        v9_0 = v11_0;
        v9_1 = v11_1;
      }
      int64_t v26 = v5 * 160;
      int64_t v27 = v6 * 40;
      int64_t v28 = v26 + v27;
      int64_t v29 = v8 * 16;
      int64_t v30 = v28 + v29;
      int64_t v31 = 0 * 8;
      int64_t v32 = v30 + v31;
      mlc_store_f32x8(b1 + v32, v9_0);
      mlc_store_f32x8(b1 + v32 + 8, v9_1);
    }
    f32x8 v33 = mlc_fill_f32x8(-__builtin_inff());
    for (int64_t v34 = 0; v34 < 2; v34 += 1) {
      f32x8 v35 = v33;
      for (int64_t v36 = 0; v36 < 3; v36 += 1) {
        int64_t v37 = v34 * 88;
        int64_t v38 = v36 * 8;
        int64_t v39 = v37 + v38;
        int64_t v40 = v6 * 176;
        int64_t v41 = v39 + v40;
        int64_t v42 = 0 * 16;
        int64_t v43 = v41 + v42;
        int64_t v44 = 0 * 8;
        int64_t v45 = v43 + v44;
        int64_t v46 = v5 * 792;
        int64_t v47 = v45 + v46;
        int64_t v48 = v47 + 64;
        f32x8 v49 = mlc_load_f32x8(b0 + v48);
        f32x8 v50 = mlc_maximum_f32x8(v35, v49);
        v35 = v50;
      }
      v33 = v35;
    }
    int64_t v51 = v6 * 40;
    int64_t v52 = 0 * 8;
    int64_t v53 = v51 + v52;
    int64_t v54 = v53 + v52;
    int64_t v55 = v5 * 160;
    int64_t v56 = v54 + v55;
    int64_t v57 = v56 + 32;
    mlc_store_f32x8(b1 + v57, v33);
  }
}
