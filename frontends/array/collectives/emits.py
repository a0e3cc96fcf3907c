"""Collectives as functions of the Builder."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects import comm, dist
from mlc.frontends.array.array import linear
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


@linear
def all_reduce(
    build: Builder, operands: Sequence[Tensor], fn: str, group: tuple[int, int, int] | None = None
) -> Tensor:
    return build.emit(comm.AllReduceOp(fn, build.value(operands[0]), None if group is None else comm.Group(*group)))


@linear
def reduce_scatter(build: Builder, operands: Sequence[Tensor], fn: str, ranks: int, ahead: int | None) -> Tensor:
    return build.emit(comm.ReduceScatterOp(fn, build.value(operands[0]), ranks, ahead=ahead))


@linear
def all_gather(build: Builder, operands: Sequence[Tensor], ranks: int, ahead: int | None) -> Tensor:
    return build.emit(comm.AllGatherOp(build.value(operands[0]), ranks, ahead=ahead))


@linear
def all_to_all(build: Builder, operands: Sequence[Tensor], ranks: int, lists: bool) -> Tensor:
    return build.emit(comm.AllToAllOp(build.value(operands[0]), ranks, lists=lists))


@linear
def broadcast(build: Builder, operands: Sequence[Tensor], root: int) -> Tensor:
    return build.emit(comm.BroadcastOp(build.value(operands[0]), root))


@linear
def permute(build: Builder, operands: Sequence[Tensor], pairs: tuple[tuple[int, int], ...]) -> Tensor:
    return build.emit(comm.PermuteOp(build.value(operands[0]), pairs))


@linear
def barrier(build: Builder, operands: Sequence[Tensor]) -> Tensor:
    return build.emit(comm.BarrierOp(build.value(operands[0])))


@linear
def shard(build: Builder, operands: Sequence[Tensor], dims: tuple[tuple[str, ...], ...]) -> Tensor:
    return build.emit(dist.ShardOp(build.value(operands[0]), dist.ShardingAttr.of(dims)))


def rank(build: Builder, operands: Sequence[Tensor]) -> Tensor:
    return build.emit(comm.RankOp())


def world(build: Builder, operands: Sequence[Tensor]) -> Tensor:
    return build.emit(comm.WorldOp())
