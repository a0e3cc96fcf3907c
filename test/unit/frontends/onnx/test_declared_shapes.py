"""Shapes as exporters declare them: -1, ?, no name, one name for two sizes, no shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper

from mlc.dialects.semantics.interpreter import main_of
from mlc.dialects.types import shape_of
from mlc.errors import InputError
from mlc.frontends.onnx import import_model

node = helper.make_node
CONCAT = [node("Concat", ["x", "z"], ["y"], axis=0)]
RELU = [node("Relu", ["x"], ["y"])]
Declared = Sequence[int | str | None] | None


def model(inputs: dict[str, Declared], nodes: list[NodeProto], **weights: np.ndarray) -> ModelProto:
    ranks = {name: None if declared is None else [None] * len(declared) for name, declared in inputs.items()}
    infos = [helper.make_tensor_value_info(name, 1, rank) for name, rank in ranks.items()]
    for info, declared in zip(infos, inputs.values(), strict=True):
        for dim, size in zip(info.type.tensor_type.shape.dim, declared or (), strict=False):
            if isinstance(size, int):
                dim.dim_value = size
            elif size is not None:
                dim.dim_param = size
    given = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_tensor_value_info("y", 1, None)], given)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def shapes(proto: ModelProto, dims: dict[str, int] | None = None) -> list[str]:
    block = main_of(import_model(proto, dims).module).body.block
    return [", ".join(map(str, shape_of(a))) for a in block.args]


@pytest.mark.parametrize("text", [-1, "-1", "?", "", None, "None", "_"])
def test_an_open_axis_without_a_name_is_its_own(text: int | str | None) -> None:
    assert shapes(model({"x": [text, 3], "z": [text, 3]}, CONCAT)) == ["x_0, 3", "z_0, 3"]


@pytest.mark.parametrize("name", ["DynamicDimension.0", "p2o.DynamicDimension.0", "unk__123", "batch size", "s0", "N"])
def test_exporters_names(name: str) -> None:
    assert shapes(model({"x": [name, 3], "z": [name, 3]}, CONCAT), {name: 5}) == ["5, 3", "5, 3"]
    (one, other) = shapes(model({"x": [name, 3], "z": [name, 3]}, CONCAT))
    assert one == other


def test_names_of_one_symbol_are_two_dimensions() -> None:
    one, other = shapes(model({"x": ["a.b", 3], "z": ["a_b", 3]}, CONCAT))
    assert one != other


def test_expressions_of_other_dimensions() -> None:
    assert shapes(model({"x": ["s0"], "z": ["2*s0"]}, CONCAT)) == ["s0_", "2*s0_"]


def test_a_name_that_is_two_sizes() -> None:
    nodes = [node("Add", ["x", "a"], ["p"]), node("Add", ["z", "b"], ["q"]), node("Concat", ["p", "q"], ["y"], axis=0)]
    weights = {"a": np.ones(5, "f"), "b": np.ones(7, "f")}
    assert shapes(model({"x": ["k"], "z": ["k"]}, nodes, **weights)) == ["5", "7"]


def test_an_axis_is_fixed_by_its_position() -> None:
    proto = model({"x": ["?", 3], "z": ["rows", 3]}, CONCAT)
    assert shapes(proto, {"x:0": 4, "z:0": 2}) == ["4, 3", "2, 3"]
    with pytest.raises(InputError, match=r"no symbolic dimension 'x:1'.*rows, x_0 \(x:0\)"):
        import_model(proto, {"x:1": 4})


def test_the_rank_follows_from_what_reads_an_input() -> None:
    conv = [node("Relu", ["x"], ["r"]), node("Conv", ["r", "w"], ["y"])]
    assert shapes(model({"x": None}, conv, w=np.ones((4, 3, 3, 3), "f"))) == ["x_0, 3, x_2, x_3"]
    assert shapes(model({"x": None}, [node("Gemm", ["x", "w"], ["y"])], w=np.ones((4, 3), "f"))) == ["x_0, 4"]
    assert shapes(model({"x": None}, [node("Transpose", ["x"], ["y"], perm=[1, 0, 2])])) == ["x_0, x_1, x_2"]
    assert shapes(model({"x": None}, RELU), {"x:1": 8}) == ["x_0, 8"]


def test_a_rank_that_does_not_follow() -> None:
    with pytest.raises(InputError, match="'x' has no shape.*--dim x:3=224"):
        import_model(model({"x": None}, RELU))
