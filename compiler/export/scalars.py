"""Scalar expressions as ONNX nodes on whole tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mlc.dialects.semantics.expr import REINTERPRETATIONS, Load
from mlc.dialects.types import is_float, is_unsigned
from mlc.errors import InputError
from mlc.export.expressions import Expressions
from mlc.export.writer import Writer, onnx_type

NAMES = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "max": "Max", "min": "Min", "pow": "Pow", "exp": "Exp", "log": "Log",
    "sqrt": "Sqrt", "tanh": "Tanh", "erf": "Erf", "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin",
    "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh",
    "atanh": "Atanh", "sigmoid": "Sigmoid", "floor": "Floor", "ceil": "Ceil", "round": "Round", "isnan": "IsNaN",
    "sign": "Sign", "abs": "Abs", "neg": "Neg", "eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater",
    "ge": "GreaterOrEqual",
}  # fmt: skip
LOGICAL = {"and_": "And", "or_": "Or", "xor": "Xor", "not_": "Not"}
BITWISE = {"and_": "BitwiseAnd", "or_": "BitwiseOr", "xor": "BitwiseXor", "not_": "BitwiseNot"}
MOST_SMALL = 0.5  # of arguments of expm1, for which a quotient of tanh keeps the digits


class Scalars(Expressions[str]):
    """``write(expr)`` as names of tensors."""

    def __init__(
        self,
        writer: Writer,
        elements: Sequence[str],
        load: Callable[[Load], str],
        index: Callable[[str], str],
    ) -> None:
        super().__init__(elements, load, index)
        self.writer = writer

    def _constant(self, value: float, element: str) -> str:
        return self.writer.scalar(value, element)

    def _cast(self, x: str, fn: str, before: str, after: str) -> str:
        if fn in REINTERPRETATIONS:
            raise InputError(f"export_onnx: the function {fn} has no form in ONNX")
        return x if before == after else self.writer.emit("Cast", x, to=onnx_type(after))

    def _select(self, condition: str, x: str, y: str) -> str:
        return self.writer.emit("Where", condition, x, y)

    def _call(self, fn: str, args: list[str], element: str) -> str:
        emit = self.writer.emit
        if fn in LOGICAL:
            return emit((LOGICAL if element == "i1" else BITWISE)[fn], *args)
        if element == "i1" and fn in ("add", "max", "mul", "min"):
            return emit("Or" if fn in ("add", "max") else "And", *args)
        if element == "i1" and fn in ("abs", "sign"):
            return args[0]
        if fn == "ne":
            return emit("Not", emit("Equal", *args))
        if fn == "max" and is_float(element) and args[1] == self.writer.scalar(0, element):
            return emit("Relu", args[0])
        if fn in NAMES:
            return emit(NAMES[fn], *args)
        special = getattr(self, f"_{fn}", None)
        if special is None:
            raise InputError(f"export_onnx: the function {fn} has no form in ONNX")
        made: str = special(element, *args)
        return made

    def _div(self, element: str, x: str, y: str) -> str:
        return self.writer.emit("Div", x, y)

    def _floordiv(self, element: str, x: str, y: str) -> str:
        emit = self.writer.emit
        if is_float(element):
            return emit("Floor", emit("Div", x, y))
        return emit("Div", emit("Sub", x, emit("Mod", x, y)), y)

    def _mod(self, element: str, x: str, y: str) -> str:
        emit = self.writer.emit
        if not is_float(element):
            return emit("Mod", x, y)
        zero, rest = self.writer.scalar(0, element), emit("Mod", x, y, fmod=1)
        differ = emit("Xor", emit("Less", rest, zero), emit("Less", y, zero))
        wrong = emit("And", differ, emit("Not", emit("Equal", rest, zero)))
        return emit("Where", wrong, emit("Add", rest, y), rest)

    def _fmod(self, element: str, x: str, y: str) -> str:
        return self.writer.emit("Mod", x, y, fmod=1)

    def _rsqrt(self, element: str, x: str) -> str:
        return self.writer.emit("Reciprocal", self.writer.emit("Sqrt", x))

    def _trunc(self, element: str, x: str) -> str:
        emit = self.writer.emit
        negative = emit("Less", x, self.writer.scalar(0, element))
        return emit("Where", negative, emit("Ceil", x), emit("Floor", x))

    def _log2(self, element: str, x: str) -> str:
        return self.writer.emit("Mul", self.writer.emit("Log", x), self.writer.scalar(1 / math.log(2), element))

    def _log10(self, element: str, x: str) -> str:
        return self.writer.emit("Mul", self.writer.emit("Log", x), self.writer.scalar(1 / math.log(10), element))

    def _erfc(self, element: str, x: str) -> str:
        return self.writer.emit("Sub", self.writer.scalar(1, element), self.writer.emit("Erf", x))

    def _log1p(self, element: str, x: str) -> str:
        """``log(u) * x / (u - 1)`` for u = 1 + x, whose errors cancel. Source: Kahan."""
        emit, one = self.writer.emit, self.writer.scalar(1, element)
        u = emit("Add", x, one)
        distance = emit("Sub", u, one)
        is_small, is_infinite = emit("Equal", distance, self.writer.scalar(0, element)), emit("IsInf", u)
        plain = emit("Or", is_small, is_infinite)
        quotient = emit("Div", x, emit("Where", plain, one, distance))
        logarithm = emit("Log", u)
        scaled = emit("Mul", logarithm, quotient)
        return emit("Where", is_small, x, emit("Where", is_infinite, logarithm, scaled))

    def _expm1(self, element: str, x: str) -> str:
        """``2 t / (1 - t)`` for t = tanh(x / 2) near 0, else the difference."""
        emit, number = self.writer.emit, self.writer.scalar
        t = emit("Tanh", emit("Mul", x, number(0.5, element)))
        quotient = emit("Div", emit("Mul", t, number(2, element)), emit("Sub", number(1, element), t))
        is_small = emit("Less", emit("Abs", x), number(MOST_SMALL, element))
        return emit("Where", is_small, quotient, emit("Sub", emit("Exp", x), number(1, element)))

    def _atan2(self, element: str, y: str, x: str) -> str:
        """The angle by the arc tangent of the quotient, and half a turn where x is negative."""
        emit, number = self.writer.emit, self.writer.scalar
        zero, base = number(0, element), emit("Atan", emit("Div", y, x))
        half = emit("Where", emit("Less", y, zero), number(-math.pi, element), number(math.pi, element))
        turned = emit("Where", emit("Less", x, zero), emit("Add", base, half), base)
        both = emit("And", emit("Equal", x, zero), emit("Equal", y, zero))
        return emit("Where", both, zero, turned)

    def _shl(self, element: str, x: str, y: str) -> str:
        return self._shifted(element, x, y, "LEFT")

    def _shr(self, element: str, x: str, y: str) -> str:
        return self._shifted(element, x, y, "RIGHT")

    def _shifted(self, element: str, x: str, y: str, direction: str) -> str:
        if not is_unsigned(element):
            raise InputError(f"export_onnx: ONNX shifts unsigned integers, not {element}")
        return self.writer.emit("BitShift", x, y, direction=direction)
