"""Reductions: Reduce*, ArgMax/ArgMin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlc.dialects.dims import DimLike, product
from mlc.dialects.types import is_float, numpy_dtype
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.narrow import check_combines
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.at_run_time import any_open, dropped, split_axes
from mlc.frontends.onnx.tensors import Tensor

# name -> (map before, monoid, map after)
SUMS = {
    "ReduceSum": ("", "add", ""),
    "ReduceProd": ("", "mul", ""),
    "ReduceMax": ("", "max", ""),
    "ReduceMin": ("", "min", ""),
    "ReduceL1": ("abs(x0)", "add", ""),
    "ReduceL2": ("x0 * x0", "add", "sqrt(x0)"),
    "ReduceSumSquare": ("x0 * x0", "add", ""),
    "ReduceLogSum": ("", "add", "log(x0)"),
}
INPUT_AXES = {"ReduceSum": 13}  # the opset from which axes are an input; 18 for the others


def lowest(element: str) -> str:
    """The identity of max, as a literal.

    Raises:
        NotSupported: nothing computes in ``element``.
    """
    check_combines("a maximum", element)
    if is_float(element):
        return "-inf"
    return "False" if element == "i1" else str(np.iinfo(numpy_dtype(element)).min)


def mean_over(build: Builder, x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    """The mean in at least f32, in the element type of ``x``."""
    total = build.reduce("add", build.wide(x), axes, keepdims)
    count = product(x.shape[a] for a in axes)
    if not is_float(total.element):
        return build.map(f"x0 / {total.element}({count})", total)
    factor = f"{1 / count!r}" if isinstance(count, int) and count else f"(1 / {total.element}({count}))"
    return build.cast(build.map(f"x0 * {factor}", total), x.element)


@dataclass(frozen=True)
class Reduction:
    """What is reduced, over which axes (None: nothing), and the result's shape where only the run knows it."""

    x: Tensor
    axes: list[int] | None
    keepdims: bool
    shape: list[DimLike] | None = None

    def shaped(self, build: Builder, y: Tensor) -> Tensor:
        """The result, of a reduction with these ``keepdims``."""
        return y if self.shape is None else build.reshape(y, self.shape)


def reduction_of(node: Node, x: Tensor) -> Reduction:
    """The operand ``x`` and axes of a reduction; axes that a run computes become known ones of more dimensions."""
    keepdims = node.flag("keepdims", 1)
    by_input = node.opset >= INPUT_AXES.get(node.op, 18) and node.has(1)
    if not by_input or not any_open(axes := node.numbers(1)):
        return Reduction(x, reduced_axes(node), keepdims)
    shape = x.shape if keepdims else dropped(node, x.shape, axes)
    x, known, kept = split_axes(node, x, axes)
    return Reduction(x, known, False, kept if keepdims else shape)  # type: ignore[arg-type]


def reduced_axes(node: Node) -> list[int] | None:
    """The axes of a reduction (all where none are given); None where there is nothing to reduce."""
    by_input = node.opset >= INPUT_AXES.get(node.op, 18)
    axes = (node.ints(1) if node.has(1) else None) if by_input else node.attr("axes", None)
    if not axes and by_input and node.flag("noop_with_empty_axes", 0):
        return None
    rank = node[0].rank
    return [normalise_axis(a, rank) for a in axes] if axes else list(range(rank))


@onnx_op(*SUMS)
def reduction(node: Node) -> Tensor:
    before, monoid, after = SUMS[node.op]
    x, build = node[0], node.build
    x = build.wide(x) if monoid in ("add", "mul") else x
    given = reduction_of(node, build.map(before, x) if before else x)
    y = given.x if given.axes is None else build.reduce(monoid, given.x, given.axes, given.keepdims)
    if after and not is_float(y.element):
        after = f"{y.element}({after.replace('x0', 'f64(x0)')})"
    return given.shaped(build, build.cast(build.map(after, y) if after else y, node[0].element))


@onnx_op("ReduceMean")
def reduce_mean(node: Node) -> Tensor:
    given, build = reduction_of(node, node[0]), node.build
    if given.axes is None:
        return node[0]
    return given.shaped(build, mean_over(build, given.x, given.axes, given.keepdims))


@onnx_op("ReduceLogSumExp")
def reduce_log_sum_exp(node: Node) -> Tensor:
    given, build = reduction_of(node, node[0]), node.build
    axes, x = given.axes, build.wide(given.x)
    if axes is None:
        return node[0]
    top = build.map("where(abs(x0) == inf, 0, x0)", build.reduce("max", x, axes, keepdims=True))
    total = build.reduce("add", _powers(node, given, x, top), axes, keepdims=True)
    y = build.map("log(x0) + x1", total, top)
    kept = [d for n, d in enumerate(x.shape) if n not in axes]
    return given.shaped(build, build.cast(y if given.keepdims else build.reshape(y, kept), node[0].element))


def _powers(node: Node, given: Reduction, x: Tensor, top: Tensor) -> Tensor:
    """exp(x - top). Where the run says the axes, in the operand's own shape: the most that each dimension of ``x`` may
    have gives, all together, the square of its elements."""
    build = node.build
    if given.shape is None:
        return build.map("exp(x0 - x1)", x, top)
    whole, kept = build.wide(node[0]), [d for n, d in enumerate(top.shape) if n not in (given.axes or ())]
    here = ", ".join(f"i{n}" for n in range(whole.rank))
    least = ", ".join(f"min(i{n}, {d} - 1)" for n, d in enumerate(kept))
    powers = build.compute(f"exp(x0[{here}] - x1[{least}])", [whole, build.reshape(top, kept)], whole.shape)
    return build.reshape(powers, x.shape)


@onnx_op("ArgMax", "ArgMin")
def arg_extreme(node: Node) -> Tensor:
    """The position of the extreme: the least (or greatest) index whose element equals it."""
    x = node[0]
    axis = normalise_axis(node.attr("axis", 0), x.rank)
    y = extreme_place(node.build, "max" if node.op == "ArgMax" else "min", x, axis, node.flag("select_last_index", 0))
    return y if not node.flag("keepdims", 1) else node.build.reshape(y, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))


def extreme_place(build: Builder, fn: str, x: Tensor, axis: int, last: bool = False) -> Tensor:
    """The first (or last) index along ``axis`` of the element that is ``fn`` of them all; i64, without that axis."""
    extreme = build.reduce(fn, x, [axis], keepdims=True)
    kept = [n for n in range(x.rank) if n != axis]
    at = ["r0" if n == axis else f"i{kept.index(n)}" for n in range(x.rank)]
    best = ["0" if n == axis else a for n, a in enumerate(at)]
    text = f"where(x0[{', '.join(at)}] == x1[{', '.join(best)}], r0, {-1 if last else x.shape[axis] - 1})"
    return build.compute(text, [x, extreme], [x.shape[n] for n in kept], [x.shape[axis]], "max" if last else "min")
