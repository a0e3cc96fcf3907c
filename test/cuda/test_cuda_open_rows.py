"""Normalizations of rows of symbolic extents on the CUDA target, emulated, against onnxruntime: one kernel, a
block a row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator import needed
from launcher import Program
from test_cuda_operators import compare, feed_of, model_of

from mlc.dialects.poly import schedule_of
from mlc.dialects.types import shape_of

pytestmark = needed

ROWS = {
    "softmax": "(float[n,m] x) => (float[n,m] y) { y = Softmax (x) }",
    "log": "(float[2,n,m] x) => (float[2,n,m] y) { y = LogSoftmax (x) }",
    "layer": "(float[n,m] x, float[m] g, float[m] b) => (float[n,m] y) { y = LayerNormalization (x, g, b) }",
    "image": "(float[n,3,m,5] x, float[3] g, float[3] b) => (float[n,3,m,5] y) { y = InstanceNormalization (x, g, b) }",
    "length": "(float[n,m] x) => (float[n,m] y) { y = LpNormalization (x) }",
}
SHARED = """(float[n,m] x) => (float[n,1] y) {
    e = Tanh (x)  h = ReduceMax <axes = [1]> (e)
    a = Constant <value_ints = [1]> ()  s = ReduceSum (e, a)  y = Add (h, s)
}"""


def drawn(low: int, high: int) -> int:
    return int(np.random.default_rng().integers(low, high))


@pytest.mark.parametrize("name", ROWS)
def test_a_normalization_is_one_kernel(name: str, units: Path) -> None:
    model = model_of(ROWS[name])
    (fn,) = Program.of(model, units).functions.values()
    assert str(schedule_of(fn)[0]).startswith("rows: ")
    for n, m in ((1, 1), (drawn(2, 20), drawn(30, 70)), (3, drawn(1025, 2100))):
        compare(model, units, feed_of(model, n=n, m=m))


def test_what_several_loops_read_is_scratch(units: Path) -> None:
    """Each block has a row of it in the arena."""
    model = model_of(SHARED)
    (fn,) = Program.of(model, units).functions.values()
    assert str(schedule_of(fn)[0]).startswith("rows: ") and str(shape_of(fn.block.args[-1])) == "(864, m_)"
    for n, m in ((1, 1), (900, 3), (drawn(2, 20), drawn(1025, 2100))):
        compare(model, units, feed_of(model, n=n, m=m))


def test_a_whole_array_is_no_row(units: Path) -> None:
    """One block would quantize all of it."""
    model = model_of("(float[n,m] x) => (uint8[n,m] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }")
    *_, last = Program.of(model, units).functions.values()
    assert str(schedule_of(last)[0]).startswith("elementwise: ")
    compare(model, units, feed_of(model, n=drawn(1, 9), m=drawn(300, 600)))
