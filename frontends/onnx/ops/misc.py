"""Sources, shapes and operators that change nothing at inference."""

from __future__ import annotations

import numpy as np

from mlc.dialects.dims import Dim, DimLike, ceildiv, product
from mlc.dialects.types import numpy_dtype
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import larger
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.numbers import followed
from mlc.frontends.onnx.ops import random
from mlc.frontends.onnx.tensors import KNOWN_LIMIT, Tensor, element_of_onnx


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
            return node.build.words(node.attr(name))
    if "value" not in node.attributes:
        raise NotSupported("sparse constants are not supported")
    return node.tensor(node.attributes["value"].t)


@onnx_op("ConstantOfShape", since=9)
def constant_of_shape(node: Node) -> Tensor:
    value = node.attr("value", np.zeros(1, np.float32)).reshape(())
    return node.build.broadcast(Tensor.from_known(value), node.dims(0))


@onnx_op("Identity")
def identity(node: Node) -> object:
    return node.inputs[0]


@onnx_op("Dropout")
def dropout(node: Node) -> Tensor | tuple[Tensor, Tensor]:
    """Passes its input through, and the mask is all true; unless a third input says that it is training.

    ONNX opset 7, 10, 12, 13, 22."""
    x = node[0]
    if node.opset >= 12 and node.has(2) and (node[2].known is None or node.scalar(2)):
        ratio = node[1] if node.has(1) else node.build.constant(0.5, "f32")
        y, mask = random.dropout(node, x, ratio, node[2])
        return (y, mask) if node.wants(1) else y
    if not node.wants(1):
        return x
    return x, node.build.broadcast(node.build.constant(True, "i1" if node.opset >= 10 else x.element), x.shape)


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
    """start, start + delta, …, as far as limit. ONNX 11, 27."""
    if any(node[n].known is None for n in range(3)):
        return _range_at_run_time(node)
    start, limit, delta = (node.known(n).reshape(()).item() for n in range(3))
    element = node[0].element
    if isinstance(delta, Dim):
        raise NotSupported("a symbolic step")
    whole = isinstance(delta, int)
    length = larger(ceildiv(limit - start, delta), 0) if whole else max(0, int(np.ceil((limit - start) / delta)))
    if isinstance(length, int) and length <= KNOWN_LIMIT and not isinstance(start, Dim):
        return Tensor.from_known((start + np.arange(length) * delta).astype(numpy_dtype(element)), element)
    return node.build.compute(f"{element}({start}) + {element}(i0) * {delta}", [], (length,))


def _range_at_run_time(node: Node) -> Tensor:
    build, element = node.build, node[0].element
    start, limit, delta = scalars = [build.reshape(node[n], ()) for n in range(3)]
    if all(followed(x) for x in scalars):
        start, limit, delta = (build.numbers.of(x).item() for x in scalars)
        length: DimLike | str = _count(limit - start, delta)
    else:
        count = build.map("i64(max(ceil(f64(x0 - x1) / f64(x2)), 0))", limit, start, delta)
        length = build.numbers.of(count).item()
    elements = build.compute(f"{element}(i0)", [], (node.size(length, "the number of elements"),))
    if all(followed(x) for x in scalars):
        return build.compute(f"{element}({start}) + {element}(i0) * {element}({delta})", [], elements.shape)
    return build.map("x0 + x1 * x2", start, elements, delta)


def _count(distance: DimLike, delta: DimLike) -> DimLike | str:
    """How many steps of ``delta`` begin in ``distance``."""
    if isinstance(delta, int) and delta > 0:
        return larger(ceildiv(distance, delta), 0)
    away = f"where({delta} < 0, -({distance}), {distance})"
    return f"max(({away} + abs({delta}) - 1) // max(abs({delta}), 1), 0)"


@onnx_op("EyeLike", since=9)
def eye_like(node: Node) -> Tensor:
    x = node[0]
    element = element_of_onnx(node.attr("dtype")) if "dtype" in node.attributes else x.element
    return node.build.compute(f"{element}(i1 - i0 == {node.attr('k', 0)})", [], x.shape)
