"""Scans of the Builder, as loops and unrolled, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from built import built

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.scan import scan_loop, unrolled_scan
from mlc.frontends.build.tensors import Tensor


def body_of(build: Builder) -> Any:
    """The running sum, times the second slice as what is collected."""

    def body(states: list[Any], slices: list[Tensor]) -> tuple[list[Any], list[Any]]:
        total = build.map("x0 + x1", states[0], slices[0])
        return [total], [build.map("x0 * x1", total, slices[1])]

    return body


@pytest.mark.parametrize("make", [scan_loop, unrolled_scan])
@pytest.mark.parametrize("reverse", [(False, False, False), (True, False, False), (False, True, True)])
def test_scan(fresh: np.random.Generator, make: Any, reverse: tuple[bool, bool, bool]) -> None:
    start, x, z = (fresh.normal(size=shape).astype("f8") for shape in ((3,), (5, 3), (5, 3)))
    *back, out = reverse
    inputs = {"start": start, "x": x, "z": z}
    last, ys = built(lambda build, s, *xs: make(build, [s], xs, 5, body_of(build), back, [out]), inputs)
    first, second = (a[::-1] if b else a for a, b in zip((x, z), back, strict=True))
    totals = start + np.cumsum(first, 0)
    wanted = totals * second
    np.testing.assert_allclose(last, totals[-1])
    np.testing.assert_allclose(ys, wanted[::-1] if out else wanted)


def test_shorter_sequences_keep_their_states(fresh: np.random.Generator) -> None:
    start, x, z = (fresh.normal(size=shape).astype("f8") for shape in ((3,), (5, 3), (5, 3)))
    inputs = {"start": start, "x": x, "z": z, "length": np.array(2)}

    def make(build: Builder, s: Tensor, a: Tensor, b: Tensor, length: Tensor) -> list[Tensor]:
        return scan_loop(build, [s], [a, b], 5, body_of(build), [True, False], [False], length)

    last, ys = built(make, inputs)
    totals = start + np.cumsum(x[1::-1], 0)
    np.testing.assert_allclose(last, totals[-1])
    np.testing.assert_allclose(ys, np.concatenate([totals * z[:2], np.zeros((3, 3))]))
