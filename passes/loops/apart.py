"""Reads whose lanes stand apart in memory, as those of a window that moves by 2: made from what is read beside them.

    x[2j], x[2j + 1], x[2j + 2]   →   %0 = kernel.read  %1 = kernel.read {odd}  %2 = kernel.slide %0, (one more a row)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute, SSAValue

from mlc.dialects import kernel
from mlc.dialects.dims import DimLike
from mlc.passes.loops.index_math import Emitter
from mlc.passes.loops.point import Value


def stands_apart(stride: int | SSAValue, element: Attribute) -> bool:
    """Whether lanes have a constant distance of more than one element; predicates are other elements in registers."""
    return isinstance(stride, int) and stride > 1 and element != i1


def read_apart(
    out: Emitter, buffer: SSAValue, base: DimLike, strides: Sequence[int | SSAValue], type_: VectorType,
    known: Callable[[int], Value | None],
) -> SSAValue:  # fmt: skip
    """The tile at ``base``; ``known`` says what the block holds of the tile so many elements before it.

    One stride before it, all but the last lane are there. One element before it, what is read for that tile has this
    one between its lanes, if they are two apart.
    """
    stride = strides[-1]
    assert isinstance(stride, int)
    if (before := known(stride)) is not None:
        column = VectorType(type_.element_type, [*type_.get_shape()[:-1], 1])
        last = out.dim(base + stride * (type_.get_shape()[-1] - 1))
        return out.emit(kernel.SlideOp(before.ssa, out.emit(kernel.ReadOp(buffer, last, strides, column))))
    beside = known(1) if stride == 2 else None
    if beside is not None and isinstance(beside.ssa.owner, kernel.ReadOp):
        return out.emit(kernel.ReadOp(buffer, beside.ssa.owner.offset, strides, type_, odd=True))
    return out.emit(kernel.ReadOp(buffer, out.dim(base), strides, type_))
