void softmax(void *const *buf, const int64_t *dim, int64_t tid, int64_t threads) {
  (void)buf, (void)dim, (void)tid, (void)threads;
  const float *restrict b0 = buf[0];
  float *restrict b1 = buf[1];
  const int64_t batch = dim[0];
  const int64_t v1 = ((batch) - 0);
  for (int64_t v2 = v1 * tid / threads; v2 < v1 * (tid + 1) / threads; v2++) {
    const int64_t v3 = 0 + v2;
    int64_t v4 = v3 * 21;
    f32x8 v5_0 = mlc_load_f32x8(b0 + v4);
    f32x8 v5_1 = mlc_load_f32x8(b0 + v4 + 8);
    float v6 = mlc_reduce_maximum_f32x8((mlc_maximum_f32x8(v5_0, v5_1)));
    int64_t v7 = v4 + 16;
    f32x8 v8 = mlc_load_n_f32x8(b0 + v7, 5);
    float v9 = mlc_reduce_maximum_f32x8(MLC_SHUFFLE(f32x8, 8, v8, v8, 0, 1, 2, 3, 4, 0, 0, 0));
    float v10 = mlc_maximum_f32(v9, v6);
    f32x8 v11 = mlc_fill_f32x8(0.0f);
    f32x8 v12 = mlc_fill_f32x8(v10);
    f32x8 v13_0 = v5_0 - v12;
    f32x8 v13_1 = v5_1 - v12;
    f32x8 v14_0 = mlc_exp_f32x8(v13_0);
    f32x8 v14_1 = mlc_exp_f32x8(v13_1);
    mlc_store_f32x8(b1 + v4, v14_0);
    mlc_store_f32x8(b1 + v4 + 8, v14_1);
    f32x8 v15_0 = v11 + v14_0;
    f32x8 v15_1 = v11 + v14_1;
    float v16 = mlc_reduce_add_f32x8((v15_0 + v15_1));
    f32x8 v17 = mlc_fill_f32x8(0.0f);
    f32x8 v18 = mlc_fill_f32x8(v10);
    f32x8 v19 = v8 - v18;
    f32x8 v20 = mlc_exp_f32x8(v19);
    mlc_store_n_f32x8(b1 + v7, v20, 5);
    f32x8 v21 = v17 + v20;
    float v22 = mlc_reduce_add_f32x8(MLC_SHUFFLE(f32x8, 8, v21, mlc_fill_f32x8(0), 0, 1, 2, 3, 4, 8, 8, 8));
    float v23 = v16 + v22;
    f32x8 v24_0 = mlc_load_f32x8(b1 + v4);
    f32x8 v24_1 = mlc_load_f32x8(b1 + v4 + 8);
    f32x8 v25 = mlc_fill_f32x8(v23);
    f32x8 v26_0 = v24_0 / v25;
    f32x8 v26_1 = v24_1 / v25;
    mlc_store_f32x8(b1 + v4, v26_0);
    mlc_store_f32x8(b1 + v4 + 8, v26_1);
    f32x8 v27 = mlc_load_n_f32x8(b1 + v7, 5);
    f32x8 v28 = mlc_fill_f32x8(v23);
    f32x8 v29 = v27 / v28;
    mlc_store_n_f32x8(b1 + v7, v29, 5);
  }
}
