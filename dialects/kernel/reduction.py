"""The ``kernel`` dialect: multi-dimensional reductions of register tiles."""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.effects import PURE


@irdl_op_definition
class MultiReductionOp(IRDLOperation):
    """A multi-dimensional reduction (MLIR's ``vector.multi_reduction``, which xDSL lacks) along the last dimension.

    The rows of a register tile become the lanes of a vector, by a tree of shuffles:
    ``%s = kernel.multi_reduction %t {kind = #vector.kind<add>} : vector<16x32xf32> -> vector<16xf32>``

    The result may keep the last dimension, with extent 1: it then has the distribution of the source.
    """

    name = "kernel.multi_reduction"
    source = operand_def(VectorType)
    kind = prop_def(CombiningKindAttr)
    result = result_def(VectorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, kind: CombiningKindAttr):
        assert isinstance(source.type, VectorType)
        rows = VectorType(source.type.element_type, [*source.type.get_shape()[:-1]])
        super().__init__(operands=[source], properties={"kind": kind}, result_types=[rows])

    def verify_(self) -> None:
        source, result = self.source.type, self.result.type
        assert isinstance(source, VectorType) and isinstance(result, VectorType)
        rows = source.get_shape()[:-1]
        shapes = (rows, (*rows, 1))
        if not rows or result.element_type != source.element_type or result.get_shape() not in shapes:
            raise VerifyException(f"{self.name}: {source} has no reduction to {result} along its last dimension")

    @property
    def keeps_axis(self) -> bool:
        """Whether the result has the reduced dimension, with extent 1."""
        assert isinstance(self.source.type, VectorType) and isinstance(self.result.type, VectorType)
        return self.source.type.get_num_dims() == self.result.type.get_num_dims()
