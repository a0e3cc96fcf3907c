"""Normalization by the Builder against NumPy in float64, where no two extents are equal."""

from __future__ import annotations

import numpy as np
import pytest
from built import built

from mlc.frontends.build.ops.normalization import group_norm, local_response_norm


@pytest.mark.parametrize("scales", [2, 6], ids=["one a group", "one a channel"])
def test_group_norm(fresh: np.random.Generator, scales: int) -> None:
    x, scale, bias = (fresh.normal(size=shape) for shape in ((3, 6, 5), (scales,), (scales,)))
    (y,) = built(lambda build, *ts: group_norm(build, ts[0], 2, *ts[1:], 1e-3), {"x": x, "scale": scale, "bias": bias})
    groups = x.reshape(3, 2, 3, 5)
    mean, variance = groups.mean((2, 3), keepdims=True), groups.var((2, 3), keepdims=True)
    factor, offset = (t.reshape(2, scales // 2, 1) for t in (scale, bias))
    wanted = (groups - mean) / np.sqrt(variance + 1e-3) * factor + offset
    np.testing.assert_allclose(y, wanted.reshape(x.shape), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [1, 3, 4, 6])
def test_local_response_norm(fresh: np.random.Generator, size: int) -> None:
    """Channel c has neighbours from c - ⌊(size - 1) / 2⌋ to c + ⌈(size - 1) / 2⌉. onnxruntime takes odd sizes alone."""
    x = fresh.normal(size=(2, 7, 3))
    (y,) = built(lambda build, t: local_response_norm(build, t, size, 0.7, 0.6, 1.5), {"x": x})
    before, after = (size - 1) // 2, -(-(size - 1) // 2)
    squares = np.stack([(x[:, max(0, c - before) : c + after + 1] ** 2).sum(1) for c in range(7)], 1)
    np.testing.assert_allclose(y, x / (1.5 + 0.7 / size * squares) ** 0.6, rtol=1e-9)
