"""Segments along an axis, by their lengths or their offsets, and their derivatives."""

from __future__ import annotations

from typing import Any

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.indexing.segments import segments
from mlc.frontends.build.ops.indexing.sorting import prefix_sum
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.nn.backward import pullback
from mlc.frontends.torch.registry import Call, aten

HOW = {"sum": "add", "mean": "mean", "max": "max", "min": "min", "prod": "mul"}


@aten("segment_reduce")
def segment_reduce(
    call: Call,
    x: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    limits = offsets if lengths is None else _offsets(call, lengths)
    if limits is None:
        raise NotSupported("segments without lengths or offsets")
    return segments(call.build, x, limits, axis, HOW[reduce], None if initial is None else float(initial))


def _offsets(call: Call, lengths: Tensor) -> Tensor:
    """[.., S + 1]: where each segment begins, and the end of the last one."""
    build, last = call.build, lengths.rank - 1
    ends = prefix_sum(build, build.cast(lengths, "i64"))
    first = build.broadcast(build.constant(0, "i64"), (*lengths.shape[:-1], 1))
    return build.concat([first, ends], last)


@aten("_segment_reduce_backward")
def segment_reduce_backward(
    call: Call, grad: Tensor, output: Tensor, x: Tensor, reduce: str, **given: Any
) -> Tensor:
    """The elements that attain an extreme share its adjoint."""
    return pullback(call, lambda x: segment_reduce(call, x, reduce, **given), [x], grad)[0]
