"""Strength reduction of exponentials (``use-exp2``): GPUs compute 2^x by one instruction.

    %d = arith.subf %s, %m                     %a = arith.mulf %s, 1.4427   // log2 e
    %p = math.exp %d                     →     %b = arith.mulf %m, 1.4427   // a row at a time
                                               %p = math.exp2 (%a - %b) fastmath<afn>

The pass applies to streams on tensor cores, whose exponentials are rounded to 16 bits. A constant factor of the scores
and log2 e become one factor, and the compiler contracts the product and the difference, which leaves two instructions
an element. The instruction has an error of 2 units in the last place, and returns 0 for results that are subnormal in
f32 (ex2.approx.ftz of PTX).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, vector
from xdsl.dialects import math as math_dialect
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import Float32Type, FloatAttr, ModuleOp, VectorType
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel
from mlc.passes.device.streaming.promote_locals import is_stream_of_fragments

LOG2_E = math.log2(math.e)


@dataclass(frozen=True)
class UseExp2(ModulePass):
    name = "use-exp2"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and is_stream_of_fragments(o)]:
            for exp in [o for o in fn.walk() if isinstance(o, math_dialect.ExpOp) and _is_of_floats(o.operand)]:
                _Exp2(exp).run()


def _is_of_floats(value: SSAValue) -> bool:
    return isinstance(value.type, VectorType) and isinstance(value.type.element_type, Float32Type)


@dataclass(frozen=True)
class _Exp2:
    exp: math_dialect.ExpOp

    def run(self) -> None:
        difference = self.exp.operand.owner
        if isinstance(difference, arith.SubfOp):
            power = self._add(arith.SubfOp(self._scaled(difference.lhs), self._scaled(difference.rhs)))
        else:
            power = self._scaled(self.exp.operand)
        fast = FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])
        made = self._add(math_dialect.Exp2Op(power, fastmath=fast))
        self.exp.result.replace_all_uses_with(made)
        for op in (self.exp, difference):
            if isinstance(op, Operation) and not op.results[0].uses:
                Rewriter.erase_op(op)

    def _scaled(self, value: SSAValue) -> SSAValue:
        """Return ``value`` · log2 e. A broadcast is scaled before broadcasting, and a constant factor is folded in."""
        match value.owner:
            case vector.BroadcastOp() as spread if isinstance(spread.source.type, VectorType):
                return self._add(vector.BroadcastOp(self._scaled(spread.source), spread.vector.type))
            case arith.MulfOp(lhs=factor, rhs=constant) if (known := _constant(constant)) is not None:
                return self._times(factor, known * LOG2_E)
        return self._times(value, LOG2_E)

    def _times(self, value: SSAValue, factor: float) -> SSAValue:
        constant = self._add(arith.ConstantOp(FloatAttr(factor, Float32Type())))
        assert isinstance(value.type, VectorType)
        return self._add(arith.MulfOp(value, self._add(vector.BroadcastOp(constant, value.type))))

    def _add(self, op: Operation) -> SSAValue:
        assert self.exp.parent is not None
        self.exp.parent.insert_op_before(op, self.exp)
        return op.results[0]


def _constant(value: SSAValue) -> float | None:
    """Return the number that all elements of a vector equal; None if they do not."""
    match value.owner:
        case vector.BroadcastOp(source=SSAValue(owner=arith.ConstantOp(value=FloatAttr() as number))):
            return float(number.value.data)
    return None
