"""dot2: the products of pairs of bf16, added in f32, for scalars and vectors, with and without the instruction."""

from __future__ import annotations

import ctypes
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from toy_build import compile_c, kernel_features

FLAGS = {
    "base": [],
    "avx2": ["-mavx2", "-mfma"],
    "avx512f": ["-mavx512f"],
    "avx512bf16": ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512bf16"],
}
SCALAR = "void dot2_1(const float *s, const int *a, const int *b, float *r) { *r = mlc_dot2_f32(*s, *a, *b); }\n"
VECTOR = """
void dot2_L(const float *s, const int *a, const int *b, float *r) {
  mlc_store_f32xL(r, mlc_dot2_f32xL(mlc_load_f32xL(s), mlc_load_i32xL(a), mlc_load_i32xL(b)));
}
"""
LANES = (1, 4, 8, 16)


@pytest.fixture(scope="module", params=FLAGS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("pairs")
    text = SCALAR + "".join(VECTOR.replace("L", str(lanes)) for lanes in LANES[1:])
    (folder / "pairs.c").write_text('#include "mlc_pairs.h"\n' + text)
    flags = ["-O2", "-Wno-psabi", "-fPIC", "-shared", *FLAGS[request.param]]
    compile_c(folder / "pairs.so", [folder / "pairs.c"], *flags)
    if request.param != "base" and request.param not in kernel_features():
        pytest.skip(f"this CPU has no {request.param}")
    return ctypes.CDLL(str(folder / "pairs.so"))


def run(library: ctypes.CDLL, start: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    result = np.zeros(len(start), np.float32)
    arrays = (start, a, b, result)
    getattr(library, f"dot2_{len(start)}")(*(ctypes.c_void_p(x.ctypes.data) for x in arrays))
    return result


@pytest.mark.parametrize("lanes", LANES)
def test_against_numpy(library: ctypes.CDLL, lanes: int) -> None:
    random = np.random.default_rng()
    a, b = (random.standard_normal(2 * lanes).astype(ml_dtypes.bfloat16) + 2 for _ in range(2))
    start = random.standard_normal(lanes).astype(np.float32)
    products = a.astype(np.float64) * b.astype(np.float64)
    expected = start + products.reshape(lanes, 2).sum(1)
    np.testing.assert_allclose(run(library, start, a, b), expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("lanes", LANES)
def test_special_values(library: ctypes.CDLL, lanes: int) -> None:
    cases = [(np.inf, 2), (-np.inf, 2), (np.inf, 0), (np.nan, 1), (0, np.nan), (3e38, 3e38), (0, -5)]
    for at in range(2):
        for x, y in cases:
            a, b = (np.tile(np.array([1, 1], ml_dtypes.bfloat16), lanes) for _ in range(2))
            a[at::2], b[at::2] = x, y
            with np.errstate(all="ignore"):
                expected = np.float32(np.float32(a[at]) * np.float32(b[at]) + np.float32(1.5))
            np.testing.assert_array_equal(run(library, np.full(lanes, 0.5, np.float32), a, b), expected)
