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
    int64_t v7 = v4 * 16;
    i64x8 v8_0 = mlc_load_i64x8(b1 + v7);
    i64x8 v8_1 = mlc_load_i64x8(b1 + v7 + 8);
    f32x8 v9 = mlc_fill_f32x8(0.5f);
    i32x8 v10_0 = v6_0 > v9;
    i32x8 v10_1 = v6_1 > v9;
    i64x8 v11 = mlc_fill_i64x8(3);
    i32x8 v12_0 = __builtin_convertvector(v8_0 == v11, i32x8);
    i32x8 v12_1 = __builtin_convertvector(v8_1 == v11, i32x8);
    i32x8 v13_0 = v10_0 & v12_0;
    i32x8 v13_1 = v10_1 & v12_1;
    int64_t v14 = v4 * 16;
    mlc_store_i8x8(b2 + v14, __builtin_convertvector(-v13_0, i8x8));
    mlc_store_i8x8(b2 + v14 + 8, __builtin_convertvector(-v13_1, i8x8));
  }
  int64_t v15 = mlc_floordiv_i64((batch), 16);
  int64_t v16 = 16 * v15;
  int64_t v17 = v16 + 1;
  uint8_t v18 = (batch) >= v17;
  if (v18) {
    int64_t v19 = mlc_floordiv_i64((batch), 16);
    int64_t v20 = v19 * (-16);
    int64_t v21 = v20 + (batch);
    int64_t v22 = mlc_floordiv_i64((batch), 16);
    int64_t v23 = v22 * 16;
    int64_t v24 = 0 * 16;
    int64_t v25 = v23 + v24;
    f32x8 v26_0 = mlc_load_n_f32x8(b0 + v25, mlc_clamp(v21 - 0, 8));
    f32x8 v26_1 = mlc_load_n_f32x8(b0 + v25 + 8, mlc_clamp(v21 - 8, 8));
    int64_t v27 = mlc_floordiv_i64((batch), 16);
    int64_t v28 = v27 * 16;
    int64_t v29 = 0 * 16;
    int64_t v30 = v28 + v29;
    i64x8 v31_0 = mlc_load_n_i64x8(b1 + v30, mlc_clamp(v21 - 0, 8));
    i64x8 v31_1 = mlc_load_n_i64x8(b1 + v30 + 8, mlc_clamp(v21 - 8, 8));
    f32x8 v32 = mlc_fill_f32x8(0.5f);
    i32x8 v33_0 = v26_0 > v32;
    i32x8 v33_1 = v26_1 > v32;
    i64x8 v34 = mlc_fill_i64x8(3);
    i32x8 v35_0 = __builtin_convertvector(v31_0 == v34, i32x8);
    i32x8 v35_1 = __builtin_convertvector(v31_1 == v34, i32x8);
    i32x8 v36_0 = v33_0 & v35_0;
    i32x8 v36_1 = v33_1 & v35_1;
    int64_t v37 = mlc_floordiv_i64((batch), 16);
    int64_t v38 = v37 * 16;
    int64_t v39 = 0 * 16;
    int64_t v40 = v38 + v39;
    mlc_store_n_i8x8(b2 + v40, __builtin_convertvector(-v36_0, i8x8), mlc_clamp(v21 - 0, 8));
    mlc_store_n_i8x8(b2 + v40 + 8, __builtin_convertvector(-v36_1, i8x8), mlc_clamp(v21 - 8, 8));
  }
}
