"""Scale, masks and past of attention."""

from __future__ import annotations

import math

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.attention import causal, heads_of
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_extent
from mlc.frontends.onnx.node import Node

FILTER = -10000.0


def scale_of(node: Node, size: DimLike) -> float:
    """The attribute, or 1 / sqrt(head size)."""
    scale = node.attr("scale", 0.0)
    if not scale and not isinstance(size, int):
        raise NotSupported(f"heads of symbolic size {size}; fix it with dims={{name: size}}")
    return scale or 1 / math.sqrt(size)  # type: ignore[arg-type]


def mask_bias(node: Node, mask: Tensor, rows: DimLike, total: DimLike, batch: DimLike) -> Tensor | None:
    """The additive bias of a mask to scores [batch, heads, rows, total]; None where it is the same for all keys.

    It is [batch] (keys that count), [2 * batch] (their end and start), [batch, total] or [batch, rows, total].
    """
    low = f"f32({literal(node.attr('mask_filter_value', FILTER))})"
    build, mask = node.build, node.build.cast(mask, "i64")
    if mask.rank == 1:
        inside = "(i3 < x0[i0])"
        if mask.shape[0] == 2 * batch:
            inside += f" & (i3 >= x0[i0 + {batch}])"
        else:
            mask = with_extent(build, mask, 0, batch)
        return build.compute(f"where({inside}, f32(0), {low})", [mask], (batch, 1, 1, total))
    if mask.rank == 2 and mask.shape[1] == 1:
        return None
    if mask.rank not in (2, 3):
        raise NotSupported(f"a mask {mask}; [{batch}], [{batch}, {total}] or [{batch}, {rows}, {total}] are supported")
    for axis, extent in enumerate((batch, total) if mask.rank == 2 else (batch, rows, total)):
        mask = with_extent(build, mask, axis, extent)
    if mask.rank == 2:
        return build.compute(f"where(x0[i0, i3] > 0, f32(0), {low})", [mask], (batch, 1, 1, total))
    return build.compute(f"where(x0[i0, i2, i3] > 0, f32(0), {low})", [mask], (batch, 1, rows, total))


def extended(build: Builder, past: Tensor | None, new: Tensor) -> Tensor:
    """The rows of ``past``, where there is one, and then the new ones."""
    return new if past is None else build.concat([past, new], 2)


def biases(
    node: Node, q: Tensor, k: Tensor, mask: Tensor | None, bias: Tensor | None, length: Tensor | None = None
) -> list[Tensor]:
    """Additive biases of scores: the mask's, the given one, and that of later keys; ``length``: of a shared past."""
    build, rows, total, one_way = node.build, q.shape[2], k.shape[2], node.attr("unidirectional", 0)
    masked = None if mask is None else mask_bias(node, mask, rows, total, q.shape[0])
    added = [x for x in (masked, bias) if x is not None]
    if length is None:
        return [*added, causal(build, rows, total)] if one_way else added
    last = "i2" if one_way else f"({rows}) - 1"
    return [*added, build.compute(f"where(i3 <= x0[0] + {last}, f32(0), -inf)", [length], (1, 1, rows, total))]


def split_heads(node: Node, heads: int, shared: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values (inputs 0 to 2, or packed in input 0) as ``heads`` and ``shared`` heads."""
    build, x = node.build, node[0]
    if node.get(1) is not None:
        return heads_of(build, x, heads), heads_of(build, node[1], shared), heads_of(build, node[2], shared)
    size = x.shape[2] // (heads + 2 * shared)
    parts = ((0, heads), (heads, shared), (heads + shared, shared))
    q, k, v = (heads_of(build, build.cut(x, 2, start * size, n * size), n) for start, n in parts)
    return q, k, v


def repeated(build: Builder, x: Tensor, times: int) -> Tensor:
    """``x`` with each head repeated ``times`` times."""
    batch, heads, *rest = x.shape
    wide = build.broadcast(build.reshape(x, (batch, heads, 1, *rest)), (batch, heads, times, *rest))
    return build.reshape(wide, (batch, heads * times, *rest))
