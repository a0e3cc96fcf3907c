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
    int64_t v12 = mlc_floordiv_i64((n), 8);
    int64_t v13 = v12 * (-8);
    int64_t v14 = v13 + (n);
    int64_t v15 = v12 * 88;
    f32x8 v16[8] = {mlc_load_n_f32x8(b0 + v15, v14 > 0 ? 8 : 0), mlc_load_n_f32x8(b0 + v15 + 11, v14 > 1 ? 8 : 0), mlc_load_n_f32x8(b0 + v15 + 22, v14 > 2 ? 8 : 0), mlc_load_n_f32x8(b0 + v15 + 33, v14 > 3 ? 8 : 0), mlc_load_n_f32x8(b0 + v15 + 44, v14 > 4 ? 8 : 0), mlc_load_n_f32x8(b0 + v15 + 55, v14 > 5 ? 8 : 0), mlc_load_n_f32x8(b0 + v15 + 66, v14 > 6 ? 8 : 0), mlc_load_n_f32x8(b0 + v15 + 77, v14 > 7 ? 8 : 0)};
    mlc_transpose_f32x8(v16);
    int64_t v17 = v12 * 8;
    mlc_store_n_f32x8(b1 + v17, v16[0], mlc_clamp(v14 - 0, 8));
    mlc_store_n_f32x8(b1 + v17 + 1 * (n), v16[1], mlc_clamp(v14 - 0, 8));
    mlc_store_n_f32x8(b1 + v17 + 2 * (n), v16[2], mlc_clamp(v14 - 0, 8));
    mlc_store_n_f32x8(b1 + v17 + 3 * (n), v16[3], mlc_clamp(v14 - 0, 8));
    mlc_store_n_f32x8(b1 + v17 + 4 * (n), v16[4], mlc_clamp(v14 - 0, 8));
    mlc_store_n_f32x8(b1 + v17 + 5 * (n), v16[5], mlc_clamp(v14 - 0, 8));
    mlc_store_n_f32x8(b1 + v17 + 6 * (n), v16[6], mlc_clamp(v14 - 0, 8));
    mlc_store_n_f32x8(b1 + v17 + 7 * (n), v16[7], mlc_clamp(v14 - 0, 8));
  }
  int64_t v18 = mlc_floordiv_i64((n), 8);
  const int64_t v19 = (v18 - 0);
  for (int64_t v20 = v19 * tid / threads; v20 < v19 * (tid + 1) / threads; v20++) {
    const int64_t v21 = 0 + v20;
    int64_t v22 = v21 * 88;
    int64_t v23 = v22 + 8;
    f32x8 v24[8] = {mlc_load_n_f32x8(b0 + v23, 3), mlc_load_n_f32x8(b0 + v23 + 11, 3), mlc_load_n_f32x8(b0 + v23 + 22, 3), mlc_load_n_f32x8(b0 + v23 + 33, 3), mlc_load_n_f32x8(b0 + v23 + 44, 3), mlc_load_n_f32x8(b0 + v23 + 55, 3), mlc_load_n_f32x8(b0 + v23 + 66, 3), mlc_load_n_f32x8(b0 + v23 + 77, 3)};
    mlc_transpose_f32x8(v24);
    int64_t v25 = (n) * 8;
    int64_t v26 = v21 * 8;
    int64_t v27 = v25 + v26;
    mlc_store_f32x8(b1 + v27, v24[0]);
    mlc_store_f32x8(b1 + v27 + 1 * (n), v24[1]);
    mlc_store_f32x8(b1 + v27 + 2 * (n), v24[2]);
  }
  int64_t v28 = mlc_floordiv_i64((n), 8);
  int64_t v29 = 8 * v28;
  int64_t v30 = v29 + 1;
  uint8_t v31 = (n) >= v30;
  if (v31) {
    int64_t v32 = mlc_floordiv_i64((n), 8);
    int64_t v33 = v32 * (-8);
    int64_t v34 = v33 + (n);
    int64_t v35 = v32 * 88;
    int64_t v36 = v35 + 8;
    f32x8 v37[8] = {mlc_load_n_f32x8(b0 + v36, v34 > 0 ? 3 : 0), mlc_load_n_f32x8(b0 + v36 + 11, v34 > 1 ? 3 : 0), mlc_load_n_f32x8(b0 + v36 + 22, v34 > 2 ? 3 : 0), mlc_load_n_f32x8(b0 + v36 + 33, v34 > 3 ? 3 : 0), mlc_load_n_f32x8(b0 + v36 + 44, v34 > 4 ? 3 : 0), mlc_load_n_f32x8(b0 + v36 + 55, v34 > 5 ? 3 : 0), mlc_load_n_f32x8(b0 + v36 + 66, v34 > 6 ? 3 : 0), mlc_load_n_f32x8(b0 + v36 + 77, v34 > 7 ? 3 : 0)};
    mlc_transpose_f32x8(v37);
    int64_t v38 = v32 * 8;
    int64_t v39 = (n) * 8;
    int64_t v40 = v38 + v39;
    mlc_store_n_f32x8(b1 + v40, v37[0], mlc_clamp(v34 - 0, 8));
    mlc_store_n_f32x8(b1 + v40 + 1 * (n), v37[1], mlc_clamp(v34 - 0, 8));
    mlc_store_n_f32x8(b1 + v40 + 2 * (n), v37[2], mlc_clamp(v34 - 0, 8));
  }
}
