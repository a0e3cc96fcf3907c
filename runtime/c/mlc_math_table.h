/* exp and erf by tables that are registers: of 16 floats, one instruction finds 16 at once, so that polynomials can be
 * short. Fewer lanes are part of 16, and have the same bits. Included by mlc_math.h. */

#define MLC_FMA(a, b, c) __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4)
#define MLC_SCALEF(x, n) __builtin_ia32_scalefps512_mask(x, n, x, -1, 4)
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

#undef MLC_NARROWER
#undef MLC_AMONG_32
#undef MLC_AMONG_16
#undef MLC_SCALEF
#undef MLC_FMA
