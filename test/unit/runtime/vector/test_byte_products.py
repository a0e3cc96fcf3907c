"""dot4: the dot products of four unsigned and four signed bytes, for scalars and vectors, on each instruction set."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from toy_build import compile_c, kernel_features

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


@pytest.fixture(scope="module", params=FLAGS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    if request.param != "base" and request.param not in kernel_features():
        pytest.skip(f"this CPU has no {request.param}")
    folder: Path = tmp_path_factory.mktemp("bytes")
    text = SCALAR + "".join(VECTOR.replace("L", str(lanes)) for lanes in LANES[1:])
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
