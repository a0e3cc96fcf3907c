"""Operators with a seed: the numbers of NumPy's RandomState and of onnx's reference implementation."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pytest
from graphs import graph
from numpy.random import RandomState
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from single import close, single, ways

import mlc

SEEDS = (0, 1, secrets.randbits(23) + 0.75, -0.5, (1 << 32) - 256)  # that a float of 32 bits holds
EPSILON = {"f": 2e-7, "d": 1e-12, "e": 1e-3}  # in doubles, a logarithm near 1 magnifies what is rounded before
TYPES = {"f": TensorProto.FLOAT, "d": TensorProto.DOUBLE, "e": TensorProto.FLOAT16}
DOUBLE = {"dtype": TensorProto.DOUBLE}


def agrees(op: str, outputs: int = 1, rtol: float = 0.0, given: Any = None, **attributes: Any) -> None:
    """Interpreted and compiled as onnx's reference implementation."""
    given = given or {}
    model = single(op, given, outputs, **attributes)
    expected = ReferenceEvaluator(model).run(None, given)
    for results in ways(model, given):
        for actual, right in zip(results.values(), expected, strict=True):
            close(actual, right, rtol)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", SEEDS, ids=["0", "1", "random", "negative", "large"])
def test_uniform_and_normal(seed: float, kind: str) -> None:
    how = {"seed": float(seed), "dtype": TYPES[kind], "shape": [3, 1, 217]}
    agrees("RandomUniform", rtol=EPSILON[kind], low=-2.0, high=5.0, **how)
    agrees("RandomNormal", rtol=EPSILON[kind], mean=0.25, scale=3.0, **how)


@pytest.mark.parametrize("op", ["RandomUniformLike", "RandomNormalLike"])
def test_like_takes_shape_and_type(op: str) -> None:
    agrees(op, rtol=EPSILON["d"], given={"x": np.zeros((2, 5, 3))}, seed=float(secrets.randbits(20)))


@pytest.mark.parametrize("seed", [0, 5, (1 << 32) - 1])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.75])
def test_dropout(ratio: float, seed: int) -> None:
    x = np.random.default_rng().normal(size=(7, 61)).astype("f4")
    given = {"x": x, "ratio": np.array(ratio, "f4"), "training": np.array(True)}
    agrees("Dropout", 2, EPSILON["f"], given, seed=seed)


def test_dropout_is_nothing_where_it_does_not_train() -> None:
    given = {"x": np.ones((7, 61), "f4"), "ratio": np.array(0.5, "f4"), "training": np.array(False)}
    agrees("Dropout", 2, 0, given, seed=3)


@pytest.mark.parametrize("kind", TYPES)
def test_bernoulli(kind: str) -> None:
    x = np.random.default_rng().choice([0, 0.1, 0.5, 0.6, 1], (40, 13)).astype(kind)
    agrees("Bernoulli", given={"x": x}, seed=float(secrets.randbits(20)))
    agrees("Bernoulli", given={"x": x}, seed=1.0, dtype=TensorProto.BOOL)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (2,), (625,), (5, 4, 3, 2)])
def test_shapes(shape: tuple[int, ...]) -> None:
    state = RandomState(9)
    for op, expected in (("RandomUniform", state.random_sample(shape)), ("RandomNormal", RandomState(9).randn(*shape))):
        for results in ways(single(op, {}, shape=list(shape), seed=9.0, **DOUBLE), {}):
            close(results["y0"], np.asarray(expected), EPSILON["d"])


@pytest.mark.parametrize("op", ["RandomUniformLike", "RandomNormalLike"])
def test_symbolic_shapes_and_threads(op: str) -> None:
    model = single(op, {"x": np.zeros((1, 3))}, seed=4.0)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    draw = RandomState.random_sample if op == "RandomUniformLike" else RandomState.standard_normal
    for threads in (1, 2, 7):
        net = mlc.compile(model, threads=threads)
        for n in (1, 5000, 13):
            net.seed(0)
            close(net(np.zeros((n, 3))), draw(RandomState(4), (n, 3)), EPSILON["d"])


def test_runs() -> None:
    net = mlc.compile(single("RandomUniform", {}, shape=[30], seed=6.0, **DOUBLE))
    for key in (6, [6, 1], [6, 2]):
        np.testing.assert_array_equal(net(), RandomState(key).rand(30))
    for number, words in ((1, [1]), (5 << 32, [0, 5]), (-7, [(1 << 32) - 7, (1 << 32) - 1])):
        net.seed(number)
        np.testing.assert_array_equal(net(), RandomState([6, *words]).rand(30))


def test_equal_seeds_draw_the_same() -> None:
    nodes = [
        helper.make_node("RandomUniform", [], [y], shape=[9], seed=s) for y, s in (("a", 1.0), ("b", 1.0), ("c", 2.0))
    ]
    a, b, c = mlc.compile(graph(nodes, {}, ["a", "b", "c"]))()
    np.testing.assert_array_equal(a, b)
    assert (a != c).all()


def looped(node: Any, drawn: str, count: str) -> Any:
    """A Loop of ``count`` iterations, each of which gives ``drawn``, which the node makes."""
    inputs = [
        helper.make_tensor_value_info(f"{drawn}_turn", TensorProto.INT64, []),
        helper.make_tensor_value_info(f"{drawn}_go", TensorProto.BOOL, []),
    ]
    goes_on = helper.make_node("Identity", [f"{drawn}_go"], [f"{drawn}_on"])
    outputs = [helper.make_empty_tensor_value_info(name) for name in (f"{drawn}_on", drawn)]
    body = helper.make_graph([goes_on, node], "body", inputs, outputs)
    return helper.make_node("Loop", [count, ""], [f"{drawn}s"], body=body)


@pytest.mark.parametrize("inner", [2, 20])
@pytest.mark.parametrize("known", [True, False])
def test_iterations(known: bool, inner: int) -> None:
    """The same numbers in straight code and in a loop."""
    count, types = {"count": np.array(3)}, {"count": TensorProto.INT64}
    uniform = helper.make_node("RandomUniform", [], ["y"], shape=[20], seed=8.0, **DOUBLE)
    normal = helper.make_node("RandomNormal", [], ["z"], shape=[7], seed=2.0, **DOUBLE)
    nodes = [looped(uniform, "y", "count"), looped(looped(normal, "z", "inner"), "zs", "count")]
    weights = {"inner": np.array(inner), **(count if known else {})}
    model = graph(nodes, {} if known else {"count": []}, ["ys", "zss"], weights, types=types)
    for results in ways(model, {} if known else count):
        for n in range(3):
            np.testing.assert_array_equal(results["ys"][n], RandomState([8, n] if n else 8).rand(20))
            for k in range(inner):
                key = [2, n, k] if k else [2, n] if n else 2
                close(results["zss"][n, k], RandomState(key).randn(7), EPSILON["d"])


def test_a_scan_has_iterations() -> None:
    drawn = helper.make_node("RandomUniformLike", ["x"], ["y"], seed=8.0)
    names = [[helper.make_empty_tensor_value_info(name)] for name in "xy"]
    scan = helper.make_node("Scan", ["xs"], ["ys"], num_scan_inputs=1, body=helper.make_graph([drawn], "body", *names))
    for size in (2, 20):
        model = graph([scan], {"xs": [size, 5]}, ["ys"], types={"xs": TensorProto.DOUBLE})
        for results in ways(model, {"xs": np.zeros((size, 5))}):
            np.testing.assert_array_equal(results["ys"][1:], [RandomState([8, n]).rand(5) for n in range(1, size)])


@pytest.mark.parametrize(
    ("op", "seed"), [("RandomUniform", -1.0), ("RandomNormal", 2.0**32), ("RandomUniform", np.inf)]
)
def test_seeds_that_numpy_refuses(op: str, seed: float) -> None:
    with pytest.raises(mlc.MlcError, match=f"{op}.*at node '.*seed' = {seed}; NumPy takes seeds from 0 to 4294967295"):
        mlc.compile(single(op, {}, shape=[3], seed=seed))


def test_no_seed_is_nan() -> None:
    """As in the reference implementation: numbers of its own."""
    net = mlc.compile(single("RandomUniform", {}, shape=[50], seed=np.nan))
    assert (net() != net()).mean() > 0.9
