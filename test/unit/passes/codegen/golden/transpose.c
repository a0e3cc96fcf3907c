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
  int64_t v8 = 8 * v1;
  int64_t v9 = v8 + 1;
  uint8_t v10 = (n) >= v9;
  int64_t v11 = v1 * (-8);
  int64_t v12 = v11 + (n);
  int64_t v13 = v1 * 88;
  int64_t v14 = v1 * 8;
  if (v10) {
    const int64_t v15 = (1 - 0);
    for (int64_t v16 = v15 * tid / threads; v16 < v15 * (tid + 1) / threads; v16++) {
      const int64_t v17 = 0 + v16;
      f32x8 v18[8] = {mlc_load_n_f32x8(b0 + v13, v12 > 0 ? 8 : 0), mlc_load_n_f32x8(b0 + v13 + 11, v12 > 1 ? 8 : 0), mlc_load_n_f32x8(b0 + v13 + 22, v12 > 2 ? 8 : 0), mlc_load_n_f32x8(b0 + v13 + 33, v12 > 3 ? 8 : 0), mlc_load_n_f32x8(b0 + v13 + 44, v12 > 4 ? 8 : 0), mlc_load_n_f32x8(b0 + v13 + 55, v12 > 5 ? 8 : 0), mlc_load_n_f32x8(b0 + v13 + 66, v12 > 6 ? 8 : 0), mlc_load_n_f32x8(b0 + v13 + 77, v12 > 7 ? 8 : 0)};
      mlc_transpose_f32x8(v18);
      mlc_store_n_f32x8(b1 + v14, v18[0], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v14 + 1 * (n), v18[1], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v14 + 2 * (n), v18[2], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v14 + 3 * (n), v18[3], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v14 + 4 * (n), v18[4], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v14 + 5 * (n), v18[5], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v14 + 6 * (n), v18[6], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v14 + 7 * (n), v18[7], mlc_clamp(v12 - 0, 8));
    }
  }
  int64_t v19 = (n) * 8;
  const int64_t v20 = (v1 - 0);
  for (int64_t v21 = v20 * tid / threads; v21 < v20 * (tid + 1) / threads; v21++) {
    const int64_t v22 = 0 + v21;
    int64_t v23 = v22 * 88;
    int64_t v24 = v23 + 8;
    f32x8 v25[8] = {mlc_load_n_f32x8(b0 + v24, 3), mlc_load_n_f32x8(b0 + v24 + 11, 3), mlc_load_n_f32x8(b0 + v24 + 22, 3), mlc_load_n_f32x8(b0 + v24 + 33, 3), mlc_load_n_f32x8(b0 + v24 + 44, 3), mlc_load_n_f32x8(b0 + v24 + 55, 3), mlc_load_n_f32x8(b0 + v24 + 66, 3), mlc_load_n_f32x8(b0 + v24 + 77, 3)};
    mlc_transpose_f32x8(v25);
    int64_t v26 = v22 * 8;
    int64_t v27 = v19 + v26;
    mlc_store_f32x8(b1 + v27, v25[0]);
    mlc_store_f32x8(b1 + v27 + 1 * (n), v25[1]);
    mlc_store_f32x8(b1 + v27 + 2 * (n), v25[2]);
  }
  uint8_t v28 = (n) >= v9;
  int64_t v29 = v13 + 8;
  int64_t v30 = v1 + (n);
  int64_t v31 = v30 * 8;
  if (v28) {
    const int64_t v32 = (1 - 0);
    for (int64_t v33 = v32 * tid / threads; v33 < v32 * (tid + 1) / threads; v33++) {
      const int64_t v34 = 0 + v33;
      f32x8 v35[8] = {mlc_load_n_f32x8(b0 + v29, v12 > 0 ? 3 : 0), mlc_load_n_f32x8(b0 + v29 + 11, v12 > 1 ? 3 : 0), mlc_load_n_f32x8(b0 + v29 + 22, v12 > 2 ? 3 : 0), mlc_load_n_f32x8(b0 + v29 + 33, v12 > 3 ? 3 : 0), mlc_load_n_f32x8(b0 + v29 + 44, v12 > 4 ? 3 : 0), mlc_load_n_f32x8(b0 + v29 + 55, v12 > 5 ? 3 : 0), mlc_load_n_f32x8(b0 + v29 + 66, v12 > 6 ? 3 : 0), mlc_load_n_f32x8(b0 + v29 + 77, v12 > 7 ? 3 : 0)};
      mlc_transpose_f32x8(v35);
      mlc_store_n_f32x8(b1 + v31, v35[0], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v31 + 1 * (n), v35[1], mlc_clamp(v12 - 0, 8));
      mlc_store_n_f32x8(b1 + v31 + 2 * (n), v35[2], mlc_clamp(v12 - 0, 8));
    }
  }
}
