"""Index arithmetic in the form of formulas: each operator inserts an operation of ``arith``."""

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
    """Return a number of 32 bits, for a buffer of a ring or a parity: a loop carries it in one register."""
    add(op := arith.ConstantOp(IntegerAttr(value, i32)))
    return op.result


@dataclass(frozen=True)
class Index:
    """An index, and the function by which operations on it are inserted."""

    value: SSAValue
    add: Add

    def constant(self, value: int) -> Index:
        """Return a constant, inserted where operations on this index are inserted."""
        return replace(self, value=constant(value, self.add))

    def at(self, add: Add) -> Index:
        """Return this index with operations inserted elsewhere."""
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
        """Return this index in 32 bits."""
        self.add(op := arith.IndexCastOp(self.value, i32))
        return op.result

    def at_least(self, other: Index | int) -> Index:
        return self._made(arith.MaxSIOp, other)

    def at_most(self, other: Index | int) -> Index:
        return self._made(arith.MinSIOp, other)

    def compared(self, predicate: str, other: Index | int) -> SSAValue:
        """Return the condition ``self predicate other``, where the predicate is ``eq``, ``slt``, …."""
        self.add(op := arith.CmpiOp(self.value, self._operand(other), predicate))
        return op.result

    def unless(self, condition: SSAValue, other: Index | int) -> Index:
        """Return ``other`` if the condition holds, otherwise this index."""
        self.add(op := arith.SelectOp(condition, self._operand(other), self.value))
        return replace(self, value=op.result)

    def _made(self, kind: Binary, other: Index | int) -> Index:
        self.add(op := kind(self.value, self._operand(other)))
        return replace(self, value=op.result)

    def _operand(self, other: Index | int) -> SSAValue:
        return constant(other, self.add) if isinstance(other, int) else other.value
