"""Reversed axes: values whose axes a slice reverses before reshapes and transpositions move them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mlc.dialects.graph import ReshapeOp, SliceOp, TransposeOp, dims_of, ints_of
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import shape_of
from mlc.passes.op_builder import OpBuilder


def before_reversal(x: SSAValue, axes: Sequence[int], builder: OpBuilder) -> SSAValue | None:
    """Return ``x`` as it would be without the slice that reverses all ``axes`` and does nothing else, repeating the
    transpositions and reshapes after that slice. Return None if there is no such slice, or a reshape splits or merges
    one of ``axes``."""
    moves: list[ReshapeOp | TransposeOp] = []
    at: list[int] | None = list(axes)
    owner = x.owner
    while isinstance(owner, (ReshapeOp, TransposeOp)) and at is not None:
        at = _axes_before(owner, at)
        moves.append(owner)
        owner = owner.input.owner
    if at is None or not isinstance(owner, SliceOp) or not _reverses(owner, at):
        return None
    value = owner.input
    for move in reversed(moves):
        value = _apply_move(move, value, builder)
    return value


def _axes_before(move: ReshapeOp | TransposeOp, axes: Sequence[int]) -> list[int] | None:
    """Return the axes of the operand that are ``axes`` of the result; None if a reshape splits or merges one of
    them."""
    if isinstance(move, TransposeOp):
        return [ints_of(move.perm)[axis] for axis in axes]
    before, after = shape_of(move.input), shape_of(move.result)
    positions = {product(before[n + 1 :]): n for n in range(len(before)) if before[n] != 1}
    found = [positions.get(product(after[axis + 1 :]), -1) for axis in axes]
    same = all(n >= 0 and before[n] == after[axis] for n, axis in zip(found, axes, strict=True))
    return found if same and move.barrier is None else None


def _reverses(op: SliceOp, axes: Sequence[int]) -> bool:
    """Return whether a slice reverses the axes ``axes`` and keeps all others as they are."""
    shape = shape_of(op.input)
    wanted = [(d - 1, d, -1) if n in axes else (0, d, 1) for n, d in enumerate(shape)]
    return list(zip(dims_of(op.starts), dims_of(op.sizes), ints_of(op.steps), strict=True)) == wanted


def _apply_move(move: ReshapeOp | TransposeOp, value: SSAValue, builder: OpBuilder) -> SSAValue:
    if isinstance(move, TransposeOp):
        return builder.emit(TransposeOp(value, ints_of(move.perm)))
    return builder.reshape(value, shape_of(move.result))
