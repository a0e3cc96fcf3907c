"""Batched collectives: one of the whole batch. Those that divide axis 0 among ranks have the batch after it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mlc.dialects.batching.operators import batched
from mlc.dialects.batching.walk import Batch, Batching
from mlc.dialects.comm import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    BarrierOp,
    BroadcastOp,
    CommOp,
    PermuteOp,
    ReduceScatterOp,
)
from mlc.dialects.dist import ShardingAttr, ShardOp
from mlc.dialects.graph import TransposeOp
from mlc.dialects.types import shape_of


@batched(AllReduceOp, BroadcastOp, PermuteOp, BarrierOp)
def of_elements(op: CommOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    return b.emit(type(op).build(operands=[xs[0].value], properties=op.properties, result_types=[xs[0].value.type]))


@batched(AllGatherOp, AllToAllOp)
def of_parts(op: AllGatherOp | AllToAllOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    return _exchanged(b.emit(type(op)(_exchanged(xs[0].value, b), op.size, op.groups)), b)


@batched(ReduceScatterOp)
def of_reduced_parts(op: ReduceScatterOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    return _exchanged(b.emit(ReduceScatterOp(op.fn.data, _exchanged(xs[0].value, b), op.size, op.groups)), b)


@batched(ShardOp)
def of_shard(op: ShardOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    """The batch is not divided."""
    return b.emit(ShardOp(xs[0].value, ShardingAttr.of([(), *op.sharding.axes])))


def _exchanged(x: SSAValue, b: Batching) -> SSAValue:
    """The first two dimensions exchanged."""
    return b.emit(TransposeOp(x, [1, 0, *range(2, len(shape_of(x)))]))
