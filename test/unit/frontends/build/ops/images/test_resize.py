"""Resampling of the Builder against interpolation in NumPy, in float64."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from built import built
from single import agrees

from mlc.frontends.build.ops.images.grid_sample import grid_sample
from mlc.frontends.build.ops.images.interpolation import Interpolation
from mlc.frontends.build.ops.images.resize import resize
from mlc.frontends.build.ops.images.runtime_resize import runtime_resize


def linear(x: np.ndarray, axis: int, at: np.ndarray) -> np.ndarray:
    return np.apply_along_axis(lambda row: np.interp(at, np.arange(len(row)), row), axis, x.astype("f8"))


@pytest.mark.parametrize("size", [3, 8, 13])
def test_linear(fresh: np.random.Generator, size: int) -> None:
    x = fresh.normal(size=(2, 5, 7)).astype("f4")
    how = Interpolation("linear", "half_pixel")
    (y,) = built(lambda build, t: resize(build, t, [1, 2], None, [size, 9], None, how), {"x": x})
    first, second = ((np.arange(n) + 0.5) * d / n - 0.5 for n, d in ((size, 5), (9, 7)))
    np.testing.assert_allclose(y, linear(linear(x, 1, first), 2, second), rtol=1e-5, atol=1e-6)


def test_sizes_at_run_time_give_the_same(fresh: np.random.Generator) -> None:
    x, sizes = fresh.normal(size=(2, 5, 7)).astype("f4"), np.array([4, 10])
    how = Interpolation("cubic", "align_corners")
    (static,) = built(lambda build, t: resize(build, t, [1, 2], None, [4, 10], None, how), {"x": x})
    (y,) = built(lambda build, t, n: runtime_resize(build, t, [1, 2], None, n, None, how), {"x": x, "sizes": sizes})
    np.testing.assert_allclose(y, static, rtol=1e-5, atol=1e-6)


HALF = Fraction(1, 2)
ROUNDED = {
    "round_prefer_floor": lambda at: math.ceil(at - HALF),
    "round_prefer_ceil": lambda at: math.floor(at + HALF),
    "floor": math.floor,
    "ceil": math.ceil,
}
TIED = [(5, 10), (6, 12), (8, 4), (9, 3), (16, 4), (3, 12), (7, 28), (6, 1), (1, 6), (5, 9)]
"""Extents before and after; half of the positions are ties, of even and of odd numbers, exact in binary."""


def positions(transform: str, extent: int, length: int) -> list[Fraction]:
    scale = Fraction(length, extent)
    if transform == "align_corners":
        return [Fraction(i * (extent - 1), length - 1) if length > 1 else Fraction(0) for i in range(length)]
    half = 0 if transform == "asymmetric" else HALF
    return [(i + half) / scale - half for i in range(length)]


@pytest.mark.parametrize("nearest", ROUNDED)
@pytest.mark.parametrize("transform", ["asymmetric", "half_pixel", "align_corners"])
def test_nearest_rounds_ties_as_named(nearest: str, transform: str) -> None:
    how, ties = Interpolation("nearest", transform, nearest), set()
    for extent, length in TIED:
        at = positions(transform, extent, length)
        if any(Fraction(float(p)) != p for p in at):
            continue  # rounded before it is compared
        ties |= {math.floor(p) % 2 for p in at if p % 1 == HALF}
        x, sizes = np.arange(extent, dtype="f4"), np.array([length])
        wanted = [min(max(ROUNDED[nearest](p), 0), extent - 1) for p in at]
        (static,) = built(lambda build, t, n=length: resize(build, t, [0], None, [n], None, how), {"x": x})
        feeds = {"x": x, "sizes": sizes}
        (y,) = built(lambda build, t, n: runtime_resize(build, t, [0], None, n, None, how), feeds)
        assert static.tolist() == y.tolist() == wanted, (extent, length)
    assert ties == {0, 1}


@pytest.mark.parametrize("nearest", ROUNDED)
@pytest.mark.parametrize("constants", [(), ("scales",)])
def test_compiled_ties(fresh: np.random.Generator, nearest: str, constants: tuple[str, ...]) -> None:
    """Against onnxruntime, at 0, 0.5, 1, … of an axis; halved it is read at 0.5, 2.5, …"""
    x, scales = fresh.normal(size=(1, 2, 5, 6)).astype("f4"), np.array([1, 1, 2, 1.25], "f4")
    how = {"mode": "nearest", "nearest_mode": nearest, "coordinate_transformation_mode": "asymmetric"}
    agrees("Resize", {"x": x, "roi": None, "scales": scales}, constants=constants, rtol=0, **how)
    if constants:
        scales[2:] = 0.5, 1
        agrees("Resize", {"x": x, "roi": None, "scales": scales}, constants=constants, rtol=0, nearest_mode=nearest)


@pytest.mark.parametrize("corners", [False, True])
def test_grid_sample(fresh: np.random.Generator, corners: bool) -> None:
    """Bilinear, with zeros outside."""
    x, grid = fresh.normal(size=(2, 3, 5, 7)).astype("f4"), fresh.uniform(-1.3, 1.3, (2, 4, 6, 2)).astype("f4")
    (y,) = built(lambda build, t, g: grid_sample(build, t, g, "linear", "zeros", corners), {"x": x, "grid": grid})
    padded = np.pad(x.astype("f8"), [(0, 0), (0, 0), (2, 2), (2, 2)])
    wanted = np.zeros(y.shape)
    for n, r, c in np.ndindex(2, 4, 6):
        ends = zip(grid[n, r, c, ::-1].astype("f8"), (5, 7), strict=True)
        row, column = ((g + 1) / 2 * (d - 1) if corners else ((g + 1) * d - 1) / 2 for g, d in ends)
        for i, j in np.ndindex(2, 2):
            at = int(np.floor(row)) + i, int(np.floor(column)) + j
            weight = (1 - abs(row - at[0])) * (1 - abs(column - at[1]))
            wanted[n, :, r, c] += weight * padded[n, :, at[0] + 2, at[1] + 2]
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)
