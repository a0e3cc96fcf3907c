"""Operations of a kernel that is made of others, which run one after another and in loops (``outline-loops``)."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.effects import PURE, Accesses
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.types import bytes_of


@irdl_op_definition
class RepeatOp(IRDLOperation):
    """A sequential loop, whose iteration number ``step`` is a symbol in it: ``kernel.repeat "step0" to "1000" { … }``.

    Iteration ``step`` runs if all before it ran, ``step`` is less than ``to`` and than the i64 ``limit``, and the i1
    ``while`` is true, which iterations may write.
    """

    name = "kernel.repeat"
    step = prop_def(StringAttr)
    trips = opt_prop_def(StringAttr)
    limit = opt_operand_def(MemRefType)
    active = opt_operand_def(MemRefType)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect(), Accesses(reads=("limit", "active")))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$step (`to` $trips^)? (`limit` $limit^ `:` type($limit))? (`while` $active^ `:` type($active))? "
        "attr-dict-with-keyword $body"
    )

    def __init__(self, step: str, trips: DimLike | None, limit: SSAValue | None = None, active: SSAValue | None = None):
        super().__init__(
            operands=[[limit] if limit else [], [active] if active else []],
            properties={"step": StringAttr(step), "trips": None if trips is None else StringAttr(str(trips))},
            regions=[Region(Block())],
        )

    @property
    def most(self) -> DimLike | None:
        """The largest number of iterations; None if only data end the loop."""
        return None if self.trips is None else parse_dim(self.trips.data)

    def verify_(self) -> None:
        if self.trips is None and self.limit is None and self.active is None:
            raise VerifyException(f"kernel.repeat {self.step}: nothing ends the loop; give a number of iterations")


@irdl_op_definition
class ViewOp(IRDLOperation):
    """The same memory from ``offset`` bytes on, possibly with another shape or element type:
    ``kernel.view %b "8*step0" : memref<1000xf64> -> memref<f64>``."""

    name = "kernel.view"
    source = operand_def(MemRefType)
    offset = prop_def(StringAttr)
    result = result_def(MemRefType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source $offset attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, offset: DimLike, type: Attribute):
        super().__init__(operands=[source], properties={"offset": StringAttr(str(offset))}, result_types=[type])


@irdl_op_definition
class CopyOp(IRDLOperation):
    """A copy of a buffer into another one of equal size: ``kernel.copy %a, %b : memref<9xf64>, memref<3x3xf64>``."""

    name = "kernel.copy"
    source = operand_def(MemRefType)
    target = operand_def(MemRefType)
    traits = traits_def(Accesses(reads=("source",), writes=("target",)))
    assembly_format = "$source `,` $target attr-dict `:` type($source) `,` type($target)"

    def __init__(self, source: SSAValue, target: SSAValue):
        super().__init__(operands=[source, target])

    def verify_(self) -> None:
        if bytes_of(self.source) != bytes_of(self.target):
            sizes = f"{bytes_of(self.source)} bytes into a buffer of {bytes_of(self.target)}"
            raise VerifyException(f"kernel.copy: {sizes}; use a kernel.view of the range")
