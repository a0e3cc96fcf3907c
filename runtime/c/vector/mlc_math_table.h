/* exp, erf and tanh by tables that are registers: of 16 floats, one instruction finds 16 at once, so that polynomials
 * can be short. Fewer lanes are part of 16, and have the same bits. Included by mlc_math.h. */

#define MLC_FMA(a, b, c) __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4)
#define MLC_SCALEF(x, n) __builtin_ia32_scalefps512_mask(x, n, x, -1, 4)
#define MLC_MAX(i, j) __builtin_ia32_pmaxsd512_mask(i, j, i, -1)
#define MLC_AMONG_16(x, j) __builtin_ia32_permvarsf512_mask(x, j, x, -1)
#define MLC_AMONG_32(low, high, j) __builtin_ia32_vpermt2varps512_mask(j, low, high, -1)

static const float mlc_powers[32] __attribute__((aligned(64))) = {  /* 2^(j/32) */
  0x1p+0f, 0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f, 0x1.172b84p+0f, 0x1.1d4874p+0f, 0x1.2387a6p+0f,
  0x1.29e9ep+0f, 0x1.306fep+0f, 0x1.371a74p+0f, 0x1.3dea64p+0f, 0x1.44e086p+0f, 0x1.4bfdaep+0f, 0x1.5342b6p+0f,
  0x1.5ab07ep+0f, 0x1.6247ecp+0f, 0x1.6a09e6p+0f, 0x1.71f75ep+0f, 0x1.7a1148p+0f, 0x1.82589ap+0f, 0x1.8ace54p+0f,
  0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f, 0x1.ae89fap+0f, 0x1.b7f77p+0f, 0x1.c199bep+0f, 0x1.cb720ep+0f,
  0x1.d5818ep+0f, 0x1.dfc974p+0f, 0x1.ea4afap+0f, 0x1.f50766p+0f};

/* Polynomials, the highest power first, that are erf(267/1024 j + t) for |t| <= 267/2048; for j = 0, erf(t) - t. */
static const float mlc_erf_parts[6][16] __attribute__((aligned(64))) = {
  {0x1.c66664p-4f, 0x1.42d9d2p-4f, 0x1.32da52p-9f, -0x1.d81e1p-5f, -0x1.12ea4cp-4f, -0x1.47d286p-5f,
   -0x1.072822p-7f, 0x1.404efap-7f, 0x1.a36118p-7f, 0x1.2317e4p-7f, 0x1.25979p-8f, 0x1.d1b02ap-10f,
   0x1.2d126ap-11f, 0x1.43730ap-13f, 0x1.23fd92p-15f, -0x1.705c3p-7f},
  {0x1.32bfbap-12f, 0x1.0a9be2p-3f, 0x1.758cc2p-3f, 0x1.208f32p-3f, 0x1.bf4c76p-5f, -0x1.172d2p-6f,
   -0x1.878fa8p-5f, -0x1.70befep-5f, -0x1.d564aap-6f, -0x1.e24696p-7f, -0x1.757fe2p-8f, -0x1.11bc52p-9f,
   -0x1.5900c8p-11f, 0x1.74db44p-13f, 0x1.0b4092p-15f, -0x1.d5a63ap-10f},
  {-0x1.812b62p-2f, -0x1.36f2cp-2f, -0x1.0bbe56p-3f, 0x1.75e51cp-5f, 0x1.3121d6p-3f, 0x1.51bf86p-3f,
   0x1.038f9ap-3f, 0x1.37d998p-4f, 0x1.31f73cp-5f, 0x1.f4eb12p-7f, 0x1.5a4e68p-8f, 0x1.978baep-10f,
   0x1.9a56acp-12f, 0x1.62c894p-14f, 0x1.08236ap-16f, 0x1.218326p-14f},
  {0x1.336d96p-22f, -0x1.19780ap-2f, -0x1.cb13fap-2f, -0x1.ea2adp-2f, -0x1.961352p-2f, -0x1.134b7cp-2f,
   -0x1.38c31p-3f, -0x1.2d85d8p-4f, -0x1.f13d92p-6f, -0x1.5ff20ep-7f, -0x1.ae79b8p-9f, -0x1.c47ec8p-11f,
   -0x1.9a0f3ap-13f, -0x1.7fbc84p-15f, -0x1.0bb072p-17f, 0x1.e74d48p-17f},
  {0x1.06eba8p-3f, 0x1.0de1p+0f, 0x1.b82b86p-1f, 0x1.395232p-1f, 0x1.8558c2p-2f, 0x1.a64f4cp-3f,
   0x1.8fd4p-4f, 0x1.4a6aecp-5f, 0x1.dcaf36p-7f, 0x1.2c227ep-8f, 0x1.49e5d8p-10f, 0x1.3c831ep-12f,
   0x1.09102ap-14f, 0x1.83835ep-17f, 0x1.ee8198p-20f, 0x1.b28bc6p-23f},
  {0, 0x1.26963p-2f, 0x1.140ed8p-1f, 0x1.7676d4p-1f, 0x1.b8356p-1f, 0x1.de9b14p-1f,
   0x1.f235bp-1f, 0x1.faf58ep-1f, 0x1.fe5f7p-1f, 0x1.ff8976p-1f, 0x1.ffe25p-1f, 0x1.fff976p-1f,
   0x1.fffebcp-1f, 0x1.ffffcap-1f, 0x1.fffff8p-1f, 0x1.fffffep-1f},
};

/* Polynomials that are tanh(c + t), the highest power first; c is the middle of an interval that has the exponent and
 * two bits of the mantissa in common, of which the low 5 bits number it. Number 15 is tanh(t) - t for t < 1/8. */
static const float mlc_tanh_parts[6][32] __attribute__((aligned(64))) = {
  {0x1.048ad8p-8f, 0x1.f62b34p-10f, 0x1.941f92p-11f, 0x1.32dbe4p-12f, 0x1.1e8054p-14f, 0x1.37625ap-17f,
   0x1.514bcap-20f, 0x1.6d38dp-23f, -0x1.58a3d8p-21f, 0, 0, 0, 0, 0, 0, 0x1.0a049p-3f, -0x1.8846fcp+0f,
   0x1.050666p+2f, 0x1.03a2aep-1f, -0x1.38bbp+1f, 0x1.34ad2cp-3f, 0x1.05839p-3f, 0x1.16fa46p-3f, -0x1.9e5874p-3f,
   -0x1.0ab564p-5f, -0x1.d6a442p-5f, -0x1.933adp-5f, -0x1.f4a122p-5f, -0x1.071c28p-5f, -0x1.3381fcp-7f,
   0x1.485b8cp-10f, 0x1.2ac1f4p-8f},
  {-0x1.9677ep-7f, -0x1.50d9dp-8f, -0x1.013928p-9f, -0x1.7f28ep-11f, -0x1.65e884p-13f, -0x1.7274b2p-16f,
   -0x1.e7af18p-19f, 0x1.978218p-22f, -0x1.dedea6p-21f, 0, 0, 0, 0, 0, 0, 0x1.06a61ep-11f, -0x1.76162cp-5f,
   0x1.ceb9b4p-2f, 0x1.4581a4p-3f, -0x1.06cf38p-2f, 0x1.3d0c2ep-3f, 0x1.8f4e0cp-3f, 0x1.a45c5ap-3f, 0x1.0e0cdp-3f,
   0x1.4452f6p-3f, 0x1.eb7038p-4f, 0x1.5f2d8ep-4f, 0x1.35c5cep-5f, 0x1.ef3452p-9f, -0x1.548ffep-6f, -0x1.a20a7p-6f,
   -0x1.5ac66p-6f},
  {0x1.bbced4p-6f, 0x1.5993eap-7f, 0x1.0395d6p-8f, 0x1.80e734p-10f, 0x1.58602p-12f, 0x1.7529aap-15f,
   0x1.94103ap-18f, 0x1.b57a6p-21f, 0x1.f5de96p-24f, 0, 0, 0, 0, 0, 0, -0x1.555becp-2f, -0x1.3a91fep-2f,
   -0x1.2fe278p-2f, -0x1.204bf6p-2f, -0x1.0f1bd8p-2f, -0x1.e95e12p-3f, -0x1.989058p-3f, -0x1.42c36p-3f,
   -0x1.d62a7ap-4f, -0x1.bd7662p-5f, 0x1.d6b37p-7f, 0x1.06e58cp-4f, 0x1.845e8p-4f, 0x1.c68f5ap-4f, 0x1.97d56ap-4f,
   0x1.33e214p-4f, 0x1.a85dcp-5f},
  {-0x1.5c37eep-5f, -0x1.077cbp-6f, -0x1.87cec4p-8f, -0x1.216666p-9f, -0x1.02941ap-11f, -0x1.197784p-14f,
   -0x1.29ffe8p-17f, -0x1.8bbad6p-20f, 0x1.2b3ee2p-22f, 0, 0, 0, 0, 0, 0, 0x1.c1a132p-22f, -0x1.1872c2p-3f,
   -0x1.52b16ap-3f, -0x1.89eb36p-3f, -0x1.be2e44p-3f, -0x1.039106p-2f, -0x1.2db97cp-2f, -0x1.50026p-2f,
   -0x1.6a11a2p-2f, -0x1.82646ep-2f, -0x1.897dd2p-2f, -0x1.79c85ep-2f, -0x1.5a9b0ap-2f, -0x1.1df0bcp-2f,
   -0x1.9711fcp-3f, -0x1.1060bp-3f, -0x1.5ee22ep-4f},
  {0x1.641088p-5f, 0x1.09a7aap-6f, 0x1.88ef7p-8f, 0x1.21a7b4p-9f, 0x1.02c03ep-11f, 0x1.183476p-14f, 0x1.2f61b4p-17f,
   0x1.48779ep-20f, 0x1.34fe14p-24f, 0, 0, 0, 0, 0, 0, -0x1.2bacfap-30f, 0x1.f601cap-1f, 0x1.f12b02p-1f,
   0x1.eb715ap-1f, 0x1.e4dfbp-1f, 0x1.d98b38p-1f, 0x1.c7f724p-1f, 0x1.b3ff3p-1f, 0x1.9e23acp-1f, 0x1.7aeae8p-1f,
   0x1.49e6cp-1f, 0x1.197fdp-1f, 0x1.d834dp-2f, 0x1.615002p-2f, 0x1.cea746p-3f, 0x1.265e32p-3f, 0x1.6fcfa6p-4f},
  {0x1.f4bfd6p-1f, 0x1.fbd50ap-1f, 0x1.fe767ap-1f, 0x1.ff6f18p-1f, 0x1.ffdfa8p-1f, 0x1.fffbap-1f, 0x1.ffff68p-1f,
   0x1.ffffecp-1f, 0x1.fffffep-1f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0, 0x1.1e1ddp-3f,
   0x1.5c9308p-3f, 0x1.9a5f1cp-3f, 0x1.d7665cp-3f, 0x1.18a39ap-2f, 0x1.52c2c6p-2f, 0x1.8a87e2p-2f, 0x1.bfae6ap-2f,
   0x1.05087p-1f, 0x1.3157ep-1f, 0x1.5789p-1f, 0x1.77d838p-1f, 0x1.9e5cb6p-1f, 0x1.c278a6p-1f, 0x1.d9c6fap-1f,
   0x1.e8789ep-1f},
};

/* e^x = 2^(n + j/32) e^r with |r| <= ln(2)/64. The low 5 bits of `biased` are j, those above are n. The first part of
 * ln(2) has 12 bits, and n + j/32 as many. */
MLC_INLINE f32x16 mlc_exp_f32x16(f32x16 x) {
  x = mlc_max_f32x16(mlc_min_f32x16(x, 89.f), -104.f);
  f32x16 biased = x * (32 * MLC_LOG2E) + MLC_TO_INT, n = biased * 0x1p-5f - MLC_TO_INT * 0x1p-5f;
  f32x16 r = x - n * 0x1.62ep-1f - n * 0x1.0bfbe8p-15f, tail = r * 0x1.555556p-3f + .5f;
  f32x16 power = MLC_AMONG_32(mlc_load_f32x16(mlc_powers), mlc_load_f32x16(mlc_powers + 16), (i32x16)biased);
  return MLC_SCALEF(power + power * (r + r * r * tail), n);
}

MLC_INLINE f32x16 mlc_erf_part(int n, f32x16 biased) {
  return MLC_AMONG_16(mlc_load_f32x16(mlc_erf_parts[n]), (i32x16)biased);
}

/* A polynomial for each of 16 intervals, which is 1 from 3.92 on. */
MLC_INLINE f32x16 mlc_erf_f32x16(f32x16 x) {
  f32x16 a = mlc_min_f32x16(mlc_abs_f32x16(x), 3.99f), biased = a * (1024 / 267.f) + MLC_TO_INT;
  f32x16 t = a - (biased - MLC_TO_INT) * (267 / 1024.f), q = mlc_erf_part(0, biased);
  for (int n = 1; n < 5; n++) q = MLC_FMA(q, t, mlc_erf_part(n, biased));
  f32x16 start = mlc_blend_f32x16(biased == MLC_TO_INT, a, mlc_erf_part(5, biased));
  return mlc_copysign_f32x16(MLC_FMA(q, t, start), x);
}

MLC_INLINE f32x16 mlc_tanh_part(int n, i32x16 j) {
  return MLC_AMONG_32(mlc_load_f32x16(mlc_tanh_parts[n]), mlc_load_f32x16(mlc_tanh_parts[n] + 16), j);
}

/* A polynomial for each of 26 intervals, four to an exponent, which is 1 from 9.02 on. */
MLC_INLINE f32x16 mlc_tanh_f32x16(f32x16 x) {
  f32x16 a = mlc_min_f32x16(mlc_abs_f32x16(x), 9.5f);
  i32x16 small = a < .125f, bits = (i32x16)a, middle = (bits & ~0x1fffff) | 0x100000;
  f32x16 t = a - mlc_blend_f32x16(small, mlc_fill_f32x16(0.f), (f32x16)middle);
  i32x16 j = MLC_MAX(bits, mlc_fill_i32x16(0x3de00000)) >> 21;
  f32x16 q = mlc_tanh_part(0, j);
  for (int n = 1; n < 5; n++) q = MLC_FMA(q, t, mlc_tanh_part(n, j));
  return mlc_copysign_f32x16(MLC_FMA(q, t, mlc_blend_f32x16(small, a, mlc_tanh_part(5, j))), x);
}

#define MLC_NARROWER(fn) \
  MLC_INLINE f32x8 mlc_##fn##_f32x8(f32x8 x) { \
    f32x16 y = mlc_##fn##_f32x16(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7)); \
    return __builtin_shufflevector(y, y, 0, 1, 2, 3, 4, 5, 6, 7); \
  } \
  MLC_INLINE f32x4 mlc_##fn##_f32x4(f32x4 x) { \
    f32x8 y = mlc_##fn##_f32x8(__builtin_shufflevector(x, x, 0, 1, 2, 3, 0, 1, 2, 3)); \
    return __builtin_shufflevector(y, y, 0, 1, 2, 3); \
  }
MLC_NARROWER(exp)
MLC_NARROWER(erf)
MLC_NARROWER(tanh)

#undef MLC_NARROWER
#undef MLC_AMONG_32
#undef MLC_AMONG_16
#undef MLC_MAX
#undef MLC_SCALEF
#undef MLC_FMA
