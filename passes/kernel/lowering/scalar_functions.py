"""Scalar functions that need several operations, or different operations for different element types: ``mod``,
``sign``, ``sigmoid``.

A method ``_f`` computes the function ``f`` of a scalar expression; its last argument is the element type.
"""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.expr import ExprError
from mlc.dialects.types import ELEMENTS, is_float, is_unsigned
from mlc.passes.kernel.lowering.arithmetic import Arithmetic


def _power_of_two(x: SSAValue) -> int | None:
    """Return n if ``x`` is the constant 2**n, else None. A division by it becomes a shift, because no vector unit
    divides integers."""
    match x.owner:
        case arith.ConstantOp(value=IntegerAttr(value=number)) if number.data > 0 and number.data.bit_count() == 1:
            return number.data.bit_length() - 1
    return None


def _is_nonzero(x: SSAValue) -> bool:
    """Return whether an integer is a constant other than 0."""
    match x.owner:
        case arith.ConstantOp(value=IntegerAttr(value=number)):
            return number.data != 0
    return False


class ScalarFunctions(Arithmetic):
    """A builder of scalar functions, by name. A function that is not defined here is a single operation
    (``scalar_ops``)."""

    def _neg(self, x: SSAValue, element: str) -> SSAValue:
        if is_float(element):
            return self._plain("neg", [x], element)
        return self._plain("sub", [self.constant(0, element), x], element)

    def _not_(self, x: SSAValue, element: str) -> SSAValue:
        return self.emit(arith.XOrIOp(x, self.constant(True if element == "i1" else -1, element)))

    def _abs(self, x: SSAValue, element: str) -> SSAValue:
        if is_float(element):
            return self.emit(math.AbsFOp(x))
        return x if is_unsigned(element) else self._plain("max", [x, self._neg(x, element)], element)

    def _sign(self, x: SSAValue, element: str) -> SSAValue:
        zero, one = self.constant(0, element), self.constant(1, element)
        positive = self._compare("gt", [x, zero], element)
        if is_unsigned(element):
            return self._select(positive, one, zero)
        negative = self._compare("lt", [x, zero], element)
        other = self._plain("add", [x, zero], element) if is_float(element) else x  # of -0.0 it is 0.0, NaN stays
        return self._select(positive, one, self._select(negative, self.constant(-1, element), other))

    def _sigmoid(self, x: SSAValue, y: SSAValue, element: str) -> SSAValue:
        """Compute x sigmoid(y) as x / (1 + exp(-y)), which saves a multiplication."""
        e = self.emit(math.ExpOp(self._neg(y, element)))
        return self.emit(arith.DivfOp(x, self.emit(arith.AddfOp(self.constant(1, element), e))))

    def _erfc(self, x: SSAValue, element: str) -> SSAValue:
        return self.emit(kernel.LanewiseOp("math.erfc", [x], {}, x.type))

    def _floordiv(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        if is_float(element):
            return self._float_floordiv(a, b, element)
        if (bits := _power_of_two(b)) is None:
            return self._plain("floordiv", [a, b], element)
        return self._plain("shr", [a, self.constant(bits, element)], element) if bits else a

    def _pow(self, x: SSAValue, n: SSAValue, element: str) -> SSAValue:
        """Compute x ** n. The operation takes signed exponents, so for an unsigned n it computes x ** (n // 2), which
        is squared, and multiplied by x if n is odd."""
        if not is_unsigned(element):
            return self._plain("pow", [x, n], element)
        one = self.constant(1, element)
        root = self._plain("pow", [x, self._plain("shr", [n, one], element)], element)
        odd = self._compare("ne", [self._plain("and_", [n, one], element), self.constant(0, element)], element)
        return self._plain("mul", [self._plain("mul", [root, root], element), self._select(odd, x, one)], element)

    def _fmod(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        if not is_float(element):
            return self._plain("fmod", [a, b], element)
        return self.emit(kernel.LanewiseOp("arith.remf", [a, b], {}, a.type))

    def _of_words(self, fn: str, words: list[SSAValue], element: str, result: str = "i32") -> SSAValue:
        """A function of the bytes or the halves of words."""
        if element != "i32":
            raise ExprError(f"{fn} is not defined on {element}")
        return self.emit(kernel.LanewiseOp(fn, words, {}, ELEMENTS[result]))

    def _dot4(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        return self._of_words("dot4", [a, b], element)

    def _dot2_i16(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        return self._of_words("dot2_i16", [a, b], element)

    def _dot2(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        return self._of_words("dot2", [a, b], element, "f32")

    def _dot2x2(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        return self._of_words("dot2x2", [a, b], element)

    def _add2(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        return self._of_words("add2", [a, b], element)

    def _sum2(self, x: SSAValue, element: str) -> SSAValue:
        return self._of_words("sum2", [x], element)

    def _mod(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        """Compute Python's modulo: the result has the divisor's sign, also if it is zero. Integers modulo 0 are 0."""
        if is_float(element):
            return self._float_mod(a, b, element)
        if (bits := _power_of_two(b)) is not None:
            return self._plain("and_", [a, self.constant((1 << bits) - 1, element)], element)
        quotient, zero = self._floordiv(a, b, element), self.constant(0, element)
        rest = self._plain("sub", [a, self._plain("mul", [quotient, b], element)], element)
        return rest if _is_nonzero(b) else self._select(self._compare("eq", [b, zero], element), zero, rest)

    def _float_floordiv(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        """Compute the floor of the exact quotient a / b: 1.0 // 0.1 is 9, as the float 0.1 is above 1/10.

        a / b rounds, to 10 here; (a - fmod(a, b)) / b is whole but for its own rounding. Zeros have the sign of a / b,
        which is also the result for b = 0 (numpy.floor_divide, CPython's float_floor_div).
        """
        rest, quotient = self._fmod(a, b, element), self.emit(arith.DivfOp(a, b))
        zero, one = self.constant(0, element), self.constant(1, element)
        whole = self.emit(arith.DivfOp(self.emit(arith.SubfOp(a, rest)), b))
        rest_negative, negative = (self._compare("lt", [x, zero], element) for x in (rest, b))
        differs = self.emit(arith.XOrIOp(rest_negative, negative))
        below = self.emit(arith.AndIOp(differs, self._compare("ne", [rest, zero], element)))
        whole = self._select(below, self.emit(arith.SubfOp(whole, one)), whole)
        floor = self.emit(math.FloorOp(whole))
        up = self._compare("gt", [self.emit(arith.SubfOp(whole, floor)), self.constant(0.5, element)], element)
        floor = self._select(up, self.emit(arith.AddfOp(floor, one)), floor)
        nothing = self.emit(arith.MulfOp(quotient, zero))  # |a / b| < 1 where this is taken: a zero with its sign
        floor = self._select(self._compare("eq", [floor, zero], element), nothing, floor)
        return self._select(self._compare("eq", [b, zero], element), quotient, floor)

    def _float_mod(self, a: SSAValue, b: SSAValue, element: str) -> SSAValue:
        rest, zero = self._fmod(a, b, element), self.constant(0, element)
        negative = self._compare("lt", [b, zero], element)
        differs = self.emit(arith.XOrIOp(self._compare("lt", [rest, zero], element), negative))
        signed = self._select(differs, self.emit(arith.AddfOp(rest, b)), rest)
        none = self._select(negative, self.constant(-0.0, element), zero)
        return self._select(self._compare("eq", [rest, zero], element), none, signed)
