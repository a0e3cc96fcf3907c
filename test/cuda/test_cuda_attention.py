"""Attention in one kernel on the CUDA target, emulated on the CPU, against onnxruntime: blocks of rows and of keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from emulator import needed
from launcher import Program
from test_cuda_operators import compare, feed_of, model_of

from mlc.dialects.poly import schedule_of

pytestmark = needed

ATTENTION = """(float[{b},{h},{m},{k}] q, float[{b},{h},{n},{k}] k, float[{b},{h},{n},{v}] v, float[{m},{n}] mask)
    => (float[{b},{h},{m},{v}] y) {{
    columns = Transpose <perm = [0, 1, 3, 2]> (k)  products = MatMul (q, columns)
    scores = Add (products, mask)  weights = Softmax <axis = -1> (scores)  y = MatMul (weights, v) }}"""

SIZES = [  # batch, heads, queries, keys, elements of a key and of a value
    (1, 2, 64, 128, 16, 16),
    (2, 1, 70, 100, 20, 24),
    (1, 1, 48, 45, 8, 40),
    (1, 2, 33, 20, 4, 136),
]


def text(sizes: tuple[int, ...]) -> str:
    return ATTENTION.format(**dict(zip("bhmnkv", sizes, strict=True)))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_one_kernel_streams_the_keys(sizes: tuple[int, ...], units: Path) -> None:
    model = model_of(text(sizes))
    feed = feed_of(model)
    feed["mask"][np.random.default_rng().random(feed["mask"].shape) < 0.2] = -np.inf
    feed["mask"][3, :-4] = feed["mask"][5, 4:] = -np.inf
    feed["mask"][:, [1, -1]] = 0  # one key of each row is left at both ends
    feed["mask"][3, 1] = feed["mask"][5, -1] = -np.inf
    compare(model, units, feed)
    assert_streamed(model, units)


def assert_streamed(model: onnx.ModelProto, units: Path) -> None:
    """One kernel of all steps, beside the transposition of the keys."""
    functions = Program.of(model, units).functions.values()
    (streamed,) = [schedule_of(fn) for fn in functions if len(schedule_of(fn)) > 1]
    assert [nest.rule for nest in streamed][:5] == ["contraction", "rows", "elementwise", "rows", "contraction"]
    assert all(nest.streamed for nest in streamed[:5]) and len(functions) == 2


def test_rows_without_a_key_and_numbers_of_ten_bits(units: Path) -> None:
    """A row that is masked completely is NaN, as of onnxruntime; with relaxed numerics tensor cores round factors."""
    model = model_of(text((1, 2, 64, 128, 16, 16)))
    feed = feed_of(model)
    feed["mask"][[2, 40]] = -np.inf
    feed["mask"][7, :64] = -np.inf
    (expected,) = ort.InferenceSession(model.SerializeToString()).run(None, feed)
    for numerics, error in (("default", 2e-5), ("relaxed", 5e-3)):
        actual = Program.of(model, units, numerics=numerics).run(feed)["y"]
        assert np.isnan(actual[:, :, [2, 40]]).all()
        np.testing.assert_allclose(actual, expected, rtol=0, atol=error * np.nanmax(np.abs(expected)), equal_nan=True)
