"""Asynchronous copies to shared memory (CUDA: cp.async; MLIR: ``nvgpu.device_async_copy``), and rings of buffers."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, MemRefType, VectorType, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.access import TileAccess, Valid, axes_of, split_strides
from mlc.dialects.kernel.effects import PURE, Accesses, Orders
from mlc.dialects.types import element_of, memref, shape_of


@irdl_op_definition
class SubviewOp(IRDLOperation):
    """A subview: the buffer at one index of the first axis, like MLIR's rank-reducing ``memref.subview``.

    ``%t = kernel.subview %ring[%slot] : memref<3x16x136xf32> -> memref<16x136xf32>``
    """

    name = "kernel.subview"
    source = operand_def(MemRefType)
    index = operand_def(i32)
    result = result_def(MemRefType)
    traits = traits_def(PURE)
    assembly_format = "$source `[` $index `]` attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, index: SSAValue):
        super().__init__(
            operands=[source, index], result_types=[memref(element_of(source), tuple(shape_of(source)[1:]))]
        )

    def verify_(self) -> None:
        if tuple(shape_of(self.source)[1:]) != tuple(shape_of(self.result)):
            raise VerifyException(f"{self.name}: {self.result.type} is not one of those in {self.source.type}")


def root_of(buffer: SSAValue) -> SSAValue:
    """Return the buffer that a subview is part of, or the buffer itself if it is no subview."""
    while isinstance(buffer.owner, SubviewOp):
        buffer = buffer.owner.source
    return buffer


@irdl_op_definition
class AsyncCopyOp(TileAccess):
    """An asynchronous copy of a tile to shared memory: it has arrived after a ``kernel.async_wait`` for its group.

    ``kernel.async_copy %a[%i] to %s[%zero] {shape = array<i64: 16, 64>, strides = array<i64: 64, 1>, target_strides =
    array<i64: 72, 1>, width = 4 : i64} : memref<70x64xf32>, memref<16x72xf32>``

    Element (a, b, …) is at ``offset + a·strides[0] + …`` of ``buffer`` and at ``at + a·target_strides[0] + …`` of
    ``target``. A thread copies ``width`` neighbours at a time, which are aligned as a whole. Elements that are not
    ``valid``, and all elements if ``when`` is false, are not read: the target gets zeros. No thread accesses these
    elements of the target before the wait; elements of an earlier group may be read.
    """

    name = "kernel.async_copy"
    buffer = operand_def(MemRefType)
    offset = operand_def(IndexType)
    dynamic = var_operand_def(IndexType)
    target = operand_def(MemRefType)
    at = operand_def(IndexType)
    valid = var_operand_def(IndexType)
    when = opt_operand_def(i1)
    valid_axes = opt_prop_def(DenseArrayBase)
    shape = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)
    target_strides = prop_def(DenseArrayBase)
    width = prop_def(IntegerAttr)
    traits = traits_def(Accesses(reads=("buffer",), writes=("target",)))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$buffer `[` $offset `]` (`strides` `(` $dynamic^ `)`)? `to` $target `[` $at `]` "
        "(`valid` `(` $valid^ `)`)? (`when` `(` $when^ `)`)? attr-dict `:` type($buffer) `,` type($target)"
    )

    def __init__(
        self,
        buffer: SSAValue,
        offset: SSAValue,
        strides: Sequence[int | SSAValue],
        target: SSAValue,
        at: SSAValue,
        target_strides: Sequence[int],
        shape: Sequence[int],
        width: int,
        valid: Valid = MappingProxyType({}),
        when: SSAValue | None = None,
    ):
        static, dynamic = split_strides(strides)
        properties = {
            "shape": DenseArrayBase.from_list(i64, list(shape)),
            "strides": static,
            "target_strides": DenseArrayBase.from_list(i64, list(target_strides)),
            "width": IntegerAttr(width, i64),
            "valid_axes": axes_of(valid),
        }
        operands = [[buffer], [offset], dynamic, [target], [at], [*valid.values()], [when] if when else []]
        super().__init__(operands, properties)

    @property
    def extents(self) -> tuple[int, ...]:
        return tuple(map(int, self.shape.get_values()))

    @property
    def axis(self) -> int:
        """The axis of the neighbours that are copied at a time: contiguous in both buffers."""
        pairs = zip(self.strides.get_values(), self.target_strides.get_values(), self.extents, strict=True)
        return next(n for n, (a, b, extent) in enumerate(pairs) if a == b == 1 and extent > 1)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The extents in units of ``width`` elements."""
        width = self.width.value.data
        return tuple(e // width if width > 1 and n == self.axis else e for n, e in enumerate(self.extents))

    def verify_(self) -> None:
        rank, width = len(self.extents), self.width.value.data
        self.verify_strides(rank)
        _verify_target(self, rank)
        pairs = list(zip(self.strides.get_values(), self.target_strides.get_values(), self.extents, strict=True))
        if width > 1 and not any(a == b == 1 and extent > 1 and extent % width == 0 for a, b, extent in pairs):
            raise VerifyException(f"{self.name}: no axis of {self.extents} has {width} neighbours in both buffers")


@irdl_op_definition
class AsyncGatherOp(IRDLOperation):
    """An asynchronous gather: it copies one element at every offset (an integer), like ``kernel.gather``, or ``width``
    neighbours, which are aligned as a whole and are neighbours in the target too.

    ``kernel.async_gather %a[%offsets] to %s[%zero] {target_strides = array<i64: 1, 32>, width = 8 : i64} : memref<…>,
    vector<4x128xi32>, memref<128x32xf16>``
    """

    name = "kernel.async_gather"
    buffer = operand_def(MemRefType)
    offsets = operand_def(VectorType)
    target = operand_def(MemRefType)
    at = operand_def(IndexType)
    valid = var_operand_def(IndexType)
    when = opt_operand_def(i1)
    valid_axes = opt_prop_def(DenseArrayBase)
    target_strides = prop_def(DenseArrayBase)
    width = prop_def(IntegerAttr)
    traits = traits_def(Accesses(reads=("buffer",), writes=("target",)))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$buffer `[` $offsets `]` `to` $target `[` $at `]` (`valid` `(` $valid^ `)`)? (`when` `(` $when^ `)`)? "
        "attr-dict `:` type($buffer) `,` type($offsets) `,` type($target)"
    )

    def __init__(
        self,
        buffer: SSAValue,
        offsets: SSAValue,
        target: SSAValue,
        at: SSAValue,
        target_strides: Sequence[int],
        width: int = 1,
        valid: Valid = MappingProxyType({}),
        when: SSAValue | None = None,
    ):
        properties = {
            "target_strides": DenseArrayBase.from_list(i64, list(target_strides)),
            "valid_axes": axes_of(valid),
            "width": IntegerAttr(width, i64),
        }
        super().__init__(operands=[buffer, offsets, target, at, [*valid.values()], when], properties=properties)

    @property
    def axis(self) -> int | None:
        """The axis of the neighbours of an offset; None if an offset has one element."""
        return list(self.target_strides.get_values()).index(1) if self.width.value.data > 1 else None

    def verify_(self) -> None:
        assert isinstance(self.offsets.type, VectorType)
        _verify_target(self, len(self.offsets.type.get_shape()))
        if self.width.value.data > 1 and 1 not in self.target_strides.get_values():
            raise VerifyException(f"{self.name}: no axis of the target has {self.width.value.data} neighbours")


def _verify_target(op: AsyncCopyOp | AsyncGatherOp, rank: int) -> None:
    """Check that the target has a stride for each axis of a tile of ``rank`` axes, and the elements of the buffer."""
    if len(op.target_strides.get_values()) != rank:
        raise VerifyException(f"{op.name}: one of target_strides for each of {rank} axes")
    if element_of(op.buffer) != element_of(op.target):
        raise VerifyException(f"{op.name}: {op.buffer.type} and {op.target.type} have different elements")


@irdl_op_definition
class AsyncGroupOp(IRDLOperation):
    """A group of asynchronous copies: the copies of a thread since its last group (CUDA: cp.async.commit_group)."""

    name = "kernel.async_group"
    traits = traits_def(Orders())
    assembly_format = "attr-dict"


@irdl_op_definition
class AsyncWaitOp(IRDLOperation):
    """A wait for asynchronous copies: each thread waits for its groups except the last ``groups``
    (cp.async.wait_group).

    A thread sees the copies of other threads only after a following barrier. ``kernel.async_wait {groups = 1}``
    """

    name = "kernel.async_wait"
    groups = prop_def(IntegerAttr)
    traits = traits_def(Orders())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"

    def __init__(self, groups: int):
        super().__init__(properties={"groups": IntegerAttr(groups, i64)})
