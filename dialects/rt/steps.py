"""Steps of the host program. All threads execute them in order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.semantics.routines import ROUTINES
from mlc.dialects.types import bytes_of, element_of


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """A launch: every thread runs its share of a kernel (inputs, then outputs): ``rt.launch @relu(%x, %y) : memref<…>,
    …``.

    ``annotate-launches`` adds the symbolic dimensions ``dims`` that the kernel takes and, for cost models, its
    ``flops`` and ``bytes`` in all ``iterations`` of the loops around the launch (1 without loops), as expressions over
    dims. ``serial``: the kernel has no parallel loop of several iterations. ``resident``: from the second iteration on,
    all data that the kernel reads and writes is in the L2 cache.
    """

    name = "rt.launch"
    callee = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def(MemRefType)
    writes = prop_def(IntegerAttr)
    dims = opt_prop_def(ArrayAttr[StringAttr])
    iterations = opt_prop_def(StringAttr)
    flops = opt_prop_def(StringAttr)
    bytes = opt_prop_def(StringAttr)
    serial = opt_prop_def(UnitAttr)
    resident = opt_prop_def(UnitAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$callee `(` $args `)` attr-dict `:` type($args)"

    def __init__(self, callee: str, args: Sequence[SSAValue], writes: int):
        properties = {"callee": SymbolRefAttr(callee), "writes": IntegerAttr(writes, i64)}
        super().__init__(operands=[args], properties=properties)

    def verify_(self) -> None:
        if not 0 <= self.writes.value.data <= len(self.args):
            raise VerifyException(f"rt.launch: it writes {self.writes.value.data} of {len(self.args)} buffers")


@irdl_op_definition
class CopyOp(IRDLOperation):
    """A copy of a buffer into another one of equal size, which may be in another memory space. One thread executes
    it."""

    name = "rt.copy"
    source = operand_def(MemRefType)
    target = operand_def(MemRefType)
    assembly_format = "$source `,` $target attr-dict `:` type($source) `,` type($target)"

    def __init__(self, source: SSAValue, target: SSAValue):
        super().__init__(operands=[source, target])

    def verify_(self) -> None:
        if bytes_of(self.source) != bytes_of(self.target):
            sizes = f"{bytes_of(self.source)} bytes into a buffer of {bytes_of(self.target)}"
            raise VerifyException(f"rt.copy: {sizes}; use an rt.view of the range")


@irdl_op_definition
class NonzeroOp(IRDLOperation):
    """Nonzero: the indices where a mask is true are written to ``where``, and their number to ``size``. The number is
    the run-time dimension ``symbol``.

    ``rt.nonzero "size0" %mask, %where, %size : memref<8xi1>, memref<?xi64, …>, memref<i64>``. One thread executes it.
    """

    name = "rt.nonzero"
    symbol = prop_def(StringAttr)
    mask = operand_def(MemRefType)
    where = operand_def(MemRefType)
    size = operand_def(MemRefType)
    assembly_format = "$symbol $mask `,` $where `,` $size attr-dict `:` type($mask) `,` type($where) `,` type($size)"

    def __init__(self, symbol: str, mask: SSAValue, where: SSAValue, size: SSAValue):
        super().__init__(operands=[mask, where, size], properties={"symbol": StringAttr(symbol)})


@irdl_op_definition
class SizeOp(IRDLOperation):
    """A run-time dimension becomes a value in [0, ``most``]; for other values the run fails.

    ``rt.size "size0" %value, %size most "room0" else "Range 'r': …" : memref<i64>, memref<i64>``. One thread executes
    it.
    """

    name = "rt.size"
    symbol = prop_def(StringAttr)
    most = prop_def(StringAttr)
    why = prop_def(StringAttr)
    value = operand_def(MemRefType)
    size = operand_def(MemRefType)
    assembly_format = "$symbol $value `,` $size `most` $most `else` $why attr-dict `:` type($value) `,` type($size)"

    def __init__(self, symbol: str, value: SSAValue, size: SSAValue, most: str, why: str):
        strings = {"symbol": symbol, "most": most, "why": why}
        super().__init__(operands=[value, size], properties={name: StringAttr(text) for name, text in strings.items()})


@irdl_op_definition
class RoutineOp(IRDLOperation):
    """A call of a routine (a runtime library function), which writes the last buffer. One thread executes it.

    ``rt.routine "string.concat"(%a, %b, %y) : memref<3xi64>, memref<3xi64>, memref<3xi64>``
    """

    name = "rt.routine"
    fn = prop_def(StringAttr)
    args = var_operand_def(MemRefType)
    words = opt_prop_def(ArrayAttr[StringAttr])
    numbers = opt_prop_def(DenseArrayBase)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$fn `(` $args `)` attr-dict `:` type($args)"

    def __init__(
        self, fn: StringAttr, args: Sequence[SSAValue], words: Attribute | None = None, numbers: Attribute | None = None
    ):
        super().__init__(operands=[args], properties={"fn": fn, "words": words, "numbers": numbers})

    def verify_(self) -> None:
        routine = ROUTINES.get(self.fn.data)
        if routine is None:
            raise VerifyException(f"rt.routine: there is no routine {self.fn.data!r}")
        elements = (*routine.operands, routine.result)
        if tuple(map(element_of, self.args)) != elements:
            raise VerifyException(f"rt.routine: {self.fn.data} takes buffers of {', '.join(elements)}")


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """A barrier: no thread executes a later step before all threads have finished all steps before the barrier."""

    name = "rt.barrier"
    assembly_format = "attr-dict"
