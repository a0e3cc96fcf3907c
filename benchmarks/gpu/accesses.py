"""The accesses of a kernel to the device's memory, counted from its IR: bytes, and transactions of a warp.

Loop variables and the block's coordinates are 0, so a tile begins at an aligned address. Symbolic dimensions are 256.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IntegerAttr, VectorType
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.kernel.linear_layout import LayoutAttr, LinearLayout
from mlc.dialects.semantics.dims import evaluate, parse_dim, symbols_of
from mlc.dialects.types import ITEMSIZE, element_of
from mlc.passes.assumed_extents import SCHEDULED
from mlc.passes.codegen.cuda.thread.thread_part import ThreadPart
from mlc.passes.device.distribute_values import DISTRIBUTION
from mlc.passes.device.distribution.value_classes import extents

SECTOR, WARP = 32, 32  # bytes of a transaction; threads of a warp
COMPUTED = (kernel.GatherOp, kernel.ScatterOp, kernel.AsyncGatherOp)  # whose offsets are a vector
MEMORY = (*COMPUTED, kernel.ReadOp, kernel.WriteOp, kernel.AsyncCopyOp)
Array = np.ndarray[Any, Any]
Known = Mapping[SSAValue, Any]
"""The values of arguments of blocks: a number, or one for each block."""
_BINARY: dict[type[Operation], Callable[[Any, Any], Any]] = {
    arith.AddiOp: operator.add, arith.SubiOp: operator.sub, arith.MuliOp: operator.mul,
    arith.FloorDivSIOp: lambda a, b: a // np.maximum(b, 1), arith.DivSIOp: lambda a, b: a // np.maximum(b, 1),
    arith.MaxSIOp: np.maximum, arith.MinSIOp: np.minimum,
    arith.RemSIOp: lambda a, b: a % np.maximum(b, 1), arith.AndIOp: np.logical_and,
}  # fmt: skip


_COMPARED = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


@dataclass(frozen=True)
class Access:
    """One operation on the device's memory: how often a block does it, elements of each, and sectors of a warp's access
    beside the least (None where addresses are data)."""

    writes: bool
    trips: int
    bytes: int
    sectors: float | None
    least: float


def accesses(fn: kernel.FuncOp) -> Iterator[Access]:
    """The accesses of a kernel to its arguments, for all blocks."""
    yield from _of_block(fn.block, 1)


def _of_block(block: Block, trips: int, known: Known = MappingProxyType({})) -> Iterator[Access]:
    for op in block.ops:
        if isinstance(op, scf.ParallelOp):
            yield from _of_block(op.body.block, trips * prod(_sizes(op)), {**known, **coordinates(op)})
        elif isinstance(op, scf.ForOp):
            yield from _of_block(op.body.block, round(trips * float(np.mean(iterations(op, known)))), known)
        elif isinstance(op, scf.IfOp):
            yield from _of_block(op.true_region.block, trips)
        elif isinstance(op, kernel.SpecializeOp):
            yield from (access for region in op.regions for access in _of_block(region.block, trips))
        elif isinstance(op, kernel.BulkCopyOp | kernel.BulkStoreOp):
            least = WARP * 4 / SECTOR  # no thread has an address
            yield Access(isinstance(op, kernel.BulkStoreOp), trips, op.bytes, least, least)
        elif isinstance(op, MEMORY) and isinstance(op.buffer.owner, Block):
            yield _copy(op, trips) if isinstance(op, kernel.AsyncCopyOp) else _access(op, trips)


def coordinates(blocks: scf.ParallelOp) -> dict[SSAValue, Array]:
    """The coordinates of all blocks, in their order."""
    args = blocks.body.block.args
    found = np.indices(_sizes(blocks)).reshape(len(args), -1)
    return {arg: _number(low) + each for arg, low, each in zip(args, blocks.lowerBound, found, strict=True)}


def _sizes(blocks: scf.ParallelOp) -> list[int]:
    return [_trips(*each) for each in zip(blocks.lowerBound, blocks.upperBound, blocks.step, strict=True)]


def iterations(loop: scf.ForOp, known: Known) -> Array:
    """The iterations of a loop in blocks with ``known`` coordinates."""
    first, last, by = (_value(v, known) for v in (loop.lb, loop.ub, loop.step))
    return np.maximum(0, -(-(last - first) // np.maximum(by, 1)))


def _trips(low: SSAValue, high: SSAValue, step: SSAValue) -> int:
    first, last, by = (int(_value(v)) for v in (low, high, step))
    return max(0, -(-(last - first) // max(by, 1)))


def _access(op: Any, trips: int) -> Access:
    writes = isinstance(op, kernel.WriteOp | kernel.ScatterOp)
    asynchronous = isinstance(op, kernel.AsyncGatherOp)
    value = op.value if writes else op.offsets if asynchronous else op.result
    trips = _iterations(op, trips) if asynchronous else trips
    shape, size = extents(value), ITEMSIZE[element_of(op.buffer)]
    wide = size * op.width.value.data if asynchronous else size
    layout, offsets = _layout(value), _offsets(op, shape)
    if layout is None or offsets is None:
        return Access(writes, trips, prod(shape) * wide, None, 0)
    return Access(writes, trips, prod(shape) * wide, *_means(layout, shape, offsets * size, wide))


def _copy(op: kernel.AsyncCopyOp, trips: int) -> Access:
    """An asynchronous copy, whose threads move several neighbours at a time."""
    found, width, size = op.attributes[DISTRIBUTION], op.width.value.data, ITEMSIZE[element_of(op.buffer)]
    assert isinstance(found, LayoutAttr)
    layout, shape = found.data, op.chunks
    wide = [width if width > 1 and n == op.axis else 1 for n in range(len(shape))]
    strides = (_number(op.stride(n)) * w for n, w in enumerate(wide))
    offsets = sum((i * s for i, s in zip(np.indices(shape), strides, strict=True)), np.zeros(shape, np.int64))
    done = _iterations(op, trips)
    return Access(False, done, prod(op.extents) * size, *_means(layout, shape, offsets * size, width * size))


def _iterations(op: kernel.AsyncCopyOp | kernel.AsyncGatherOp, trips: int) -> int:
    """How often a copy is done: those of groups after the last one are not."""
    loop, condition = op.parent_op(), op.when
    if condition is None:
        return trips
    if not isinstance(loop, scf.ForOp):  # before the loop
        return trips if _value(condition) else 0
    count, first, step = _trips(loop.lb, loop.ub, loop.step), _number(loop.lb), _number(loop.step)
    variable = loop.body.block.args[0]
    done = sum(bool(_value(condition, {variable: first + n * step})) for n in range(count))
    return trips // max(count, 1) * done


def _number(value: int | SSAValue) -> int:
    return value if isinstance(value, int) else int(_value(value))


def _means(layout: LinearLayout, shape: tuple[int, ...], addresses: Array, size: int) -> tuple[float, float]:
    """The mean sectors of a warp's accesses to ``size`` bytes at each address, and the least."""
    registers = ThreadPart(layout, shape).registers()
    counts = [found for r in registers if (found := _sectors(layout, shape, addresses, r, size))]
    sectors, least = (float(np.mean([c[n] for c in counts])) for n in range(2))
    return sectors, least


def _sectors(
    layout: LinearLayout, shape: tuple[int, ...], addresses: Array, register: int, size: int
) -> tuple[int, int] | None:
    """The sectors that warp 0 accesses by one register, and the least for as many elements."""
    rank = len(layout.shape) - len(shape)
    at_lanes = [layout(register=register, lane=lane)[rank:] for lane in range(WARP)]
    whole = [tuple(0 if n == 1 else x for x, n in zip(at, shape, strict=True)) for at in at_lanes]
    inside = {at for at in whole if all(x < n for x, n in zip(at, shape, strict=True))}
    first = {int(addresses[at]) for at in inside}
    touched = {sector for a in first for sector in range(a // SECTOR, (a + size - 1) // SECTOR + 1)}
    return (len(touched), -(-len(first) * size // SECTOR)) if first else None


def _layout(value: SSAValue) -> LinearLayout | None:
    """The distribution of a value: its own, or that of an operand."""
    seen = [value]
    while seen:
        owner = seen.pop().owner
        if isinstance(owner, Operation):
            found = owner.attributes.get(DISTRIBUTION)
            if isinstance(found, LayoutAttr):
                return found.data
            inner = [owner.body.block.last_op] if isinstance(owner, scf.ForOp) else []
            operands = (*owner.operands, *(v for o in inner if o for v in o.operands))
            seen += [v for v in operands if isinstance(v.type, VectorType)]
    return None


def _offsets(op: Any, shape: tuple[int, ...]) -> Array | None:
    """The offset of each element of a tile; None where it is data."""
    if isinstance(op, COMPUTED):
        found = _value(op.offsets)
        return None if found is None else np.broadcast_to(found, shape)
    total: Any = np.zeros(shape, np.int64)
    for n, index in enumerate(np.indices(shape)):
        stride = op.stride(n)
        total = total + index * (stride if isinstance(stride, int) else _value(stride))
    return np.asarray(total)


def _value(value: SSAValue, known: Known = MappingProxyType({})) -> Any:
    """Index arithmetic as numbers, or as an array over the tile; None where memory decides. Arguments of blocks that
    are not ``known`` are 0."""
    op = value.owner
    if isinstance(op, Block):
        return known.get(value, 0)
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    if isinstance(op, kernel.SymbolOp):
        dim = parse_dim(op.dim.data)
        return evaluate(dim, dict.fromkeys(symbols_of([dim]), SCHEDULED))
    if isinstance(op, kernel.StepOp):
        shape = extents(value)
        return np.arange(prod(shape)).reshape(shape)
    sides = [_value(v, known) for v in op.operands]
    if any(side is None for side in sides):
        return None
    if isinstance(op, arith.SelectOp):
        return np.where(*sides)
    if isinstance(op, arith.CmpiOp):
        return _COMPARED[op.predicate.value.data](*sides)
    if isinstance(op, arith.IndexCastOp | vector.BroadcastOp):
        shape = extents(value)
        return np.broadcast_to(sides[0], shape) if shape else sides[0]
    return _BINARY[type(op)](*sides) if type(op) in _BINARY else None
