"""DynamicQuantizeLSTM of many steps is a loop: a step is some 25 operators, and a model has hundreds of steps."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import mlc
from benchmarks.exact_sessions import exact_options
from mlc.frontends.onnx import import_model

RNG = np.random.default_rng()
INPUTS, HIDDEN = 5, 8


def model(steps: int, direction: str) -> ModelProto:
    """One layer on x [steps, n, 5]; both results."""
    count = 2 if direction == "bidirectional" else 1
    arrays = {
        "w": RNG.integers(-127, 128, (count, INPUTS, 4 * HIDDEN)).astype(np.int8),
        "r": RNG.integers(-127, 128, (count, HIDDEN, 4 * HIDDEN)).astype(np.int8),
        "b": RNG.standard_normal((count, 8 * HIDDEN)).astype(np.float32),
        "ws": np.full(count, 0.004, np.float32), "wz": np.zeros(count, np.int8),
        "rs": np.full(count, 0.002, np.float32), "rz": np.zeros(count, np.int8),
    }  # fmt: skip
    names = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    node = helper.make_node(
        "DynamicQuantizeLSTM", names, ["y", "h"], domain="com.microsoft", hidden_size=HIDDEN, direction=direction
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, "n", INPUTS])
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "yh"]
    weights = [numpy_helper.from_array(value, name) for name, value in arrays.items()]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph([node], "g", [x], results, weights), opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize(
    ("steps", "direction", "loops"), [(3, "forward", 0), (40, "reverse", 1), (40, "bidirectional", 2)]
)
def test_many_steps_are_a_loop(steps: int, direction: str, loops: int) -> None:
    proto = model(steps, direction)
    assert str(import_model(proto).module).count("graph.loop ") == loops
    options = exact_options(proto)
    options.intra_op_num_threads = 1  # of several threads each quantizes its sequences by their own range
    x = RNG.standard_normal((steps, 1, INPUTS)).astype(np.float32)
    wanted = onnxruntime.InferenceSession(proto.SerializeToString(), options).run(None, {"x": x})
    for ours, reference in zip(mlc.compile(proto).run({"x": x}).values(), wanted, strict=True):
        assert np.mean(np.abs(ours - reference)) < 0.01  # an element near a boundary is rounded the other way
