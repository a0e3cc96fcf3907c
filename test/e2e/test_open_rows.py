"""Tiles of a number of rows that is known at run time: the last one is partly beyond it, and reads nothing there."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import mlc

node = helper.make_node
CASES: dict[str, list[Any]] = {
    "product": [node("MatMul", ["m", "w"], ["p"]), node("Relu", ["p"], ["y"])],
    "transposed product": [node("Transpose", ["m"], ["t"]), node("MatMul", ["u", "t"], ["y"])],
    "softmax of a product": [node("MatMul", ["m", "w"], ["p"]), node("Softmax", ["p"], ["y"], axis=1)],
    "softmax along the rows": [node("MatMul", ["m", "w"], ["p"]), node("Softmax", ["p"], ["y"], axis=0)],
    "sum of rows": [node("Tanh", ["m"], ["p"]), node("ReduceSum", ["p"], ["y"], keepdims=1)],
    "scan": [node("CumSum", ["m", "zero"], ["y"])],
    "convolution": [node("Conv", ["x", "f"], ["c"], pads=[1, 1, 1, 1], strides=[1, 2]), node("Relu", ["c"], ["y"])],
    "depthwise": [node("Conv", ["x", "d"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2], group=5)],
    "maximum": [node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])],
    "average": [node("AveragePool", ["x"], ["y"], kernel_shape=[3, 2], strides=[1, 3], pads=[1, 0, 1, 1])],
    "transpose": [node("Transpose", ["x"], ["t"], perm=[0, 3, 2, 1]), node("Neg", ["t"], ["y"])],
    "enlarged": [node("Conv", ["x", "f"], ["c"], pads=[1, 1, 1, 1]), node("Resize", ["c", "", "scales"], ["y"])],
    "normalized": [node("InstanceNormalization", ["x", "s", "s"], ["n"]), node("Add", ["n", "x"], ["y"])],
    "gathered": [node("Gather", ["m", "i"], ["g"], axis=1), node("MatMul", ["g", "v"], ["y"])],
    "two products": [node("MatMul", ["m", "w"], ["p"]), node("MatMul", ["p", "q"], ["r"]), node("Add", "rm", ["y"])],
}  # fmt: skip
WEIGHTS = {"w": (23, 37), "u": (11, 23), "f": (19, 5, 3, 3), "d": (5, 1, 3, 3), "s": (5,), "v": (4, 33), "q": (37, 23)}
SIZES = (1, 2, 3, 5, 7, 8, 13, 17, 31)


def build(nodes: list[Any]) -> ModelProto:
    random = np.random.default_rng()
    data: dict[str, Any] = {k: random.standard_normal(s).astype(np.float32) for k, s in WEIGHTS.items()}
    data |= {"scales": np.float32([1, 1, 2, 2]), "zero": np.int64(0), "i": np.int64([3, 22, 0, 7])}
    read = {name for each in nodes for name in each.input}
    shapes = {"m": ["rows", 23], "x": ["batch", 5, "rows", "columns"]}
    inputs = [helper.make_tensor_value_info(k, TensorProto.FLOAT, s) for k, s in shapes.items() if k in read]
    constants = [numpy_helper.from_array(v, k) for k, v in data.items() if k in read]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "rows", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 9
    return model


def before_a_guard(values: np.ndarray) -> np.ndarray:
    """A copy that ends where a page begins which nothing may access."""
    pages = -(-values.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, pages + mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + pages
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    copy = np.frombuffer(memory, values.dtype, values.size, pages - values.nbytes).reshape(values.shape)
    copy[...] = values
    return copy


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
def test_every_number_of_rows(name: str, target: str) -> None:
    random = np.random.default_rng()
    model = build(CASES[name])
    net, peer = mlc.compile(model, target, threads=2), onnxruntime.InferenceSession(model.SerializeToString())
    (given,) = model.graph.input
    for rows in SIZES:
        shape = (rows, 23) if given.name == "m" else (2, 5, rows, 20 - rows // 2)
        x = before_a_guard(random.standard_normal(shape).astype(np.float32))
        (reference,) = peer.run(None, {given.name: x.copy()})
        np.testing.assert_allclose(net(x), reference, rtol=0, atol=1e-5 * np.abs(reference).max())
