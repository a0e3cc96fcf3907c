/* Does this CPU have the features a model was compiled for? Names are those of GCC's -m options. */
#include <string.h>

#include "mlc_internal.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* Read by CPUID itself: the compilers' __builtin_cpu_supports needs a runtime library that not all of them ship. */
typedef struct {
  const char *name;
  unsigned leaf, subleaf;
  int reg, bit; /* reg: 0 eax, 1 ebx, 2 ecx, 3 edx */
  unsigned xcr0; /* register state the operating system must save */
} feature;

enum { NONE = 0, YMM = 0x6, ZMM = 0xe6 };

static const feature features[] = {
    {"sse2", 1, 0, 3, 26, NONE},        {"sse3", 1, 0, 2, 0, NONE},          {"ssse3", 1, 0, 2, 9, NONE},
    {"sse4.1", 1, 0, 2, 19, NONE},      {"sse4.2", 1, 0, 2, 20, NONE},       {"popcnt", 1, 0, 2, 23, NONE},
    {"avx", 1, 0, 2, 28, YMM},          {"fma", 1, 0, 2, 12, YMM},           {"f16c", 1, 0, 2, 29, YMM},
    {"bmi", 7, 0, 1, 3, NONE},          {"bmi2", 7, 0, 1, 8, NONE},          {"avx2", 7, 0, 1, 5, YMM},
    {"avx512f", 7, 0, 1, 16, ZMM},      {"avx512dq", 7, 0, 1, 17, ZMM},      {"avx512ifma", 7, 0, 1, 21, ZMM},
    {"avx512cd", 7, 0, 1, 28, ZMM},     {"avx512bw", 7, 0, 1, 30, ZMM},      {"avx512vl", 7, 0, 1, 31, ZMM},
    {"avx512vbmi", 7, 0, 2, 1, ZMM},    {"avx512vbmi2", 7, 0, 2, 6, ZMM},    {"avx512vnni", 7, 0, 2, 11, ZMM},
    {"avx512bitalg", 7, 0, 2, 12, ZMM}, {"avx512vpopcntdq", 7, 0, 2, 14, ZMM}, {"avx512fp16", 7, 0, 3, 23, ZMM},
    {"avxvnni", 7, 1, 0, 4, YMM},       {"avx512bf16", 7, 1, 0, 5, ZMM},
};

static unsigned enabled_state(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return 0; /* OSXSAVE */
  __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return a;
}

static int has_feature(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
    const feature *f = &features[i];
    if (strlen(f->name) != length || memcmp(f->name, name, length)) continue;
    unsigned r[4];
    if (!__get_cpuid_count(f->leaf, f->subleaf, &r[0], &r[1], &r[2], &r[3])) return 0;
    return (r[f->reg] >> f->bit & 1) && (enabled_state() & f->xcr0) == f->xcr0;
  }
  return 0;
}
#else
/* Elsewhere only what the architecture's base guarantees is known. */
static int has_feature(const char *name, size_t length) {
#if defined(__aarch64__)
  return length == 4 && memcmp(name, "neon", 4) == 0;
#else
  return (void)name, (void)length, 0;
#endif
}
#endif

int mlc_check_isa(const char *isa) {
  for (const char *p = isa ? isa : ""; *p; p += strspn(p, " ")) {
    size_t length = strcspn(p, " ");
    if (length && !has_feature(p, length))
      return mlc_fail("this CPU lacks the feature '%.*s' that the model was compiled for (it needs: %s): compile the "
                      "model again for this machine", (int)length, p, isa);
    p += length;
  }
  return 0;
}
