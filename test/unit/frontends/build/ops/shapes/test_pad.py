"""Padding modes and slices of the Builder against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from built import built

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.shapes.pad import pad_constant, pad_with_elements, resize_axis
from mlc.frontends.build.ops.shapes.slices import slices


@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect"])
@pytest.mark.parametrize("most", [3, 11], ids=["near", "far"])
def test_elements(fresh: np.random.Generator, mode: str, most: int) -> None:
    x = fresh.normal(size=(4, 5)).astype("f4")
    for low, high in fresh.integers(0, most, (8, 2, 2)).tolist():  # some of them 0
        (y,) = built(lambda build, t, a=low, b=high: pad_with_elements(build, t, a, b, mode), {"x": x})
        np.testing.assert_array_equal(y, np.pad(x, list(zip(low, high, strict=True)), mode))


def test_constant(fresh: np.random.Generator) -> None:
    x = fresh.normal(size=(4, 5)).astype("f4")
    (y,) = built(lambda build, t: pad_constant(build, t, [1, -2], [0, 3], 2.5), {"x": x})
    np.testing.assert_array_equal(y, np.pad(x, [(1, 0), (0, 3)], constant_values=2.5)[:, 2:])


def test_resized_axis(fresh: np.random.Generator) -> None:
    x = fresh.normal(size=(4, 5)).astype("f4")
    short, long = built(lambda build, t: [resize_axis(build, t, 1, n) for n in (3, 7)], {"x": x})
    np.testing.assert_array_equal(short, x[:, :3])
    np.testing.assert_array_equal(long, np.pad(x, [(0, 0), (0, 2)]))


def test_an_unknown_mode_is_refused(fresh: np.random.Generator) -> None:
    with pytest.raises(NotSupported, match="padding mode 'mirror'; it is constant, edge, wrap, reflect"):
        built(lambda build, t: pad_with_elements(build, t, [1], [1], "mirror"), {"x": np.zeros(3, "f4")})


def test_slices(fresh: np.random.Generator) -> None:
    """But for a backward slice from before the first element, which is empty in NumPy."""
    x = fresh.normal(size=(7, 9)).astype("f4")
    for _ in range(20):
        (a, c), (b, d) = fresh.integers(-12, 12, (2, 2)).tolist()
        s, t = fresh.choice([-3, -2, -1, 1, 2, 3], 2).tolist()
        a, c = max(a, -7 if s < 0 else a), max(c, -9 if t < 0 else c)
        wanted = x[a:b:s, c:d:t]
        (y,) = built(lambda build, v, w=(a, b, c, d, s, t): slices(
            build, v, [w[0], w[2]], [w[1], w[3]], [0, -1], [w[4], w[5]]), {"x": x})  # fmt: skip
        np.testing.assert_array_equal(y, wanted, str((a, b, c, d, s, t)))
