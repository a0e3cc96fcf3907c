"""Rows that end within a vector: the lanes after the end change no sum, product or extreme, and no shifted read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled import build
from graph_checks import GraphBuilder
from xdsl.ir import SSAValue

from mlc.dialects.graph import PoolOp, ReduceOp
from mlc.dialects.types import numpy_dtype

FUNCTIONS = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
EXTENTS = (3, 7, 21)


def computed(b: GraphBuilder, results: list[SSAValue], feed: dict[str, np.ndarray], tmp_path: Path) -> list[np.ndarray]:
    found = build(b, b.module(*results), tmp_path, tmp_path / "cache").run(feed)
    return [found[f"out{n}"] for n in range(len(results))]


@pytest.mark.parametrize("element", ["f32", "i32", "ui8"])
def test_reductions(element: str, tmp_path: Path) -> None:
    """Positive floats and integers of all bits, as a 0 in a product hides the others."""
    b, random, dtype = GraphBuilder(), np.random.default_rng(), numpy_dtype(element)
    xs = [random.uniform(0.5, 1.5, (5, n)) if dtype.kind == "f" else random.integers(1, 255, (5, n)) for n in EXTENTS]
    feed = {f"in{n}": x.astype(dtype) for n, x in enumerate(xs)}
    inputs = [b.input(*x.shape, element=element) for x in xs]
    found = computed(b, [b.add(ReduceOp(fn, x, [1])) for x in inputs for fn in FUNCTIONS], feed, tmp_path)
    for y, (x, fn) in zip(found, [(x, fn) for x in feed.values() for fn in FUNCTIONS.values()], strict=True):
        wanted = fn.reduce(x, 1, dtype=np.float64 if dtype.kind == "f" else dtype)
        np.testing.assert_allclose(y, wanted, rtol=1e-5 if dtype.kind == "f" else 0)


def test_windows_of_stride_2(tmp_path: Path) -> None:
    b, random = GraphBuilder(), np.random.default_rng()
    widths = (8, 15, 27, 41)
    feed = {f"in{n}": random.standard_normal((1, 2, 7, w)).astype("f4") for n, w in enumerate(widths)}
    pools = [b.add(PoolOp("max", b.input(1, 2, 7, w), [3, 3], [2, 2], [1, 1])) for w in widths]
    for y, x in zip(computed(b, pools, feed, tmp_path), feed.values(), strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))[:, :, ::2, ::2]
        np.testing.assert_array_equal(y, windows.max((4, 5)))
