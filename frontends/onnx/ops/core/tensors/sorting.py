"""TopK, CumSum, CumProd."""

from __future__ import annotations

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.ops.indexing import sorting
from mlc.frontends.build.ops.shapes.axes import around_axis, normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("TopK")
def top_k(node: Node) -> tuple[Tensor, Tensor]:
    """ONNX opset 1, 10, 11, 24. ``sorted`` 0 allows any order; the result is sorted all the same."""
    x, build = node[0], node.build
    axis = normalize_axis(node.attr("axis", -1), x.rank)
    size = x.shape[axis]
    k = node.attr("k") if node.opset < 10 else node.dim(node.runtime_scalar(1), "k", size)
    if at_least(k, size + 1):
        raise NotSupported(f"the {k} greatest of {size} elements")
    build.require(size, k)
    return sorting.top_k(build, x, axis, k, node.flag("largest", 1))


@onnx_op("CumSum", "CumProd")
def cumulative(node: Node) -> Tensor:
    """Sums or products of the elements up to each one. ONNX CumSum 11, 14; CumProd 26."""
    x, build = node[0], node.build
    rows = build.reshape(x, around_axis(build, x.shape, node.runtime_scalar(1)))
    fn = "add" if node.op == "CumSum" else "mul"
    y = sorting.cumulative(build, fn, rows, node.flag("exclusive", 0), node.flag("reverse", 0))
    return build.reshape(build.cast(y, x.element), x.shape)
