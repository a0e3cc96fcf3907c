"""Requantization in floats (``requantize-in-floats``): a number that one expression quantizes and dequantizes stays a
float.

    graph.map "f32(i32(i8(min(max((round(x0 * 8.0) + f32(3)), -128), 127))) - 3) * 0.125"(%x)
      →  graph.map "min(max((round(x0 * 8.0) + 0.0), -131), 124) * 0.125"(%x)

A rounded number within the range of bytes is an integer that f32 represents exactly. Casting it to a byte and back, and
adding and subtracting the zero point, changes no bit, so four operations are left of nine. ``+ 0.0`` is there because
bytes have no -0.0; it is left out where what reads the number computes the same of both zeros, as the next quantization
does. The one difference is NaN, for which no byte is defined: it stays NaN up to the next byte in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from mlc.dialects.graph import MapOp
from mlc.dialects.semantics.expr import COMPARISONS, Call, Const, Expr, element_type
from mlc.dialects.types import element_of

RANGES = {
    "i8": (-128, 127),
    "ui8": (0, 255),
    "i16": (-(2**15), 2**15 - 1),
    "ui16": (0, 2**16 - 1),
    "i32": (-(2**22), 2**22),
}
"""The least and the greatest number of an integer type. The range of i32 is limited so far within the integers that f32
represents exactly that a sum which f32 rounds is out of the range, and is clipped, with any zero point."""

KEEPS_SIGN = ("add", "sub", "mul", "max", "min", "neg", "round", "floor", "ceil", "trunc")
"""Functions of which the sign of a zero changes no more than the sign of a zero."""
LOSES_SIGN = (*RANGES, *COMPARISONS, "abs")
"""Functions of which the sign of a zero changes nothing."""


@dataclass(frozen=True)
class RequantizeInFloats(ModulePass):
    """Drop casts to integers and back between the quantizations in one map."""

    name = "requantize-in-floats"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in [o for o in op.walk() if isinstance(o, MapOp)]:
            short = _Shortening([element_of(a) for a in each.args]).shortened(each.scalar)
            if short != each.scalar:
                each.properties["expr"] = StringAttr(str(short))


@dataclass(frozen=True)
class _Whole:
    """An integer of type ``element``: min(max(round(``value``) + ``zero``, ``low``), ``high``)."""

    value: Expr
    zero: int
    low: int
    high: int
    element: str = "f32"
    casts: int = 0  # to integers and between them, and sums of these: what an equal float does without

    def plus(self, term: int) -> _Whole | None:
        moved = replace(self, zero=self.zero + term, low=self.low + term, high=self.high + term, casts=self.casts + 1)
        return moved._within(self.element)

    def cast(self, element: str) -> _Whole | None:
        if element == "f32":
            return replace(self, element=element)
        return replace(self, element=element, casts=self.casts + 1)._within(element)

    def _within(self, element: str) -> _Whole | None:
        low, high = RANGES[element]
        return self if low <= self.low and self.high <= high else None

    def written(self, value: Expr, unsigned: bool) -> Expr:
        """Return an expression that computes the number in f32 and casts it once; ``value`` replaces the field
        ``value``. ``unsigned``: a float may be -0.0."""
        moved: Expr = Call("round", (value,))
        if self.zero or self.element == "f32" and not unsigned:
            moved = Call("add", (moved, Const(float(self.zero))))
        clipped = Call("min", (Call("max", (moved, Const(float(self.low)))), Const(float(self.high))))
        return clipped if self.element == "f32" else Call(self.element, (clipped,))


@dataclass(frozen=True)
class _Shortening:
    """The shortening of expressions whose operands have the element types ``operands``."""

    operands: Sequence[str]

    def shortened(self, expr: Expr, unsigned: bool = False) -> Expr:
        """Return ``expr`` without the casts. ``unsigned``: what reads it computes the same of 0.0 and -0.0."""
        if not isinstance(expr, Call):
            return expr
        found = self._whole(expr)
        if found and found.casts > (found.element != "f32"):
            return found.written(self.shortened(found.value, unsigned=True), unsigned)
        inside = _reads_unsigned(expr, unsigned)
        return Call(expr.fn, tuple(self.shortened(arg, inside) for arg in expr.args))

    def _whole(self, expr: Expr) -> _Whole | None:
        """Match a quantized number, with integers added to it or subtracted from it; return None for other
        expressions."""
        match expr:
            case Call("min", (Call("max", (Call() as inner, Const(low))), Const(high))):
                return self._rounded(inner, low, high)
            case Call(fn, (Call() as inner,)) if fn == "f32" or fn in RANGES:
                found = self._whole(inner)
                return found.cast(fn) if found else None
            case Call("add" | "sub" as fn, (Call() as inner, term)) if (number := _literal(term)) is not None:
                found = self._whole(inner)
                return found.plus(number if fn == "add" else -number) if found and found.element == "i32" else None
        return None

    def _rounded(self, expr: Call, low: float, high: float) -> _Whole | None:
        match expr:
            case Call("round", (value,)):
                zero: int | None = 0
            case Call("add", (Call("round", (value,)), term)):
                zero = _literal(term)
            case _:
                return None
        whole = zero is not None and float(low).is_integer() and float(high).is_integer() and low < high
        if not whole or element_type(value, self.operands) != "f32":
            return None
        return _Whole(value, zero or 0, int(low), int(high))


def _reads_unsigned(call: Call, unsigned: bool) -> bool:
    """Return whether a call computes the same of arguments that differ in the signs of zeros; with ``unsigned``, the
    same but for the sign of a zero."""
    if call.fn in ("add", "sub") and any(isinstance(arg, Const) and arg.value for arg in call.args):
        return True
    return call.fn in LOSES_SIGN or unsigned and call.fn in KEEPS_SIGN


def _literal(expr: Expr) -> int | None:
    """Return the integer of a literal, with or without a cast; None for other expressions and for large numbers."""
    match expr:
        case Call("i32" | "f32", (inner,)):
            return _literal(inner)
        case Const(value) if not isinstance(value, bool) and abs(value) < 2**16 and value == int(value):
            return int(value)
    return None
