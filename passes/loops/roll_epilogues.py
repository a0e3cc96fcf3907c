"""Register tiles in halves (``roll-epilogues``): a long epilogue is a loop over the two halves of the register tile.

    %s = scf.for … -> (vector<14x2x16xi32>)              %t = kernel.local : memref<14x2x16xi32>
    %f = kernel.lanewise "arith.sitofp"(%s)        →     kernel.write %s, %t[%c0]
    … twenty more operations …                           scf.for %r = 0 to 8 step 7 {
    kernel.write %y, %out[%n]                              %p = kernel.read %t[%r * 32] : … -> vector<7x2x16xi32>
                                                           … kernel.write %z, %out[%n + %r * 16] }

The printer writes each operation once for each register, so the requantization of sums had five times the lines of the
loops that computed the sums. A half leaves registers for the constants, and has enough independent operations to hide
latencies. With AVX2 a tile of 12 registers has too few, and took 1.6 times as long in halves. If the number of rows is
odd, the middle row is in both halves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IndexType, ModuleOp, VectorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.dialects.types import element_name, memref
from mlc.passes.context import target_of
from mlc.passes.loops.index.constants import fold_constants
from mlc.passes.loops.index.index_builder import IndexBuilder

LONG = 16  # operations of an epilogue that is worth a loop
INSTRUCTIONS = {f"math.{fn}" for fn in ("absf", "ceil", "copysign", "floor", "fma", "roundeven", "sqrt", "trunc")}
"""The functions that are one operation. A single other function is worth a loop: C compilers inline it for each
register."""
ELEMENTWISE = ("arith", "math", "builtin.unrealized_conversion_cast", "kernel.lanewise", "vector.broadcast")


@dataclass(frozen=True)
class RollEpilogues(ModulePass):
    """Roll long epilogues on a CPU. A kernel that updates a buffer in place is left alone, because its rows may depend
    on each other."""

    name = "roll-epilogues"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = target_of(ctx)
        many = 2 * target.sums_in_flight * target.lanes
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and o.body.blocks and not o.in_place]:
            rolled = [_roll(fn, ops, many) for block in _blocks(fn.block) for ops in _segments(block)]
            if any(rolled):
                fold_constants(fn.block)


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                yield from _blocks(inner)


def _segments(block: Block) -> list[list[Operation]]:
    """Return the operations between loops and branches."""
    found: list[list[Operation]] = [[]]
    for op in block.ops:
        if op.regions:
            found.append([])
        elif op is not block.last_op:  # which ends the block
            found[-1].append(op)
    return found


def _roll(fn: kernel.FuncOp, ops: Sequence[Operation], many: int) -> bool:
    """Roll the operations between two loops, if that pays and rows are independent; return whether they were rolled.
    ``many``: the number of elements up to which a half has too few registers to hide latencies."""
    writes = [o for o in ops if isinstance(o, kernel.WriteOp)]
    shape = _shape(writes[-1].value) if writes else ()
    if len(shape) < 2 or prod(shape) <= many or max(shape[:-1]) < 2:
        return False
    axis = max(range(len(shape) - 1), key=lambda n: shape[n])
    found = _Epilogue(fn, ops, shape, axis)
    if worth := found.is_long and found.is_independent:
        found.roll()
    return worth


def _shape(value: SSAValue) -> tuple[int, ...]:
    return value.type.get_shape() if isinstance(value.type, VectorType) else ()


@dataclass
class _Epilogue:
    """Straight-line operations on tiles of ``shape``, rolled along ``axis``."""

    fn: kernel.FuncOp
    ops: Sequence[Operation]
    shape: tuple[int, ...]
    axis: int

    def __post_init__(self) -> None:
        self.moved = [o for o in self.ops if any(map(self._has_rows, (*o.operands, *o.results)))]
        self.results = {r for o in self.moved for r in o.results}
        outer = (v for o in self.moved for v in o.operands if self._has_rows(v) and v not in self.results)
        self.outer = list(dict.fromkeys(outer))
        self.rows = -(-self.shape[self.axis] // 2)

    def _has_rows(self, value: SSAValue) -> bool:
        shape = _shape(value)
        return len(shape) == len(self.shape) and shape[self.axis] == self.shape[self.axis]

    @property
    def is_long(self) -> bool:
        counted = [o for o in self.moved if not isinstance(o, vector.BroadcastOp)]
        return len(counted) >= LONG or any(o.name.startswith("math.") and o.name not in INSTRUCTIONS for o in counted)

    @property
    def is_independent(self) -> bool:
        """Whether rows can be computed one after the other: all operations are elementwise or read and write whole
        tiles, no buffer is both read and written, and no other operation needs a row."""
        read = {o.buffer for o in self.ops if isinstance(o, kernel.ReadOp)}
        written = {o.buffer for o in self.ops if isinstance(o, kernel.WriteOp)}
        used = all(use.operation in self.moved for r in self.results for use in r.uses)
        elements = all(_width(v.type) >= 8 for v in self.outer)
        return used and elements and not read & written and all(map(self._is_plain, self.ops))

    def _is_plain(self, op: Operation) -> bool:
        if isinstance(op, kernel.ReadOp | kernel.WriteOp):
            whole = not op.lanes and not op.valid and not op.dynamic and getattr(op, "odd", None) is None
            return whole and (op in self.moved or isinstance(op, kernel.ReadOp))
        vectors = [v for v in (*op.operands, *op.results) if isinstance(v.type, VectorType)]
        ranks = {len(_shape(v)) for v in vectors}
        return not vectors or (op.name.startswith(ELEMENTWISE) and ranks <= {len(self.shape)})

    def roll(self) -> None:
        block = self.ops[0].parent
        assert block is not None
        after = self.ops[-1].next_op
        assert after is not None
        head = Block()
        out = IndexBuilder(head, {})
        second, loop = self.shape[self.axis] - self.rows, Block(arg_types=[IndexType()])
        tiles = {value: self._stored(out, value) for value in self.outer}
        start, stop, step = (out.constant(n) for n in (0, second + 1, second))
        head.add_op(scf.ForOp(start, stop, step, [], Region(loop)))
        self._part(out.at(loop), loop.args[0], tiles)
        loop.add_op(scf.YieldOp())
        for op in list(head.ops):
            op.detach()
            block.insert_op_before(op, after)
        for op in reversed(self.moved):
            Rewriter.erase_op(op)

    def _stored(self, out: IndexBuilder, value: SSAValue) -> kernel.LocalOp:
        """Return a local array to which all rows of ``value`` are written."""
        shape = _shape(value)
        local = kernel.LocalOp(memref(element_name(value.type.element_type), shape))  # type: ignore[attr-defined]
        first = self.fn.block.first_op
        assert first is not None
        self.fn.block.insert_op_before(local, first)
        out.block.add_op(kernel.WriteOp(value, local.result, out.constant(0), _strides(shape)))
        return local

    def _part(self, out: IndexBuilder, row: SSAValue, tiles: Mapping[SSAValue, kernel.LocalOp]) -> None:
        """Add the operations on the rows from ``row`` on."""
        known: dict[SSAValue, SSAValue] = {}
        for value, local in tiles.items():
            strides = _strides(_shape(value))
            offset = out.emit(arith.MuliOp(row, out.constant(strides[self.axis])))
            known[value] = out.emit(kernel.ReadOp(local.result, offset, strides, self._of_part(value.type)))
        for op in self.moved:
            operands = [known.get(v, v) for v in op.operands]
            new = type(op).create(
                operands=operands,
                result_types=[self._of_part(r.type) for r in op.results],
                properties=op.properties,
                attributes=op.attributes,
            )
            if isinstance(new, kernel.ReadOp | kernel.WriteOp):
                step = out.emit(arith.MuliOp(row, out.constant(int(new.strides.get_values()[self.axis]))))
                new.operands[new.operands.index(new.offset)] = out.emit(arith.AddiOp(new.offset, step))
            out.block.add_op(new)
            known.update(zip(op.results, new.results, strict=True))

    def _of_part(self, type_: Attribute) -> Attribute:
        """Return the type of a value with the rows of a half."""
        if not isinstance(type_, VectorType) or type_.get_shape()[self.axis] != self.shape[self.axis]:
            return type_
        shape = list(type_.get_shape())
        shape[self.axis] = self.rows
        return VectorType(type_.element_type, shape)


def _strides(shape: Sequence[int]) -> list[int]:
    """Return the strides of a row-major array."""
    return [prod(shape[n + 1 :]) for n in range(len(shape))]


def _width(type_: Attribute) -> int:
    """Return the bits of an element."""
    assert isinstance(type_, VectorType)
    element = type_.element_type
    return int(getattr(element, "bitwidth", 64))
