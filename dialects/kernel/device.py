"""Operations of kernels that run as thread blocks of a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, VectorType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All threads of a block reach it before one goes on, and see what the others wrote: ``kernel.barrier``."""

    name = "kernel.barrier"
    assembly_format = "attr-dict"


@irdl_op_definition
class MmaOp(IRDLOperation):
    """Matrix products of a warp's fragments (CUDA: mma): ``acc`` plus the product of two staged operands.

    ``%d = kernel.mma %acc, %a, %b {steps = 16, rows = array<i64: 136, 136>} : vector<128x128xf32>, …``

    Element (k, m) of ``a`` is at ``k·rows[0] + m``, element (k, n) of ``b`` at ``k·rows[1] + n``; the sum is over
    ``steps`` values of k. Factors are rounded to TF32, with 10 bits after the point; sums are those of f32.
    """

    name = "kernel.mma"
    acc = operand_def(VectorType)
    a = operand_def(MemRefType)
    b = operand_def(MemRefType)
    steps = prop_def(IntegerAttr)
    rows = prop_def(DenseArrayBase)
    result = result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a) `,` type($b) `->` type($result)"

    def __init__(self, acc: SSAValue, a: SSAValue, b: SSAValue, steps: int, rows: Sequence[int]):
        properties = {"steps": IntegerAttr(steps, i64), "rows": DenseArrayBase.from_list(i64, list(rows))}
        super().__init__(operands=[acc, a, b], properties=properties, result_types=[acc.type])

    def verify_(self) -> None:
        shape = tuple(self.result.type.get_shape()) if isinstance(self.result.type, VectorType) else ()
        fits = len(shape) == 2 and not any(n % each for n, each in zip(shape, FRAGMENT, strict=False))
        if self.acc.type != self.result.type or not fits or self.steps.value.data % FRAGMENT[2]:
            raise VerifyException(f"{self.name}: {self.result.type} is not made of fragments of 16 x 8, in steps of 8")


FRAGMENT = (16, 8, 8)
"""Rows, columns and steps of the product of a warp: mma.m16n8k8 of PTX."""
