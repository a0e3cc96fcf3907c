"""Collectives in the host program: a start, which returns at once, and a wait (MPI: nonblocking collectives)."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, MemRefType, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
)


@irdl_op_definition
class StartOp(IRDLOperation):
    """Begin a collective (on one thread): ``%y`` is undefined, and ``%x`` stays as it is, until the wait of this slot.

    ``rt.start "comm.all_reduce" 0 to %y of %x {how = {fn = "add"}} : memref<4xf32>, memref<4xf32>``

    ``slot`` is a number of its own for each collective of the program, ``how`` its attributes. ``comm.rank`` and
    ``comm.world`` have no operand ``%x``.
    """

    name = "rt.start"
    kind = prop_def(StringAttr)
    slot = prop_def(IntegerAttr)
    how = prop_def(DictionaryAttr)
    target = operand_def(MemRefType)
    source = opt_operand_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$kind $slot `to` $target `:` type($target) (`of` $source^ `:` type($source))? attr-dict"

    def __init__(self, kind: str, slot: int, how: dict[str, Attribute], target: SSAValue, source: SSAValue | None):
        properties = {"kind": StringAttr(kind), "slot": IntegerAttr(slot, i64), "how": DictionaryAttr(how)}
        super().__init__(operands=[target, [] if source is None else [source]], properties=properties)


@irdl_op_definition
class WaitOp(IRDLOperation):
    """Wait until the collective of a slot has written ``%y`` (on one thread), or fail at the limit of time.

    ``rt.wait 0 to %y of %x : memref<4xf32>, memref<4xf32>``: both are alive until here.
    """

    name = "rt.wait"
    slot = prop_def(IntegerAttr)
    target = operand_def(MemRefType)
    source = opt_operand_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$slot `to` $target `:` type($target) (`of` $source^ `:` type($source))? attr-dict"

    def __init__(self, slot: int, target: SSAValue, source: SSAValue | None):
        given = [] if source is None else [source]
        super().__init__(operands=[target, given], properties={"slot": IntegerAttr(slot, i64)})
