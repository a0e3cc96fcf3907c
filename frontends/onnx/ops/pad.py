"""Pad, by a value or by elements of the operand."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.dims import DimLike
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.fold import at_least
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.at_run_time import Number, any_open, chosen, padded, padded_shape
from mlc.frontends.onnx.tensors import Tensor


@onnx_op("Pad")
def pad(node: Node) -> Tensor:
    x, rank, mode = node[0], node[0].rank, node.attr("mode", "constant")
    pads = node.attr("pads", None) or node.attr("paddings", []) if node.opset < 11 else node.numbers(1)
    axes = node.numbers(3) if node.has(3) else list(range(rank))
    low, high = (_each_axis(axes, p, rank) for p in (pads[: len(axes)], pads[len(axes) :]))
    if mode != "constant":
        return _bordered(node, x, low, high, mode)
    if any_open((*low, *high)) or (node.has(2) and node[2].known is None):
        fill = node.build.reshape(node[2], ()) if node.has(2) else node.build.constant(0, x.element)
        return padded(node, x, low, high, fill)
    value = node.attr("value", 0.0) if node.opset < 11 else node.scalar(2, 0)
    return node.build.pad(x, low, high, literal(value))  # type: ignore[arg-type]


def _each_axis(axes: Sequence[DimLike], amounts: Sequence[DimLike], rank: int) -> list[Number]:
    """The amount of each dimension, 0 where ``axes`` do not name it."""
    if any_open(axes):
        return [chosen(n, rank, axes, amounts, 0) for n in range(rank)]
    given = dict(zip((normalise_axis(int(a), rank) for a in axes), amounts, strict=True))  # type: ignore[arg-type]
    return [given.get(n, 0) for n in range(rank)]


def _bordered(node: Node, x: Tensor, low: Sequence[Number], high: Sequence[Number], mode: str) -> Tensor:
    """Pad with elements of ``x``: along an axis that has enough of them by slices of it, which are copied."""
    rest: list[tuple[Number, Number]] = []
    for axis, (a, b) in enumerate(zip(low, high, strict=True)):
        near = isinstance(a, int) and isinstance(b, int) and min(a, b) >= 0 and _has(x.shape[axis], max(a, b), mode)
        x = node.build.concat(_borders(node.build, x, axis, mode, a, b), axis) if near else x  # type: ignore[arg-type]
        rest.append((0, 0) if near else (a, b))
    if all(p == (0, 0) for p in rest):
        return x
    return _reflected(node, x, [a for a, _ in rest], [b for _, b in rest], mode)


def _has(extent: DimLike, amount: int, mode: str) -> bool:
    """Whether an axis always has the elements for so many more of them on one side."""
    return bool(at_least(extent, {"edge": 1, "wrap": max(amount, 1), "reflect": amount + 1}[mode]))


def _borders(build: Builder, x: Tensor, axis: int, mode: str, low: int, high: int) -> list[Tensor]:
    """What stands before ``x`` along an axis, ``x``, and what stands behind it."""
    d = x.shape[axis]
    if mode == "wrap":
        return [build.cut(x, axis, d - low, low), x, build.cut(x, axis, 0, high)]
    if mode == "edge":
        first, last = (build.cut(x, axis, at, 1) for at in (0, d - 1))
        return [_repeated(build, first, axis, low), x, _repeated(build, last, axis, high)]
    return [_backwards(build, x, axis, low, low), x, _backwards(build, x, axis, d - 2, high)]


def _repeated(build: Builder, x: Tensor, axis: int, times: int) -> Tensor:
    """``x``, of one element along an axis, so many times."""
    return build.broadcast(x, [times if n == axis else d for n, d in enumerate(x.shape)])


def _backwards(build: Builder, x: Tensor, axis: int, start: DimLike, size: int) -> Tensor:
    """``size`` elements of an axis from ``start`` down."""
    along = [n == axis for n in range(x.rank)]
    sizes = [size if a else d for a, d in zip(along, x.shape, strict=True)]
    return build.slice(x, [start if a else 0 for a in along], sizes, [-1 if a else 1 for a in along])


def _reflected(node: Node, x: Tensor, low: Sequence[Number], high: Sequence[Number], mode: str) -> Tensor:
    """Pad with elements of ``x``: each dimension is read at an index bent back into it."""
    reads = []
    for n, (d, p) in enumerate(zip(x.shape, low, strict=True)):
        at = f"(i{n} - ({p}))"
        period = f"max(2*({d}) - 2, 1)"
        bent = {
            "edge": f"min(max({at}, 0), ({d}) - 1)",
            "wrap": f"{at} % ({d})",
            "reflect": f"({d}) - 1 - abs(({d}) - 1 - {at} % {period})",
        }[mode]
        reads.append(f"i{n}" if low[n] == 0 and high[n] == 0 else bent)
    return node.build.compute(f"x0[{', '.join(reads)}]", [x], padded_shape(node, x, low, high))
