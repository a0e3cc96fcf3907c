"""Attention whose heads share keys and values (grouped queries), as exporters write it, against NumPy in float64."""

from __future__ import annotations

import secrets

import numpy as np
import onnx.parser
import pytest

import mlc

GROUPED = """<ir_version: 8, opset_import: ["" : 17]>
attention (float[{batch},{heads},{m},{width}] q, float[{batch},{shared},{n},{width}] k,
           float[{batch},{shared},{n},{v}] v, float[{mask}] mask) => (float[{batch},{heads},{m},{v}] y) {{
  after = Constant <value_ints = [2]> ()
  k_wide = Constant <value_ints = [{batch}, {shared}, {times}, {n}, {width}]> ()
  k_merged = Constant <value_ints = [{batch}, {heads}, {n}, {width}]> ()
  v_wide = Constant <value_ints = [{batch}, {shared}, {times}, {n}, {v}]> ()
  v_merged = Constant <value_ints = [{batch}, {heads}, {n}, {v}]> ()
  k_one = Unsqueeze (k, after)
  k_each = Expand (k_one, k_wide)
  keys = Reshape (k_each, k_merged)
  v_one = Unsqueeze (v, after)
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


OTHERWISE = """<ir_version: 8, opset_import: ["" : 17]>
attention (float[2,{heads},m,8] q, float[2,{keys},n,8] k, float[2,{values},n,5] v) => (float[2,{heads},m,5] y) {{
  k_after = Constant <value_ints = [{k_after}]> ()
  v_after = Constant <value_ints = [{v_after}]> ()
  k_wide = Constant <value_ints = [{k_wide}]> ()
  v_wide = Constant <value_ints = [{v_wide}]> ()
  k_merged = Constant <value_ints = [2, {heads}, -1, 8]> ()
  v_merged = Constant <value_ints = [2, {heads}, -1, 5]> ()
  scale = Constant <value_float = 0.5> ()
  k_one = Unsqueeze (k, k_after)
  k_each = Expand (k_one, k_wide)
  k_heads = Reshape (k_each, k_merged)
  v_one = Unsqueeze (v, v_after)
  v_each = Expand (v_one, v_wide)
  v_heads = Reshape (v_each, v_merged)
  keys = Mul (k_heads, scale)
  columns = Transpose <perm = [0, 1, 3, 2]> (keys)
  scores = MatMul (q, columns)
  weights = Softmax <axis = -1> (scores)
  y = MatMul (weights, v_heads)
}}"""


def wide(axis: int, times: int) -> str:
    """A shape that repeats along a new axis, and stretches nothing else."""
    return ", ".join(str(times if n == axis else 1) for n in range(5))


@pytest.mark.parametrize("dims", [None, {"m": 19, "n": 37}, {"m": 1, "n": 70}], ids=str)
@pytest.mark.parametrize(
    ("keys", "k_after", "values", "v_after"),
    [(3, 2, 3, 2), (3, 1, 3, 1), (3, 2, 3, 1), (2, 2, 3, 2), (1, 1, 2, 2), (6, 1, 2, 2), (2, 1, 6, 2)],
)
def test_heads_in_any_order(keys: int, k_after: int, values: int, v_after: int, dims: dict[str, int] | None) -> None:
    """Six heads of keys and of values that repeat one by one (new axis 2) or in turn (1); symbolic lengths or not."""
    seed = secrets.randbits(32)
    print("seed", seed)
    random = np.random.default_rng(seed)
    m, n = (dims["m"], dims["n"]) if dims else (random.integers(1, 40), random.integers(1, 90))
    text = OTHERWISE.format(heads=6, keys=keys, values=values, k_after=k_after, v_after=v_after,
                            k_wide=wide(k_after, 6 // keys), v_wide=wide(v_after, 6 // values))  # fmt: skip
    q, k, v = (random.standard_normal(s).astype("f4") for s in ((2, 6, m, 8), (2, keys, n, 8), (2, values, n, 5)))
    every_key, every_value = (
        np.repeat(x, 6 // x.shape[1], axis=1) if after == 2 else np.tile(x, (1, 6 // x.shape[1], 1, 1))
        for x, after in ((k, k_after), (v, v_after))
    )
    expected = reference(1, q, 0.5 * every_key, every_value, np.zeros(1))
    net = mlc.compile(onnx.parser.parse_model(text), dims=dims)
    np.testing.assert_allclose(net(q, k, v), expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    copies = sum("broadcast" in kernel["name"] for kernel in net.signature["kernels"])
    assert copies <= ((keys, k_after) != (values, v_after)), "no more than one operand is copied"


@pytest.mark.parametrize("left, right", [(2, 2), (3, 3), (2, 3)])
def test_a_product_of_two_repeated_operands(left: int, right: int) -> None:
    """Of 2 × 3 matrices an operand has 2, each for 3, or 3, each for 2."""
    shapes = {2: ("2,1,5,7", "2,3,5,7"), 3: ("1,3,5,7", "2,3,5,7")}
    other = {2: ("2,1,7,4", "2,3,7,4"), 3: ("1,3,7,4", "2,3,7,4")}
    (a, wide_a), (b, wide_b) = shapes[left], other[right]
    model = f"""<ir_version: 8, opset_import: ["" : 17]>
    g (float[{a}] a, float[{b}] b) => (float[6,5,4] y) {{
      wide_a = Constant <value_ints = [{wide_a}]> ()
      wide_b = Constant <value_ints = [{wide_b}]> ()
      merged_a = Constant <value_ints = [6,5,7]> ()
      merged_b = Constant <value_ints = [6,7,4]> ()
      each_a = Expand (a, wide_a)
      each_b = Expand (b, wide_b)
      flat_a = Reshape (each_a, merged_a)
      flat_b = Reshape (each_b, merged_b)
      y = MatMul (flat_a, flat_b)
    }}"""
    net, random = mlc.compile(onnx.parser.parse_model(model)), np.random.default_rng()
    x, z = (random.standard_normal([int(n) for n in s.split(",")]).astype("f4") for s in (a, b))
    wanted = (np.broadcast_to(x, (2, 3, 5, 7)).astype("f8") @ np.broadcast_to(z, (2, 3, 7, 4))).reshape(6, 5, 4)
    np.testing.assert_allclose(net(x, z), wanted, rtol=1e-5, atol=1e-5)
