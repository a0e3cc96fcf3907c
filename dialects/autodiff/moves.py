"""Derivatives of data movement, scatters and running sums."""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import (
    Adjoints,
    Emit,
    computed,
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
    ComputeOp,
    ConcatOp,
    ForestOp,
    PadOp,
    ReshapeOp,
    ScanOp,
    ScatterOp,
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
    """The adjoint padded with zeros around and between its elements; for a negative step it is reversed first."""
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


@derivative(ScatterOp)
def of_scatter(op: ScatterOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """Updates get the adjoint at their indices; data gets 0 at overwritten indices.

    Where one index is written several times, the last update alone gets the adjoint, as its value alone is kept.
    """
    kind, cells = op.reduction.data, shape_of(op.data)[0]
    if kind not in ("none", "add"):
        raise NoDerivative(f"{op.name} that combines by {kind} has no derivative")
    inside = f"(x1[i0] >= 0) & (x1[i0] < {cells})"
    read = f"where({inside}, x0[min(max(x1[i0], 0), {cells} - 1), i1], 0)"
    if kind == "add":
        return [bar, None, computed(emit, read, [bar, op.indices], shape_of(op.updates))]
    last = f"x2[min(max(x1[i0], 0), {cells} - 1), 0] == i0"
    operands = [bar, op.indices, _writers(op, emit)]
    updates = computed(emit, f"where({last}, {read}, 0)", operands, shape_of(op.updates))
    zeros = filled(emit, 0, element_of(bar), shape_of(op.updates))
    return [emit(ScatterOp("none", bar, op.indices, zeros)), None, updates]


def _writers(op: ScatterOp, emit: Emit) -> SSAValue:
    """[rows of the data, 1]: the number of the update that is kept in each row."""
    rows, count = shape_of(op.data)[0], shape_of(op.indices)[0]
    none, numbers = filled(emit, -1, "i64", (rows, 1)), emit(ComputeOp("i0", [], (count, 1)))
    return emit(ScatterOp("none", none, op.indices, numbers))


@derivative(ScanOp)
def of_scan(op: ScanOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """The derivative of running sums: running sums of the adjoint in the opposite direction."""
    if op.monoid.data != "add":
        raise NoDerivative(f"{op.name} of products has no derivative")
    return [emit(ScanOp("add", bar, bool(op.exclusive), not bool(op.reverse)))]


@derivative(ForestOp)
def of_forest(op: ForestOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """None: scores are constant but where a key passes a bound, and the tables are constants of a model."""
    return [None] * len(op.operands)
