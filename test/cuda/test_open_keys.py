"""Sums of a symbolic number of terms in parts on the CUDA target, emulated: attention of few queries whose number of
keys is known at run time only, against NumPy in float64, and other sums against onnxruntime."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulator import needed
from launcher import Program
from onnx import TensorProto
from test_cuda_operators import compare, feed_of, model_of

from benchmarks.attention import Shape, arguments, model, reference
from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import schedule_of
from mlc.dialects.types import shape_of

pytestmark = needed
KEYS = (1, 7, 64, 65, 256, 257, 1000)
SHAPES = [
    Shape(8, 4, 1, 0, 16, 32, open=True),  # heads that share keys
    Shape(4, 2, 3, 0, 20, 40, causal=True, open=True),  # some queries, with a mask
    Shape(8, 4, 3, 0, 20, 24, causal=True, open=True),  # 12 rows of a tile, of halves on tensor cores
]
OWN = Shape(3, 1, 1, 0, 16, 36, open=True)  # each head has its own keys


def parts_of(made: Program) -> FuncOp:
    """The kernel of the parts, beside that which adds them."""
    (name,) = [n for n in made.functions if n.endswith("_parts")]
    assert name.removesuffix("_parts") in made.functions
    return made.functions[name]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element, error", [("float32", 1e-5), ("float16", 4e-3)])
def test_parts_of_an_attention(shape: Shape, element: str, error: float, units: Path) -> None:
    """Two kernels of scores, softmax and products with values, beside a transposition of the keys."""
    made = program(shape, element, units)
    first, *_, second = [fn for fn in made.functions.values() if len(schedule_of(fn)) > 1]
    assert first is parts_of(made) and len(made.functions) <= 3
    assert all(schedule_of(fn)[0].streamed for fn in (first, second))
    block = schedule_of(first)[0].block
    assert (block is not None and block.mma == "m16n8k16") == (shape.heads == 8 and shape.queries == 3 and error > 1e-3)
    check(made, shape, element, error)
    nothing = dict(zip(("q", "k", "v", "mask"), (a.astype(element) for a in arguments(shape)), strict=False))
    assert not made.run(nothing)["y"].any()  # the sum of no keys, as on CPUs


@pytest.mark.parametrize("element, error", [("float32", 1e-5), ("float16", 4e-3)])
def test_parts_of_a_product_with_values(element: str, error: float, units: Path) -> None:
    check(program(OWN, element, units), OWN, element, error)


@pytest.mark.parametrize("keys", ["n", 1030])
def test_parts_of_any_batch(keys: str | int, units: Path) -> None:
    """Of an open or a known number of keys, of which each batch has its own, and a mask."""
    made = Program.of(
        model_of(f"""(float[b,2,3,20] q, float[b,2,{keys},20] k, float[b,2,{keys},24] v, float[b,1,1,{keys}] mask)
            => (float[b,2,3,24] y) {{ p = Einsum <equation = "bhmk,bhnk->bhmn"> (q, k)  s = Add (p, mask)
            w = Softmax <axis = -1> (s)  y = MatMul (w, v) }}"""),
        units,
    )
    assert len(made.functions) == 2 and all(schedule_of(fn)[0].streamed for fn in made.functions.values())
    assert any(p.points == 1 for p in schedule_of(parts_of(made))[0].partitions)
    for batch, number in ((1, 1), (3, 257), (2, int(np.random.default_rng().integers(500, 900)))):
        n = number if keys == "n" else 1030
        shapes = {"q": (batch, 2, 3, 20), "k": (batch, 2, n, 20), "v": (batch, 2, n, 24), "mask": (batch, 1, 1, n)}
        feed = {name: np.random.default_rng().standard_normal(s).astype(np.float32) for name, s in shapes.items()}
        scores = feed["q"].astype(np.float64) @ feed["k"].swapaxes(2, 3) + feed["mask"]
        power = np.exp(scores - scores.max(-1, keepdims=True))
        expected = power / power.sum(-1, keepdims=True) @ feed["v"]
        assert np.abs(made.run(feed)["y"] - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("keys", ["n", 1024])
def test_weights_in_place_of_scores(keys: str | int, units: Path) -> None:
    """Where nothing is between scores and softmax, both are one local array, and one of a part."""
    text = """(float[2,2,3,20] q, float[2,KEYS,20] k, float[2,KEYS,26] v) => (float[2,2,3,26] y) {
        p = Einsum <equation = "bhmk,bnk->bhmn"> (q, k)  w = Softmax <axis = -1> (p)
        y = Einsum <equation = "bhmn,bnv->bhmv"> (w, v) }"""
    m = model_of(text.replace("KEYS", str(keys)))
    made = Program.of(m, units)
    for n in (1, 300) if keys == "n" else (1024,):
        shapes = {"q": (2, 2, 3, 20), "k": (2, n, 20), "v": (2, n, 26)}
        feed = {name: np.random.default_rng().standard_normal(s).astype(np.float32) for name, s in shapes.items()}
        scores = feed["q"].astype(np.float64) @ feed["k"][:, None].swapaxes(2, 3)
        power = np.exp(scores - scores.max(-1, keepdims=True))
        expected = power / power.sum(-1, keepdims=True) @ feed["v"][:, None]
        assert np.abs(made.run(feed)["y"] - expected).max() < 1e-5 * np.abs(expected).max()
    assert all(schedule_of(fn)[0].streamed for fn in made.functions.values() if len(schedule_of(fn)) > 1)


def program(shape: Shape, element: str, units: Path) -> Program:
    made = Program.of(model(shape, TensorProto.FLOAT16 if element == "float16" else TensorProto.FLOAT), units)
    assert str(shape_of(parts_of(made).block.args[-1])[0]) == "((keys+255)//(256))"
    return made


def check(made: Program, shape: Shape, element: str, error: float) -> None:
    for keys in KEYS:
        arrays = [a.astype(element) for a in arguments(replace(shape, keys=keys))]
        if shape.causal:
            arrays[3] = np.random.default_rng().normal(size=arrays[3].shape).astype(element)
        actual = made.run(dict(zip(("q", "k", "v", "mask"), arrays, strict=False)))["y"]
        expected = reference(shape, *arrays)
        assert np.abs(actual.astype(np.float64) - expected).max() < error * np.abs(expected).max(), keys


@pytest.mark.parametrize(
    "text",
    [
        "(float[n,40] x) => (float[1,40] y) { a = Constant <value_ints = [0]> ()  y = ReduceSum (x, a) }",
        "(float[3,n,45] x) => (float[3,45] y) { y = ReduceMax <axes = [1], keepdims = 0> (x) }",
        "(float[2,n] x, float[n,50] w) => (float[2,50] y) { p = MatMul (x, w)  y = Tanh (p) }",
        "(float[1,n] x, float[n,m] w) => (float[1,m] y) { y = MatMul (x, w) }",
    ],
)
def test_other_sums(text: str, units: Path) -> None:
    """With what follows them in the kernel that adds the parts; results of a symbolic number, too."""
    m = model_of(text)
    assert str(schedule_of(parts_of(Program.of(m, units)))[0]).startswith("strips: S0 | part")
    for n in (1, 255, 256, 600):
        compare(m, units, feed_of(m, n=n, m=int(np.random.default_rng().integers(30, 70))))


@pytest.mark.parametrize(
    "text, rule, error",
    [
        ("(float16[12,n] x, float16[n,40] w) => (float16[12,40] y) { y = MatMul (x, w) }", "mma=m16n8k16", 2e-3),
        ("(float[64,n] x, float[n,64] w) => (float[64,64] y) { y = MatMul (x, w) }", "contraction: S0 | part", 1e-5),
    ],
)
def test_products_of_more_rows(text: str, rule: str, error: float, units: Path) -> None:
    """Tiles, of halves on tensor cores, whose staged steps end before the terms of the last part do."""
    m = model_of(text)
    made = Program.of(m, units)
    assert rule in str(schedule_of(parts_of(made))[0])
    for n in (1, 100, 256, 257, 600):
        feed = feed_of(m, n=n)
        expected = feed["x"].astype(np.float64) @ feed["w"]
        assert np.abs(made.run(feed)["y"] - expected).max() < error * np.abs(expected).max(), n


def test_keys_of_a_cache_and_one_more(units: Path) -> None:
    """The number of keys is an expression of a symbol."""
    m = model_of("""(float[4,past,40] old, float[4,1,40] new) => (float[4,1,40] y) {
        v = Concat <axis = 1> (old, new)  k = Transpose <perm = [0, 2, 1]> (v)
        s = MatMul (new, k)  w = Softmax <axis = -1> (s)  y = MatMul (w, v) }""")
    assert "past" in str(shape_of(parts_of(Program.of(m, units)).block.args[-1])[0])
    for past in (0, 255, 256, 600):
        compare(m, units, feed_of(m, past=past))


def test_terms_of_pixels(units: Path) -> None:
    """Parts of 196 pixels of each image are larger, so that they are not many."""
    m = model_of("""(float[n,196,40] a, float[n,196,48] b) => (float[40,48] y) {
        s = Constant <value_ints = [-1, 40]> ()  t = Constant <value_ints = [-1, 48]> ()
        x = Reshape (a, s)  w = Reshape (b, t)  c = Transpose <perm = [1, 0]> (x)  y = MatMul (c, w) }""")
    assert str(shape_of(parts_of(Program.of(m, units)).block.args[-1])[0]) == "((49*n_+831)//(832))"
    for n in (1, 18):
        compare(m, units, feed_of(m, n=n))


@pytest.mark.parametrize(
    "text",
    [
        "(float[n,50000] x) => (float[1,50000] y) { a = Constant <value_ints = [0]> ()  y = ReduceSum (x, a) }",
        "(float[2000,n] x, float[n,2000] w) => (float[2000,2000] y) { y = MatMul (x, w) }",
    ],
)
def test_sums_that_stay_whole(text: str, units: Path) -> None:
    """Those to many results have blocks enough."""
    assert not any(n.endswith("_parts") for n in Program.of(model_of(text), units).functions)
