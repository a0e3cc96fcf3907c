"""The vector types of generated code against NumPy, for each instruction set this CPU has."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest
from toy_build import compile_c, kernel_features

ELEMENTS = {
    "f32": "float", "f64": "double", "i8": "int8_t", "u8": "uint8_t", "i16": "int16_t", "u16": "uint16_t",
    "i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t",
}  # fmt: skip
FLAGS = {
    "base": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512f": ["-mavx2", "-mfma", "-mavx512f"],
    "avx512bw": ["-mavx2", "-mfma", "-mavx512f", "-mavx512vl", "-mavx512bw", "-mavx512dq"],
}
TEMPLATE = """
void partial_V(const T *p, int64_t n, T *whole, T *part) {
  V v = mlc_load_n_V(p, n);
  mlc_store_V(whole, v);
  mlc_store_n_V(part, v, n);
}
void extremes_V(const T *a, const T *b, T *high, T *low) {
  mlc_store_V(high, mlc_maximum_V(mlc_load_V(a), mlc_load_V(b)));
  mlc_store_V(low, mlc_minimum_V(mlc_load_V(a), mlc_load_V(b)));
}
void reduce_V(const T *a, T *r) {
  V v = mlc_load_V(a);
  r[0] = mlc_reduce_add_V(v);
  r[1] = mlc_reduce_mul_V(v);
  r[2] = mlc_reduce_maximum_V(v);
  r[3] = mlc_reduce_minimum_V(v);
}
void choose_V(const T *a, const T *b, T *r) {
  mlc_store_V(r, mlc_blend_V(mlc_load_V(a) < mlc_load_V(b), mlc_fill_V(a[0]), mlc_load_V(b)));
}
void every_V(const T *a, int64_t s, T *r) {
  mlc_store_V(r, s == 2 ? mlc_load_every_2_V(a) : s == 3 ? mlc_load_every_3_V(a) : mlc_load_every_4_V(a));
}
void every_n_V(const T *a, int64_t s, int64_t n, T *r) {
  V v = s == 2 ? mlc_load_every_2_n_V(a, n) : s == 3 ? mlc_load_every_3_n_V(a, n) : mlc_load_every_4_n_V(a, n);
  mlc_store_V(r, v);
}
"""
TRANSPOSE = """
void transpose_V(const T *a, T *r) {
  V v[L];
  for (int i = 0; i < L; i++) v[i] = mlc_load_V(a + i * L);
  mlc_transpose_V(v);
  for (int i = 0; i < L; i++) mlc_store_V(r + i * L, v[i]);
}
"""
EDGE = """
#include <sys/mman.h>
/* The end of the last page that may be touched. */
char *page_end(void) {
  char *p = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(p + (1 << 15), 1 << 15, PROT_NONE);
  return p + (1 << 15);
}
"""


def vector_types():
    lanes = dict.fromkeys(ELEMENTS, (4, 8, 16)) | {"u16": (4, 8, 16, 32)}
    return [(element, n) for element in ELEMENTS for n in lanes[element]]


def transposed_types():
    return list(itertools.product(("f32", "i32", "i8"), (4, 8, 16)))


def dtype(element):
    return np.dtype({"i": "int", "u": "uint", "f": "float"}[element[0]] + element[1:])


@pytest.fixture(scope="module", params=FLAGS)
def library(request, tmp_path_factory):
    if request.param != "base" and not {request.param} <= kernel_features():
        pytest.skip(f"this CPU has no {request.param}")
    folder = tmp_path_factory.mktemp("vectors")
    strings = [(TEMPLATE, e, n) for e, n in vector_types()] + [(TRANSPOSE, e, n) for e, n in transposed_types()]
    bodies = [t.replace("V", f"{e}x{n}").replace("T ", f"{ELEMENTS[e]} ").replace("L", str(n)) for t, e, n in strings]
    extra = "MLC_VEC(uint16_t, u16x32, 32)\n"  # a type the header does not define itself
    (folder / "vectors.c").write_text('#include "mlc_vec.h"\n' + extra + EDGE + "".join(bodies))
    # -fwrapv: NumPy's integers wrap
    compile_c(
        folder / "vectors.so",
        [folder / "vectors.c"],
        "-O2",
        "-fwrapv",
        "-Wno-psabi",
        "-fPIC",
        "-shared",
        *FLAGS[request.param],
    )
    return ctypes.CDLL(str(folder / "vectors.so"))


def call(library, name, *args):
    converted = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int64(a) for a in args]
    getattr(library, name)(*converted)


def random_values(element, lanes, seed=0):
    random = np.random.default_rng([lanes, seed])
    kind = dtype(element)
    if kind.kind == "f":
        values = random.normal(size=lanes).astype(kind)
        values[random.integers(lanes, size=2)] = [np.nan, np.inf] if seed % 3 == 0 else [-0.0, -np.inf]
        return values
    limits = np.iinfo(kind)
    return random.integers(limits.min, limits.max, size=lanes, dtype=kind, endpoint=True)


def array_at(address, element, lanes):
    return np.frombuffer((ctypes.c_char * (lanes * dtype(element).itemsize)).from_address(address), dtype(element))


@pytest.mark.parametrize(("element", "lanes"), vector_types())
def test_partial_access_at_the_end_of_memory(library, element, lanes):
    library.page_end.restype = ctypes.c_void_p
    end = library.page_end()
    for n in range(lanes + 1):
        source = array_at(end - n * dtype(element).itemsize, element, n)
        source[:] = random_values(element, lanes, 1)[:n]
        whole = np.ones(lanes, dtype(element))
        call(library, f"partial_{element}x{lanes}", source, n, whole, source)
        np.testing.assert_array_equal(whole, np.concatenate([source, np.zeros(lanes - n, dtype(element))]))
        part = np.full(lanes, 77, dtype(element))
        call(library, f"partial_{element}x{lanes}", source, n, whole, part)
        np.testing.assert_array_equal(part, np.concatenate([source, np.full(lanes - n, 77, dtype(element))]))


@pytest.mark.parametrize("stride", [2, 3, 4])
@pytest.mark.parametrize(("element", "lanes"), vector_types())
def test_strided_reads_at_the_end_of_memory(library, element, lanes, stride):
    library.page_end.restype = ctypes.c_void_p
    end = library.page_end()
    for n in range(lanes + 1):
        size = max(0, stride * (n - 1) + 1)
        source = array_at(end - size * dtype(element).itemsize, element, size)
        source[:] = np.resize(random_values(element, lanes, 1), size) + np.arange(size).astype(dtype(element))
        expected = np.concatenate([source[::stride], np.zeros(lanes - n, dtype(element))])
        result = np.ones(lanes, dtype(element))
        call(library, f"every_n_{element}x{lanes}", source, stride, n, result)
        np.testing.assert_array_equal(result, expected)
    call(library, f"every_{element}x{lanes}", source, stride, result)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("element", "lanes"), transposed_types())
def test_transposes(library, element, lanes):
    values = np.arange(lanes * lanes).astype(dtype(element)).reshape(lanes, lanes)
    result = np.empty_like(values)
    call(library, f"transpose_{element}x{lanes}", values, result)
    np.testing.assert_array_equal(result, values.T)


@pytest.mark.parametrize(("element", "lanes"), vector_types())
def test_extremes_and_choice(library, element, lanes):
    for seed in range(6):
        a, b = random_values(element, lanes, seed), random_values(element, lanes, seed + 100)
        high, low, chosen = np.empty_like(a), np.empty_like(a), np.empty_like(a)
        call(library, f"extremes_{element}x{lanes}", a, b, high, low)
        np.testing.assert_array_equal(high, np.maximum(a, b))
        np.testing.assert_array_equal(low, np.minimum(a, b))
        call(library, f"choose_{element}x{lanes}", a, b, chosen)
        np.testing.assert_array_equal(chosen, np.where(a < b, a[0], b))


def fold(values, operation):
    while len(values) > 1:
        half = len(values) // 2
        values = operation(values[:half], values[half:])
    return values[0]


@pytest.mark.parametrize(("element", "lanes"), vector_types())
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
def test_reductions_fold_halves(library, element, lanes):
    operations = (np.add, np.multiply, np.maximum, np.minimum)
    for seed, finite in itertools.product(range(4), (True, False)):
        values = random_values(element, lanes, seed)
        if finite:
            values = np.nan_to_num(values, posinf=2, neginf=3)
        results = np.empty(4, dtype(element))
        call(library, f"reduce_{element}x{lanes}", values, results)
        np.testing.assert_array_equal(results, [fold(values, operation) for operation in operations])
