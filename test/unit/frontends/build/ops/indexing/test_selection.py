"""Operators whose results have as many elements as the data say, against onnxruntime and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs import graph, node
from onnx import TensorProto
from single import by_onnxruntime, single

import mlc
from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import InputError, RunError
from mlc.frontends.onnx import import_model

RANDOM = np.random.default_rng(7)
X = RANDOM.integers(-1, 2, (3, 4, 5)).astype(np.float32)


def agrees(op: str, inputs: dict[str, Any], outputs: int = 1, constants: tuple[str, ...] = (), **how: Any) -> None:
    """Interpreted and compiled, the same shapes, dtypes and values as onnxruntime's."""
    model = single(op, inputs, outputs, constants=constants, **how)
    feeds = {n: a for n, a in inputs.items() if n not in constants}
    wanted = by_onnxruntime(model, feeds)
    imported = import_model(model)
    ways = interpret(imported.module, imported.weights, feeds), mlc.compile(model, threads=2).run(feeds)
    for results in ways:
        for actual, right in zip(results.values(), wanted, strict=True):
            np.testing.assert_array_equal(actual, right, strict=True)


@pytest.mark.parametrize("x", [X, X[0, 0] > 0, np.zeros((2, 3), np.int32), np.ones((7, 1), np.int64), X[:, :0]])
def test_non_zero(x: np.ndarray) -> None:
    agrees("NonZero", {"x": x})


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_compress(axis: int | None) -> None:
    condition = RANDOM.integers(0, 2, 60 if axis is None else X.shape[axis]) > 0
    attributes = {} if axis is None else {"axis": axis}
    agrees("Compress", {"x": X, "c": condition}, **attributes)
    agrees("Compress", {"x": X, "c": condition[:2]}, **attributes)
    agrees("Compress", {"x": X, "c": np.zeros_like(condition)}, **attributes)


@pytest.mark.parametrize("order", [0, 1])
def test_unique(order: int) -> None:
    agrees("Unique", {"x": X}, 4, sorted=order)
    agrees("Unique", {"x": RANDOM.permutation(40).astype(np.int64)}, 4, sorted=order)
    rows = RANDOM.integers(0, 2, (9, 2, 2))
    agrees("Unique", {"x": rows}, 4, sorted=order, axis=0)
    agrees("Unique", {"x": rows.astype(np.float32)}, 4, sorted=order, axis=-2)


@pytest.mark.parametrize(("most", "overlap", "least"), [(5, 0.3, 0.2), (30, 0.6, 0.0), (3, 0.9, 0.97), (0, 0.5, 0.1)])
@pytest.mark.parametrize("center", [0, 1])
def test_non_max_suppression(most: int, overlap: float, least: float, center: int) -> None:
    boxes = RANDOM.random((2, 15, 4), np.float32)
    scores = RANDOM.random((2, 3, 15), np.float32).round(1)  # some are equal
    limits = {"m": np.array([most]), "o": np.float32([overlap]), "t": np.float32([least])}
    agrees("NonMaxSuppression", {"b": boxes, "s": scores, **limits}, constants=("m",), center_point_box=center)


def test_boxes_without_number_are_none() -> None:
    inputs = {"b": np.zeros((1, 4, 4), np.float32), "s": np.zeros((1, 1, 4), np.float32)}
    agrees("NonMaxSuppression", inputs)


def test_boxes_that_are_fewer_than_their_scores_are_refused() -> None:
    inputs = {"b": np.zeros((1, 3, 4), np.float32), "s": np.zeros((1, 1, 4), np.float32)}
    with pytest.raises(InputError, match="boxes .* for scores"):
        import_model(single("NonMaxSuppression", inputs))


def test_limits_of_boxes_that_are_computed() -> None:
    boxes, scores = RANDOM.random((1, 900, 4), np.float32), RANDOM.random((1, 2, 900), np.float32)
    for most in (0, 7, 2000):
        limits = {"m": np.array([most]), "o": np.float32([0.2]), "t": np.float32([0.1])}
        agrees("NonMaxSuppression", {"b": boxes, "s": scores, **limits})


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u2", "i4", "i8", "u8", "?"])
def test_unique_of_types(dtype: str) -> None:
    x = RANDOM.integers(0, 90, 700).astype(dtype)
    imported = import_model(model := single("Unique", {"x": x}, 4))
    wanted = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    for found in (mlc.compile(model, threads=2).run({"x": x}), interpret(imported.module, imported.weights, {"x": x})):
        for actual, right in zip(found.values(), wanted, strict=True):
            np.testing.assert_array_equal(actual, right, strict=True)


def after_non_zero() -> Any:
    """All that a size can do: a shape of its own, an extent to sum over, to broadcast to, part of a concatenation."""
    nodes = [
        node("Greater", "x zero", "m"),
        node("Compress", "x m", "some", axis=0),
        node("ReduceSum", "some", "total", keepdims=0),
        node("Shape", "some", "shape"),
        node("Expand", "one shape", "ones"),
        node("Exp", "x", "exp"),
        node("Concat", "some exp ones", "all", axis=0),
        node("Softmax", "some", "soft", axis=0),
        node("Not", "m", "n"),
        node("Compress", "all2 n2", "rest", axis=0),
    ]
    nodes[-1].input[:] = ["x", "n"]
    types = {"x": TensorProto.FLOAT}
    weights = {"zero": np.float32(0), "one": np.float32([1])}
    outputs = ["some", "total", "shape", "all", "soft", "rest"]
    return graph(nodes, {"x": ["count"]}, outputs, weights, types=types)


@pytest.mark.parametrize("threads", [1, 3])
def test_operators_after_a_size(threads: int) -> None:
    model = after_non_zero()
    net = mlc.compile(model, threads=threads)
    imported = import_model(model)
    for x in (X.ravel(), X[0, 0], -np.ones(3, np.float32), np.ones(2000, np.float32), np.zeros(1, np.float32)):
        some, rest = x[x > 0], x[~(x > 0)]
        everything = np.concatenate([some, np.exp(x), np.ones_like(some)])
        for y in (net.run({"x": x}), interpret(imported.module, imported.weights, {"x": x})):
            assert [y[n].shape for n in ("some", "rest")] == [some.shape, rest.shape]
            np.testing.assert_array_equal(y["some"], some)
            np.testing.assert_array_equal(y["rest"], rest)
            np.testing.assert_array_equal(y["shape"], [len(some)])
            np.testing.assert_allclose(y["total"], some.sum(), rtol=1e-6)
            np.testing.assert_allclose(y["all"], everything, rtol=1e-6)
            np.testing.assert_allclose(y["soft"].sum(), float(len(some) > 0), rtol=1e-6)


@pytest.mark.parametrize("condition", [np.zeros((3, 2), np.bool_), np.zeros(3, np.float32)])
def test_conditions_are_vectors_of_predicates(condition: np.ndarray) -> None:
    with pytest.raises(InputError, match="give a vector of bool"):
        import_model(single("Compress", {"x": X, "c": condition}, axis=0))


def test_two_sizes_must_be_equal_to_meet() -> None:
    nodes = [node("NonZero", "x", "a"), node("NonZero", "z", "b"), node("Add", "a b", "y", name="sum")]
    net = mlc.compile(graph(nodes, {"x": [4], "z": [4]}, ["y"]), threads=2)
    x, z = np.float32([[0, 1, 0, 1], [3, 0, 0, 1]])
    np.testing.assert_array_equal(net(x, z), [[1, 6]], strict=True)
    with pytest.raises(RunError, match="Node 'sum': .1, size1. has other elements than .1, size0."):
        net(x, np.ones(4, np.float32))


def test_a_dimension_of_the_users_may_have_the_name_of_a_size() -> None:
    net = mlc.compile(graph([node("NonZero", "x", "size0")], {"x": ["size0", 2]}, ["size0"]))
    assert list(net.outputs) == ["size0"] and net.dims == ("size0_",)
    np.testing.assert_array_equal(net(np.float32([[0, 1], [1, 0]])), [[0, 1], [1, 0]])
