void transpose(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const float *restrict b0 = buf[0];
  float *restrict b1 = buf[1];
  const int64_t n = dim[0];
  int64_t v1 = mlc_floordiv_i64((n), 8);
  const int64_t v2 = (v1 - 0);
  for (int64_t v3 = v2 * tid / threads; v3 < v2 * (tid + 1) / threads; v3++) {
    const int64_t v4 = 0 + v3;
    int64_t v5 = 0 * 8;
    int64_t v6 = v4 * 88;
    int64_t v7 = v5 + v6;
    f32x8 v8[8] = {mlc_load_f32x8(b0 + v7), mlc_load_f32x8(b0 + v7 + 11), mlc_load_f32x8(b0 + v7 + 22), mlc_load_f32x8(b0 + v7 + 33), mlc_load_f32x8(b0 + v7 + 44), mlc_load_f32x8(b0 + v7 + 55), mlc_load_f32x8(b0 + v7 + 66), mlc_load_f32x8(b0 + v7 + 77)};
    mlc_transpose_f32x8(v8);
    int64_t v9 = (n) * 0;
    int64_t v10 = v9 * 8;
    int64_t v11 = v4 * 8;
    int64_t v12 = v10 + v11;
    mlc_store_f32x8(b1 + v12, v8[0]);
    mlc_store_f32x8(b1 + v12 + 1 * (n), v8[1]);
    mlc_store_f32x8(b1 + v12 + 2 * (n), v8[2]);
    mlc_store_f32x8(b1 + v12 + 3 * (n), v8[3]);
    mlc_store_f32x8(b1 + v12 + 4 * (n), v8[4]);
    mlc_store_f32x8(b1 + v12 + 5 * (n), v8[5]);
    mlc_store_f32x8(b1 + v12 + 6 * (n), v8[6]);
    mlc_store_f32x8(b1 + v12 + 7 * (n), v8[7]);
  }
  int64_t v13 = mlc_floordiv_i64((n), 8);
  int64_t v14 = 8 * v13;
  int64_t v15 = v14 + 1;
  uint8_t v16 = (n) >= v15;
  if (v16) {
    int64_t v17 = mlc_floordiv_i64((n), 8);
    int64_t v18 = v17 * (-8);
    int64_t v19 = v18 + (n);
    int64_t v20 = v17 * 88;
    int64_t v21 = 0 * 8;
    int64_t v22 = v20 + v21;
    int64_t v23 = 0 * 88;
    int64_t v24 = v22 + v23;
    f32x8 v25[8] = {mlc_load_n_f32x8(b0 + v24, v19 > 0 ? 8 : 0), mlc_load_n_f32x8(b0 + v24 + 11, v19 > 1 ? 8 : 0), mlc_load_n_f32x8(b0 + v24 + 22, v19 > 2 ? 8 : 0), mlc_load_n_f32x8(b0 + v24 + 33, v19 > 3 ? 8 : 0), mlc_load_n_f32x8(b0 + v24 + 44, v19 > 4 ? 8 : 0), mlc_load_n_f32x8(b0 + v24 + 55, v19 > 5 ? 8 : 0), mlc_load_n_f32x8(b0 + v24 + 66, v19 > 6 ? 8 : 0), mlc_load_n_f32x8(b0 + v24 + 77, v19 > 7 ? 8 : 0)};
    mlc_transpose_f32x8(v25);
    int64_t v26 = (n) * 0;
    int64_t v27 = v26 * 8;
    int64_t v28 = v17 * 8;
    int64_t v29 = v27 + v28;
    int64_t v30 = v29 + v21;
    mlc_store_n_f32x8(b1 + v30, v25[0], mlc_clamp(v19 - 0, 8));
    mlc_store_n_f32x8(b1 + v30 + 1 * (n), v25[1], mlc_clamp(v19 - 0, 8));
    mlc_store_n_f32x8(b1 + v30 + 2 * (n), v25[2], mlc_clamp(v19 - 0, 8));
    mlc_store_n_f32x8(b1 + v30 + 3 * (n), v25[3], mlc_clamp(v19 - 0, 8));
    mlc_store_n_f32x8(b1 + v30 + 4 * (n), v25[4], mlc_clamp(v19 - 0, 8));
    mlc_store_n_f32x8(b1 + v30 + 5 * (n), v25[5], mlc_clamp(v19 - 0, 8));
    mlc_store_n_f32x8(b1 + v30 + 6 * (n), v25[6], mlc_clamp(v19 - 0, 8));
    mlc_store_n_f32x8(b1 + v30 + 7 * (n), v25[7], mlc_clamp(v19 - 0, 8));
  }
  int64_t v31 = mlc_floordiv_i64((n), 8);
  const int64_t v32 = (v31 - 0);
  for (int64_t v33 = v32 * tid / threads; v33 < v32 * (tid + 1) / threads; v33++) {
    const int64_t v34 = 0 + v33;
    int64_t v35 = 0 * 3;
    int64_t v36 = v34 * 88;
    int64_t v37 = v35 + v36;
    int64_t v38 = v37 + 8;
    f32x8 v39[8] = {mlc_load_n_f32x8(b0 + v38, 3), mlc_load_n_f32x8(b0 + v38 + 11, 3), mlc_load_n_f32x8(b0 + v38 + 22, 3), mlc_load_n_f32x8(b0 + v38 + 33, 3), mlc_load_n_f32x8(b0 + v38 + 44, 3), mlc_load_n_f32x8(b0 + v38 + 55, 3), mlc_load_n_f32x8(b0 + v38 + 66, 3), mlc_load_n_f32x8(b0 + v38 + 77, 3)};
    mlc_transpose_f32x8(v39);
    int64_t v40 = (n) * 0;
    int64_t v41 = v40 * 3;
    int64_t v42 = (n) * 8;
    int64_t v43 = v41 + v42;
    int64_t v44 = v34 * 8;
    int64_t v45 = v43 + v44;
    mlc_store_f32x8(b1 + v45, v39[0]);
    mlc_store_f32x8(b1 + v45 + 1 * (n), v39[1]);
    mlc_store_f32x8(b1 + v45 + 2 * (n), v39[2]);
  }
  int64_t v46 = mlc_floordiv_i64((n), 8);
  int64_t v47 = 8 * v46;
  int64_t v48 = v47 + 1;
  uint8_t v49 = (n) >= v48;
  if (v49) {
    int64_t v50 = mlc_floordiv_i64((n), 8);
    int64_t v51 = v50 * (-8);
    int64_t v52 = v51 + (n);
    int64_t v53 = v50 * 88;
    int64_t v54 = 0 * 3;
    int64_t v55 = v53 + v54;
    int64_t v56 = 0 * 88;
    int64_t v57 = v55 + v56;
    int64_t v58 = v57 + 8;
    f32x8 v59[8] = {mlc_load_n_f32x8(b0 + v58, v52 > 0 ? 3 : 0), mlc_load_n_f32x8(b0 + v58 + 11, v52 > 1 ? 3 : 0), mlc_load_n_f32x8(b0 + v58 + 22, v52 > 2 ? 3 : 0), mlc_load_n_f32x8(b0 + v58 + 33, v52 > 3 ? 3 : 0), mlc_load_n_f32x8(b0 + v58 + 44, v52 > 4 ? 3 : 0), mlc_load_n_f32x8(b0 + v58 + 55, v52 > 5 ? 3 : 0), mlc_load_n_f32x8(b0 + v58 + 66, v52 > 6 ? 3 : 0), mlc_load_n_f32x8(b0 + v58 + 77, v52 > 7 ? 3 : 0)};
    mlc_transpose_f32x8(v59);
    int64_t v60 = (n) * 0;
    int64_t v61 = v60 * 3;
    int64_t v62 = v50 * 8;
    int64_t v63 = v61 + v62;
    int64_t v64 = (n) * 8;
    int64_t v65 = v63 + v64;
    int64_t v66 = 0 * 8;
    int64_t v67 = v65 + v66;
    mlc_store_n_f32x8(b1 + v67, v59[0], mlc_clamp(v52 - 0, 8));
    mlc_store_n_f32x8(b1 + v67 + 1 * (n), v59[1], mlc_clamp(v52 - 0, 8));
    mlc_store_n_f32x8(b1 + v67 + 2 * (n), v59[2], mlc_clamp(v52 - 0, 8));
  }
}
