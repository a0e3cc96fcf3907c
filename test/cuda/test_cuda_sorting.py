"""Argsort on the CUDA target, emulated on the CPU, against NumPy: random rows with ties and NaN."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, needed

pytestmark = needed

BLOCKS = 2
HEAD = """extern "C" __global__ void __launch_bounds__({threads}, 1) k_{threads}(const {type} *__restrict__ b0,
int64_t *__restrict__ b1, const int64_t rows, const int64_t n, const int64_t width, const int64_t count,
const int64_t room, const int64_t descending) {{""".replace("\n", " ")
CALLS = {
    "chosen": "mlc_argsort_{element}(b0, b1, rows, n, width, count, room, descending, "
    "MLC_GRID_THREAD, MLC_GRID_THREADS);",
    "rows": "mlc_argsort_rows(b0, b1, rows, n, width, count, room, descending != 0); /* MLC_GRID_THREAD, */",
}
TYPES = {"f32": ("float", "f4"), "f64": ("double", "f8"), "i64": ("int64_t", "i8")}


def argsort(x: np.ndarray, count: int, descending: bool, call: str, element: str, units: Path) -> np.ndarray:
    rows, n, width = x.shape
    room, threads = count if count * 8 <= n else 2 * n, 64
    found = np.full((rows, room), -1)
    head = HEAD.format(threads=threads, type=TYPES[element][0])
    kernel = f"{head}\n{CALLS[call].format(element=element)}\n}}\n"
    buffers = [(x.ctypes.data, x.nbytes), (found.ctypes.data, found.nbytes)]
    sizes = [rows, n, width, count, room, int(descending)]
    Emulator([kernel], units).launch(f"k_{threads}", buffers, sizes, BLOCKS, threads)
    return found[:, :count]


def wanted(x: np.ndarray, count: int, descending: bool) -> np.ndarray:
    """By a stable sort of integers; NaN is the greatest."""
    ranks = [np.unique(x[..., n], return_inverse=True)[1].reshape(x.shape[:2]) for n in range(x.shape[2])]
    return np.lexsort([-r if descending else r for r in reversed(ranks)], axis=-1)[:, :count]


def drawn(rows: int, n: int, width: int, element: str) -> np.ndarray:
    """Values that occur about three times; of floats, every tenth is NaN, and zeros have both signs."""
    random = np.random.default_rng()
    x = random.integers(-n // 6 - 1, n // 6 + 1, (rows, n, width)).astype(TYPES[element][1])
    if element != "i64":
        x *= random.choice([-1.0, 0.5], x.shape)
        x[random.random(x.shape) < 0.1] = np.nan
    return x


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("n", [1, 33, 1000, 4097])
@pytest.mark.parametrize("descending", [False, True])
def test_argsort_of_rows(n: int, descending: bool, call: str, units: Path) -> None:
    x = drawn(1 if n == 4097 else 3, n, 1, "f32")
    for count in {n, max(1, n // 8), min(n, 5)}:
        np.testing.assert_array_equal(argsort(x, count, descending, call, "f32", units), wanted(x, count, descending))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("count", [60, 300])
def test_argsort_of_vectors(element: str, count: int, units: Path) -> None:
    x = drawn(3, 300, 3, element)
    x[..., 0] = np.sign(x[..., 0])
    for call in CALLS:
        np.testing.assert_array_equal(argsort(x, count, True, call, element, units), wanted(x, count, True))


@pytest.mark.parametrize("start, step", [(0, 1), (0, -1), (1, 0), (np.nan, 0)])
def test_argsort_of_rows_in_an_order(start: float, step: int, units: Path) -> None:
    x = (start + step * np.arange(999)).astype("f4").reshape(1, 999, 1)
    for count in (100, 999):
        np.testing.assert_array_equal(argsort(x, count, False, "rows", "f32", units), wanted(x, count, False))
