"""Dot products of unsigned and signed bytes, for scalars and vectors, on each instruction set: dot4 of four, and dot2x2
of two and two in 16 bits, with what adds those; and dot2_i16, of two i16."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_build import compile_c, kernel_features

from mlc.dialects.semantics.evaluate import NUMPY
from mlc.dialects.semantics.expr import FUNCTIONS

FLAGS = {
    "base": [],
    "avx2": ["-mavx2"],
    "avx512bw": ["-mavx512f", "-mavx512bw", "-mavx512vl"],
    "avxvnni": ["-mavx2", "-mavxvnni"],
    "avx512vnni": ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512vnni"],
}
SCALAR = "void dot4_1(const int *s, const int *a, const int *b, int *r) { *r = mlc_dot4_i32(*s, *a, *b); }\n"
VECTOR = """
void dot4_L(const int *s, const int *a, const int *b, int *r) {
  mlc_store_i32xL(r, mlc_dot4_i32xL(mlc_load_i32xL(s), mlc_load_i32xL(a), mlc_load_i32xL(b)));
}
"""
LANES = (1, 4, 8, 16)
SUMMED: dict[str, Callable[..., Any]] = {"dot2x2": NUMPY["add2"], "dot2_i16": np.add}  # they add to a sum
SCALARS_OF_PAIRS = """
void dot2x2_1(const int *s, const int *a, const int *b, int *r) { *r = mlc_dot2x2_i32(*s, *a, *b); }
void dot2_i16_1(const int *s, const int *a, const int *b, int *r) { *r = mlc_dot2_i16_i32(*s, *a, *b); }
void add2_1(const int *a, const int *b, int *r) { *r = mlc_add2_i32(*a, *b); }
void sum2_1(const int *a, int *r) { *r = mlc_sum2_i32(*a); }
"""
OF_PAIRS = """
void dot2x2_L(const int *s, const int *a, const int *b, int *r) {
  mlc_store_i32xL(r, mlc_dot2x2_i32xL(mlc_load_i32xL(s), mlc_load_i32xL(a), mlc_load_i32xL(b)));
}
void dot2_i16_L(const int *s, const int *a, const int *b, int *r) {
  mlc_store_i32xL(r, mlc_dot2_i16_i32xL(mlc_load_i32xL(s), mlc_load_i32xL(a), mlc_load_i32xL(b)));
}
void add2_L(const int *a, const int *b, int *r) {
  mlc_store_i32xL(r, mlc_add2_i32xL(mlc_load_i32xL(a), mlc_load_i32xL(b)));
}
void sum2_L(const int *a, int *r) {
  mlc_store_i32xL(r, mlc_sum2_i32xL(mlc_load_i32xL(a)));
}
"""


@pytest.fixture(scope="module", params=FLAGS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if request.param != "base" and request.param not in kernel_features():
        pytest.skip(f"this CPU has no {request.param}")
    folder: Path = tmp_path_factory.mktemp("bytes")
    text = SCALAR + SCALARS_OF_PAIRS
    text += "".join((VECTOR + OF_PAIRS).replace("xL", f"x{n}").replace("_L", f"_{n}") for n in LANES[1:])
    (folder / "bytes.c").write_text('#include "mlc_int8.h"\n' + text)
    flags = ["-O2", "-fwrapv", "-Wno-psabi", "-fPIC", "-shared", *FLAGS[request.param]]
    compile_c(folder / "bytes.so", [folder / "bytes.c"], *flags)
    return ctypes.CDLL(str(folder / "bytes.so"))


@pytest.mark.parametrize("lanes", LANES)
def test_against_numpy(library: ctypes.CDLL, lanes: int) -> None:
    random = np.random.default_rng()
    for extreme in (True, False):
        a = random.choice(np.array([0, 127, 128, 255], np.uint8), 4 * lanes) if extreme else random.bytes(4 * lanes)
        b = random.choice(np.array([-128, -1, 127], np.int8), 4 * lanes) if extreme else random.bytes(4 * lanes)
        unsigned, signed = np.frombuffer(a, np.uint8), np.frombuffer(b, np.int8)
        start = random.integers(-(2**31), 2**31, lanes, dtype=np.int64).astype(np.int32)
        products = unsigned.astype(np.int64) * signed
        expected = (start + products.reshape(lanes, 4).sum(1)).astype(np.int32)  # wraps
        result = np.zeros(lanes, np.int32)
        arrays = (start, unsigned.view(np.int32), signed.view(np.int32), result)
        getattr(library, f"dot4_{lanes}")(*(ctypes.c_void_p(x.ctypes.data) for x in arrays))
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("name", ["dot2x2", "dot2_i16", "add2", "sum2"])
def test_pairs_against_their_meaning(library: ctypes.CDLL, name: str, lanes: int) -> None:
    """Saturated products, and sums that wrap, as NumPy evaluates them."""
    random = np.random.default_rng()
    meaning: Callable[..., Any] = NUMPY[name]
    for extreme in (True, False):
        a = random.choice(np.array([0, 127, 128, 255], np.uint8), 4 * lanes) if extreme else random.bytes(4 * lanes)
        b = random.choice(np.array([-128, -1, 127], np.int8), 4 * lanes) if extreme else random.bytes(4 * lanes)
        start = random.integers(-(2**31), 2**31, lanes, dtype=np.int64).astype(np.int32)
        x, y = (np.frombuffer(each, np.int32) for each in (a, b))
        given = (x, y)[: FUNCTIONS[name]]
        expected, result = meaning(*given), np.zeros(lanes, np.int32)
        if name in SUMMED:
            given, expected = (start, *given), SUMMED[name](start, expected)
        getattr(library, f"{name}_{lanes}")(*(ctypes.c_void_p(each.ctypes.data) for each in (*given, result)))
        np.testing.assert_array_equal(result, expected)


def test_pairs_saturate_and_wrap() -> None:
    """The meaning itself, by hand."""
    bytes_ = np.array([255, 255, 1, 2], np.uint8).view(np.int32)
    signed = np.array([127, 127, -3, 4], np.int8).view(np.int32)
    np.testing.assert_array_equal(NUMPY["dot2x2"](bytes_, signed).view(np.int16), [2**15 - 1, 5])
    pairs = np.array([2**15 - 1, -7], np.int16).view(np.int32)
    np.testing.assert_array_equal(NUMPY["add2"](pairs, pairs).view(np.int16), [-2, -14])
    np.testing.assert_array_equal(NUMPY["sum2"](pairs), [2**15 - 8])
    np.testing.assert_array_equal(NUMPY["dot2_i16"](pairs, np.array([2, -3], np.int16).view(np.int32)), [2**16 + 19])
