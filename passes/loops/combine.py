"""A reduction's monoid on values of a tile: its identity, combining two values, and combining the lanes of one."""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, VectorType, i1, i64
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.statement import MONOIDS
from mlc.dialects.types import element_of, integer_type, is_float, is_unsigned
from mlc.passes.kernel.scalars import BINARY, signless
from mlc.passes.loops.index_math import Emitter
from mlc.passes.loops.point import Axis, Point, Value, broadcast
from mlc.passes.schedule.view import StatementView


def initial(out: Emitter, s: StatementView) -> SSAValue:
    init = s.op.init
    assert isinstance(init, FloatAttr | IntegerAttr)
    if isinstance(init, IntegerAttr):
        init = IntegerAttr(init.value.data, integer_type(element_of(s.op.out)))
    return out.emit(arith.ConstantOp(init))


def bare(s: StatementView) -> bool:
    """Whether a combination may begin with its first term: 0.0 + -0.0 is another zero than -0.0."""
    assert s.op.monoid is not None
    return MONOIDS[s.op.monoid.data].fn in ("max", "min") or not is_float(element_of(s.op.out))


def combine(out: Emitter, s: StatementView, a: Value, b: Value) -> Value:
    assert s.op.monoid is not None
    element = element_of(s.op.out)
    fn = MONOIDS[s.op.monoid.data].fn
    if element == "i1":
        fn = {"add": "or_", "max": "or_", "min": "and_", "mul": "and_"}.get(fn, fn)
    kind = 0 if is_float(element) else 2 if is_unsigned(element) else 1
    if fn in ("max", "min"):  # they look for NaN in the first operand: not in the one that waits for the last result
        a, b = b, a
    return Value(out.emit(BINARY[fn][kind](a.ssa, b.ssa)), a.axes | b.axes)


def horizontal(out: Emitter, s: StatementView, value: Value) -> Value:
    assert s.op.monoid is not None
    element, fn = element_of(s.op.out), MONOIDS[s.op.monoid.data].fn
    kinds = {"add": "add", "mul": "mul", "and_": "and", "or_": "or"}
    name = kinds.get(fn) or (f"{fn}imumf" if is_float(element) else f"{fn}{'ui' if is_unsigned(element) else 'si'}")
    if element == "i1":
        name = {"add": "or", "maxui": "or", "minui": "and", "mul": "and"}.get(name, name)
    kind = CombiningKindAttr(CombiningKindFlag(name))
    op = vector.ReductionOp.create(
        operands=[value.ssa], properties={"kind": kind}, result_types=[signless(element)]
    )
    return Value(out.emit(op))


def masked(out: Emitter, s: StatementView, point: Point, axis: Axis, value: SSAValue) -> SSAValue:
    """Lanes beyond the valid ones become the identity."""
    assert axis.lanes is not None
    flat = VectorType(i64, [axis.size])
    last = out.emit(arith.IndexCastOp(axis.lanes, i64))
    lanes = [out.emit(kernel.StepOp(flat)), out.emit(vector.BroadcastOp(last, flat))]
    predicate = {"predicate": IntegerAttr(2, i64)}  # slt
    valid = out.emit(kernel.LanewiseOp("arith.cmpi", lanes, predicate, VectorType(i1, [axis.size])))
    identity = broadcast(out, Value(initial(out, s)), frozenset({axis.iterator}), point)
    return out.emit(kernel.LanewiseOp("arith.select", [valid, value, identity], {}, value.type))
