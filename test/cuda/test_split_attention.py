"""Attention of few queries in parts of the keys (split-KV), emulated on the CPU, against NumPy in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator import needed
from launcher import Program
from onnx import TensorProto
from test_cuda_operators import feed_of, model_of

import mlc
from benchmarks.attention import Shape, arguments, model, reference
from mlc.dialects.poly import schedule_of

pytestmark = needed

MASKED = """(float[1,2,3,24] q, float[1,2,1024,24] k, float[1,2,1024,40] v, float[3,1024] mask)
    => (float[1,2,3,40] y) { products = Einsum <equation = "bhmk,bhnk->bhmn"> (q, k)
    scores = Add (products, mask)  weights = Softmax <axis = -1> (scores)  y = MatMul (weights, v) }"""
SHAPES = [
    Shape(8, 4, 1, 1024, 32, 32),  # heads that share keys
    Shape(8, 2, 1, 1035, 20, 24),  # parts of an odd number of keys
    Shape(2, 1, 5, 1024, 16, 48),  # some queries
    Shape(4, 2, 1, 1031, 16, 24),  # a prime number of keys: the last part has keys of the one before
    Shape(8, 4, 3, 1024, 16, 24),  # three queries of two groups of four heads: 12 rows of a tile
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element, error", [("float32", 1e-5), ("float16", 4e-3)])
def test_parts_of_keys_and_their_combination(shape: Shape, element: str, error: float, units: Path) -> None:
    feed = dict(zip("qkv", (a.astype(element) for a in arguments(shape)), strict=True))
    made = Program.of(model(shape, TensorProto.FLOAT16 if element == "float16" else TensorProto.FLOAT), units)
    actual = made.run(feed)["y"].astype(np.float64)
    expected = reference(shape, *feed.values())
    assert_split(made)
    assert np.abs(actual - expected).max() < error * np.abs(expected).max()
    np.testing.assert_array_equal(actual, made.run(feed)["y"])  # the order of the parts is fixed


def assert_split(made: Program) -> None:
    """Two kernels, both streams, beside a transposition of the keys."""
    first, second = [fn for fn in made.functions.values() if len(schedule_of(fn)) > 1]
    assert first.sym_name.data == f"{second.sym_name.data}_parts" and len(made.functions) <= 3
    assert schedule_of(first)[0].streamed and schedule_of(second)[0].streamed


def test_masked_keys_parts_and_rows(units: Path) -> None:
    """A part without any key counts nothing; a row without any is NaN, as of NumPy."""
    m = model_of(MASKED)
    feed = feed_of(m)
    mask = feed["mask"]
    mask[np.random.default_rng().random(mask.shape) < 0.3] = -np.inf
    mask[:, 100:700] = mask[0, :900] = mask[2] = -np.inf
    mask[:2, 901] = 0
    made = Program.of(m, units)
    assert_split(made)
    with np.errstate(invalid="ignore"):
        scores = feed["q"].astype(np.float64) @ feed["k"].swapaxes(2, 3) + mask
        power = np.exp(scores - scores.max(-1, keepdims=True))
        expected = power / power.sum(-1, keepdims=True) @ feed["v"]
    assert np.isnan(expected[:, :, 2]).all() and not np.isnan(expected[:, :, :2]).any()
    np.testing.assert_allclose(made.run(feed)["y"], expected, rtol=0, atol=1e-5 * np.nanmax(np.abs(expected)))


@pytest.mark.parametrize(("queries", "keys"), [(1, 1035), (1, 1033), (3, 1033)])
def test_masked_heads_that_share_keys(queries: int, keys: int, units: Path) -> None:
    shape = Shape(8, 4, queries, keys, 20, 24, causal=True)
    feed = dict(zip(("q", "k", "v", "mask"), arguments(shape), strict=True))
    feed["mask"] = np.random.default_rng().choice([0, -1.5, -np.inf], feed["mask"].shape).astype(np.float32)
    made = Program.of(model(shape), units)
    expected = reference(shape, *feed.values())
    assert_split(made)
    assert np.abs(made.run(feed)["y"] - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("shape", [Shape(3, 1, 1, 1024, 16, 16), Shape(8, 4, 4, 256, 16, 16)], ids=str)
def test_no_parts(shape: Shape, units: Path) -> None:
    """Keys that one query reads are those of strips; 16 rows are many."""
    feed = dict(zip("qkv", arguments(shape), strict=True))
    made = Program.of(model(shape), units)
    assert all(len(schedule_of(fn)) == 1 for fn in made.functions.values())
    expected = reference(shape, *feed.values())
    assert np.abs(made.run(feed)["y"] - expected).max() < 1e-5 * np.abs(expected).max()


def test_prime_keys_with_a_constant_causal_mask(units: Path) -> None:
    """The last rows of a causal matrix; the index of a key in the last part is not affine, so the mask is read."""
    shape = Shape(2, 1, 5, 1031, 16, 24, causal=True, constant=True)
    mask = np.where(np.tri(5, 1031, 1026, dtype=bool), 0, -np.inf).astype(np.float32)
    made_of = model(shape)
    (old,) = [each for each in made_of.graph.initializer if each.name == "mask"]
    old.raw_data = mask.tobytes()
    feed = dict(zip("qkv", arguments(shape), strict=True))
    made = Program.of(made_of, units)
    expected = reference(Shape(2, 1, 5, 1031, 16, 24, causal=True), *feed.values(), mask)
    assert_split(made)
    assert np.abs(made.run(feed)["y"] - expected).max() < 1e-5 * np.abs(expected).max()


def test_prime_keys_have_no_12_parts_of_one_size(units: Path) -> None:
    """Parts of 128 keys are 9."""
    shape = Shape(4, 2, 1, 1031, 16, 24)
    (name,) = [n for n in Program.of(model(shape), units).functions if n.endswith("_parts")]
    with pytest.raises(mlc.InputError, match="part@12: its sum has 1031 terms, which are not 12 equal parts"):
        Program.of(model(shape), units, schedule=f"{name}: contraction: S0 | part@12 part c b n | k")


def test_parts_of_scores_that_overflow(units: Path) -> None:
    """A part whose scores are all -inf counts nothing, also before other blocks of parts."""
    shape = Shape(2, 2, 1, 2**16, 8, 8)
    feed = dict(zip("qkv", arguments(shape), strict=True))
    feed["q"] = np.abs(feed["q"]) + 1
    feed["k"][:, :, :-700] = -3e38
    made = Program.of(model(shape), units)
    assert_split(made)
    assert schedule_of(next(reversed(made.functions.values())))[0].partitions[-1].blocks > 1
    expected = reference(shape, *feed.values())
    assert np.abs(made.run(feed)["y"] - expected).max() < 1e-5 * np.abs(expected).max()
