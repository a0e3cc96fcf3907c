"""The windows that attributes of convolutions and pools describe."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.convolution.windows import Window, same_pads
from mlc.frontends.onnx.node import Node


def window_of(node: Node, spatial: Sequence[DimLike], kernel: Sequence[DimLike]) -> Window:
    """Read strides, dilations, pads, auto_pad and ceil_mode."""
    rank, auto = len(spatial), node.attr("auto_pad", "NOTSET")
    strides, dilations = counts(node, "strides", rank), counts(node, "dilations", rank)
    if auto.startswith("SAME"):
        pads = same_pads(spatial, kernel, strides, dilations, upper=auto == "SAME_UPPER")
    else:
        given = (node.attr("pads", None) if auto == "NOTSET" else None) or [0] * (2 * rank)
        pads = list(given[:rank]), list(given[rank:])
    return Window.over(node.build, spatial, kernel, strides, dilations, pads, partial=node.flag("ceil_mode", 0))


def counts(node: Node, name: str, rank: int | None = None) -> list[int]:
    """An attribute of positive integers; without it, ``rank`` ones."""
    values: list[int] = node.attr(name) if rank is None else node.attr(name, None) or [1] * rank
    if any(value < 1 for value in values):
        raise NotSupported(f"{name} of {', '.join(map(str, values))}: its elements must be positive")
    return values
