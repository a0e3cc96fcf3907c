"""Axis information of vectors of index arithmetic (as in Triton): how many neighbours along an axis have consecutive
values, and how far the first of them is aligned. A gather of several neighbours then needs one offset.

    %k = step : 32x1 + %b                       along axis 0, of 8 neighbours (%b is a multiple of 32):
    %q = floordivsi %k, 48 : 32x1               equal, because 8 divides %k and 48
    %o = %q · 208 + %k + %p : 32x128            consecutive; aligned where 8 divides %p
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import gcd

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.passes.device.loops.coefficients import constant_of
from mlc.passes.device.loops.divisibility import divisor
from mlc.passes.device.loops.recompute import recomputed


@dataclass(frozen=True)
class AxisInfo:
    """The step between neighbours of each group, and a number that divides the first value of each group (0: it is
    0)."""

    step: int
    divisor: int


def are_neighbours(offsets: SSAValue, axis: int, count: int) -> bool:
    """Return whether each ``count`` elements along an axis have consecutive offsets, of which ``count`` divides the
    first."""
    assert isinstance(offsets.type, VectorType)
    shape = offsets.type.get_shape()
    found = axis_info(offsets, axis - len(shape), count) if shape[axis] % count == 0 else None
    return found is not None and found.step == 1 and found.divisor % count == 0


def axis_info(value: SSAValue, axis: int, count: int) -> AxisInfo | None:
    """Return the facts of groups of ``count`` neighbours along an axis, which is counted from the last one (-1); None
    if neighbours do not differ by one number."""
    op = value.owner
    if not isinstance(value.type, VectorType) and not isinstance(op, arith.IndexCastOp):
        return AxisInfo(0, divisor(value))
    match op:
        case arith.IndexCastOp() | vector.BroadcastOp():
            return axis_info(op.operands[0], axis, count)
        case kernel.StepOp():
            return AxisInfo(1, count) if _extent(value, axis) > 1 else AxisInfo(0, 1)
        case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() | arith.FloorDivSIOp():
            a, b = (axis_info(v, axis, count) for v in op.operands)
            return _combined(op, a, b, count) if a is not None and b is not None else None
    return None


def _extent(value: SSAValue, axis: int) -> int:
    """Return the extent along an axis; 1 if a value has no such axis."""
    shape = value.type.get_shape() if isinstance(value.type, VectorType) else ()
    return shape[axis] if len(shape) >= -axis else 1


def _combined(op: Operation, a: AxisInfo, b: AxisInfo, count: int) -> AxisInfo | None:
    match op:
        case arith.AddiOp():
            return AxisInfo(a.step + b.step, gcd(a.divisor, b.divisor))
        case arith.SubiOp():
            return AxisInfo(a.step - b.step, gcd(a.divisor, b.divisor))
        case arith.MuliOp():
            factor = next((n for v in op.operands if (n := _constant(v)) is not None), None)
            if (a.step or b.step) and factor is None:
                return None
            return AxisInfo((a.step + b.step) * (factor or 0), a.divisor * b.divisor)
    by = _constant(op.operands[1])
    if by is None or by <= 0 or not (a.step == 0 or a.step == 1 and a.divisor % count == by % count == 0):
        return None
    return AxisInfo(0, a.divisor // by if a.divisor % by == 0 else 1)


def _constant(value: SSAValue) -> int | None:
    """Return the constant that all elements equal; None if they do not."""
    while isinstance(value.owner, vector.BroadcastOp | arith.IndexCastOp):
        value = value.owner.operands[0]
    return constant_of(value)


@dataclass
class FirstNeighbours:
    """The recomputation, by ``insert``, of the offsets of the first of each ``count`` neighbours along an axis, with
    other values for those in ``known``."""

    axis: int  # counted from the last one
    count: int
    block: Block
    known: dict[SSAValue, SSAValue]
    insert: Callable[[Operation], object]
    made: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def of(self, value: SSAValue) -> SSAValue:
        if _extent(value, self.axis) == 1:
            return recomputed(value, self.known, self.block, self.insert)
        if value not in self.made:
            self.made[value] = self._of(value)
        return self.made[value]

    def _of(self, value: SSAValue) -> SSAValue:
        assert isinstance(value.type, VectorType) and isinstance(value.owner, Operation)
        shape = list(value.type.get_shape())
        shape[self.axis] //= self.count
        type_ = VectorType(value.type.element_type, shape)
        if isinstance(value.owner, kernel.StepOp):
            return self._multiplied(self._insert(kernel.StepOp(type_)), type_)
        sides = [self.of(v) for v in value.owner.operands]
        if isinstance(value.owner, vector.BroadcastOp):
            return self._insert(vector.BroadcastOp(sides[0], type_))
        return self._insert(type(value.owner)(*sides))

    def _multiplied(self, steps: SSAValue, type_: VectorType) -> SSAValue:
        count = self._insert(arith.ConstantOp(IntegerAttr(self.count, IndexType())))
        number = self._insert(arith.IndexCastOp(count, type_.element_type))
        return self._insert(arith.MuliOp(steps, self._insert(vector.BroadcastOp(number, type_))))

    def _insert(self, op: Operation) -> SSAValue:
        self.insert(op)
        return op.results[0]
