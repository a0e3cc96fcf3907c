"""Scalar expressions as StableHLO operations on whole tensors, and CHLO ones where StableHLO has no such function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mlc.dialects.semantics.expr import COMPARISONS, REINTERPRETATIONS, Load
from mlc.dialects.types import is_float, is_unsigned
from mlc.errors import InputError
from mlc.export.expressions import Expressions
from mlc.export.stablehlo.writer import Sizes, Value, Writer

NAMES = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum", "min": "minimum",
    "fmod": "remainder", "atan2": "atan2", "neg": "negate", "exp": "exponential", "log": "log", "sqrt": "sqrt",
    "rsqrt": "rsqrt", "tanh": "tanh", "sin": "sine", "cos": "cosine", "tan": "tan", "expm1": "exponential_minus_one",
    "log1p": "log_plus_one", "sigmoid": "logistic", "floor": "floor", "ceil": "ceil", "round": "round_nearest_even",
    "and_": "and", "or_": "or", "xor": "xor", "not_": "not", "shl": "shift_left",
    **{fn: f"chlo.{fn}" for fn in ("erf", "erfc", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh")},
}  # fmt: skip


class Scalars(Expressions[Value]):
    """``write(expr)`` at each point of ``shape``."""

    def __init__(
        self, writer: Writer, elements: Sequence[str], shape: Sizes, load: Callable[[Load], Value],
        index: Callable[[str], Value],
    ) -> None:  # fmt: skip
        super().__init__(elements, load, index)
        self.writer, self.shape = writer, shape

    def _constant(self, value: float, element: str) -> Value:
        return self.writer.splat(value, element, self.shape)

    def _cast(self, x: Value, fn: str, before: str, after: str) -> Value:
        if x.element == after:
            return x
        return self.writer.pointwise("bitcast_convert" if fn in REINTERPRETATIONS else "convert", after, x)

    def _select(self, condition: Value, x: Value, y: Value) -> Value:
        return self.writer.select(condition, x, y)

    def _call(self, fn: str, args: list[Value], element: str) -> Value:
        special = getattr(self, f"_{fn}", None)
        if special is not None:
            made: Value = special(element, *args)
            return made
        if fn in COMPARISONS:
            return self.writer.compare(fn.upper(), *args)
        if fn not in NAMES:
            raise InputError(f"export_stablehlo: the function {fn} has no form in StableHLO")
        return self.writer.pointwise(NAMES[fn], element, *args)

    def _abs(self, element: str, x: Value) -> Value:
        return x if is_unsigned(element) else self.writer.pointwise("abs", element, x)

    def _sign(self, element: str, x: Value) -> Value:
        if element == "i1":
            return x
        zero = self._constant(0, element)
        if is_unsigned(element):
            return self.writer.pointwise("convert", element, self.writer.compare("NE", x, zero))
        return self.writer.select(self.writer.compare("EQ", x, zero), zero, self.writer.pointwise("sign", element, x))

    def _isnan(self, element: str, x: Value) -> Value:
        return self.writer.compare("NE", x, x)

    def _trunc(self, element: str, x: Value) -> Value:
        down, up = (self.writer.pointwise(name, element, x) for name in ("floor", "ceil"))
        return self.writer.select(self.writer.compare("LT", x, self._constant(0, element)), up, down)

    def _mod(self, element: str, x: Value, y: Value) -> Value:
        """The remainder with the sign of the divisor."""
        w, zero = self.writer, self._constant(0, element)
        rest = w.pointwise("remainder", element, x, y)
        if is_unsigned(element):
            return rest
        differ = w.pointwise("xor", "i1", w.compare("LT", rest, zero), w.compare("LT", y, zero))
        wrong = w.pointwise("and", "i1", differ, w.compare("NE", rest, zero))
        return w.select(wrong, w.pointwise("add", element, rest, y), rest)

    def _floordiv(self, element: str, x: Value, y: Value) -> Value:
        """The multiples of ``y`` in ``x`` without the remainder; of floats rounded, since the division may be off."""
        w = self.writer
        exact = w.pointwise("divide", element, w.pointwise("subtract", element, x, self._mod(element, x, y)), y)
        if not is_float(element):
            return exact
        by_zero = w.compare("EQ", y, self._constant(0, element))
        whole = w.pointwise("round_nearest_even", element, exact)
        return w.select(by_zero, w.pointwise("divide", element, x, y), whole)

    def _pow(self, element: str, x: Value, y: Value) -> Value:
        return self.writer.pointwise("power", element, x, y)

    def _shr(self, element: str, x: Value, y: Value) -> Value:
        name = "shift_right_logical" if is_unsigned(element) else "shift_right_arithmetic"
        return self.writer.pointwise(name, element, x, y)

    def _log2(self, element: str, x: Value) -> Value:
        return self._log_by(2, element, x)

    def _log10(self, element: str, x: Value) -> Value:
        return self._log_by(10, element, x)

    def _log_by(self, base: int, element: str, x: Value) -> Value:
        natural = self.writer.pointwise("log", element, x)
        return self.writer.pointwise("multiply", element, natural, self._constant(1 / math.log(base), element))
