"""Values of a statement in a tile instance: its operands read, its region on vectors, its result written."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, VectorType, i64
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel, poly
from mlc.dialects.dims import Dim, DimLike, evaluate
from mlc.dialects.types import element_of
from mlc.passes.kernel.scalars import signless
from mlc.passes.loops.apart import read_apart, stands_apart
from mlc.passes.loops.index_math import Emitter, mentions_axis, simplify, split_axes
from mlc.passes.loops.point import Buffer, Point, Value, broadcast, lanes_of, spread, vector_type
from mlc.passes.schedule.view import Access, StatementView

SCALAR_ONLY = {
    "arith.select", "arith.cmpf", "arith.cmpi", "arith.fptosi", "arith.fptoui", "arith.sitofp", "arith.uitofp",
    "arith.extsi", "arith.extui", "arith.trunci",
}  # fmt: skip
TRANSPARENT = {"builtin.unrealized_conversion_cast", "arith.index_cast"}
Tile = tuple[str, SSAValue, tuple[int | SSAValue, ...], frozenset[str]]  # array, its buffer, strides, axes


@dataclass
class TileValues:
    """``buffers`` says where an array lives; ``forwarded`` holds results that later statements read in registers,
    ``made`` what a block has read or computed already, so that statements share it."""

    buffers: Mapping[str, Buffer]
    forwarded: dict[str, tuple[tuple[DimLike, ...], Value]] = field(default_factory=dict)
    made: dict[tuple[Hashable, ...], Value] = field(default_factory=dict)

    def body(self, out: Emitter, s: StatementView, point: Point) -> Value:
        """The statement's value at ``point``: its region, on vectors."""
        block = s.op.body.block
        env: dict[SSAValue, Value] = {}
        for arg, access in zip(block.args, s.reads, strict=True):
            env[arg] = self._read(out, access, point)
        for op in block.ops:
            if isinstance(op, poly.YieldOp):
                return env[op.operands[0]]
            env[op.results[0]] = self._scalar(out, op, env, point)
        raise AssertionError("a statement's region ends with poly.yield")

    def _scalar(self, out: Emitter, op: Operation, env: dict[SSAValue, Value], point: Point) -> Value:
        if op.name in TRANSPARENT:
            return env[op.operands[0]]
        if isinstance(op, kernel.IndexOp):
            return self._index(out, point.resolve(Dim.symbol(op.iterator.data)), point)
        if isinstance(op, kernel.SymbolOp):
            return Value(out.emit(arith.IndexCastOp(out.emit(op.clone()), i64)))
        if op.name == "memref.load":
            return self._gather(out, op, [env[v] for v in op.operands[1:]], point)
        args = [env[v] for v in op.operands]
        key = (out.block, op.name, op.results[0].type, *args, *op.properties.items())
        if key not in self.made:
            self.made[key] = self._compute(out, op, args, point)
        return self.made[key]

    def _compute(self, out: Emitter, op: Operation, args: Sequence[Value], point: Point) -> Value:
        axes = frozenset[str]().union(*(a.axes for a in args))
        operands = [broadcast(out, a, axes, point) for a in args]
        result = op.results[0].type
        if not axes:
            return Value(out.emit(type(op).create(operands=operands, result_types=[result], properties=op.properties)))
        type_ = vector_type(result, axes, point.axes)
        if op.name in SCALAR_ONLY:
            return Value(out.emit(kernel.LanewiseOp(op.name, operands, op.properties, type_)), axes)
        return Value(out.emit(type(op).create(operands=operands, result_types=[type_], properties=op.properties)), axes)

    def _index(self, out: Emitter, value: DimLike, point: Point) -> Value:
        if not mentions_axis(value):
            return Value(out.emit(arith.IndexCastOp(out.dim(value), i64)))
        axes = frozenset(a.iterator for a in point.axes if a.symbol in value.symbols())  # type: ignore[union-attr]
        return Value(self._lanes(out, value, axes, point), axes)

    def _lanes(self, out: Emitter, value: DimLike, axes: frozenset[str], point: Point) -> SSAValue:
        shapes = {a.symbol: spread(i64, frozenset({a.iterator}), point.axes) for a in point.axes}
        return out.lanes(value, shapes, spread(i64, axes, point.axes))

    # -- memory --------------------------------------------------------------------------------------------------------

    def _read(self, out: Emitter, access: Access, point: Point) -> Value:
        index = tuple(point.resolve(i) for i in access.index)
        if access.array in self.forwarded and self.forwarded[access.array][0] == index:
            return self.forwarded[access.array][1]
        key = (out.block, access.array, index)
        if key not in self.made:
            self.made[key] = self._load(out, access.array, index, point)
        return self.made[key]

    def _load(self, out: Emitter, array: str, index: tuple[DimLike, ...], point: Point) -> Value:
        buffer = self.buffers[array]
        linear = simplify(buffer.linear(index), {a.symbol: a.size for a in point.axes})
        element = signless(element_of(buffer.value))
        split = split_axes(linear, tuple(a.symbol for a in point.axes))
        apart = places(linear, point) if split is None else None
        if apart is not None:
            return self._beside(out, buffer, self._index(out, apart[0], point), apart[1], point)
        if split is None:
            axes = frozenset(a.iterator for a in point.axes if a.symbol in linear.symbols())  # type: ignore[union-attr]
            offsets = self._lanes(out, linear, axes, point)
            type_ = vector_type(element, axes, point.axes)
            return Value(out.emit(kernel.GatherOp(buffer.value, offsets, type_, lanes_of(point, axes))), axes)
        base, strides = split
        axes = frozenset(a.iterator for a, s in zip(point.axes, strides, strict=True) if s != 0)
        type_ = vector_type(element, axes, point.axes)
        values = [s if isinstance(s, int) else out.dim(s) for s in strides] if axes else []
        lanes = lanes_of(point, axes)
        if lanes is None and axes and stands_apart(values[-1], element):
            return self._apart(out, (array, buffer.value, tuple(values), axes), base, spread(element, axes, point.axes))
        read = kernel.ReadOp(buffer.value, out.dim(base), values, type_, lanes)
        return Value(out.emit(read), axes)

    def _apart(self, out: Emitter, tile: Tile, base: DimLike, type_: VectorType) -> Value:
        """Lanes that do not touch in memory, from what the block has read beside them."""

        def known(distance: int) -> Value | None:
            return self.made.get((out.block, *tile, base - distance))

        _, buffer, strides, axes = tile
        made = Value(read_apart(out, buffer, base, strides, type_, known), axes)
        self.made[out.block, *tile, base] = made
        return made

    def _beside(self, out: Emitter, buffer: Buffer, at: Value, where: Sequence[int], point: Point) -> Value:
        """Elements at constant places along the lanes, from offsets on that do not vary along them."""
        axes = at.axes | {point.axes[-1].iterator}
        type_ = vector_type(signless(element_of(buffer.value)), axes, point.axes)
        return Value(out.emit(kernel.GatherOp(buffer.value, at.ssa, type_, lanes_of(point, axes), where)), axes)

    def _gather(self, out: Emitter, op: Operation, index: Sequence[Value], point: Point) -> Value:
        buffer = next(b for b in self.buffers.values() if b.value is op.operands[0])
        last = places(_affine(op.operands[-1], point), point) if index else None
        if last is not None and not any(point.axes[-1].iterator in v.axes for v in index[:-1]):
            there = [*index[:-1], self._index(out, last[0], point)]
            return self._beside(out, buffer, self._offset(out, buffer, there, point), last[1], point)
        offset = self._offset(out, buffer, index, point)
        type_ = vector_type(signless(element_of(buffer.value)), offset.axes, point.axes)
        lanes = lanes_of(point, offset.axes)
        return Value(out.emit(kernel.GatherOp(buffer.value, offset.ssa, type_, lanes)), offset.axes)

    def _offset(self, out: Emitter, buffer: Buffer, index: Sequence[Value], point: Point) -> Value:
        axes = frozenset[str]().union(*(v.axes for v in index))
        offset: SSAValue | None = None
        for value, size in zip(index, buffer.shape, strict=True):
            at = broadcast(out, value, axes, point)
            if offset is not None:
                extent = Value(out.emit(arith.IndexCastOp(out.dim(size), i64)))
                scaled = out.emit(arith.MuliOp(offset, broadcast(out, extent, axes, point)))
                at = out.emit(arith.AddiOp(scaled, at))
            offset = at
        if offset is None:
            offset = out.emit(arith.ConstantOp(IntegerAttr(0, i64)))
        return Value(offset, axes)

    def write(self, out: Emitter, s: StatementView, point: Point, value: Value) -> None:
        index = tuple(point.resolve(i) for i in s.write.index)
        self.forwarded[s.write.array] = (index, value)
        buffer = self.buffers[s.write.array]
        if buffer.forwarded:
            return
        self.made = {key: v for key, v in self.made.items() if key[1] != s.write.array}
        linear = simplify(buffer.linear(index), {a.symbol: a.size for a in point.axes})
        split = split_axes(linear, tuple(a.symbol for a in point.axes))
        assert split is not None, f"{s.name} writes at offsets that are not evenly spaced: {linear}"
        base, strides = split
        axes = frozenset(a.iterator for a in point.axes if a.iterator in s.iters)
        ssa = broadcast(out, value, axes, point)
        values = [x if isinstance(x, int) else out.dim(x) for x in strides] if axes else []
        out.block.add_op(kernel.WriteOp(ssa, buffer.value, out.dim(base), values, lanes_of(point, axes)))


def places(value: DimLike | None, point: Point) -> tuple[DimLike, list[int]] | None:
    """``value`` as a part that does not vary along the lanes, and a constant for each of these; None if it is not."""
    if not point.axes or not isinstance(value, Dim):
        return None
    lane = point.axes[-1]
    terms = {m: c for m, c in value.terms if m and lane.symbol in Dim.of({m: 1}).symbols()}  # type: ignore[union-attr]
    inside = Dim.of(terms)
    if not isinstance(inside, Dim) or inside.symbols() != {lane.symbol}:
        return None
    return value - inside, [int(evaluate(inside, {lane.symbol: n})) for n in range(lane.size)]  # type: ignore[arg-type]


def _affine(value: SSAValue, point: Point) -> DimLike | None:
    """An index of a load that is an iterator."""
    while isinstance(value.owner, Operation) and value.owner.name in TRANSPARENT:
        value = value.owner.operands[0]
    return point.resolve(Dim.symbol(value.owner.iterator.data)) if isinstance(value.owner, kernel.IndexOp) else None
