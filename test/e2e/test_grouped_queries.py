"""Attention whose heads share keys and values (grouped queries), as exporters write it, against NumPy in float64."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

import mlc

GROUPED = """<ir_version: 8, opset_import: ["" : 17]>
attention (float[{batch},{heads},{m},{width}] q, float[{batch},{shared},{n},{width}] k,
           float[{batch},{shared},{n},{v}] v, float[{mask}] mask) => (float[{batch},{heads},{m},{v}] y) {{
  behind = Constant <value_ints = [2]> ()
  k_wide = Constant <value_ints = [{batch}, {shared}, {times}, {n}, {width}]> ()
  k_merged = Constant <value_ints = [{batch}, {heads}, {n}, {width}]> ()
  v_wide = Constant <value_ints = [{batch}, {shared}, {times}, {n}, {v}]> ()
  v_merged = Constant <value_ints = [{batch}, {heads}, {n}, {v}]> ()
  k_one = Unsqueeze (k, behind)
  k_each = Expand (k_one, k_wide)
  keys = Reshape (k_each, k_merged)
  v_one = Unsqueeze (v, behind)
  v_each = Expand (v_one, v_wide)
  values = Reshape (v_each, v_merged)
  columns = Transpose <perm = [0, 1, 3, 2]> (keys)
  products = MatMul (q, columns)
  scores = Add (products, mask)
  weights = Softmax <axis = -1> (scores)
  y = MatMul (weights, values)
}}"""

SIZES = [  # batch, heads, heads that share, m, n, width, v
    (1, 8, 2, 1, 256, 64, 64),
    (1, 6, 3, 33, 17, 8, 5),
    (2, 4, 4, 7, 40, 16, 20),
    (3, 10, 2, 64, 64, 24, 18),
    (1, 4, 2, 512, 512, 8, 8),
]


def compiled(sizes: tuple[int, ...], mask: tuple[int, ...], **options: object) -> mlc.Model:
    batch, heads, times, m, n, width, v = sizes
    names = {"batch": batch, "heads": heads, "times": times, "m": m, "n": n, "width": width, "v": v}
    text = GROUPED.format(**names, shared=heads // times, mask=",".join(map(str, mask)))
    return mlc.compile(onnx.parser.parse_model(text), **options)


def arguments(sizes: tuple[int, ...], mask: tuple[int, ...]) -> list[np.ndarray]:
    batch, heads, times, m, n, width, v = sizes
    shared = heads // times
    shapes = (batch, heads, m, width), (batch, shared, n, width), (batch, shared, n, v), mask
    return [np.random.default_rng().standard_normal(shape).astype("f4") for shape in shapes]


def reference(times: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    scores = q.astype("f8") @ k.repeat(times, axis=1).swapaxes(2, 3) + mask
    power = np.exp(scores - scores.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True) @ v.repeat(times, axis=1)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_grouped(sizes: tuple[int, ...]) -> None:
    batch, heads, times, m, n, *_ = sizes
    for mask in [(n,), (1, 1, m, n), (batch, heads, 1, n), (batch, heads, m, n)]:
        args = arguments(sizes, mask)
        expected = reference(times, *args)
        for numerics in ("default", "strict"):
            actual = compiled(sizes, mask, numerics=numerics)(*args)
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_nothing_is_copied(sizes: tuple[int, ...]) -> None:
    """One kernel, beside the transposition of the keys where there are several queries."""
    names = [k["name"] for k in compiled(sizes, (1,)).signature["kernels"]]
    assert len(names) == 1 + (sizes[3] > 1) and not any("broadcast" in n for n in names), names


def test_the_same_bits_for_any_threads() -> None:
    sizes, mask = (1, 6, 2, 320, 300, 24, 18), (6, 1, 300)
    args = arguments(sizes, mask)
    first, *others = (compiled(sizes, mask, threads=threads)(*args) for threads in (1, 2, 4))
    for other in others:
        np.testing.assert_array_equal(other, first)
