void predicate(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const float *restrict b0 = buf[0];
  const int64_t *restrict b1 = buf[1];
  int8_t *restrict b2 = buf[2];
  const int64_t batch = dim[0];
  int64_t v1 = mlc_floordiv_i64((batch), 16);
  const int64_t v2 = (v1 - 0);
  for (int64_t v3 = v2 * tid / threads; v3 < v2 * (tid + 1) / threads; v3++) {
    const int64_t v4 = 0 + v3;
    int64_t v5 = v4 * 16;
    f32x8 v6_0 = mlc_load_f32x8(b0 + v5);
    f32x8 v6_1 = mlc_load_f32x8(b0 + v5 + 8);
    i64x8 v7_0 = mlc_load_i64x8(b1 + v5);
    i64x8 v7_1 = mlc_load_i64x8(b1 + v5 + 8);
    f32x8 v8 = mlc_fill_f32x8(0.5f);
    i32x8 v9_0 = v6_0 > v8;
    i32x8 v9_1 = v6_1 > v8;
    i64x8 v10 = mlc_fill_i64x8(3);
    i32x8 v11_0 = mlc_eq_i64x8(v7_0, v10);
    i32x8 v11_1 = mlc_eq_i64x8(v7_1, v10);
    i32x8 v12_0 = v9_0 & v11_0;
    i32x8 v12_1 = v9_1 & v11_1;
    mlc_store_i8x8(b2 + v5, mlc_narrow_i32x8(-v12_0));
    mlc_store_i8x8(b2 + v5 + 8, mlc_narrow_i32x8(-v12_1));
  }
  int64_t v13 = mlc_floordiv_i64((batch), 16);
  int64_t v14 = 16 * v13;
  int64_t v15 = v14 + 1;
  uint8_t v16 = (batch) >= v15;
  if (v16) {
    const int64_t v17 = (1 - 0);
    for (int64_t v18 = v17 * tid / threads; v18 < v17 * (tid + 1) / threads; v18++) {
      const int64_t v19 = 0 + v18;
      int64_t v20 = mlc_floordiv_i64((batch), 16);
      int64_t v21 = v20 * (-16);
      int64_t v22 = v21 + (batch);
      int64_t v23 = v20 * 16;
      f32x8 v24_0 = mlc_load_n_f32x8(b0 + v23, mlc_clamp(v22 - 0, 8));
      f32x8 v24_1 = mlc_load_n_f32x8(b0 + v23 + 8, mlc_clamp(v22 - 8, 8));
      i64x8 v25_0 = mlc_load_n_i64x8(b1 + v23, mlc_clamp(v22 - 0, 8));
      i64x8 v25_1 = mlc_load_n_i64x8(b1 + v23 + 8, mlc_clamp(v22 - 8, 8));
      f32x8 v26 = mlc_fill_f32x8(0.5f);
      i32x8 v27_0 = v24_0 > v26;
      i32x8 v27_1 = v24_1 > v26;
      i64x8 v28 = mlc_fill_i64x8(3);
      i32x8 v29_0 = mlc_eq_i64x8(v25_0, v28);
      i32x8 v29_1 = mlc_eq_i64x8(v25_1, v28);
      i32x8 v30_0 = v27_0 & v29_0;
      i32x8 v30_1 = v27_1 & v29_1;
      mlc_store_n_i8x8(b2 + v23, mlc_narrow_i32x8(-v30_0), mlc_clamp(v22 - 0, 8));
      mlc_store_n_i8x8(b2 + v23 + 8, mlc_narrow_i32x8(-v30_1), mlc_clamp(v22 - 8, 8));
    }
  }
}
