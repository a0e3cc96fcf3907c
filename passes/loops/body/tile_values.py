"""Values of a statement in a tile instance: reads of operands, the region on vectors, and the write of the result."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, VectorType, i1, i32, i64
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel, poly
from mlc.dialects.kernel.access import Valid
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate
from mlc.dialects.types import element_name, element_of, elements_in
from mlc.passes.kernel.lowering.casts import signless
from mlc.passes.kernel.lowering.scalars import region_of
from mlc.passes.loops.body.comparisons import difference, only_compared
from mlc.passes.loops.body.strided_loads import is_strided, read_strided
from mlc.passes.loops.body.tile_context import (
    Buffer,
    TileAxis,
    TileContext,
    Value,
    broadcast,
    element_type,
    lanes_of,
    spread,
    valid_axes,
    valid_rows,
    vector_type,
)
from mlc.passes.loops.index.index_builder import IndexBuilder, mentions_axis, simplify, split_axes
from mlc.passes.loops.reductions.combine import initial
from mlc.passes.schedule.polyhedral.masks import MASK
from mlc.passes.schedule.polyhedral.running_reductions import NOTHING, Running
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView

SHIFT = "where(x0 == -inf, 0.0, x0)"
"""The value subtracted for a running maximum. exp(-inf - -inf) is NaN, but all keys of a block may be masked, and its
maximum is then -inf."""
SCALAR_ONLY = {
    "arith.select", "arith.cmpf", "arith.cmpi", "arith.fptosi", "arith.fptoui", "arith.sitofp", "arith.uitofp",
    "arith.extsi", "arith.extui", "arith.trunci",
}  # fmt: skip
SHORT = 2**28  # elements of a buffer whose offsets are computed with 32 bits, sums of their terms included
TRANSPARENT = {"builtin.unrealized_conversion_cast", "arith.index_cast"}
Tile = tuple[str, SSAValue, tuple[int | SSAValue, ...], frozenset[str]]  # array, its buffer, strides, axes


@dataclass
class TileValues:
    """The values of a tile.

    ``buffers``: the buffer of each array; ``forwarded``: results that later statements read from registers; ``made``:
    the values that a block has read or computed already, which statements share. ``beyond``: for some statements, the
    iterator beyond whose end the value must be the identity.
    """

    buffers: Mapping[str, Buffer]
    forwarded: dict[str, tuple[tuple[DimLike, ...], Value]] = field(default_factory=dict)
    made: dict[tuple[Hashable, ...], Value] = field(default_factory=dict)
    in_registers: bool = True  # one thread has all lanes of a vector, and can shuffle them
    running: Running = NOTHING
    beyond: Mapping[str, str] = field(default_factory=dict)

    def body(self, out: IndexBuilder, s: StatementView, context: TileContext) -> Value:
        """Return the statement's value at one point: its region evaluated on vectors."""
        block = s.op.body.block
        env: dict[SSAValue, Value] = {}
        for arg, access in zip(block.args, s.reads, strict=True):
            env[arg] = self.read(out, access, context)
            if s.name in self.running.statements and access.array in self.running.maxima:
                env[arg] = self.formula(out, SHIFT, [env[arg]], context)
        value = self._region(out, block, env, context)
        axis = next((a for a in context.axes if a.iterator == self.beyond.get(s.name)), None)
        return self._ended(out, s, value, axis, context) if axis else value

    def _ended(self, out: IndexBuilder, s: StatementView, value: Value, axis: TileAxis, context: TileContext) -> Value:
        """Return ``value`` with the identity of the reduction, or 0, beyond the end of an axis."""
        inside = self._at_least_0(out, context.left(axis) - 1 - Dim.symbol(axis.symbol), context)
        element = element_type(value.ssa.type)
        assert isinstance(element, AnyFloat)
        other = Value(initial(out, s) if s.op.monoid else out.emit(arith.ConstantOp(FloatAttr(0.0, element))))
        axes = value.axes | inside.axes
        args = [broadcast(out, v, axes, context) for v in (inside, value, other)]
        return Value(out.emit(kernel.LanewiseOp("arith.select", args, {}, args[1].type)), axes)

    def _region(self, out: IndexBuilder, block: Block, env: dict[SSAValue, Value], context: TileContext) -> Value:
        skipped = only_compared(block) if self.in_registers else ()
        for op in block.ops:
            if isinstance(op, poly.YieldOp):
                return env[op.operands[0]]
            if op in skipped:
                continue
            env[op.results[0]] = self._scalar(out, op, env, context)
        raise AssertionError("a statement's region ends with poly.yield")

    def formula(self, out: IndexBuilder, text: str, args: Sequence[Value], context: TileContext) -> Value:
        """Return the value of a scalar expression of one float type, in which x0, x1, … name ``args``."""
        block = region_of(text, [element_name(element_type(a.ssa.type)) for a in args])
        assert block.last_op is not None
        block.add_op(poly.YieldOp(block.last_op.results[0]))
        return self._region(out, block, dict(zip(block.args, args, strict=True)), context)

    def _scalar(self, out: IndexBuilder, op: Operation, env: dict[SSAValue, Value], context: TileContext) -> Value:
        if op.name in TRANSPARENT:
            return env[op.operands[0]]
        if context.unmasked and MASK in op.attributes:
            return env[op.operands[1]]
        if isinstance(op, kernel.IndexOp):
            return self._index(out, context.resolve(Dim.symbol(op.iterator.data)), context, _width(op))
        if isinstance(op, kernel.SymbolOp):
            return Value(out.emit(arith.IndexCastOp(out.emit(op.clone()), i64)))
        if op.name == "memref.load":
            return self._gather(out, op, [env[v] for v in op.operands[1:]], context)
        if self.in_registers and isinstance(op, arith.CmpiOp) and (excess := difference(op)) is not None:
            assert isinstance(op.lhs.type, IntegerType)
            return self._at_least_0(out, context.resolve(excess), context, op.lhs.type)
        args = [env[v] for v in op.operands]
        key = (out.block, op.name, op.results[0].type, *args, *op.properties.items())
        if key not in self.made:
            self.made[key] = self._compute(out, op, args, context)
        return self.made[key]

    def _compute(self, out: IndexBuilder, op: Operation, args: Sequence[Value], context: TileContext) -> Value:
        axes = frozenset[str]().union(*(a.axes for a in args))
        operands = [broadcast(out, a, axes, context) for a in args]
        result = op.results[0].type
        if not axes:
            return Value(out.emit(type(op).create(operands=operands, result_types=[result], properties=op.properties)))
        type_ = vector_type(result, axes, context.axes)
        if op.name in SCALAR_ONLY:
            return Value(out.emit(kernel.LanewiseOp(op.name, operands, op.properties, type_)), axes)
        return Value(out.emit(type(op).create(operands=operands, result_types=[type_], properties=op.properties)), axes)

    def _at_least_0(self, out: IndexBuilder, value: DimLike, context: TileContext, type_: IntegerType = i64) -> Value:
        """Return whether ``value`` is at least 0: the terms that vary along axes are compared with the rest."""
        terms = value.terms if isinstance(value, Dim) else ()
        varying = Dim.of({m: -c for m, c in terms if mentions_axis(Dim.of({m: 1}))})
        lanes, number = (self._shared_index(out, side, context, type_) for side in (varying, value + varying + 1))
        if not lanes.axes:
            return Value(out.emit(arith.CmpiOp(lanes.ssa, number.ssa, "slt")))
        operands = [lanes.ssa, broadcast(out, number, lanes.axes, context)]
        less = {"predicate": IntegerAttr(2, i64)}  # slt
        result = vector_type(i1, lanes.axes, context.axes)
        return Value(out.emit(kernel.LanewiseOp("arith.cmpi", operands, less, result)), lanes.axes)

    def _shared_index(self, out: IndexBuilder, value: DimLike, context: TileContext, type_: IntegerType) -> Value:
        sizes = tuple(a.size for a in context.axes if mentions_axis(value) and a.symbol in value.symbols())  # type: ignore[union-attr]
        key = (out.block, "index", value, sizes, type_)
        if key not in self.made:
            self.made[key] = self._index(out, value, context, type_)
        return self.made[key]

    def _index(self, out: IndexBuilder, value: DimLike, context: TileContext, type_: IntegerType = i64) -> Value:
        if not mentions_axis(value):
            return Value(out.emit(arith.IndexCastOp(out.dim(value), type_)))
        axes = frozenset(a.iterator for a in context.axes if a.symbol in value.symbols())  # type: ignore[union-attr]
        return Value(self._lanes(out, value, axes, context, type_), axes)

    def _lanes(
        self, out: IndexBuilder, value: DimLike, axes: frozenset[str], context: TileContext, type_: IntegerType = i64
    ) -> SSAValue:
        shapes = {a.symbol: spread(type_, frozenset({a.iterator}), context.axes) for a in context.axes}
        return out.lanes(value, shapes, spread(type_, axes, context.axes))

    def _offset_type(self, buffer: Buffer) -> IntegerType:
        """Return the type of offsets in a buffer: threads of a GPU divide integers of 32 bits several times as fast."""
        return i64 if self.in_registers else offset_type(buffer.value)

    # -- memory --------------------------------------------------------------------------------------------------------

    def read(self, out: IndexBuilder, access: Access, context: TileContext) -> Value:
        index = tuple(context.resolve(i) for i in access.index)
        if access.array in self.forwarded and self.forwarded[access.array][0] == index:
            return self.forwarded[access.array][1]
        key = (out.block, access.array, index)
        if key not in self.made:
            self.made[key] = self._load(out, access.array, index, context)
        return self.made[key]

    def _load(self, out: IndexBuilder, array: str, index: tuple[DimLike, ...], context: TileContext) -> Value:
        buffer = self.buffers[array]
        linear = simplify(buffer.linear(index), {a.symbol: a.size for a in context.axes})
        element = signless(element_of(buffer.value))
        split = split_axes(linear, tuple(a.symbol for a in context.axes))
        gathered = constant_offsets(linear, context) if split is None and self.in_registers else None
        if gathered is not None:
            return self._gather_at(out, buffer, self._index(out, gathered[0], context), gathered[1], context)
        if split is None:
            axes = frozenset(a.iterator for a in context.axes if a.symbol in linear.symbols())  # type: ignore[union-attr]
            offsets = self._lanes(out, linear, axes, context, self._offset_type(buffer))
            type_ = vector_type(element, axes, context.axes)
            lanes, valid = self._partial(out, buffer, context, axes)
            return Value(out.emit(kernel.GatherOp(buffer.value, offsets, type_, lanes, valid=valid)), axes)
        base, strides = split
        axes = frozenset(a.iterator for a, s in zip(context.axes, strides, strict=True) if s != 0)
        type_ = vector_type(element, axes, context.axes)
        values = [s if isinstance(s, int) else out.dim(s) for s in strides] if axes else []
        lanes, valid = self._partial(out, buffer, context, axes)
        if self.in_registers and lanes is None and axes and is_strided(values[-1], element):
            tile = (array, buffer.value, tuple(values), axes)
            return self._strided(out, tile, base, spread(element, axes, context.axes), valid)
        read = kernel.ReadOp(buffer.value, out.dim(base), values, type_, lanes, valid=valid)
        return Value(out.emit(read), axes)

    def _strided(self, out: IndexBuilder, tile: Tile, base: DimLike, type_: VectorType, valid: Valid) -> Value:
        """Return a strided vector access, built from the loads of neighbouring tiles if the block has them."""

        def known(distance: int) -> Value | None:
            return self.made.get((out.block, *tile, base - distance))

        _, buffer, strides, axes = tile
        made = Value(read_strided(out, buffer, base, strides, type_, known, valid), axes)
        self.made[out.block, *tile, base] = made
        return made

    def _gather_at(
        self, out: IndexBuilder, buffer: Buffer, at: Value, where: Sequence[int], context: TileContext
    ) -> Value:
        """Return a gathered vector access, whose offsets are a base that is equal for all lanes plus a constant for
        each lane."""
        axes = at.axes | {context.axes[-1].iterator}
        type_ = vector_type(signless(element_of(buffer.value)), axes, context.axes)
        lanes, valid = self._partial(out, buffer, context, axes)
        return Value(out.emit(kernel.GatherOp(buffer.value, at.ssa, type_, lanes, where, valid)), axes)

    def _gather(self, out: IndexBuilder, op: Operation, index: Sequence[Value], context: TileContext) -> Value:
        buffer = next(b for b in self.buffers.values() if b.value is op.operands[0])
        constant = bool(index) and self.in_registers
        last = constant_offsets(_affine(op.operands[-1], context), context) if constant else None
        if last is not None and not any(context.axes[-1].iterator in v.axes for v in index[:-1]):
            here = [*index[:-1], self._index(out, last[0], context)]
            return self._gather_at(out, buffer, self._offset(out, buffer, here, context), last[1], context)
        offset = self._offset(out, buffer, index, context)
        type_ = vector_type(signless(element_of(buffer.value)), offset.axes, context.axes)
        lanes, valid = self._partial(out, buffer, context, offset.axes)
        return Value(out.emit(kernel.GatherOp(buffer.value, offset.ssa, type_, lanes, valid=valid)), offset.axes)

    def _partial(
        self, out: IndexBuilder, buffer: Buffer, context: TileContext, axes: frozenset[str]
    ) -> tuple[SSAValue | None, dict[int, SSAValue]]:
        """Return the number of valid lanes, and the numbers of valid points along other axes. If threads share a
        vector, all axes are in the latter. A local array has all points of a block."""
        if self.in_registers:
            return lanes_of(context, axes), valid_rows(context, axes)
        found = valid_axes(context, axes)
        ends = () if isinstance(buffer.value.owner, kernel.LocalOp) else enumerate(context.axes)
        varying = ((n, a) for n, a in ends if a.iterator in axes and a.iterator in context.ends)
        return None, found | {n: out.dim(context.left(a)) for n, a in varying}

    def _offset(self, out: IndexBuilder, buffer: Buffer, index: Sequence[Value], context: TileContext) -> Value:
        axes = frozenset[str]().union(*(v.axes for v in index))
        index = index if len(index) == 1 else [self._extended(out, v, context) for v in index]
        offset: SSAValue | None = None
        for value, size in zip(index, buffer.shape, strict=True):
            at = broadcast(out, value, axes, context)
            if offset is not None:
                extent = Value(out.emit(arith.IndexCastOp(out.dim(size), i64)))
                scaled = out.emit(arith.MuliOp(offset, broadcast(out, extent, axes, context)))
                at = out.emit(arith.AddiOp(scaled, at))
            offset = at
        if offset is None:
            offset = out.emit(arith.ConstantOp(IntegerAttr(0, i64)))
        return Value(offset, axes)

    def _extended(self, out: IndexBuilder, value: Value, context: TileContext) -> Value:
        """Return an index of 32 bits as one of 64 bits, in which offsets are computed."""
        if element_type(value.ssa.type) != i32:
            return value
        type_ = vector_type(i64, value.axes, context.axes)
        if not value.axes:
            return Value(out.emit(arith.ExtSIOp(value.ssa, i64)))
        return Value(out.emit(kernel.LanewiseOp("arith.extsi", [value.ssa], {}, type_)), value.axes)

    def write(self, out: IndexBuilder, s: StatementView, context: TileContext, value: Value) -> None:
        self.write_to(out, s, s.write, context, value)

    def write_to(self, out: IndexBuilder, s: StatementView, access: Access, context: TileContext, value: Value) -> None:
        """Write a value that varies along iterators of ``s``."""
        index = tuple(context.resolve(i) for i in access.index)
        self.forwarded[access.array] = (index, value)
        buffer = self.buffers[access.array]
        if buffer.forwarded:
            return
        self.made = {key: v for key, v in self.made.items() if key[1] != access.array}
        linear = simplify(buffer.linear(index), {a.symbol: a.size for a in context.axes})
        split = split_axes(linear, tuple(a.symbol for a in context.axes))
        axes = frozenset(a.iterator for a in context.axes if a.iterator in s.iters)
        ssa = broadcast(out, value, axes, context)
        if split is None:
            self._scatter(out, buffer, linear, ssa, axes, context)
            return
        base, strides = split
        values = [x if isinstance(x, int) else out.dim(x) for x in strides] if axes else []
        lanes, valid = self._partial(out, buffer, context, axes)
        out.block.add_op(kernel.WriteOp(ssa, buffer.value, out.dim(base), values, lanes, valid))

    def _scatter(
        self, out: IndexBuilder, buffer: Buffer, linear: DimLike, value: SSAValue, axes: frozenset[str],
        context: TileContext,
    ) -> None:  # fmt: skip
        """Write at offsets without constant strides, such as those of a collapsed iterator."""
        assert not self.in_registers, f"one thread writes at offsets without a constant stride: {linear}"
        offsets = self._lanes(out, linear, axes, context, self._offset_type(buffer))
        out.block.add_op(kernel.ScatterOp(value, buffer.value, offsets, self._partial(out, buffer, context, axes)[1]))


def offset_type(buffer: SSAValue) -> IntegerType:
    """Return the type of computed offsets in a buffer: 32 bits if all offsets fit."""
    size = elements_in(buffer)
    return i32 if isinstance(size, int) and size < SHORT else i64


def constant_offsets(value: DimLike | None, context: TileContext) -> tuple[DimLike, list[int]] | None:
    """Return ``value`` as a base that is equal for all lanes and a constant offset for each lane; None if it has
    another form."""
    if not context.axes or not isinstance(value, Dim):
        return None
    lane = context.axes[-1]
    terms = {m: c for m, c in value.terms if m and lane.symbol in Dim.of({m: 1}).symbols()}  # type: ignore[union-attr]
    inside = Dim.of(terms)
    if not isinstance(inside, Dim) or inside.symbols() != {lane.symbol}:
        return None
    return value - inside, [int(evaluate(inside, {lane.symbol: n})) for n in range(lane.size)]  # type: ignore[arg-type]


def _affine(value: SSAValue, context: TileContext) -> DimLike | None:
    """Return the index of a load if it is an iterator; None for other indices."""
    while isinstance(value.owner, Operation) and value.owner.name in TRANSPARENT:
        value = value.owner.operands[0]
    return context.resolve(Dim.symbol(value.owner.iterator.data)) if isinstance(value.owner, kernel.IndexOp) else None


def _width(op: kernel.IndexOp) -> IntegerType:
    """Return the integer type to which the body casts an iterator."""
    casts = [use.operation.results[0].type for use in op.result.uses if isinstance(use.operation, arith.IndexCastOp)]
    return i32 if casts and all(type_ == i32 for type_ in casts) else i64
