"""Random operators without a seed: the stated generator, the laws of what it draws, what makes two draws equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import mlc
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.build.ops.random import distributions
from mlc.frontends.onnx import import_model

MASK = (1 << 64) - 1
SIZE = 20_000
FAR = 5  # standard deviations; one of a million tests goes beyond


def model(*nodes: Any, inputs: Any = (), outputs: int = 1) -> Any:
    """A model whose outputs are y0, y1, …"""
    infos = [helper.make_tensor_value_info(*i) for i in inputs]
    results = [helper.make_empty_tensor_value_info(f"y{n}") for n in range(outputs)]
    graph = helper.make_graph(list(nodes), "g", infos, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def uniform(name: str = "y0", **attributes: Any) -> Any:
    return helper.make_node("RandomUniform", [], [name], **{"shape": [SIZE], **attributes})


def mixed(state: int) -> int:
    """SplitMix64 as its authors write it."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def test_the_generator_is_the_stated_one() -> None:
    net = mlc.compile(model(uniform(shape=[3, 5])), threads=2)
    net.seed(-7)
    start = mixed((mixed(-7 & MASK) + 1) & MASK)  # the first node without a seed
    words = [mixed((start + e * 0x9E3779B97F4A7C15) & MASK) for e in range(15)]
    np.testing.assert_array_equal(net(), np.array([w >> 40 for w in words], np.float32).reshape(3, 5) / 2**24)


def test_runs_differ_and_repeat_where_their_number_does() -> None:
    source = model(uniform())
    net, again = mlc.compile(source, threads=2), mlc.compile(source, threads=1)
    first, second = net(), net()
    assert (first != second).mean() > 0.99
    np.testing.assert_array_equal(again(), first)
    net.seed(1)
    np.testing.assert_array_equal(net(), second)
    imported = import_model(source)
    np.testing.assert_array_equal(interpret(imported.module, imported.weights, {})["y0"], first)


def test_nodes_differ_unless_their_seeds_are_equal() -> None:
    nodes = [uniform("y0"), uniform("y1"), uniform("y2", seed=1.0), uniform("y3", seed=1.0)]
    a, b, c, d = mlc.compile(model(*nodes, outputs=4))()
    assert abs(np.corrcoef([a, b, c])[np.triu_indices(3, 1)]).max() < FAR / np.sqrt(SIZE)
    np.testing.assert_array_equal(c, d)


@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16])
def test_uniform(dtype: int) -> None:
    y = mlc.compile(model(uniform(low=-2.0, high=6.0, dtype=dtype)))()
    assert y.dtype == helper.tensor_dtype_to_np_dtype(dtype) and y.min() >= -2 and y.max() <= 6
    counts = np.histogram(y.astype(np.float64), 16, (-2, 6))[0]
    assert ((counts - SIZE / 16) ** 2).sum() / (SIZE / 16) < 15 + FAR * np.sqrt(30)  # chi-squared


@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.DOUBLE])
def test_normal(dtype: int) -> None:
    node = helper.make_node("RandomNormal", [], ["y0"], shape=[SIZE], mean=3.0, scale=0.5, dtype=dtype)
    z = (mlc.compile(model(node))().astype(np.float64) - 3) / 0.5
    moments = [(z**k).mean() for k in (1, 2, 3, 4)]
    spread = np.sqrt(np.array([1, 2, 15, 96]) / SIZE)
    assert (abs(np.array(moments) - [0, 1, 0, 3]) < FAR * spread).all()
    assert abs((z > 2).mean() - 0.02275) < FAR * np.sqrt(0.02275 / SIZE)
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < FAR / np.sqrt(SIZE)


def test_like_takes_shape_and_type() -> None:
    node = helper.make_node("RandomNormalLike", ["x"], ["y0"])
    net = mlc.compile(model(node, inputs=[("x", TensorProto.DOUBLE, ["n", 3])]))
    y = net(np.zeros((7, 3)))
    assert y.shape == (7, 3) and y.dtype == np.float64 and len(np.unique(y)) == 21


def test_bernoulli_and_multinomial_have_the_given_probabilities() -> None:
    share = np.array([0.0, 0.05, 0.5, 0.7, 1.0], np.float32)
    net = mlc.compile(
        model(
            helper.make_node("Bernoulli", ["x"], ["y0"], dtype=TensorProto.BOOL),
            helper.make_node("Multinomial", ["logs"], ["y1"], sample_size=SIZE, dtype=TensorProto.INT64),
            inputs=[("x", TensorProto.FLOAT, [SIZE, 5]), ("logs", TensorProto.FLOAT, [2, 4])],
            outputs=2,
        )
    )
    odds = np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.0, 0.3, 0.0]])
    with np.errstate(divide="ignore"):
        taken, classes = net(np.tile(share, (SIZE, 1)), np.log(odds).astype(np.float32) + 2)
    assert taken.dtype == bool and not taken[:, 0].any() and taken[:, 4].all()
    assert (abs(taken.mean(0) - share) <= FAR * np.sqrt(share * (1 - share) / SIZE)).all()
    found = np.stack([np.bincount(row, minlength=4) for row in classes]) / SIZE
    assert (abs(found - odds) <= FAR * np.sqrt(odds * (1 - odds) / SIZE)).all()


def test_multinomial_at_the_largest_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """All classes draw the largest one there is: the likelier class is taken, and none for an infinite score."""
    largest = np.full((1, 3, 2), 2**64 - 1, np.uint64)
    monkeypatch.setattr(distributions, "random_bits", lambda build, *_: build.constant(largest, "ui64"))
    node = helper.make_node("Multinomial", ["logs"], ["y0"], sample_size=3, dtype=TensorProto.INT64)
    imported = import_model(model(node, inputs=[("logs", TensorProto.FLOAT, [1, 2])]))
    logs = np.array([[-5, -0.5]], np.float32)
    assert interpret(imported.module, imported.weights, {"logs": logs})["y0"].tolist() == [[1, 1, 1]]


def test_dropout_keeps_the_mean_where_it_is_training() -> None:
    inputs = [("x", TensorProto.FLOAT, [SIZE]), ("ratio", TensorProto.FLOAT, []), ("training", TensorProto.BOOL, [])]
    net = mlc.compile(
        model(helper.make_node("Dropout", ["x", "ratio", "training"], ["y0", "y1"]), inputs=inputs, outputs=2)
    )
    x = np.random.default_rng().uniform(1, 2, SIZE).astype(np.float32)
    y, mask = net(x, np.float32(0.25), np.array(True))
    np.testing.assert_allclose(y, np.where(mask, x / np.float32(0.75), 0), rtol=1e-6)
    assert abs(mask.mean() - 0.75) < FAR * np.sqrt(0.75 * 0.25 / SIZE)
    y, mask = net(x, np.float32(0.25), np.array(False))
    np.testing.assert_array_equal(y, x)
    assert mask.all()


def test_a_type_that_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(mlc.MlcError, match="random numbers of type i32"):
        mlc.compile(model(uniform(dtype=TensorProto.INT32)))


def test_a_number_of_a_run_has_64_bits() -> None:
    net = mlc.compile(model(uniform(shape=[2])))
    with pytest.raises(mlc.MlcError, match="does not fit the run counter"):
        net.seed(1 << 63)


def test_iterations_of_a_loop_draw_anew() -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), uniform("drawn", shape=[50])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("drawn", TensorProto.FLOAT, [50]),
        ],
    )
    node = helper.make_node("Loop", ["count", ""], ["y0"], body=body)
    y = mlc.compile(model(node, inputs=[("count", TensorProto.INT64, [])]))(np.array(40))
    assert len(np.unique(y)) > 0.99 * 40 * 50
