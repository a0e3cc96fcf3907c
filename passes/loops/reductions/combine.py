"""The monoid of a reduction on tile values: its identity, the combination of two values, and that of the lanes of one
value."""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType, i1, i64
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.statement import MONOIDS
from mlc.dialects.types import element_of, integer_type, is_float, is_unsigned
from mlc.passes.kernel.lowering.casts import signless
from mlc.passes.kernel.lowering.scalar_ops import BINARY
from mlc.passes.loops.body.tile_context import TileAxis, TileContext, Value, broadcast
from mlc.passes.loops.index.index_builder import IndexBuilder
from mlc.passes.schedule.polyhedral.statement_view import StatementView


def initial(out: IndexBuilder, s: StatementView) -> SSAValue:
    init = s.op.init
    assert isinstance(init, FloatAttr | IntegerAttr)
    if isinstance(init, IntegerAttr):
        init = IntegerAttr(init.value.data, integer_type(element_of(s.op.out)))
    return out.emit(arith.ConstantOp(init))


def bare(s: StatementView) -> bool:
    """Return whether a combination may begin with its first term, without the identity: 0.0 + -0.0 is 0.0, not -0.0."""
    assert s.op.monoid is not None
    return MONOIDS[s.op.monoid.data].fn in ("max", "min") or not is_float(element_of(s.op.out))


def combine(out: IndexBuilder, s: StatementView, a: Value, b: Value) -> Value:
    assert s.op.monoid is not None
    element = element_of(s.op.out)
    fn = MONOIDS[s.op.monoid.data].fn
    if element == "i1":
        fn = {"add": "or_", "max": "or_", "min": "and_", "mul": "and_"}.get(fn, fn)
    kind = 0 if is_float(element) else 2 if is_unsigned(element) else 1
    if fn in ("max", "min"):  # they test the first operand for NaN: not the accumulator, which arrives late
        a, b = b, a
    return Value(out.emit(BINARY[fn][kind](a.ssa, b.ssa)), a.axes | b.axes)


def horizontal(out: IndexBuilder, s: StatementView, value: Value, lanes: str) -> Value:
    """Return the combination of the lanes, which are points of the iterator ``lanes``: a scalar, or a vector with a
    lane for each row of the register tile."""
    assert s.op.monoid is not None
    element, fn = element_of(s.op.out), MONOIDS[s.op.monoid.data].fn
    kinds = {"add": "add", "mul": "mul", "and_": "and", "or_": "or"}
    name = kinds.get(fn) or (f"{fn}imumf" if is_float(element) else f"{fn}{'ui' if is_unsigned(element) else 'si'}")
    if element == "i1":
        name = {"add": "or", "maxui": "or", "minui": "and", "mul": "and"}.get(name, name)
    kind = CombiningKindAttr(CombiningKindFlag(name))
    if rows := value.axes - {lanes}:
        return Value(out.emit(kernel.MultiReductionOp(value.ssa, kind)), rows)
    op = vector.ReductionOp.create(operands=[value.ssa], properties={"kind": kind}, result_types=[signless(element)])
    return Value(out.emit(op))


def masked(out: IndexBuilder, s: StatementView, context: TileContext, axis: TileAxis, value: SSAValue) -> SSAValue:
    """Return ``value`` with the identity in its invalid lanes."""
    assert axis.lanes is not None
    flat = VectorType(i64, [axis.size])
    last = out.emit(arith.IndexCastOp(axis.lanes, i64))
    lanes = [out.emit(kernel.StepOp(flat)), out.emit(vector.BroadcastOp(last, flat))]
    predicate = {"predicate": IntegerAttr(2, i64)}  # slt
    valid = out.emit(kernel.LanewiseOp("arith.cmpi", lanes, predicate, VectorType(i1, [axis.size])))
    identity = broadcast(out, Value(initial(out, s)), frozenset({axis.iterator}), context)
    return out.emit(kernel.LanewiseOp("arith.select", [valid, value, identity], {}, value.type))
