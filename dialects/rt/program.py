"""The host program: its interface, its memory, and the steps that all threads take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dims import DimLike, parse_dim
from mlc.dialects.routines import ROUTINES
from mlc.dialects.types import bytes_of, element_of


@irdl_op_definition
class ProgramOp(IRDLOperation):
    """A model: its interface, where each tensor lives, and the kernels it runs in order.

    ``inputs``/``outputs`` name the tensors of the signature, ``dims`` the symbolic dimensions in the C ABI's order.
    ``guards`` are expressions over dims that must not be negative, or the program would be wrong. ``sizes`` are
    dimensions that the program finds out when it runs (``rt.positions``, ``rt.size``, ``rt.decide``); the last outputs
    say them. ``inner`` are those known inside of a loop or branch alone, and ``bounds`` what ``sizes`` and ``inner``
    never exceed, as expressions over dims: a size that nothing bounds has a dimension ``room<n>``, the last of dims,
    which the caller chooses. ``texts`` are those that the program knows before it runs.
    """

    name = "rt.program"
    sym_name = prop_def(StringAttr)
    inputs = prop_def(ArrayAttr[StringAttr])
    outputs = prop_def(ArrayAttr[StringAttr])
    dims = prop_def(ArrayAttr[StringAttr])
    guards = opt_prop_def(ArrayAttr[StringAttr])
    sizes = opt_prop_def(ArrayAttr[StringAttr])
    inner = opt_prop_def(ArrayAttr[StringAttr])
    bounds = opt_prop_def(ArrayAttr[StringAttr])
    texts = opt_prop_def(ArrayAttr[StringAttr])
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$sym_name attr-dict `do` $body"

    def __init__(
        self,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        dims: Sequence[str],
        guards: Sequence[str] = (),
        bounds: Mapping[str, DimLike] | None = None,
        inner: Sequence[str] = (),
    ):
        def texts(values: Sequence[str]) -> ArrayAttr[StringAttr]:
            return ArrayAttr(StringAttr(v) for v in values)

        properties = {
            "sym_name": StringAttr(name),
            "inputs": texts(inputs),
            "outputs": texts(outputs),
            "dims": texts(dims),
        } | ({"guards": texts(guards)} if guards else {})
        if bounds:
            order = [*(s for s in bounds if s not in inner), *inner]
            properties |= {"sizes": texts(order[: len(order) - len(inner)])}
            properties |= {"bounds": texts([str(bounds[s]) for s in order])}
        super().__init__(properties=properties | ({"inner": texts(inner)} if inner else {}), regions=[Region(Block())])

    @property
    def bound_of(self) -> dict[str, DimLike]:
        """What each size never exceeds."""
        names = (*(self.sizes or ()), *(self.inner or ()))
        return {s.data: parse_dim(b.data) for s, b in zip(names, self.bounds or (), strict=True)}


class _Place(IRDLOperation):
    """Something that gives a buffer."""


@irdl_op_definition
class InputOp(_Place):
    """The caller's input number ``index``: ``%x = rt.input 0 : memref<1x3xf32>``."""

    name = "rt.input"
    index = prop_def(IntegerAttr)
    result = result_def(MemRefType)
    assembly_format = "$index attr-dict `:` type($result)"

    def __init__(self, index: int, type: Attribute):
        super().__init__(properties={"index": IntegerAttr(index, i64)}, result_types=[type])


@irdl_op_definition
class OutputOp(_Place):
    """The caller's output number ``index``."""

    name = "rt.output"
    index = prop_def(IntegerAttr)
    result = result_def(MemRefType)
    assembly_format = "$index attr-dict `:` type($result)"

    def __init__(self, index: int, type: Attribute):
        super().__init__(properties={"index": IntegerAttr(index, i64)}, result_types=[type])


@irdl_op_definition
class WeightOp(_Place):
    """An entry of the weights payload, ``offset`` bytes (a multiple of 64) from its start."""

    name = "rt.weight"
    entry = prop_def(StringAttr)
    offset = opt_prop_def(IntegerAttr)
    result = result_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$entry attr-dict `:` type($result)"

    def __init__(self, entry: str, type: Attribute):
        super().__init__(properties={"entry": StringAttr(entry)}, result_types=[type])


@irdl_op_definition
class BufferOp(_Place):
    """Scratch memory in the arena: at ``offset`` bytes, or (symbolic sizes) behind the buffers numbered ``after``."""

    name = "rt.buffer"
    bytes = prop_def(StringAttr)
    offset = opt_prop_def(IntegerAttr)
    after = opt_prop_def(ArrayAttr[IntegerAttr])
    result = result_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$bytes attr-dict `:` type($result)"

    def __init__(self, bytes: str, type: Attribute):
        super().__init__(properties={"bytes": StringAttr(bytes)}, result_types=[type])


@irdl_op_definition
class RunNumberOp(_Place):
    """The number of this run, which the runtime counts: ``%n = rt.run_number : memref<i64>``."""

    name = "rt.run_number"
    result = result_def(MemRefType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: Attribute):
        super().__init__(result_types=[type])


@irdl_op_definition
class ViewOp(_Place):
    """The same memory under another shape, or ``offset`` bytes further on."""

    name = "rt.view"
    source = operand_def(MemRefType)
    offset = opt_prop_def(StringAttr)
    result = result_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, type: Attribute, offset: DimLike = 0):
        properties = {} if offset == 0 else {"offset": StringAttr(str(offset))}
        super().__init__(operands=[source], properties=properties, result_types=[type])

    @property
    def start(self) -> DimLike:
        """Bytes of the source before the view."""
        return 0 if self.offset is None else parse_dim(self.offset.data)

    def verify_(self) -> None:
        behind = bytes_of(self.source) - self.start - bytes_of(self.result)
        if any(isinstance(size, int) and size < 0 for size in (self.start, behind)):
            what = f"{bytes_of(self.result)} bytes from byte {self.start}"
            raise VerifyException(f"rt.view: {what} are not in a buffer of {bytes_of(self.source)} bytes")


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Every thread runs its share of a kernel (inputs, then outputs): ``rt.launch @relu(%x, %y) : memref<…>, …``."""

    name = "rt.launch"
    callee = prop_def(FlatSymbolRefAttrConstr)
    args = var_operand_def(MemRefType)
    writes = prop_def(IntegerAttr)
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
    """Copy a buffer into another of the same size (one thread)."""

    name = "rt.copy"
    source = operand_def(MemRefType)
    target = operand_def(MemRefType)
    assembly_format = "$source `,` $target attr-dict `:` type($source) `,` type($target)"

    def __init__(self, source: SSAValue, target: SSAValue):
        super().__init__(operands=[source, target])

    def verify_(self) -> None:
        if bytes_of(self.source) != bytes_of(self.target):
            sizes = f"{bytes_of(self.source)} bytes into a buffer of {bytes_of(self.target)}"
            raise VerifyException(f"rt.copy: {sizes}; take an rt.view of the part")


@irdl_op_definition
class PositionsOp(IRDLOperation):
    """Write where a mask is true, and how many there are: into ``size``, the dimension of that name from here on.

    ``rt.positions "size0" %mask, %where, %size : memref<8xi1>, memref<?xi64, …>, memref<i64>`` (one thread).
    """

    name = "rt.positions"
    symbol = prop_def(StringAttr)
    mask = operand_def(MemRefType)
    where = operand_def(MemRefType)
    size = operand_def(MemRefType)
    assembly_format = "$symbol $mask `,` $where `,` $size attr-dict `:` type($mask) `,` type($where) `,` type($size)"

    def __init__(self, symbol: str, mask: SSAValue, where: SSAValue, size: SSAValue):
        super().__init__(operands=[mask, where, size], properties={"symbol": StringAttr(symbol)})


@irdl_op_definition
class SizeOp(IRDLOperation):
    """Take a number for the dimension of that name from here on, if it is 0 to ``most``; else the run fails.

    ``rt.size "size0" %value, %size most "room0" else "Range 'r': …" : memref<i64>, memref<i64>`` (one thread).
    """

    name = "rt.size"
    symbol = prop_def(StringAttr)
    most = prop_def(StringAttr)
    why = prop_def(StringAttr)
    value = operand_def(MemRefType)
    size = operand_def(MemRefType)
    assembly_format = "$symbol $value `,` $size `most` $most `else` $why attr-dict `:` type($value) `,` type($size)"

    def __init__(self, symbol: str, value: SSAValue, size: SSAValue, most: str, why: str):
        texts = {"symbol": symbol, "most": most, "why": why}
        super().__init__(operands=[value, size], properties={name: StringAttr(text) for name, text in texts.items()})


@irdl_op_definition
class RoutineOp(IRDLOperation):
    """Run a routine on texts (one thread), which writes the last buffer.

    ``rt.routine "text.concat"(%a, %b, %y) : memref<3xi64>, memref<3xi64>, memref<3xi64>``
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
    """All threads have finished what stands before it."""

    name = "rt.barrier"
    assembly_format = "attr-dict"


def root(value: SSAValue) -> SSAValue:
    """The buffer that ``value`` is a view of."""
    while isinstance(value.owner, ViewOp):
        value = value.owner.source
    return value


def start(value: SSAValue) -> DimLike:
    """Bytes of the buffer ``root(value)`` before ``value``."""
    total: DimLike = 0
    while isinstance(value.owner, ViewOp):
        total = total + value.owner.start
        value = value.owner.source
    return total
