"""Index arithmetic that reads as formulas: each operator inserts an operation of ``arith``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, i32
from xdsl.ir import Operation, SSAValue

Add = Callable[[Operation], object]
Binary = type[arith.SignlessIntegerBinaryOperation]


def constant(value: int, add: Add) -> SSAValue:
    add(op := arith.ConstantOp(IntegerAttr(value, IndexType())))
    return op.result


def number(value: int, add: Add) -> SSAValue:
    """A buffer of a ring, or a parity: 32 bits, as a loop carries them in one register each."""
    add(op := arith.ConstantOp(IntegerAttr(value, i32)))
    return op.result


@dataclass(frozen=True)
class Index:
    """An index, and where the operations on it are inserted."""

    value: SSAValue
    add: Add

    def constant(self, value: int) -> Index:
        """A number where operations on this index are inserted."""
        return replace(self, value=constant(value, self.add))

    def at(self, add: Add) -> Index:
        """This index where operations are inserted elsewhere."""
        return replace(self, add=add)

    def __add__(self, other: Index | int) -> Index:
        return self._made(arith.AddiOp, other)

    def __sub__(self, other: Index | int) -> Index:
        return self._made(arith.SubiOp, other)

    def __mul__(self, other: Index | int) -> Index:
        return self._made(arith.MuliOp, other)

    def __floordiv__(self, other: Index | int) -> Index:
        return self._made(arith.FloorDivSIOp, other)

    def __mod__(self, other: Index | int) -> Index:
        return self._made(arith.RemSIOp, other)

    def shifted_left(self, other: Index | int) -> Index:
        return self._made(arith.ShLIOp, other)

    def __or__(self, other: Index | int) -> Index:
        return self._made(arith.OrIOp, other)

    def narrow(self) -> SSAValue:
        """This index in 32 bits."""
        self.add(op := arith.IndexCastOp(self.value, i32))
        return op.result

    def at_least(self, other: Index | int) -> Index:
        return self._made(arith.MaxSIOp, other)

    def at_most(self, other: Index | int) -> Index:
        return self._made(arith.MinSIOp, other)

    def compared(self, predicate: str, other: Index | int) -> SSAValue:
        """A condition: ``eq``, ``slt``, …"""
        self.add(op := arith.CmpiOp(self.value, self._operand(other), predicate))
        return op.result

    def unless(self, condition: SSAValue, other: Index | int) -> Index:
        """This index, but the other one where the condition holds."""
        self.add(op := arith.SelectOp(condition, self._operand(other), self.value))
        return replace(self, value=op.result)

    def _made(self, kind: Binary, other: Index | int) -> Index:
        self.add(op := kind(self.value, self._operand(other)))
        return replace(self, value=op.result)

    def _operand(self, other: Index | int) -> SSAValue:
        return constant(other, self.add) if isinstance(other, int) else other.value
