"""Divisions of integer vectors against Python's integers, for each instruction set this CPU has."""

from __future__ import annotations

import ctypes
import itertools
import random

import numpy as np
import pytest
from test_vectors import ELEMENTS, FLAGS, call, dtype
from toy_build import compile_c, kernel_features

INTEGERS = {e: t for e, t in ELEMENTS.items() if e[0] != "f"}
TEMPLATE = """
void divide_V(const T *a, const T *b, T *q, T *r) {
  mlc_store_V(q, mlc_div_V(mlc_load_V(a), mlc_load_V(b)));
  mlc_store_V(r, mlc_rem_V(mlc_load_V(a), mlc_load_V(b)));
}
"""
FLOOR = "void floor_V(const T *a, const T *b, T *q) { mlc_store_V(q, mlc_floordiv_V(mlc_load_V(a), mlc_load_V(b))); }\n"


@pytest.fixture(scope="module", params=FLAGS)
def library(request, tmp_path_factory):
    if request.param != "base" and not {request.param} <= kernel_features():
        pytest.skip(f"this CPU has no {request.param}")
    folder = tmp_path_factory.mktemp("divisions")
    code = ['#include "mlc_kernel.h"\n']
    for element, lanes in itertools.product(INTEGERS, (4, 8, 16)):
        text = TEMPLATE + (FLOOR if element[0] == "i" else "")
        code.append(text.replace("_V(", f"_{element}x{lanes}(").replace("T *", f"{INTEGERS[element]} *"))
    (folder / "divisions.c").write_text("".join(code))
    built = folder / "divisions.so"
    options = ["-O2", "-fwrapv", "-Wno-psabi", "-fPIC", "-shared", *FLAGS[request.param]]
    compile_c(built, [folder / "divisions.c"], *options)
    return ctypes.CDLL(str(built))


def _numbers(limits: np.iinfo, count: int) -> list[tuple[int, int]]:
    """Pairs of all magnitudes, with multiples and their neighbours, 0, -1 and the ends of the type."""
    pairs = []
    for _ in range(count):
        a, b = (random.randint(limits.min, limits.max) >> random.randrange(limits.bits) for _ in range(2))
        a = random.choice([a, a, limits.min, limits.max, a - a % b if b else a, a - a % b - 1 if b else a])
        b = random.choice([b, b, b, b, b, 0, 1, max(-1, limits.min), limits.min, limits.max])
        pairs.append((min(max(a, limits.min), limits.max), b))
    return pairs


def _wrapped(numbers: list[int], kind: np.dtype) -> np.ndarray:
    return np.array([n % (1 << 8 * kind.itemsize) for n in numbers], f"u{kind.itemsize}").view(kind)


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("element", INTEGERS)
def test_divisions(library, element, lanes):
    kind = dtype(element)
    pairs = _numbers(np.iinfo(kind), 100 * lanes)
    a, b = (np.array(column, kind).reshape(-1, lanes) for column in zip(*pairs, strict=True))
    quotient, rest, floor = np.empty((3, *a.shape), kind)
    for n in range(len(a)):
        call(library, f"divide_{element}x{lanes}", a[n], b[n], quotient[n], rest[n])
        if element[0] == "i":
            call(library, f"floor_{element}x{lanes}", a[n], b[n], floor[n])
    down = [x // y if y else 0 for x, y in pairs]
    towards_zero = [-(-x // y) if y and (x < 0) != (y < 0) else d for (x, y), d in zip(pairs, down, strict=True)]
    left = [x - t * y if y else 0 for (x, y), t in zip(pairs, towards_zero, strict=True)]
    np.testing.assert_array_equal(quotient.ravel(), _wrapped(towards_zero, kind))
    np.testing.assert_array_equal(rest.ravel(), _wrapped(left, kind))
    if element[0] == "i":
        np.testing.assert_array_equal(floor.ravel(), _wrapped(down, kind))
