"""Scatter on the CUDA target, emulated on the CPU, against updates one after another: the same sums, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, needed

pytestmark = needed

THREADS = 64
HEAD = """extern "C" __global__ void __launch_bounds__(64, 1) k_{name}(const {type} *__restrict__ b0,
const int64_t *__restrict__ b1, const {type} *__restrict__ b2, {type} *__restrict__ b3, const int64_t cells,
const int64_t count, const int64_t width) {{""".replace("\n", " ")
CALL = "mlc_scatter{name}(b0, b1, b2, b3, cells, count, width, MLC_GRID_THREAD, MLC_GRID_THREADS);"
COMBINED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "": lambda _, b: b, "_add_f32": np.add, "_mul_f64": np.multiply, "_max_f32": np.maximum, "_min_i32": np.minimum,
}  # fmt: skip
TYPES = {"f32": ("float", "f4"), "f64": ("double", "f8"), "i32": ("int32_t", "i4"), "": ("int16_t", "i2")}
"""The C type and NumPy's; bytes are copied as those of 16 bits, of which an odd number are no words."""


def drawn(cells: int, count: int, width: int, element: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, updates, and indices of which some are outside of the data."""
    random = np.random.default_rng()
    data, updates = (random.uniform(-9, 9, (n, width)).astype(TYPES[element][1]) for n in (cells, count))
    return data, random.integers(-1, cells + 1, count), updates


def scatter(
    name: str, data: np.ndarray, indices: np.ndarray, updates: np.ndarray, blocks: int, units: Path
) -> np.ndarray:
    found = np.empty_like(data)
    width = data.shape[1] * (1 if name else data.itemsize)
    kernel = f"{HEAD.format(name=name, type=TYPES[name[5:]][0])}\n{CALL.format(name=name)}\n}}\n"
    buffers = [(x.ctypes.data, x.nbytes) for x in (data, indices, updates, found)]
    Emulator([kernel], units).launch(f"k_{name}", buffers, [len(data), len(updates), width], blocks, THREADS)
    return found


@pytest.mark.parametrize("name", COMBINED)
@pytest.mark.parametrize(
    "cells, count, width, blocks",
    [
        (500, 5000, 1, 3),  # more updates than are scanned together
        (7, 1100, 3, 3),  # many of a cell, in several batches
        (40, 60, 33, 3),
        (2, 30, 333, 7),  # blocks share the columns of a cell
        (1, 0, 5, 2),
    ],
)
def test_updates_of_a_cell_are_in_order(
    name: str, cells: int, count: int, width: int, blocks: int, units: Path
) -> None:
    data, indices, updates = drawn(cells, count, width, name[5:])
    wanted = data.copy()
    for index, update in zip(indices, updates, strict=True):
        if 0 <= index < cells:
            wanted[index] = COMBINED[name](wanted[index], update)
    np.testing.assert_array_equal(scatter(name, data, indices, updates, blocks, units), wanted)
