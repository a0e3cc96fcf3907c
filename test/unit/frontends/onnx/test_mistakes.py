"""Nodes whose inputs do not fit say so in words of ONNX, with their operator and shapes, and not in Python's."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import TensorProto, helper

from mlc.errors import InputError
from mlc.frontends.onnx import import_model

CASES: dict[str, tuple[str, list[list[int | str]], dict[str, Any], str]] = {
    "a sequence of rank 2": ("LSTM", [[2, "n"], [1, 12, 3], [1, 12, 3]], {"hidden_size": 3}, "must have rank 3"),
    "an image of rank 2": ("Conv", [[2, 3], [4, 3, 3]], {}, "at least 3 dimensions|rank"),
    "a permutation of other axes": ("Transpose", [[2, "n", 4]], {"perm": [0, 1]}, "perm|fit together"),
    "a scalar of classes": ("GatherND", [[], ["n", 2]], {}, "rank|fit together"),
    "blocks that do not divide": ("DepthToSpace", [[1, 6, "h", "w"]], {"blocksize": 2}, "node"),
    "extents that do not broadcast": ("Add", [[2, 3], [4]], {}, "broadcast"),
    "groups of a matrix": ("GroupNormalization", [["n", 4], [2], [2]], {"num_groups": 3}, "node"),
}
PYTHONS = ("unpack", "out of range", "NoneType", "attribute '", "zip()", "argument 1", "object", "division by")


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_in_the_words_of_onnx(name: str) -> None:
    op, shapes, attributes, says = CASES[name]
    kinds = [TensorProto.INT64 if op == "GatherND" and n else TensorProto.FLOAT for n in range(len(shapes))]
    names = [f"x{n}" for n in range(len(shapes))]
    node = helper.make_node(op, names, ["y"], name="here", **attributes)
    inputs = [helper.make_tensor_value_info(*each) for each in zip(names, kinds, shapes, strict=True)]
    graph = helper.make_graph([node], "wrong", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    with pytest.raises(InputError, match=says) as caught:
        import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    text = str(caught.value)
    assert "'here'" in text and op in text and "f32[" in text, text
    assert not any(words in text for words in PYTHONS), text
