"""Sparse tensors are taken as dense ones; onnxruntime does so too, but for the inputs of its own operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, SparseTensorProto, TensorProto, helper, numpy_helper
from single import MS, Array, by_onnxruntime, ways

import mlc
from mlc.frontends.onnx import import_model


def sparse(dense: Array, coordinates: bool = False, name: str = "w") -> SparseTensorProto:
    at = np.argwhere(dense) if coordinates else np.flatnonzero(dense)
    values = numpy_helper.from_array(dense[dense != 0], name)
    return helper.make_sparse_tensor(values, numpy_helper.from_array(at.astype(np.int64), f"{name}_at"), dense.shape)


def model(nodes: list[Any], inputs: list[Any], initializers: list[Any]) -> ModelProto:
    graph = helper.make_graph(nodes, "sparse", inputs, [onnx.ValueInfoProto(name="y")], sparse_initializer=initializers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MS, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def matrix(rng: np.random.Generator, *shape: int) -> Array:
    return (rng.standard_normal(shape) * (rng.random(shape) < 0.2)).astype("f4")


X = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 6])


@pytest.mark.parametrize("coordinates", [False, True])
@pytest.mark.parametrize("columns", [5, 400])
@pytest.mark.parametrize("constant", [False, True])
def test_weights(rng: np.random.Generator, coordinates: bool, columns: int, constant: bool) -> None:
    given, x = sparse(matrix(rng, 6, columns), coordinates), rng.standard_normal((3, 6)).astype("f4")
    nodes = [helper.make_node("Constant", [], ["w"], sparse_value=given)] if constant else []
    nodes.append(helper.make_node("MatMul", ["x", "w"], ["y"]))
    net = model(nodes, [X], [] if constant else [given])
    (wanted,) = by_onnxruntime(net, {"x": x})
    for results in ways(net, {"x": x}, compiled=columns == 5):
        np.testing.assert_allclose(results["y"], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("kind", "how"), [("f4", {"transA": 1, "alpha": 0.5}), ("f8", {"transB": 1}), ("i8", {})])
def test_products_of_sparse_inputs(rng: np.random.Generator, kind: str, how: dict[str, Any]) -> None:
    """The caller passes the matrix with its zeros."""
    a = (matrix(rng, 6, 6) * 9).astype(kind)  # onnxruntime infers the shape without transpositions
    b = (rng.standard_normal((6, 6)) * 9).astype(kind)
    number = helper.np_dtype_to_tensor_dtype(a.dtype)
    inputs = [helper.make_sparse_tensor_value_info("a", number, a.shape)]
    inputs += [helper.make_tensor_value_info("b", number, b.shape)]
    net = model([helper.make_node("SparseToDenseMatMul", ["a", "b"], ["y"], domain=MS, **how)], inputs, [])
    device = onnxruntime.OrtDevice.make("cpu", 0)
    given = onnxruntime.SparseTensor.sparse_coo_from_numpy(list(a.shape), a[a != 0], np.argwhere(a).ravel(), device)
    session = onnxruntime.InferenceSession(net.SerializeToString())
    value = onnxruntime.OrtValue
    feeds = {"a": value.ort_value_from_sparse_tensor(given), "b": value.ortvalue_from_numpy(b)}
    wanted = session.run_with_ort_values(["y"], feeds)[0].numpy()
    for results in ways(net, {"a": a, "b": b}):
        assert (results["y"].dtype, results["y"].shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(results["y"], wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("at", "why"), [([0, 30], "outside"), ([-1, 2], "outside"), ([1], "of 2 values")])
def test_indices_that_do_not_fit(at: list[int], why: str) -> None:
    values = numpy_helper.from_array(np.ones(2, "f4"), "w")
    given = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(at), "at"), [6, 5])
    with pytest.raises(mlc.MlcError, match=f"'w' has .*{why}"):
        import_model(model([helper.make_node("MatMul", ["x", "w"], ["y"])], [X], [given]))


def test_layouts_of_onnxruntime_are_refused_with_a_way_out() -> None:
    node = helper.make_node("ReorderInput", ["x"], ["y"], domain="com.microsoft.nchwc", name="reorder")
    net = model([node], [X], [])
    net.opset_import.append(helper.make_opsetid("com.microsoft.nchwc", 1))
    with pytest.raises(mlc.MlcError, match="'reorder'.*saved an optimized model.*ORT_ENABLE_EXTENDED"):
        import_model(net)
