"""Open extents that no memory holds are refused where they arise."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper

from mlc.errors import InputError
from mlc.frontends.onnx import import_model


def padded(*pads: int) -> ModelProto:
    """``x`` of [n, 4], padded by [before, before, after, after]."""
    infos = [helper.make_tensor_value_info("x", 1, ["n", 4]), helper.make_tensor_value_info("y", 1, None)]
    given = numpy_helper.from_array(np.array(pads, np.int64), "p")
    graph = helper.make_graph([helper.make_node("Pad", ["x", "p"], ["y"])], "g", infos[:1], infos[1:], [given])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def test_a_sum_with_a_huge_number() -> None:
    """Its bytes do not fit 64 bits, which planning found."""
    with pytest.raises(InputError, match="more elements than any memory holds"):
        import_model(padded(-3, -1, 1 << 40, 1 << 31))
    import_model(padded(1, 0, 1 << 20, 1 << 10))
