"""Memory of the host program: the caller's arrays, weights, scratch buffers, and views of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.types import bytes_of, shape_of

HOST = StringAttr("host")
"""The memory space of buffers in the host's memory, for steps that the host of a device runs; other buffers are in the
target's memory."""


def on_host(value: SSAValue) -> bool:
    """Return whether a buffer is in the host's memory and not in the device's: ``memref<3xi64, "host">``."""
    return isinstance(value.type, MemRefType) and value.type.memory_space == HOST


def in_host_memory(type_: Attribute) -> MemRefType:
    """Return ``type_`` as the type of a buffer in the host's memory."""
    assert isinstance(type_, MemRefType)
    return MemRefType(type_.element_type, type_.shape, type_.layout, HOST)


class _BufferSource(IRDLOperation):
    """An operation whose result is a buffer."""


@irdl_op_definition
class InputOp(_BufferSource):
    """The caller's input number ``index``: ``%x = rt.input 0 : memref<1x3xf32>``."""

    name = "rt.input"
    index = prop_def(IntegerAttr)
    result = result_def(MemRefType)
    assembly_format = "$index attr-dict `:` type($result)"

    def __init__(self, index: int, type: Attribute):
        super().__init__(properties={"index": IntegerAttr(index, i64)}, result_types=[type])


@irdl_op_definition
class OutputOp(_BufferSource):
    """The caller's output number ``index``: ``%y = rt.output 0 {bound = ["8", "n"]} : memref<?x?xf32, …>``.

    If its shape has run-time dimensions, ``bound`` is the largest shape, for which the caller has memory.
    ``optional``: axes that the caller's tensor has only if their extents are not 1.
    ``rt.output 0 of %x``: input-output alias. The output is in the memory of the input, whose old value is read as
    ``%x``.
    """

    name = "rt.output"
    index = prop_def(IntegerAttr)
    bound = opt_prop_def(ArrayAttr[StringAttr])
    optional = opt_prop_def(ArrayAttr[IntegerAttr])
    input = opt_operand_def(MemRefType)
    result = result_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$index (`of` $input^ `:` type($input) `,`)? attr-dict `:` type($result)"

    def __init__(
        self,
        index: int,
        type: Attribute,
        bound: Sequence[DimLike] | None = None,
        input: SSAValue | None = None,
        optional: Sequence[int] = (),
    ):
        properties: dict[str, Attribute] = {"index": IntegerAttr(index, i64)}
        if bound is not None:
            properties["bound"] = ArrayAttr(StringAttr(str(d)) for d in bound)
        if optional:
            properties["optional"] = ArrayAttr(IntegerAttr(n, i64) for n in optional)
        super().__init__(operands=[input], properties=properties, result_types=[type])

    def verify_(self) -> None:
        if self.input is not None and self.input.type != self.result.type:
            raise VerifyException(f"rt.output: {self.result.type} cannot be the memory of {self.input.type}")

    @property
    def largest_shape(self) -> tuple[DimLike, ...]:
        """The shape of the memory that the caller passes."""
        return shape_of(self.result) if self.bound is None else tuple(parse_dim(d.data) for d in self.bound)

    @property
    def optional_axes(self) -> tuple[int, ...]:
        """The axes that the caller's tensor has only if their extents are not 1."""
        return tuple(n.value.data for n in self.optional or ())


@irdl_op_definition
class WeightOp(_BufferSource):
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
class StateOp(_BufferSource):
    """State of the model, which lives from run to run: ``%w = rt.state "w" {entry = "w", offset = 0} : memref<3xf32>``.

    ``offset``: bytes from the start of the state's memory. ``entry``: the weight that is its first value, zeros without
    it.
    State without a name belongs to a kernel (semaphores), and callers do not see it.
    """

    name = "rt.state"
    sym_name = prop_def(StringAttr)
    entry = opt_prop_def(StringAttr)
    offset = opt_prop_def(IntegerAttr)
    result = result_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$sym_name attr-dict `:` type($result)"

    def __init__(self, name: str, type: Attribute, entry: str = ""):
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name)}
        if entry:
            properties["entry"] = StringAttr(entry)
        super().__init__(properties=properties, result_types=[type])


@irdl_op_definition
class UpdateOp(_BufferSource):
    """The new value of state, in the memory of the state: ``%new = rt.update %w : memref<3xf32>``."""

    name = "rt.update"
    source = operand_def(MemRefType)
    result = result_def(MemRefType)
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue):
        super().__init__(operands=[source], result_types=[source.type])

    def verify_(self) -> None:
        if self.source.type != self.result.type:
            raise VerifyException(f"rt.update: {self.result.type} cannot be the memory of {self.source.type}")


@irdl_op_definition
class BufferOp(_BufferSource):
    """Scratch memory in the arena of its memory space: at ``offset`` bytes or, if sizes are symbolic, after the buffers
    numbered ``after``."""

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
class RunCounterOp(_BufferSource):
    """The run counter: the number of earlier runs of the model: ``%n = rt.run_counter : memref<i64>``."""

    name = "rt.run_counter"
    result = result_def(MemRefType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: Attribute):
        super().__init__(result_types=[type])


@irdl_op_definition
class ViewOp(_BufferSource):
    """A view: the same memory with another shape, or from ``offset`` bytes on."""

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
        """The offset of the view in the source, in bytes."""
        return 0 if self.offset is None else parse_dim(self.offset.data)

    def verify_(self) -> None:
        after = bytes_of(self.source) - self.start - bytes_of(self.result)
        if any(isinstance(size, int) and size < 0 for size in (self.start, after)):
            what = f"{bytes_of(self.result)} bytes from byte {self.start}"
            raise VerifyException(f"rt.view: {what} are not in a buffer of {bytes_of(self.source)} bytes")


def replaced(value: SSAValue) -> SSAValue | None:
    """Return the old value of the input or state that ``value`` overwrites; None if ``value`` overwrites none."""
    owner = value.owner
    return owner.input if isinstance(owner, OutputOp) else owner.source if isinstance(owner, UpdateOp) else None


def _source(value: SSAValue) -> SSAValue | None:
    """Return the value whose memory ``value`` shares; None if ``value`` has memory of its own."""
    return value.owner.source if isinstance(value.owner, ViewOp) else replaced(value)


def root(value: SSAValue) -> SSAValue:
    """Return the buffer that contains ``value``: through views, and from new values to the input or state they
    overwrite."""
    while (source := _source(value)) is not None:
        value = source
    return value


def start(value: SSAValue) -> DimLike:
    """Return the offset of ``value`` in the buffer ``root(value)``, in bytes."""
    total: DimLike = 0
    while (source := _source(value)) is not None:
        total = total + (value.owner.start if isinstance(value.owner, ViewOp) else 0)
        value = source
    return total
