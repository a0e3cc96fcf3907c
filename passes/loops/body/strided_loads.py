"""Strided vector access, such as that of a window with stride 2, which reuses the loads of neighbouring tiles.

x[2j], x[2j + 1], x[2j + 2]   →   %0 = kernel.read  %1 = kernel.read {odd}  %2 = kernel.slide %0, (one more a row)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute, SSAValue

from mlc.dialects import kernel
from mlc.dialects.kernel.access import Valid
from mlc.dialects.semantics.dims import DimLike
from mlc.passes.loops.body.tile_context import Value
from mlc.passes.loops.index.index_builder import IndexBuilder


def is_strided(stride: int | SSAValue, element: Attribute) -> bool:
    """Return whether lanes are a constant distance of more than one element apart; False for predicates, which
    registers hold in another format than memory."""
    return isinstance(stride, int) and stride > 1 and element != i1


def read_strided(
    out: IndexBuilder, buffer: SSAValue, base: DimLike, strides: Sequence[int | SSAValue], type_: VectorType,
    known: Callable[[int], Value | None], valid: Valid,
) -> SSAValue:  # fmt: skip
    """Return the tile at ``base``. ``known(n)`` returns the value of the tile ``n`` elements before, if the block has
    it.

    The tile one stride before has all lanes but the last. With stride 2, the loads of the tile one element before
    contain this tile as well, between its lanes.
    """
    stride = strides[-1]
    assert isinstance(stride, int)
    if (before := known(stride)) is not None:
        column = VectorType(type_.element_type, [*type_.get_shape()[:-1], 1])
        last = out.dim(base + stride * (type_.get_shape()[-1] - 1))
        return out.emit(kernel.SlideOp(before.ssa, out.emit(kernel.ReadOp(buffer, last, strides, column, valid=valid))))
    beside = known(1) if stride == 2 else None
    if beside is not None and isinstance(beside.ssa.owner, kernel.ReadOp):
        return out.emit(kernel.ReadOp(buffer, beside.ssa.owner.offset, strides, type_, odd=True, valid=valid))
    return out.emit(kernel.ReadOp(buffer, out.dim(base), strides, type_, valid=valid))
