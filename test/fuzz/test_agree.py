"""References of random graphs: each output has the first that can run what it needs."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from agree import UNKNOWN, compare, wrong
from growing import cone
from onnx import helper

X = np.array([[0.5, -2, 1], [3, -1, 2]], "f4")
MAX = helper.make_node("Normalizer", ["x"], ["v1"], domain="ai.onnx.ml", norm="MAX")  # onnx's evaluator differs
EYE = helper.make_node("EyeLike", ["x"], ["e"], dtype=onnx.TensorProto.FLOAT16)  # onnxruntime has none of halves
CAST = helper.make_node("Cast", ["e"], ["v2"], to=onnx.TensorProto.FLOAT)
BOTH = helper.make_node("FastGelu", ["v2"], ["v3"], domain="com.microsoft")  # no reference has both


def model(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    """Of x; what a node gives is a result unless another reads it."""
    read = {name for node in nodes for name in node.input}
    infos = [helper.make_tensor_value_info(node.output[0], 1, [2, 3]) for node in nodes if node.output[0] not in read]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [2, 3])], infos)
    versions = {"": 24, "ai.onnx.ml": 3, "com.microsoft": 1}
    opsets = [helper.make_opsetid(*item) for item in versions.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def test_an_output_has_onnxruntime_where_another_node_is_unknown_to_it() -> None:
    right = {"v1": X / X.max(1, keepdims=True), "v2": np.eye(2, 3, dtype="f4")}
    assert wrong(model(MAX, EYE, CAST), {"x": X}, right) == []
    assert wrong(model(MAX, EYE, CAST), {"x": X}, right | {"v2": X})[0].startswith("v2 is off by")


def test_a_graph_is_counted_once_where_nobody_can_say() -> None:
    (line,) = wrong(model(EYE, CAST, BOTH, MAX), {"x": X}, {"v3": X, "v1": X / X.max(1, keepdims=True)})
    assert line.startswith(UNKNOWN)
    (line,) = wrong(model(EYE, CAST, BOTH, MAX), {"x": X}, {"v3": X, "v1": X})
    assert line.startswith("v1 is off by")


def test_floats_of_8_bits_are_compared() -> None:
    eighth = helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT8E4M3FN)
    whole = model(eighth)
    whole.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT8E4M3FN
    assert wrong(whole, {"x": X}, {"y": X.astype(ml_dtypes.float8_e4m3fn)}) == []
    assert wrong(whole, {"x": X}, {"y": -X.astype(ml_dtypes.float8_e4m3fn)})[0].startswith("y is off by")


@pytest.mark.parametrize(("kind", "limits"), [("f4", (1e-3, 1.0)), ("f2", (0.0, 1e-3))])
def test_how_much_may_differ(kind: str, limits: tuple[float, float]) -> None:
    near, far = ({"y": np.array([0, 4 + difference], kind)} for difference in (0.003, 0.006))
    wanted = {"y": np.array([0, 4], kind)}
    assert not list(compare(near, wanted, *limits)) and "is off by 0.00" in next(compare(far, wanted, *limits))


def test_a_cone_has_what_bodies_read() -> None:
    inner = helper.make_graph(
        [helper.make_node("Neg", ["v2"], ["w"])], "b", [], [helper.make_tensor_value_info("w", 1, [2, 3])]
    )
    choice = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    whole = model(MAX, EYE, CAST, choice)
    whole.graph.input.append(helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []))
    part = cone(whole, "y")
    assert [node.op_type for node in part.graph.node] == ["EyeLike", "Cast", "If"]
    assert [info.name for info in part.graph.input] == ["x", "c"]
    assert [info.name for info in cone(whole, "v1").graph.input] == ["x"]
