"""Graphs that onnxruntime loads and the standard does not describe: the same values as there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

import mlc
import mlc.onnxruntime
from mlc.errors import InputError, MlcError

F = TensorProto.FLOAT
X, Y, Z = (helper.make_tensor_value_info(name, F, ["n", 3]) for name in "xyz")
IMAGE, RESULT = helper.make_tensor_value_info("x", F, ["n", 2, "h", "w"]), helper.make_tensor_value_info("y", F, None)
ONE = helper.make_tensor_value_info("one", F, [])
RELU = helper.make_node("Relu", ["x"], ["y"])
NEG = helper.make_node("Neg", ["x"], ["z"])


def made(
    nodes: Sequence[NodeProto], inputs: Sequence[ValueInfoProto], outputs: Sequence[ValueInfoProto],
    opsets: Mapping[str, int] = {"": 20}, initializers: Mapping[str, Any] = {}, ir: int = 9,
) -> onnx.ModelProto:  # fmt: skip
    tensors = [numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in initializers.items()]
    graph = helper.make_graph(nodes, "odd", inputs, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets.items()], ir_version=ir)


def reference(model: onnx.ModelProto, x: np.ndarray[Any, Any]) -> list[Any]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, {"x": x}))


def assert_same(model: onnx.ModelProto, x: np.ndarray[Any, Any]) -> None:
    for ours, theirs in zip(mlc.compile(model, "cpu", 1).run({"x": x}).values(), reference(model, x), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-6)


def rows(n: int = 4) -> np.ndarray[Any, Any]:
    return np.random.default_rng().standard_normal((n, 3), np.float32)


@pytest.mark.parametrize("outputs", [[Y, Y], [Y, Z, Y], [X, X], [Z, X, Y, X, Z]], ids=["yy", "yzy", "xx", "zxyxz"])
def test_a_value_that_is_an_output_twice(outputs):
    model, x = made([RELU, NEG], [X], outputs), rows()
    wanted = dict(zip((o.name for o in outputs), reference(model, x), strict=True))
    found = mlc.compile(model, "cpu", 1).run({"x": x})
    assert list(found) == list(wanted)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
    session = mlc.onnxruntime.InferenceSession(model.SerializeToString())
    assert [o.name for o in session.get_outputs()] == [o.name for o in outputs]
    assert all(map(np.array_equal, session.run(None, {"x": x}), reference(model, x)))


def test_a_sequence_that_is_an_output_twice():
    pieces = helper.make_tensor_sequence_value_info("q", F, None)
    fixed = helper.make_tensor_value_info("x", F, [2, 3])
    model, x = made([helper.make_node("SplitToSequence", ["x"], ["q"])], [fixed], [pieces, pieces]), rows(2)
    found = mlc.onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    for ours, theirs in zip(found, reference(model, x), strict=True):
        assert all(map(np.array_equal, ours, theirs))


DOMAINS = [
    helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft"),
    helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[0.5], scale=[3.0]),
    helper.make_node("Softmax", ["x"], ["y"]),
]


@pytest.mark.parametrize("node", DOMAINS, ids=lambda node: node.op_type)
def test_a_domain_that_is_not_imported(node):
    others = {"": 20, "ai.onnx.ml": 3, "com.microsoft": 1}
    del others[node.domain]
    for opsets in (dict([item]) for item in others.items()):
        assert_same(made([node], [X], [Y], opsets), rows())


def test_an_unknown_domain_matters_where_a_node_is_of_it():
    opsets = {"": 20, "com.example": 7}
    assert_same(made([RELU], [X], [Y], opsets), rows())
    odd = helper.make_node("Relu", ["x"], ["y"], domain="com.other")
    with pytest.raises(InputError, match="imports no opset of domain 'com.other'"):
        mlc.compile(made([odd], [X], [Y]), "cpu", 1)


def test_the_last_initializer_of_a_name_counts():
    """In a body, onnxruntime refuses a second one, too."""
    x, add = helper.make_tensor_value_info("x", F, [3, 3]), helper.make_node("Add", ["x", "w"], ["y"])
    model = made([add], [x], [Y], initializers={"w": np.eye(3)})
    model.graph.initializer.append(numpy_helper.from_array(np.ones((3, 3), np.float32), "w"))
    assert_same(model, rows(3))
    body = helper.make_graph([add], "body", [], [RESULT], model.graph.initializer)
    choice = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)
    inner = made([helper.make_node("Cast", ["x"], ["c"], to=TensorProto.BOOL), choice], [ONE, x], [RESULT])
    inner.graph.node[0].input[0] = "one"
    with pytest.raises(InputError, match="two initializers named 'w'"):
        mlc.compile(inner)
    with pytest.raises(Exception, match="initializer name is not unique"):
        reference(inner, rows(3))


def test_an_initializer_that_nothing_reads_may_be_of_any_type():
    model = made([RELU], [X], [Y])
    model.graph.initializer.add(name="w", data_type=TensorProto.COMPLEX64, dims=[1], float_data=[1, 2])
    assert_same(model, rows())
    model.graph.node.append(helper.make_node("Identity", ["w"], ["v"]))
    with pytest.raises(MlcError, match="COMPLEX64"):
        mlc.compile(model, "cpu", 1)


EXPERIMENTAL: list[tuple[str, dict[str, Any]]] = [
    ("Affine", {"alpha": 2.0, "beta": 3.0}),
    ("Affine", {}),
    ("ParametricSoftplus", {"alpha": 2.0, "beta": 3.0}),
    ("ScaledTanh", {"alpha": 2.0, "beta": 3.0}),
    ("ThresholdedRelu", {"alpha": 0.3}),
    ("ThresholdedRelu", {}),
    ("Scale", {"scale": 0.3}),
    ("ImageScaler", {"scale": 0.3, "bias": [0.5, -2.0]}),
    ("Crop", {"border": [1, 2, 0, 1]}),
    ("Crop", {"border": [1, 2, 0, 0], "scale": [2, 3]}),
    ("MeanVarianceNormalization", {}),
    ("MeanVarianceNormalization", {"across_channels": 1}),
    ("MeanVarianceNormalization", {"normalize_variance": 0}),
]


@pytest.mark.parametrize(("op", "attributes"), EXPERIMENTAL)
def test_operators_that_onnx_had_on_trial(op, attributes):
    model = made([helper.make_node(op, ["x"], ["y"], **attributes)], [IMAGE], [RESULT], {"": 8}, ir=4)
    x = np.random.default_rng().standard_normal((3, 2, 5, 6), np.float32)
    assert_same(model, x)


@pytest.mark.parametrize("shape", [(3,), (2, 5)])
def test_batch_normalization_of_each_element(shape):
    rng = np.random.default_rng()
    given = {name: rng.uniform(0.5, 1.5, shape) for name in "abcd"}
    node = helper.make_node("BatchNormalization", ["x", *"abcd"], ["y"], spatial=0)
    x = helper.make_tensor_value_info("x", F, ["n", *shape])
    model = made([node], [x], [RESULT], {"": 7}, given, 4)
    assert_same(model, rng.standard_normal((4, *shape), np.float32))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 2)])
def test_features_of_any_rank(shape):
    node = helper.make_node("FeatureVectorizer", ["x", "x"], ["y"], domain="ai.onnx.ml", inputdimensions=[2, 20])
    x = helper.make_tensor_value_info("x", F, ["n", *shape])
    given = np.random.default_rng().standard_normal((4, *shape), np.float32)
    assert_same(made([node], [x], [RESULT], {"": 20, "ai.onnx.ml": 1}), given)
