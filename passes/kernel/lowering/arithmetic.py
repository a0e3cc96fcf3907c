"""Arithmetic on SSA values of one element type: constants, operations of ``arith`` and ``math``, comparisons."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.semantics.expr import ExprError
from mlc.dialects.types import float_type, integer_type, is_float, is_narrow, is_unsigned, numpy_dtype
from mlc.passes.kernel.lowering.scalar_ops import BINARY, CMPF, CMPI, UNARY


class Arithmetic:
    """A builder that appends operations on values of one element type to ``block``. Raises ExprError if the type lacks
    a function."""

    block: Block

    def emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float | int | bool, element: str) -> SSAValue:
        if is_float(element):
            return self.emit(arith.ConstantOp(FloatAttr(float(value), float_type(element))))
        if is_narrow(element):
            value, element = int(np.asarray(value, numpy_dtype(element)).view(np.uint8)), "ui8"
        type_ = integer_type(element)
        half = 1 << (type_.width.data - 1)
        wrapped = int(bool(value)) if half == 1 else (int(value) + half) % (2 * half) - half
        return self.emit(arith.ConstantOp(IntegerAttr(wrapped, type_)))

    def _plain(self, fn: str, args: list[SSAValue], element: str) -> SSAValue:
        fn = {"add": "or_", "mul": "and_"}.get(fn, fn) if element == "i1" else fn
        if fn in BINARY:
            kind = 0 if is_float(element) else 2 if is_unsigned(element) else 1
            op = BINARY[fn][kind]
        else:
            op = UNARY.get(fn) if is_float(element) else None
        if op is None:
            raise ExprError(f"{fn} is not defined on {element}")
        return self.emit(op(*args))

    def _compare(self, fn: str, args: list[SSAValue], element: str) -> SSAValue:
        if is_float(element):
            return self.emit(arith.CmpfOp(args[0], args[1], CMPF[fn]))
        predicate = CMPI[fn]
        if is_unsigned(element) and predicate[0] == "s":
            predicate = "u" + predicate[1:]
        return self.emit(arith.CmpiOp(args[0], args[1], predicate))

    def _select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.emit(arith.SelectOp(condition, a, b))
