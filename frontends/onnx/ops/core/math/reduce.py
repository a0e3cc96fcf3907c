"""Reductions: Reduce*, ArgMax and ArgMin."""

from __future__ import annotations

from mlc.frontends.build.ops.reduction import Axes, arg_extreme, log_sum_exp, reduce, reduce_mean
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.runtime_scalars import any_runtime
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op

SIMPLE = {
    "ReduceSum": "sum",
    "ReduceProd": "prod",
    "ReduceMax": "max",
    "ReduceMin": "min",
    "ReduceL1": "l1",
    "ReduceL2": "l2",
    "ReduceSumSquare": "sum_square",
    "ReduceLogSum": "log_sum",
}
INPUT_AXES = {"ReduceSum": 13}  # the opset from which axes are an input; 18 for the others


def _axes(node: Node) -> Axes | None:
    """The axes of a reduction (all where none are given); None where there is nothing to reduce."""
    keepdims, by_input = node.flag("keepdims", 1), node.opset >= INPUT_AXES.get(node.op, 18)
    if by_input and node.has(1) and any_runtime(scalars := node.runtime_scalars(1)):
        return Axes((), keepdims, scalars)
    axes = (node.ints(1) if node.has(1) else None) if by_input else node.attr("axes", None)
    if not axes and by_input and node.flag("noop_with_empty_axes", 0):
        return None
    rank = node[0].rank
    return Axes([normalize_axis(a, rank) for a in axes] if axes else range(rank), keepdims)


@onnx_op(*SIMPLE)
def simple(node: Node) -> Tensor:
    return reduce(node.build, SIMPLE[node.op], node[0], _axes(node))


@onnx_op("ReduceMean")
def mean(node: Node) -> Tensor:
    axes = _axes(node)
    return node[0] if axes is None else reduce_mean(node.build, node[0], axes)


@onnx_op("ReduceLogSumExp")
def reduce_log_sum_exp(node: Node) -> Tensor:
    axes = _axes(node)
    return node[0] if axes is None else log_sum_exp(node.build, node[0], axes)


@onnx_op("ArgMax", "ArgMin")
def arg_extreme_of(node: Node) -> Tensor:
    """The position of the extreme: the least (or greatest) index whose element equals it."""
    x = node[0]
    axis = normalize_axis(node.attr("axis", 0), x.rank)
    y = arg_extreme(node.build, "max" if node.op == "ArgMax" else "min", x, axis, node.flag("select_last_index", 0))
    return y if not node.flag("keepdims", 1) else node.build.reshape(y, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
