"""Derivatives of collectives, by the values of all ranks: the adjoint of an operand on one rank is the sum of what all
ranks' results contribute. So it is that of the sum of all ranks' losses.

    all_reduce "add" ↔ itself       all_gather ↔ reduce_scatter "add"       all_to_all ↔ itself
    permute ↔ the inverse           broadcast ↔ a sum on the root           barrier ↔ itself
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import WIDE, Adjoints, Emit, cast, mapped
from mlc.dialects.autodiff.operators import derivative
from mlc.dialects.autodiff.scalar import NoDerivative
from mlc.dialects.comm import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    BarrierOp,
    BroadcastOp,
    FixedRanksOp,
    PermuteOp,
    RankOp,
    ReduceScatterOp,
)
from mlc.dialects.dist import ShardOp
from mlc.dialects.types import element_of


@derivative(AllReduceOp)
def of_all_reduce(op: AllReduceOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """A maximum or minimum: of the ranks that attain it, in equal parts."""
    whole = _total(bar, emit)
    if op.fn.data == "add":
        return [whole]
    if op.fn.data == "mul":
        raise NoDerivative(f"{op.name} of products has no derivative: sum logarithms in its place")
    element = element_of(bar)
    attains = mapped(emit, f"{element}(x0 == x1)", op.input, op.result)
    count = emit(AllReduceOp("add", attains))
    return [mapped(emit, "x0 * x1 / x2", whole, attains, count)]


@derivative(ReduceScatterOp)
def of_reduce_scatter(op: ReduceScatterOp, bar: SSAValue, emit: Emit) -> Adjoints:
    if op.fn.data != "add":
        raise NoDerivative(f"{op.name} of {op.fn.data} has no derivative: all_reduce has one of max and min")
    return [emit(AllGatherOp(bar, op.size, op.groups, ahead=_ahead(op)))]


@derivative(AllGatherOp)
def of_all_gather(op: AllGatherOp, bar: SSAValue, emit: Emit) -> Adjoints:
    wide = cast(emit, bar, WIDE[element_of(bar)])
    total = emit(ReduceScatterOp("add", wide, op.size, op.groups, ahead=_ahead(op)))
    return [cast(emit, total, element_of(bar))]


def _ahead(op: FixedRanksOp) -> int | None:
    return None if op.ahead is None else 1


@derivative(AllToAllOp)
def of_all_to_all(op: AllToAllOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [emit(AllToAllOp(bar, op.size, op.groups, op.lists is not None))]


@derivative(PermuteOp)
def of_permute(op: PermuteOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [emit(PermuteOp(bar, [(to, source) for source, to in op.moves]))]


@derivative(BroadcastOp)
def of_broadcast(op: BroadcastOp, bar: SSAValue, emit: Emit) -> Adjoints:
    whole, rank = _total(bar, emit), emit(RankOp())
    return [mapped(emit, f"where(x1 == {op.root.value.data}, x0, 0)", whole, rank)]


@derivative(BarrierOp)
def of_barrier(op: BarrierOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [emit(BarrierOp(bar))]


def _total(bar: SSAValue, emit: Emit) -> SSAValue:
    """The sum over all ranks; of floats of 16 bits in f32."""
    return cast(emit, emit(AllReduceOp("add", cast(emit, bar, WIDE[element_of(bar)]))), element_of(bar))


@derivative(ShardOp)
def of_shard(op: ShardOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """The adjoint is divided as the value is."""
    return [emit(ShardOp(bar, op.sharding))]
