"""Numbers that only the run knows: what of them stays known at import, and which become sizes."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import assert_like_onnxruntime, graph, node, op_names, result_shapes
from onnx import ModelProto, NodeProto, TensorProto, helper

from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import RunError
from mlc.frontends.onnx import import_model

I64 = TensorProto.INT64
X = np.arange(24, dtype=np.float32).reshape(4, 6)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def of_n(nodes: list[NodeProto], outputs: list[str], **weights: np.ndarray) -> ModelProto:
    """A model of x [4, 6] and a number n."""
    constants = {"axis": ints(0), "zero": np.array(0), "one": np.array(1)} | weights
    used = {name for each in nodes for name in each.input}
    shapes = {name: shape for name, shape in {"x": [4, 6], "n": []}.items() if name in used}
    return graph(nodes, shapes, outputs, {n: a for n, a in constants.items() if n in used}, types={"n": I64})


def test_what_stands_beside_a_number_stays_known() -> None:
    """Unsqueeze, Cast, Concat, Gather and arithmetic are followed: only n is open, and it is one size everywhere."""
    nodes = [
        node("Cast", "n", "n32", to=TensorProto.INT32),
        node("Add", "n32 two", "more32"),
        node("Cast", "more32", "more", to=I64),
        node("Unsqueeze", "n axis", "n1"),
        node("Unsqueeze", "more axis", "more1"),
        node("Concat", "n1 five more1", "shape", axis=0),
        node("ConstantOfShape", "shape", "y"),
        node("Gather", "shape pick", "turned"),
        node("ConstantOfShape", "turned", "z"),
    ]
    proto = of_n(nodes, ["y", "z"], two=np.array(2, np.int32), five=ints(5), pick=ints(2, 0))
    assert result_shapes(import_model(proto)) == ["size0,5,size0+2", "size0+2,size0"]
    for n in (0, 3, 20):
        assert_like_onnxruntime(proto, {"n": np.array(n)})


def test_one_open_dimension_of_a_reshape_follows_from_the_others() -> None:
    nodes = [node("Unsqueeze", "n axis", "n1"), node("Concat", "n1 three", "s", axis=0), node("Reshape", "x s", "y")]
    proto = of_n(nodes, ["y"], three=ints(3))
    imported = import_model(proto)
    assert result_shapes(imported) == ["8,3"] and op_names(imported).count("size") == 1
    for n in (8, -1):
        assert_like_onnxruntime(proto, {"x": X, "n": np.array(n)})
    with pytest.raises(RunError, match=r"Reshape at node 'Reshape_2': the shape does not have the 24 elements"):
        interpret(imported.module, imported.weights, {"x": X, "n": np.array(7)})


def test_a_slice_of_as_many_elements_has_a_known_shape() -> None:
    nodes = [
        node("Unsqueeze", "n axis", "start"),
        node("Add", "start two", "end"),
        node("Slice", "x start end", "y"),
    ]
    proto = of_n(nodes, ["y"], two=ints(2))
    imported = import_model(proto)
    assert result_shapes(imported) == ["2,6"] and "slice" in op_names(imported)
    for n in (0, 2, -3, -4):
        assert_like_onnxruntime(proto, {"x": X, "n": np.array(n)})
    for n in (3, -2, -1, 9):
        with pytest.raises(RunError, match="Slice at node 'Slice_2': the first of 2 elements is not from 0 to 2"):
            interpret(imported.module, imported.weights, {"x": X, "n": np.array(n)})


def test_sizes_that_meet_are_checked_to_be_equal() -> None:
    """The range is max(n, 0) long, the other n: they add up, and what is not equal is an error."""
    nodes = [
        node("Range", "zero n one", "r"),
        node("NonZero", "x", "found"),
        node("Gather", "found zero", "rows"),
        node("Add", "r rows", "y"),
    ]
    proto = of_n(nodes, ["y"])
    imported = import_model(proto)
    assert_like_onnxruntime(proto, {"x": X, "n": np.array(23)})
    with pytest.raises(RunError, match="Node 'Add_3': .* has other elements than"):
        interpret(imported.module, imported.weights, {"x": X, "n": np.array(22)})


def test_a_model_that_asks_for_no_number_gets_no_size() -> None:
    nodes = [node("Add", "n one", "m"), node("Reshape", "m axis_", "v"), node("Gather", "x v", "y")]
    assert "size" not in op_names(import_model(of_n(nodes, ["y"], axis_=ints(1))))


def test_a_loop_that_is_not_unrolled_leaves_no_check() -> None:
    """Its first try, as straight-line code, ends where whether there is a second iteration depends on data."""
    iteration = helper.make_graph(
        [node("ConstantOfShape", "i1", "z"), node("ReduceSum", "z", "t", keepdims=0), node("Add", "s t", "s1"),
         node("Constant", "", "most", value_float=2.0), node("Less", "s1 most", "d")],
        "iteration",
        [helper.make_tensor_value_info("i", I64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s", TensorProto.FLOAT, [])],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s1", TensorProto.FLOAT, [])],
    )  # fmt: skip
    nodes = [
        node("Unsqueeze", "n axis", "i1"),
        node("ReduceSum", "x", "s0", keepdims=0),
        node("Loop", "three true s0", "y", body=iteration),
    ]
    proto = of_n(nodes, ["y"], three=np.array(3), true=np.array(True))
    names = [op.name for op in import_model(proto).module.walk()]
    assert names.count("graph.loop") == 1 and names.count("graph.size") == 1


def test_a_size_is_the_same_in_a_loop() -> None:
    iteration = helper.make_graph(
        [node("ConstantOfShape", "n1", "z"), node("Add", "s z", "s1"), node("Identity", "c", "d")],
        "iteration",
        [helper.make_tensor_value_info("i", I64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s", TensorProto.FLOAT, ["m"])],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s1", TensorProto.FLOAT, ["m"])],
    )  # fmt: skip
    nodes = [
        node("Unsqueeze", "n axis", "n1"),
        node("ConstantOfShape", "n1", "s0"),
        node("Loop", "n _ s0", "y", body=iteration),
    ]
    imported = import_model(of_n(nodes, ["y"]))
    names = [op.name for op in imported.module.walk()]
    assert names.count("graph.loop") == 1 and names.count("graph.size") == 1 and result_shapes(imported) == ["size0"]
