"""A small network with an open batch, and inputs for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Convolution, relu, pool, reshape by a computed shape, product."""
    random = np.random.default_rng(3)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("MaxPool", ["r"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["p"], ["s"], name="shape", end=1),
        helper.make_node("Concat", ["s", "rest"], ["to"], name="concat", axis=0),
        helper.make_node("Reshape", ["p", "to"], ["f"], name="reshape"),
        helper.make_node("Gemm", ["f", "g"], ["y"], name="gemm"),
    ]
    arrays = {"w": random.standard_normal((5, 3, 3, 3)), "b": random.standard_normal(5), "g": random.random((45, 7))}
    constants = [numpy_helper.from_array(x.astype(np.float32), name) for name, x in arrays.items()]
    constants += [numpy_helper.from_array(np.array([-1]), "rest")]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 6, 7])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        constants,
    )
    path = tmp_path / "network.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(4).standard_normal((3, 3, 6, 7)).astype(np.float32)
