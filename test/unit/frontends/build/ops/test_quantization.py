"""Quantization of the Builder against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from built import built

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.quantization import dequantize_linear, integer_matmul, per_axis, quantize_linear
from mlc.frontends.build.tensors import Tensor


@pytest.mark.parametrize("element", ["i8", "ui8"])
def test_there_and_back(fresh: np.random.Generator, element: str) -> None:
    x, scale = (3 * fresh.normal(size=(4, 5))).astype("f4"), fresh.uniform(0.01, 0.1, 5).astype("f4")
    zero = fresh.integers(0, 100, 5).astype("i1" if element == "i8" else "u1")

    def make(build: Builder, t: Tensor, s: Tensor, z: Tensor) -> list[Tensor]:
        s, z = (per_axis(build, t, p, 1) for p in (s, z))
        q = quantize_linear(build, t, s, z, element)
        return [q, dequantize_linear(build, q, s, z)]

    q, y = built(make, {"x": x, "scale": scale, "zero": zero})
    info = np.iinfo(zero.dtype)
    wanted = np.clip(np.rint(x / scale) + zero, info.min, info.max)
    np.testing.assert_array_equal(q, wanted.astype(zero.dtype))
    np.testing.assert_allclose(y, (wanted - zero) * scale, rtol=1e-6)


def test_a_scale_for_each_block(fresh: np.random.Generator) -> None:
    x, scale = fresh.integers(-128, 128, (4, 6)).astype("i1"), fresh.uniform(0.1, 1, (2, 6)).astype("f4")
    (y,) = built(
        lambda build, t, s: dequantize_linear(build, t, per_axis(build, t, s, 0, 2), None), {"x": x, "scale": scale}
    )
    np.testing.assert_allclose(y, x * scale.repeat(2, 0), rtol=1e-6)


def test_integer_product(fresh: np.random.Generator) -> None:
    a, b = (fresh.integers(0, 256, shape).astype("u1") for shape in ((3, 7), (7, 4)))
    rows, columns = (fresh.integers(0, 256, n).astype("u1") for n in (3, 4))
    (y,) = built(lambda build, *xs: integer_matmul(build, *xs), {"a": a, "b": b, "rows": rows, "columns": columns})
    np.testing.assert_array_equal(y, (a.astype("i8") - rows[:, None]) @ (b.astype("i8") - columns))
