"""Derivatives of data movement and running sums."""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import (
    Adjoints,
    Emit,
    cut,
    filled,
    moved_back,
    padded,
    reshaped,
    reversed_along,
    summed_to,
)
from mlc.dialects.autodiff.operators import derivative
from mlc.dialects.autodiff.scalar import NoDerivative
from mlc.dialects.graph import (
    BroadcastOp,
    ConcatOp,
    ForestOp,
    PadOp,
    ReshapeOp,
    ScanOp,
    SliceOp,
    TransposeOp,
    dims_of,
    ints_of,
)
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import element_of, shape_of


@derivative(ReshapeOp)
def of_reshape(op: ReshapeOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [reshaped(emit, bar, shape_of(op.input))]


@derivative(TransposeOp)
def of_transpose(op: TransposeOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [moved_back(emit, bar, ints_of(op.perm))]


@derivative(BroadcastOp)
def of_broadcast(op: BroadcastOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [summed_to(emit, bar, shape_of(op.input))]


@derivative(SliceOp)
def of_slice(op: SliceOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """The adjoint is padded with zeros around and between its elements; for a negative step it is reversed first."""
    starts, sizes, steps, shape = dims_of(op.starts), dims_of(op.sizes), ints_of(op.steps), shape_of(op.input)
    if 0 in sizes:
        return [filled(emit, 0, element_of(bar), shape)]
    ends = [start + (size - 1) * step for start, size, step in zip(starts, sizes, steps, strict=True)]
    low = [end if step < 0 else start for start, end, step in zip(starts, ends, steps, strict=True)]
    last = [start if step < 0 else end for start, end, step in zip(starts, ends, steps, strict=True)]
    high = [d - end - 1 for d, end in zip(shape, last, strict=True)]
    forward = reversed_along(emit, bar, [n for n, step in enumerate(steps) if step < 0])
    return [padded(emit, forward, low, high, [abs(step) - 1 for step in steps])]


@derivative(PadOp)
def of_pad(op: PadOp, bar: SSAValue, emit: Emit) -> Adjoints:
    steps = [n + 1 for n in ints_of(op.interior)]
    return [cut(emit, bar, dims_of(op.low), shape_of(op.input), steps)]


@derivative(ConcatOp)
def of_concat(op: ConcatOp, bar: SSAValue, emit: Emit) -> Adjoints:
    axis, shape, found = op.axis.value.data, shape_of(bar), []
    start: DimLike = 0
    for x in op.args:
        starts = [start if n == axis else 0 for n in range(len(shape))]
        found.append(cut(emit, bar, starts, shape_of(x), [1] * len(shape)))
        start = start + shape_of(x)[axis]
    return list(found)


@derivative(ScanOp)
def of_scan(op: ScanOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """The adjoint of a running sum is the running sum of the adjoint in the opposite direction."""
    if op.monoid.data != "add":
        raise NoDerivative(f"{op.name} of products has no derivative")
    return [emit(ScanOp("add", bar, bool(op.exclusive), not bool(op.reverse)))]


@derivative(ForestOp)
def of_forest(op: ForestOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """There are no adjoints: a score is piecewise constant in the keys, and the tables are constants of a model."""
    return [None] * len(op.operands)
