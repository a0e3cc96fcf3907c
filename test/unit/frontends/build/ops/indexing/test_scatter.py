"""Writing to computed indices: against onnxruntime, of all reductions and types, with many threads and bad indices."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import graph, node
from onnx import TensorProto
from single import agrees, single

import mlc
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.onnx import import_model

REDUCTIONS = ["none", "add", "mul", "max", "min"]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng()


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_scatter_nd(rng: np.random.Generator, reduction: str, dtype: str) -> None:
    x = rng.integers(-5, 5, (6, 7, 3)).astype(dtype)
    at = np.stack([rng.integers(-6, 6, 20), rng.integers(0, 7, 20)], -1).reshape(4, 5, 2)
    if reduction == "none":
        at = at.reshape(-1, 2)[np.unique(at.reshape(-1, 2) % [6, 7], axis=0, return_index=True)[1]]
    updates = rng.integers(-3, 4, (*at.shape[:-1], 3)).astype(dtype)
    agrees("ScatterND", {"x": x, "i": at, "u": updates}, reduction=reduction, version=18, rtol=0)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scatter_elements(rng: np.random.Generator, reduction: str, axis: int) -> None:
    x, shape = rng.integers(-9, 9, (5, 6, 7)).astype("f4"), (4, 6, 3)
    if reduction == "none":  # which of several stays is open: none twice
        lines = [x.shape[axis] if n == axis % 3 else d for n, d in enumerate(shape)]
        at = np.take(np.argsort(rng.random(lines), axis), range(shape[axis]), axis)
    else:
        at = rng.integers(-x.shape[axis], x.shape[axis], shape)
    inputs = {"x": x, "i": at, "u": rng.integers(1, 4, shape).astype("f4")}
    agrees("ScatterElements", inputs, axis=axis, reduction=reduction, version=18, rtol=0)


@pytest.mark.parametrize("dtype", ["f2", "?", "i1", "u2"])
def test_elements_of_other_types(rng: np.random.Generator, dtype: str) -> None:
    x, updates = rng.integers(0, 2, (2, 90)).astype(dtype)
    at = rng.permutation(90)
    wanted = x.copy()
    wanted[at] = updates
    agrees("ScatterND", {"x": x, "i": at.reshape(-1, 1), "u": updates}, wanted=[wanted], rtol=0)


def test_the_last_of_several_updates_stays(rng: np.random.Generator) -> None:
    at = np.array([2, 0, 2, 2, 1])
    inputs = {"x": np.zeros(4, "f4"), "i": at.reshape(-1, 1), "u": np.arange(1, 6, dtype="f4")}
    agrees("ScatterND", inputs, wanted=[np.array([2, 5, 4, 0], "f4")])


def test_indices_outside_are_passed_over() -> None:
    model = single("ScatterND", {"x": np.zeros(4, "f4"), "i": np.zeros((3, 1), "i8"), "u": np.zeros(3, "f4")})
    feeds = {"x": np.zeros(4, "f4"), "i": np.array([[9], [-1], [-5]]), "u": np.ones(3, "f4")}
    imported = import_model(model)
    for y in (mlc.compile(model).run(feeds), interpret(imported.module, imported.weights, feeds)):
        np.testing.assert_array_equal(y["y0"], [0, 0, 0, 1])


@pytest.mark.parametrize("threads", [1, 3])
def test_symbolic_rows_and_threads(rng: np.random.Generator, threads: int) -> None:
    types = {"x": TensorProto.FLOAT, "at": TensorProto.INT64, "u": TensorProto.FLOAT}
    shapes = {"x": ["rows", 5], "at": ["count", 1], "u": ["count", 5]}
    nodes = [node("ScatterND", "x at u", "y", reduction="add")]
    net = mlc.compile(graph(nodes, shapes, ["y"], {}, types=types, opset=18), threads=threads)
    for rows, count in ((1, 1), (70, 400), (5, 0), (1000, 3)):
        x, u = rng.normal(size=(rows, 5)).astype("f4"), rng.normal(size=(count, 5)).astype("f4")
        at = rng.integers(0, rows, (count, 1))
        wanted = x.astype("f8")
        np.add.at(wanted, at[:, 0], u)
        np.testing.assert_allclose(net(x, at, u), wanted, rtol=1e-4, atol=1e-5)


def test_an_unknown_reduction_is_refused() -> None:
    inputs = {"x": np.zeros(4, "f4"), "i": np.zeros((3, 1), "i8"), "u": np.zeros(3, "f4")}
    with pytest.raises(mlc.MlcError, match="reduction 'mean'; there are none, add"):
        import_model(single("ScatterND", inputs, reduction="mean"))


def test_updates_of_another_type_are_refused() -> None:
    inputs = {"x": np.zeros(4, "u1"), "i": np.zeros((3, 1), "i8"), "u": np.zeros(3, "f4")}
    with pytest.raises(mlc.MlcError, match="updates of f32 for data of ui8"):
        import_model(single("ScatterND", inputs))
