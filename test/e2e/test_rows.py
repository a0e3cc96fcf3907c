"""Softmax over rows of any length, and products of one row: against NumPy in float64."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

import mlc

SOFTMAX = """<ir_version: 8, opset_import: ["" : 17]>
rows (float[{rows},{width}] x) => (float[{rows},{width}] y) {{ y = Softmax (x) }}"""

ATTENTION = """<ir_version: 8, opset_import: ["" : 17]>
attention (float[3,{queries},{width}] q, float[3,{keys},{width}] k, float[3,{keys},{width}] v)
    => (float[3,{queries},{width}] y) {{
  turned = Transpose <perm = [0, 2, 1]> (k)
  scores = MatMul (q, turned)
  weights = Softmax (scores)
  y = MatMul (weights, v)
}}"""


def softmax(x: np.ndarray) -> np.ndarray:
    power = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


@pytest.mark.parametrize("width", [1, 2, 10, 16, 21, 37, 100, 128, 129, 1000, 1024, 20000, 70001, "n"])
@pytest.mark.parametrize("rows", [1, 5])
def test_softmax(rows: int, width: int | str) -> None:
    net = mlc.compile(onnx.parser.parse_model(SOFTMAX.format(rows=rows, width=width)))
    for size in [width] if isinstance(width, int) else [3, 70, 128, 1000]:
        x = (10 * np.random.default_rng().standard_normal((rows, size))).astype("f4")
        np.testing.assert_allclose(net(x), softmax(x), rtol=1e-5, atol=1e-37)  # of the exponent, up to 80


def test_softmax_keeps_nan_to_its_row_and_takes_infinities() -> None:
    net = mlc.compile(onnx.parser.parse_model(SOFTMAX.format(rows=3, width=50)))
    x = np.random.default_rng().standard_normal((3, 50)).astype("f4")
    x[0, 33], x[1, :49] = np.nan, -np.inf
    y = net(x)
    assert np.isnan(y[0]).all()
    np.testing.assert_array_equal(y[1], np.eye(50, dtype="f4")[49])
    np.testing.assert_allclose(y[2], softmax(x[2:])[0], rtol=2e-6)


READERS = """<ir_version: 8, opset_import: ["" : 17]>
rows (float[5,{width}] x) => (float[5,{width}] twice, float[5,{long}] padded) {{
  y = Softmax (x)
  negative = Neg (y)
  twice = Add (y, y)
  pads = Constant <value = int64[4] {{0, 0, 0, 2}}> ()
  padded = Pad (negative, pads)
}}"""


@pytest.mark.parametrize("width", [4, 37, 1000])
def test_another_reads_what_a_result_stands_in(width: int) -> None:
    """The exponentials lie where the first result will; the second is computed after it."""
    x = np.random.default_rng().standard_normal((5, width)).astype("f4")
    net = mlc.compile(onnx.parser.parse_model(READERS.format(width=width, long=width + 2)))
    twice, padded = net(x)
    np.testing.assert_allclose(twice, 2 * softmax(x), rtol=1e-5)
    np.testing.assert_allclose(padded, np.pad(-softmax(x), ((0, 0), (0, 2))), rtol=1e-5)


SIZES = [(1, 300, 64), (1, 7, 40), (2, 33, 64), (9, 33, 64), (1, 65, 16)]


@pytest.mark.parametrize(("queries", "keys", "width"), SIZES)
def test_attention(queries: int, keys: int, width: int) -> None:
    net = mlc.compile(onnx.parser.parse_model(ATTENTION.format(queries=queries, keys=keys, width=width)))
    random = np.random.default_rng()
    q, k, v = (random.standard_normal((3, n, width)).astype("f4") for n in (queries, keys, keys))
    scores = np.einsum("bmk,bnk->bmn", q.astype(np.float64), k)
    np.testing.assert_allclose(net(q, k, v), softmax(scores) @ v, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("columns", [3, 16, 100, 257, 1024, "n"])
def test_product_of_one_row(columns: int | str) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
    product (float[4,1,70] x, float[4,70,{columns}] w) => (float[4,1,{columns}] y) {{ y = MatMul (x, w) }}"""
    net = mlc.compile(onnx.parser.parse_model(text))
    for size in [columns] if isinstance(columns, int) else [5, 300]:
        random = np.random.default_rng()
        x, w = random.standard_normal((4, 1, 70)).astype("f4"), random.standard_normal((4, 70, size)).astype("f4")
        np.testing.assert_allclose(net(x, w), x.astype(np.float64) @ w, rtol=1e-5, atol=1e-5)


def test_one_row_is_the_same_on_any_number_of_threads() -> None:
    """A kernel without a loop to divide is one thread's: the row is written twice, which two at once would mix."""
    text = SOFTMAX.format(rows=1, width=60001)
    one, two = (mlc.compile(onnx.parser.parse_model(text), threads=n) for n in (1, 2))
    x = np.random.default_rng().standard_normal((1, 60001)).astype("f4")
    wanted = one(x)
    assert all(np.array_equal(two(x), wanted) for _ in range(200))
