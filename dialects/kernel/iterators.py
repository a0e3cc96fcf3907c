"""Values of iterators and of symbolic dimensions."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def

from mlc.dialects.kernel.effects import PURE


@irdl_op_definition
class IndexOp(IRDLOperation):
    """The value of an iterator of the enclosing computation: ``%i = kernel.index "i"``."""

    name = "kernel.index"
    iterator = prop_def(StringAttr)
    result = result_def(IndexType)
    traits = traits_def(PURE)
    assembly_format = "$iterator attr-dict"

    def __init__(self, iterator: str):
        super().__init__(properties={"iterator": StringAttr(iterator)}, result_types=[IndexType()])


@irdl_op_definition
class SymbolOp(IRDLOperation):
    """The run-time value of a symbolic dimension (an expression of symbols): ``%n = kernel.symbol "batch"``."""

    name = "kernel.symbol"
    dim = prop_def(StringAttr)
    result = result_def(IndexType)
    traits = traits_def(PURE)
    assembly_format = "$dim attr-dict"

    def __init__(self, dim: str):
        super().__init__(properties={"dim": StringAttr(dim)}, result_types=[IndexType()])
