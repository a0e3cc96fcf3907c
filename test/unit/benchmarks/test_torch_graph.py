"""ONNX models as PyTorch modules give what onnxruntime gives."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

from benchmarks import models
from benchmarks.models import random_inputs, small

torch = pytest.importorskip("torch")
OPERATORS = ("op_attention_8x77x77x40", "op_conv1d_8_s4_64-128_4000", "op_averagepool_3x3_s1_512_14",
             "op_resize_linear_64_56", "op_reduce_max_1024x1024_axis1", "op_transposed_4x4_s2_64-3_32")  # fmt: skip


@pytest.mark.parametrize("name", [*models.FAMILIES, *OPERATORS])
def test_outputs(name: str) -> None:
    from benchmarks.torch_graph import graph_module

    model = models.build(name, **small.OPTIONS.get(name, {}))
    inputs = random_inputs(model, 1)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    with torch.no_grad():
        actual = graph_module(model)(tuple(torch.from_numpy(array) for array in inputs.values()))
    for x, y in zip(actual, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=2e-5 * np.abs(y).max())


def test_an_unknown_operator_is_named() -> None:
    from benchmarks.torch_graph import graph_module

    node = onnx.helper.make_node("Hardmax", ["x"], ["y"])
    shape = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 3]) for name in "xy"]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", shape[:1], shape[1:]))
    with pytest.raises(NotImplementedError, match="Hardmax"):
        graph_module(model)
