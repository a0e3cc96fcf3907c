"""Casts between element types: ``arith.extf``, ``arith.fptosi``, …, and formulas for narrow types.

A cast converts the number; a reinterpretation keeps the bits. Elements of buffers that are unsigned or narrow are
signless integers in registers.
"""

from __future__ import annotations

from abc import abstractmethod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, UnrealizedConversionCastOp
from xdsl.ir import Attribute, SSAValue

from mlc.dialects import kernel
from mlc.dialects.types import ELEMENTS, ITEMSIZE, float_type, integer_type, is_float, is_narrow, is_unsigned
from mlc.passes.kernel.lowering import narrow
from mlc.passes.kernel.lowering.arithmetic import Arithmetic


def signless(element: str) -> Attribute:
    """Return the SSA type for values of ``element``: unsigned integers are signless, narrow types are bytes."""
    return IntegerType(ITEMSIZE[element] * 8) if _recasts(element) else ELEMENTS[element]


def _recasts(element: str) -> bool:
    """Return whether elements in a buffer have another type than in registers."""
    return element.startswith("ui") or is_narrow(element)


class Casts(Arithmetic):
    """A builder of casts. ``float8``: the target has an operation that widens floats of 8 bits; otherwise integer
    operations widen them."""

    float8: bool

    @abstractmethod
    def _formula(self, text: str, *values: narrow.Typed) -> narrow.Typed:
        """Return the value of an expression in Python syntax, in which x0, x1, … name ``values``."""

    def cast(self, value: SSAValue, source: str, target: str) -> tuple[SSAValue, str]:
        return (value if source == target else self._cast(value, source, target)), target

    def _reinterpret(self, value: SSAValue, source: str, target: str) -> tuple[SSAValue, str]:
        same = signless(source) == signless(target)
        return value if same else self.emit(arith.BitcastOp(value, signless(target))), target

    def _cast(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if self.float8 and source in kernel.WIDENING:
            wide = self.emit(kernel.LanewiseOp(kernel.WIDENING[source], [value], {}, ELEMENTS["f32"]))
            return self.cast(wide, "f32", target)[0]
        if is_narrow(source):
            return self.cast(*narrow.decode(self._formula, value, source), target)[0]
        if is_narrow(target):
            return narrow.encode(self._formula, self.cast(value, source, narrow.wide(target))[0], target)
        if target == "i1":
            return self._compare("ne", [value, self.constant(0, source)], source)
        if is_float(source) and is_float(target):
            return self._cast_float(value, source, target)
        if is_float(source):
            to_int = arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp
            return self.emit(to_int(value, integer_type(target)))
        if is_float(target):
            to_float = arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp
            return self.emit(to_float(value, float_type(target)))
        return self._cast_int(value, source, target)

    def _cast_int(self, value: SSAValue, source: str, target: str) -> SSAValue:
        wide, narrow = integer_type(target), integer_type(source)
        if wide == narrow:
            return value
        if wide.width.data < narrow.width.data:
            return self.emit(arith.TruncIOp(value, wide))
        return self.emit((arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp)(value, wide))

    def _cast_float(self, value: SSAValue, source: str, target: str) -> SSAValue:
        if ITEMSIZE[target] > ITEMSIZE[source]:
            return self.emit(arith.ExtFOp(value, float_type(target)))
        if ITEMSIZE[target] < ITEMSIZE[source]:
            return self.emit(arith.TruncFOp(value, float_type(target)))
        return self._cast_float(self.emit(arith.ExtFOp(value, float_type("f32"))), "f32", target)  # f16 <-> bf16

    def strip_sign(self, value: SSAValue, element: str) -> SSAValue:
        """Return ``value``, an unsigned or narrow element of a buffer, as the signless integer with the same bits."""
        return self._recast(value, signless(element)) if _recasts(element) else value

    def restore_sign(self, value: SSAValue, element: str) -> SSAValue:
        return self._recast(value, ELEMENTS[element]) if _recasts(element) else value

    def _recast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        return self.emit(UnrealizedConversionCastOp.get([value], [type_]))
