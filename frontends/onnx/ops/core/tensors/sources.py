"""Sources of tensors: constants, ranges, shapes; Identity."""

from __future__ import annotations

import numpy as np

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.shapes.arange import arange
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.reading.types import element_of_onnx


@onnx_op("Constant")
def constant(node: Node) -> Tensor:
    for name, dtype in (
        ("value_float", np.float32),
        ("value_floats", np.float32),
        ("value_int", np.int64),
        ("value_ints", np.int64),
    ):
        if name in node.attributes:
            return Tensor.from_known(np.asarray(node.attr(name), dtype))
    for name in ("value_string", "value_strings"):
        if name in node.attributes:
            return node.build.strings(node.attr(name))
    if "sparse_value" in node.attributes:
        return node.sparse_tensor(node.attributes["sparse_value"].sparse_tensor)
    if "value" not in node.attributes:
        raise NotSupported("a constant without a value")
    return node.tensor(node.attributes["value"].t)


@onnx_op("ConstantOfShape", since=9)
def constant_of_shape(node: Node) -> Tensor:
    value = node.attr("value", np.zeros(1, np.float32)).reshape(())
    return node.build.broadcast(Tensor.from_known(value), node.dims(0))


@onnx_op("Identity")
def identity(node: Node) -> object:
    return node.inputs[0]


@onnx_op("Shape")
def shape(node: Node) -> Tensor:
    dims = node[0].shape[node.attr("start", 0) : node.attr("end", None)]
    return Tensor.of_dims(dims)


@onnx_op("Size")
def size(node: Node) -> Tensor:
    array = np.empty((), dtype=object)
    array[()] = product(node[0].shape)
    return Tensor.from_known(array, "i64")


@onnx_op("Range", since=11)
def range_(node: Node) -> Tensor:
    """ONNX 11, 27."""
    return arange(node.build, node[0], node[1], node[2])


@onnx_op("EyeLike", since=9)
def eye_like(node: Node) -> Tensor:
    x = node[0]
    element = element_of_onnx(node.attr("dtype")) if "dtype" in node.attributes else x.element
    return node.build.compute(f"{element}(i1 - i0 == {node.attr('k', 0)})", [], x.shape)
