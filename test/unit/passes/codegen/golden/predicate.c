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
  int64_t v13 = 16 * v1;
  int64_t v14 = v13 + 1;
  uint8_t v15 = (batch) >= v14;
  int64_t v16 = v1 * (-16);
  int64_t v17 = v16 + (batch);
  int64_t v18 = v1 * 16;
  if (v15) {
    const int64_t v19 = (1 - 0);
    for (int64_t v20 = v19 * tid / threads; v20 < v19 * (tid + 1) / threads; v20++) {
      const int64_t v21 = 0 + v20;
      f32x8 v22_0 = mlc_load_n_f32x8(b0 + v18, mlc_clamp(v17 - 0, 8));
      f32x8 v22_1 = mlc_load_n_f32x8(b0 + v18 + 8, mlc_clamp(v17 - 8, 8));
      i64x8 v23_0 = mlc_load_n_i64x8(b1 + v18, mlc_clamp(v17 - 0, 8));
      i64x8 v23_1 = mlc_load_n_i64x8(b1 + v18 + 8, mlc_clamp(v17 - 8, 8));
      f32x8 v24 = mlc_fill_f32x8(0.5f);
      i32x8 v25_0 = v22_0 > v24;
      i32x8 v25_1 = v22_1 > v24;
      i64x8 v26 = mlc_fill_i64x8(3);
      i32x8 v27_0 = mlc_eq_i64x8(v23_0, v26);
      i32x8 v27_1 = mlc_eq_i64x8(v23_1, v26);
      i32x8 v28_0 = v25_0 & v27_0;
      i32x8 v28_1 = v25_1 & v27_1;
      mlc_store_n_i8x8(b2 + v18, mlc_narrow_i32x8(-v28_0), mlc_clamp(v17 - 0, 8));
      mlc_store_n_i8x8(b2 + v18 + 8, mlc_narrow_i32x8(-v28_1), mlc_clamp(v17 - 8, 8));
    }
  }
}
