"""Pad, by a value or by elements of the operand."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.ops.shapes.axes import normalize_axis, select_by_axis
from mlc.frontends.build.ops.shapes.pad import pad_constant, pad_with_elements
from mlc.frontends.build.runtime_scalars import Scalar, any_runtime
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Pad")
def pad(node: Node) -> Tensor:
    x, rank, mode = node[0], node[0].rank, node.attr("mode", "constant")
    pads = node.attr("pads", None) or node.attr("paddings", []) if node.opset < 11 else node.runtime_scalars(1)
    axes = node.runtime_scalars(3) if node.has(3) else list(range(rank))
    low, high = (_each_axis(axes, p, rank) for p in (pads[: len(axes)], pads[len(axes) :]))
    if mode == "reflect":
        _require_elements(node, low, high)
    if mode != "constant":
        return pad_with_elements(node.build, x, low, high, mode)
    return pad_constant(node.build, x, low, high, _value(node))


def _require_elements(node: Node, low: Sequence[Scalar], high: Sequence[Scalar]) -> None:
    """Require that an open axis is longer than its padding: each element is mirrored once. onnxruntime refuses other
    sizes.
    """
    for d, *amounts in zip(node[0].shape, low, high, strict=True):
        for amount in amounts:
            if isinstance(amount, int) and amount > 0 and not isinstance(d, int):
                node.build.require(d, amount + 1)


def _value(node: Node) -> Tensor | float:
    if node.opset < 11:
        value: float = node.attr("value", 0.0)
        return value
    return node[2] if node.has(2) and node[2].known is None else node.scalar(2, 0)


def _each_axis(axes: Sequence[DimLike], amounts: Sequence[DimLike], rank: int) -> list[Scalar]:
    """The amount of each dimension, 0 where ``axes`` do not name it."""
    if any_runtime(axes):
        return [select_by_axis(n, rank, axes, amounts, 0) for n in range(rank)]
    given = dict(zip((normalize_axis(int(a), rank) for a in axes), amounts, strict=True))  # type: ignore[arg-type]
    return [given.get(n, 0) for n in range(rank)]
