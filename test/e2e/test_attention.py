"""Attention as one kernel: scores in blocks of rows, masks of every shape, heads in place; against NumPy in float64."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import onnx.parser
import pytest

import mlc

ATTENTION = """<ir_version: 8, opset_import: ["" : 17]>
attention (float[{batch},{m},{heads},{width}] q, float[{batch},{n},{heads},{width}] k, float[{batch},{n},{heads},{v}] v,
           float[{mask}] mask) => (float[{batch},{m},{heads},{v}] y) {{
  rows = Transpose <perm = [0, 2, 1, 3]> (q)
  columns = Transpose <perm = [0, 2, 3, 1]> (k)
  values = Transpose <perm = [0, 2, 1, 3]> (v)
  scale = Constant <value_float = 0.3> ()
  products = MatMul (rows, columns)
  scaled = Mul (products, scale)
  scores = Add (scaled, mask)
  weights = Softmax <axis = -1> (scores)
  z = MatMul (weights, values)
  y = Transpose <perm = [0, 2, 1, 3]> (z)
}}"""

SIZES = {  # batch, heads, m, n, width, v: the blocks in which rows of scores are computed
    (1, 4, 33, 17, 8, 5): "1 a head",
    (2, 7, 1, 40, 16, 16): "1 a head",
    (1, 5, 64, 64, 64, 64): "1 a head",
    (3, 2, 7, 130, 20, 33): "1 a head",
    (1, 12, 197, 197, 16, 16): "1 a head",
    (1, 2, 320, 300, 8, 6): "4 a head",
    (1, 1, 512, 1024, 16, 16): "16 a head",
    (2, 1, 96, 4096, 4, 20): "12 a head",
    (2, 1, 90, 4096, 4, 20): "none",  # 6 rows divide 90, and are too few
    (1, 1, 20, 20, 4, 4): "none",  # too few blocks for threads
    (1, 2, 509, 400, 4, 8): "none",  # a prime number of rows
    (1, 1, 16, 20000, 4, 4): "none",  # rows too long for the cache
}


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    scores = 0.3 * np.einsum("bmhk,bnhk->bhmn", q.astype("f8"), k) + mask
    power = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhmn,bnhv->bmhv", power / power.sum(-1, keepdims=True), v)


def compiled(sizes: tuple[int, ...], mask: tuple[int, ...], **options: object) -> mlc.Model:
    names = dict(zip(("batch", "heads", "m", "n", "width", "v"), sizes, strict=True))
    text = ATTENTION.format(**names, mask=",".join(map(str, mask)))
    return mlc.compile(onnx.parser.parse_model(text), **options)


def arguments(sizes: tuple[int, ...], mask: tuple[int, ...]) -> list[np.ndarray]:
    batch, heads, m, n, width, v = sizes
    normal = np.random.default_rng().standard_normal
    shapes = (batch, m, heads, width), (batch, n, heads, width), (batch, n, heads, v), mask
    return [normal(shape).astype("f4") for shape in shapes]


@pytest.mark.parametrize("numerics", ["default", "strict"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_masks_of_every_shape(sizes: tuple[int, ...], numerics: str) -> None:
    batch, heads, m, n, *_ = sizes
    masks = [(1,), (n,), (m, 1), (1, 1, m, n), (batch, 1, 1, n), (batch, heads, m, n)]
    for mask in random.sample(masks, 2):
        net, args = compiled(sizes, mask, numerics=numerics), arguments(sizes, mask)
        expected = reference(*args)
        np.testing.assert_allclose(net(*args), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(("sizes", "blocks"), SIZES.items(), ids=str)
def test_kernels(sizes: tuple[int, ...], blocks: str) -> None:
    """One kernel beside the transposition of the keys, which one query does without, in blocks of heads and rows."""
    kernels = [k["schedule"] for k in compiled(sizes, (1,)).signature["kernels"]]
    fused = [k for k in kernels if " & " in k]
    assert len(fused) == (blocks != "none")
    assert len(kernels) == ((1 if sizes[2] == 1 else 2) if fused else 4), kernels
    if fused:
        shared = math.prod(map(int, re.findall(r"@(\d+)", fused[0].partition("&")[0])))
        assert shared % int(blocks.split()[0]) == 0 and shared >= 4, kernels


def test_the_same_bits_for_any_threads() -> None:
    sizes, mask = (1, 3, 320, 300, 24, 18), (320, 300)
    args = arguments(sizes, mask)
    first, *others = (compiled(sizes, mask, threads=threads)(*args) for threads in (1, 2, 4))
    for other in others:
        np.testing.assert_array_equal(other, first)
