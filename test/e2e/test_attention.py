"""Attention as one kernel: scores in blocks of rows, masks of every shape, heads in place; against NumPy in float64."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn

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

SIZES = {  # batch, heads, m, n, width, v: the blocks in which rows of scores are computed, streamed: and of keys
    (1, 4, 33, 17, 8, 5): "1 a head",
    (2, 7, 1, 40, 16, 16): "1 a head",
    (1, 5, 64, 64, 64, 64): "1 a head",
    (3, 2, 7, 130, 20, 33): "1 a head",
    (1, 12, 197, 197, 16, 16): "1 a head",
    (1, 2, 320, 300, 8, 6): "4 a head",
    (1, 1, 512, 1024, 16, 16): "16 a head",
    (2, 1, 96, 4096, 4, 20): "8 a head, 4 of keys",
    (1, 3, 90, 3000, 16, 20): "3 a head, 3 of keys",
    (1, 1, 20, 20, 4, 4): "none",  # too few blocks for threads
    (1, 4, 509, 701, 4, 8): "4 a head, 1 of keys",  # a prime number of rows
    (1, 1, 16, 20000, 4, 4): "none",  # too few blocks of rows for threads
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
    kernels = [k["schedule"] for k in compiled(sizes, (1,), threads=4).signature["kernels"]]
    fused = [k for k in kernels if " & " in k]
    assert len(fused) == (blocks != "none")
    assert len(kernels) == ((1 if sizes[2] == 1 else 2) if fused else 4), kernels
    if fused:
        shared = math.prod(map(int, re.findall(r"@(\d+)t?(?!s)\b", fused[0].partition("&")[0])))
        assert shared % int(blocks.split()[0]) == 0 and shared >= 4, kernels
        assert re.findall(r"@(\d+)s", fused[0].partition("&")[0]) == re.findall(r"(\d+) of keys", blocks)


STREAMED = [  # batch, heads, m, n, width, v
    (1, 4, 509, 701, 8, 5),
    (1, 3, 90, 3000, 16, 20),
    (2, 2, 130, 2600, 12, 33),
]


@pytest.mark.parametrize("sizes", STREAMED, ids=str)
def test_masked_blocks_as_onnxruntime_has_them(sizes: tuple[int, ...]) -> None:
    """Keys masked by -inf or the lowest number: some, all of the first blocks, all of the last, and all of a row."""
    onnxruntime = pytest.importorskip("onnxruntime")
    batch, heads, m, n, *_ = sizes
    *args, mask = arguments(sizes, (m, n))
    for low in (-np.inf, np.finfo("f4").min):
        mask[np.random.default_rng().random((m, n)) < 0.2] = low
        mask[3, : n - 5] = mask[7, 5:] = mask[m - 1, 1:] = mask[m - 2, : n // 2] = mask[11] = low
        model = ATTENTION.format(batch=batch, heads=heads, m=m, n=n, width=sizes[4], v=sizes[5], mask=f"{m},{n}")
        session = onnxruntime.InferenceSession(onnx.parser.parse_model(model).SerializeToString())
        (expected,) = session.run(None, dict(zip("qkv", args, strict=True)) | {"mask": mask})
        assert np.isnan(expected[:, 11]).all() == np.isinf(low)
        net = compiled(sizes, (m, n), threads=2)
        assert re.search(r"@\d+s", net.signature["kernels"][-1]["schedule"])
        largest = np.nanmax(np.abs(expected))
        np.testing.assert_allclose(net(*args, mask), expected, rtol=0, atol=1e-5 * largest, equal_nan=True)


BLOCKS = [  # of rows and of keys, tiles of rows
    (1, 1, "m/14*3+8*1"),
    (4, 3, "m/13*1"),
    (7, 10, "m/4*2"),
    (50, 2, "m/1*1"),
    (3, 100, "m/17*1"),
]


@pytest.mark.parametrize(("rows", "keys", "tiles"), BLOCKS, ids=str)
def test_any_blocks(rows: int, keys: int, tiles: str, tmp_path: Path) -> None:
    """Blocks that a user chooses, equal ones or not, down to one row or key."""
    sizes = (1, 4, 50, 100, 8, 6)
    band, i = f"b@4 m@{rows}t", f"i1@4 i2@{rows}t"
    product = f"{band} {{}}@{keys}s b {{}}v {tiles}"
    scale = f"elementwise: S6 | i2@4 i1@{rows}t i2 i1 i3/6v |"
    nests = [f"contraction: S0 | {product.format('n', 'n/16')} | k",
             f"rows: S1 S2 S3 | {i} i3@{keys}s i1 i2 | i3/16v",
             f"contraction: S5 | {product.format('k', 'n/6')} | k/7s",
             f"elementwise: S4 | {i} i1 i2/16v |", scale]  # fmt: skip
    (tmp_path / "schedule").write_text("contract_1: " + " & ".join(nests))
    small = "x86-64-v3:l2=16K"  # a cache in which whole rows do not stay
    net = compiled(sizes, (50, 100), schedule=str(tmp_path / "schedule"), target=small)
    args = arguments(sizes, (50, 100))
    expected = reference(*args)
    np.testing.assert_allclose(net(*args), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_the_same_bits_for_any_threads() -> None:
    sizes, mask = (1, 3, 320, 300, 24, 18), (320, 300)
    args = arguments(sizes, mask)
    first, *others = (compiled(sizes, mask, threads=threads)(*args) for threads in (1, 2, 4))
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_gradients_of_many_keys() -> None:
    """By queries, keys and values, against their formulas in float64."""
    normal = np.random.default_rng().standard_normal
    q, k, v, w = (normal((1, 4, *shape)).astype("f4") for shape in ((130, 16), (701, 16), (701, 8), (130, 8)))

    def loss(*args: mnp.Array) -> mnp.Array:
        return mnp.sum(nn.dot_product_attention(*args) * w)

    found = mlc.jit(mlc.grad(loss, argnums=(0, 1, 2)))(q, k, v)
    scores = q.astype("f8") @ k.swapaxes(2, 3) / 4
    power = np.exp(scores - scores.max(-1, keepdims=True))
    p = power / power.sum(-1, keepdims=True)
    by_p = w @ v.swapaxes(2, 3).astype("f8")
    by_scores = p * (by_p - (by_p * p).sum(-1, keepdims=True)) / 4
    wanted = by_scores @ k, by_scores.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ w
    for actual, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
