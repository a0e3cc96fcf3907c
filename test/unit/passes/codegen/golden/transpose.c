void transpose(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const float *restrict b0 = buf[0];
  float *restrict b1 = buf[1];
  const int64_t n = dim[0];
  int64_t v1 = mlc_floordiv_i64((n), 8);
  const int64_t v2 = (v1 - 0);
  for (int64_t v3 = v2 * tid / threads; v3 < v2 * (tid + 1) / threads; v3++) {
    const int64_t v4 = 0 + v3;
    int64_t v5 = v4 * 88;
    f32x8 v6[8] = {mlc_load_f32x8(b0 + v5), mlc_load_f32x8(b0 + v5 + 11), mlc_load_f32x8(b0 + v5 + 22), mlc_load_f32x8(b0 + v5 + 33), mlc_load_f32x8(b0 + v5 + 44), mlc_load_f32x8(b0 + v5 + 55), mlc_load_f32x8(b0 + v5 + 66), mlc_load_f32x8(b0 + v5 + 77)};
    mlc_transpose_f32x8(v6);
    int64_t v7 = v4 * 8;
    mlc_store_f32x8(b1 + v7, v6[0]);
    mlc_store_f32x8(b1 + v7 + 1 * (n), v6[1]);
    mlc_store_f32x8(b1 + v7 + 2 * (n), v6[2]);
    mlc_store_f32x8(b1 + v7 + 3 * (n), v6[3]);
    mlc_store_f32x8(b1 + v7 + 4 * (n), v6[4]);
    mlc_store_f32x8(b1 + v7 + 5 * (n), v6[5]);
    mlc_store_f32x8(b1 + v7 + 6 * (n), v6[6]);
    mlc_store_f32x8(b1 + v7 + 7 * (n), v6[7]);
  }
  int64_t v8 = mlc_floordiv_i64((n), 8);
  int64_t v9 = 8 * v8;
  int64_t v10 = v9 + 1;
  uint8_t v11 = (n) >= v10;
  if (v11) {
    const int64_t v12 = (1 - 0);
    for (int64_t v13 = v12 * tid / threads; v13 < v12 * (tid + 1) / threads; v13++) {
      const int64_t v14 = 0 + v13;
      int64_t v15 = mlc_floordiv_i64((n), 8);
      int64_t v16 = v15 * (-8);
      int64_t v17 = v16 + (n);
      int64_t v18 = v15 * 88;
      f32x8 v19[8] = {mlc_load_n_f32x8(b0 + v18, v17 > 0 ? 8 : 0), mlc_load_n_f32x8(b0 + v18 + 11, v17 > 1 ? 8 : 0), mlc_load_n_f32x8(b0 + v18 + 22, v17 > 2 ? 8 : 0), mlc_load_n_f32x8(b0 + v18 + 33, v17 > 3 ? 8 : 0), mlc_load_n_f32x8(b0 + v18 + 44, v17 > 4 ? 8 : 0), mlc_load_n_f32x8(b0 + v18 + 55, v17 > 5 ? 8 : 0), mlc_load_n_f32x8(b0 + v18 + 66, v17 > 6 ? 8 : 0), mlc_load_n_f32x8(b0 + v18 + 77, v17 > 7 ? 8 : 0)};
      mlc_transpose_f32x8(v19);
      int64_t v20 = v15 * 8;
      mlc_store_n_f32x8(b1 + v20, v19[0], mlc_clamp(v17 - 0, 8));
      mlc_store_n_f32x8(b1 + v20 + 1 * (n), v19[1], mlc_clamp(v17 - 0, 8));
      mlc_store_n_f32x8(b1 + v20 + 2 * (n), v19[2], mlc_clamp(v17 - 0, 8));
      mlc_store_n_f32x8(b1 + v20 + 3 * (n), v19[3], mlc_clamp(v17 - 0, 8));
      mlc_store_n_f32x8(b1 + v20 + 4 * (n), v19[4], mlc_clamp(v17 - 0, 8));
      mlc_store_n_f32x8(b1 + v20 + 5 * (n), v19[5], mlc_clamp(v17 - 0, 8));
      mlc_store_n_f32x8(b1 + v20 + 6 * (n), v19[6], mlc_clamp(v17 - 0, 8));
      mlc_store_n_f32x8(b1 + v20 + 7 * (n), v19[7], mlc_clamp(v17 - 0, 8));
    }
  }
  int64_t v21 = mlc_floordiv_i64((n), 8);
  const int64_t v22 = (v21 - 0);
  for (int64_t v23 = v22 * tid / threads; v23 < v22 * (tid + 1) / threads; v23++) {
    const int64_t v24 = 0 + v23;
    int64_t v25 = v24 * 88;
    int64_t v26 = v25 + 8;
    f32x8 v27[8] = {mlc_load_n_f32x8(b0 + v26, 3), mlc_load_n_f32x8(b0 + v26 + 11, 3), mlc_load_n_f32x8(b0 + v26 + 22, 3), mlc_load_n_f32x8(b0 + v26 + 33, 3), mlc_load_n_f32x8(b0 + v26 + 44, 3), mlc_load_n_f32x8(b0 + v26 + 55, 3), mlc_load_n_f32x8(b0 + v26 + 66, 3), mlc_load_n_f32x8(b0 + v26 + 77, 3)};
    mlc_transpose_f32x8(v27);
    int64_t v28 = (n) * 8;
    int64_t v29 = v24 * 8;
    int64_t v30 = v28 + v29;
    mlc_store_f32x8(b1 + v30, v27[0]);
    mlc_store_f32x8(b1 + v30 + 1 * (n), v27[1]);
    mlc_store_f32x8(b1 + v30 + 2 * (n), v27[2]);
  }
  int64_t v31 = mlc_floordiv_i64((n), 8);
  int64_t v32 = 8 * v31;
  int64_t v33 = v32 + 1;
  uint8_t v34 = (n) >= v33;
  if (v34) {
    const int64_t v35 = (1 - 0);
    for (int64_t v36 = v35 * tid / threads; v36 < v35 * (tid + 1) / threads; v36++) {
      const int64_t v37 = 0 + v36;
      int64_t v38 = mlc_floordiv_i64((n), 8);
      int64_t v39 = v38 * (-8);
      int64_t v40 = v39 + (n);
      int64_t v41 = v38 * 88;
      int64_t v42 = v41 + 8;
      f32x8 v43[8] = {mlc_load_n_f32x8(b0 + v42, v40 > 0 ? 3 : 0), mlc_load_n_f32x8(b0 + v42 + 11, v40 > 1 ? 3 : 0), mlc_load_n_f32x8(b0 + v42 + 22, v40 > 2 ? 3 : 0), mlc_load_n_f32x8(b0 + v42 + 33, v40 > 3 ? 3 : 0), mlc_load_n_f32x8(b0 + v42 + 44, v40 > 4 ? 3 : 0), mlc_load_n_f32x8(b0 + v42 + 55, v40 > 5 ? 3 : 0), mlc_load_n_f32x8(b0 + v42 + 66, v40 > 6 ? 3 : 0), mlc_load_n_f32x8(b0 + v42 + 77, v40 > 7 ? 3 : 0)};
      mlc_transpose_f32x8(v43);
      int64_t v44 = v38 * 8;
      int64_t v45 = (n) * 8;
      int64_t v46 = v44 + v45;
      mlc_store_n_f32x8(b1 + v46, v43[0], mlc_clamp(v40 - 0, 8));
      mlc_store_n_f32x8(b1 + v46 + 1 * (n), v43[1], mlc_clamp(v40 - 0, 8));
      mlc_store_n_f32x8(b1 + v46 + 2 * (n), v43[2], mlc_clamp(v40 - 0, 8));
    }
  }
}
