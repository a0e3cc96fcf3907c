"""BitShift by any amount, of all types: by more bits than there are, and by negative numbers, as NumPy does."""

from __future__ import annotations

import platform

import numpy as np
import onnx.parser
import pytest

import mlc

TARGETS = ["cpu", "x86-64"] if platform.machine() == "x86_64" else ["cpu"]  # the second has no vectors of amounts
TYPES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
SHIFT = """<ir_version: 13, opset_import: ["" : {opset}]>
shift ({element}[n] x, {element}[n] by) => ({element}[n] y) {{ y = BitShift <direction = "{way}"> (x, by) }}"""


@pytest.mark.parametrize("way", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("target", TARGETS)
def test_any_amount(target: str, element: str, way: str) -> None:
    net = mlc.compile(onnx.parser.parse_model(SHIFT.format(element=element, way=way, opset=28)), target)
    random, info = np.random.default_rng(), np.iinfo(element)
    for n in (1, 5, 37):  # scalars, a part of a vector, vectors and a rest
        x = random.integers(info.min, info.max, n, element, endpoint=True)
        by = random.integers(max(-70, info.min), min(71, info.max), n).astype(element)
        expected = np.left_shift(x, by) if way == "LEFT" else np.right_shift(x, by)
        np.testing.assert_array_equal(net(x, by), expected, str(by))
