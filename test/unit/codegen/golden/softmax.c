void softmax(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const float *restrict b0 = buf[0];
  float *restrict b1 = buf[1];
  const int64_t batch = dim[0];
  _Alignas(64) float v1[21];
  const int64_t v2 = ((batch) - 0);
  for (int64_t v3 = v2 * tid / threads; v3 < v2 * (tid + 1) / threads; v3++) {
    const int64_t v4 = 0 + v3;
    f32x8 v5_0 = mlc_fill_f32x8(-__builtin_inff());
    f32x8 v5_1 = mlc_fill_f32x8(-__builtin_inff());
    for (int64_t v6 = 0; v6 < 16; v6 += 16) {
      int64_t v7 = v4 * 21;
      int64_t v8 = v6 + v7;
      f32x8 v9_0 = mlc_load_f32x8(b0 + v8);
      f32x8 v9_1 = mlc_load_f32x8(b0 + v8 + 8);
      f32x8 v10_0 = mlc_maximum_f32x8(v5_0, v9_0);
      f32x8 v10_1 = mlc_maximum_f32x8(v5_1, v9_1);
      v5_0 = v10_0;
      v5_1 = v10_1;
    }
    float v11 = mlc_maximum_f32(mlc_reduce_maximum_f32x8(v5_0), mlc_reduce_maximum_f32x8(v5_1));
    f32x8 v12 = mlc_fill_f32x8(-__builtin_inff());
    for (int64_t v13 = 16; v13 < 21; v13 += 5) {
      int64_t v14 = v4 * 21;
      int64_t v15 = v13 + v14;
      f32x8 v16 = mlc_load_n_f32x8(b0 + v15, 5);
      f32x8 v17 = mlc_maximum_f32x8(v12, v16);
      v12 = v17;
    }
    float v18 = (mlc_maximum_f32((mlc_maximum_f32((mlc_maximum_f32((mlc_maximum_f32(v12[0], v12[1])), v12[2])), v12[3])), v12[4]));
    float v19 = mlc_maximum_f32(v11, v18);
    for (int64_t v20 = 0; v20 < 16; v20 += 16) {
      int64_t v21 = v4 * 21;
      int64_t v22 = v20 + v21;
      f32x8 v23_0 = mlc_load_f32x8(b0 + v22);
      f32x8 v23_1 = mlc_load_f32x8(b0 + v22 + 8);
      f32x8 v24 = mlc_fill_f32x8(v19);
      f32x8 v25_0 = v23_0 - v24;
      f32x8 v25_1 = v23_1 - v24;
      f32x8 v26_0 = mlc_exp_f32x8(v25_0);
      f32x8 v26_1 = mlc_exp_f32x8(v25_1);
      mlc_store_f32x8(v1 + v20, v26_0);
      mlc_store_f32x8(v1 + v20 + 8, v26_1);
    }
    for (int64_t v27 = 16; v27 < 21; v27 += 5) {
      int64_t v28 = v4 * 21;
      int64_t v29 = v27 + v28;
      f32x8 v30 = mlc_load_n_f32x8(b0 + v29, 5);
      f32x8 v31 = mlc_fill_f32x8(v19);
      f32x8 v32 = v30 - v31;
      f32x8 v33 = mlc_exp_f32x8(v32);
      mlc_store_n_f32x8(v1 + v27, v33, 5);
    }
    f32x8 v34 = mlc_fill_f32x8(0.0f);
    f32x8 v35_0 = v34;
    f32x8 v35_1 = v34;
    for (int64_t v36 = 0; v36 < 16; v36 += 16) {
      f32x8 v37_0 = mlc_load_f32x8(v1 + v36);
      f32x8 v37_1 = mlc_load_f32x8(v1 + v36 + 8);
      f32x8 v38_0 = v35_0 + v37_0;
      f32x8 v38_1 = v35_1 + v37_1;
      v35_0 = v38_0;
      v35_1 = v38_1;
    }
    float v39 = mlc_reduce_add_f32x8(v35_0) + mlc_reduce_add_f32x8(v35_1);
    f32x8 v40 = mlc_fill_f32x8(0.0f);
    f32x8 v41 = v40;
    for (int64_t v42 = 16; v42 < 21; v42 += 5) {
      f32x8 v43 = mlc_load_n_f32x8(v1 + v42, 5);
      f32x8 v44 = v41 + v43;
      v41 = v44;
    }
    float v45 = ((((v41[0] + v41[1]) + v41[2]) + v41[3]) + v41[4]);
    float v46 = v39 + v45;
    for (int64_t v47 = 0; v47 < 16; v47 += 16) {
      f32x8 v48_0 = mlc_load_f32x8(v1 + v47);
      f32x8 v48_1 = mlc_load_f32x8(v1 + v47 + 8);
      f32x8 v49 = mlc_fill_f32x8(v46);
      f32x8 v50_0 = v48_0 / v49;
      f32x8 v50_1 = v48_1 / v49;
      int64_t v51 = v4 * 21;
      int64_t v52 = v47 + v51;
      mlc_store_f32x8(b1 + v52, v50_0);
      mlc_store_f32x8(b1 + v52 + 8, v50_1);
    }
    for (int64_t v53 = 16; v53 < 21; v53 += 5) {
      f32x8 v54 = mlc_load_n_f32x8(v1 + v53, 5);
      f32x8 v55 = mlc_fill_f32x8(v46);
      f32x8 v56 = v54 / v55;
      int64_t v57 = v4 * 21;
      int64_t v58 = v53 + v57;
      mlc_store_n_f32x8(b1 + v58, v56, 5);
    }
  }
}
