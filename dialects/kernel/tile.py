"""Reads and writes of register tiles in linear buffers, and operations on tiles that ``arith`` and ``vector`` lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    MemRefType,
    StringAttr,
    UnitAttr,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
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

from mlc.dialects.kernel.access import TileAccess, Valid, axes_of, split_strides, verify_element
from mlc.dialects.kernel.effects import PURE, Accesses
from mlc.dialects.types import FLOAT8


@irdl_op_definition
class ReadOp(TileAccess):
    """A read of a register tile; with ``lanes`` only so many elements of the last axis are read, and the others are
    zero.

    With ``odd``, the elements are one after those of a tile of stride 2 at ``offset``, which is read too: both tiles
    are shuffled out of the same vectors.
    ``%a = kernel.read %buf[%offset] strides(%s) lanes(%n) {strides = array<i64: 768, 1>} : memref<…> -> vector<…>``
    """

    name = "kernel.read"
    buffer = operand_def(MemRefType)
    offset = operand_def(IndexType)
    dynamic = var_operand_def(IndexType)
    lanes = opt_operand_def(IndexType)
    valid = var_operand_def(IndexType)
    valid_axes = opt_prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)
    odd = opt_prop_def(UnitAttr)
    result = result_def()
    traits = traits_def(Accesses(reads=("buffer",)))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$buffer `[` $offset `]` (`strides` `(` $dynamic^ `)`)? (`lanes` `(` $lanes^ `)`)? "
        "(`valid` `(` $valid^ `)`)? attr-dict `:` type($buffer) `->` type($result)"
    )

    def verify_(self) -> None:
        super().verify_()
        if self.odd is not None and (self.lanes or int(self.strides.get_values()[-1]) != 2):
            raise VerifyException(f"{self.name}: odd elements of a whole tile whose last stride is 2")

    def __init__(
        self,
        buffer: SSAValue,
        offset: SSAValue,
        strides: Sequence[int | SSAValue],
        result: Attribute,
        lanes: SSAValue | None = None,
        odd: bool = False,
        valid: Valid = MappingProxyType({}),
    ):
        static, dynamic = split_strides(strides)
        properties = {"strides": static, "odd": UnitAttr() if odd else None, "valid_axes": axes_of(valid)}
        operands = [[buffer], [offset], dynamic, [lanes] if lanes else [], [*valid.values()]]
        super().__init__(operands, properties, [result])


@irdl_op_definition
class WriteOp(TileAccess):
    """A write of a register tile; with ``lanes`` only so many elements of the last axis."""

    name = "kernel.write"
    value = operand_def()
    buffer = operand_def(MemRefType)
    offset = operand_def(IndexType)
    dynamic = var_operand_def(IndexType)
    lanes = opt_operand_def(IndexType)
    valid = var_operand_def(IndexType)
    valid_axes = opt_prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)
    traits = traits_def(Accesses(writes=("buffer",)))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$value `,` $buffer `[` $offset `]` (`strides` `(` $dynamic^ `)`)? (`lanes` `(` $lanes^ `)`)? "
        "(`valid` `(` $valid^ `)`)? attr-dict `:` type($value) `,` type($buffer)"
    )

    def __init__(
        self,
        value: SSAValue,
        buffer: SSAValue,
        offset: SSAValue,
        strides: Sequence[int | SSAValue],
        lanes: SSAValue | None = None,
        valid: Valid = MappingProxyType({}),
    ):
        static, dynamic = split_strides(strides)
        properties = {"strides": static, "valid_axes": axes_of(valid)}
        operands = [[value], [buffer], [offset], dynamic, [lanes] if lanes else [], [*valid.values()]]
        super().__init__(operands, properties)


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """A prefetch of the cache line of an element that is read later: ``kernel.prefetch %buf[%offset] : memref<…>``."""

    name = "kernel.prefetch"
    buffer = operand_def(MemRefType)
    offset = operand_def(IndexType)
    traits = traits_def(Accesses(reads=("buffer",), writes=("buffer",)))
    assembly_format = "$buffer `[` $offset `]` attr-dict `:` type($buffer)"

    def __init__(self, buffer: SSAValue, offset: SSAValue):
        super().__init__(operands=[buffer, offset])


@irdl_op_definition
class GatherOp(IRDLOperation):
    """A read of one element of a linear buffer at every offset (an integer, scalar or vector), or at the first
    ``lanes`` ones.

    With ``lane_offsets`` the offsets are equal along the last axis: its element j is ``lane_offsets[j]`` after the
    offset.
    """

    name = "kernel.gather"
    buffer = operand_def(MemRefType)
    offsets = operand_def()
    lanes = opt_operand_def(IndexType)
    valid = var_operand_def(IndexType)
    valid_axes = opt_prop_def(DenseArrayBase)
    lane_offsets = opt_prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(Accesses(reads=("buffer",)))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$buffer `[` $offsets `]` (`lanes` `(` $lanes^ `)`)? (`valid` `(` $valid^ `)`)? attr-dict "
        "`:` type($buffer) `,` type($offsets) `->` type($result)"
    )

    def __init__(
        self,
        buffer: SSAValue,
        offsets: SSAValue,
        result: Attribute,
        lanes: SSAValue | None = None,
        lane_offsets: Sequence[int] | None = None,
        valid: Valid = MappingProxyType({}),
    ):
        constant = None if lane_offsets is None else DenseArrayBase.from_list(i64, list(lane_offsets))
        properties = {"lane_offsets": constant, "valid_axes": axes_of(valid)}
        operands = [buffer, offsets, lanes, [*valid.values()]]
        super().__init__(operands=operands, properties=properties, result_types=[result])

    def verify_(self) -> None:
        verify_element(self, self.buffer, self.result.type)
        type_, constant = self.result.type, self.lane_offsets
        if constant is not None and not (isinstance(type_, VectorType) and type_.get_shape()[-1] == len(constant)):
            raise VerifyException(f"{self.name}: {len(constant)} lane_offsets for a result of {type_}")


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """A write of one element of a linear buffer at every offset (an integer, scalar or vector). All offsets differ.

    ``kernel.scatter %v, %buf[%offsets] : vector<8x32xf32>, memref<…>, vector<8x32xi32>``
    """

    name = "kernel.scatter"
    value = operand_def()
    buffer = operand_def(MemRefType)
    offsets = operand_def()
    valid = var_operand_def(IndexType)
    valid_axes = opt_prop_def(DenseArrayBase)
    traits = traits_def(Accesses(writes=("buffer",)))
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$value `,` $buffer `[` $offsets `]` (`valid` `(` $valid^ `)`)? attr-dict "
        "`:` type($value) `,` type($buffer) `,` type($offsets)"
    )

    def __init__(self, value: SSAValue, buffer: SSAValue, offsets: SSAValue, valid: Valid = MappingProxyType({})):
        super().__init__(
            operands=[value, buffer, offsets, [*valid.values()]], properties={"valid_axes": axes_of(valid)}
        )

    def verify_(self) -> None:
        verify_element(self, self.buffer, self.value.type)
        value, offsets = self.value.type, self.offsets.type
        shapes = [t.get_shape() if isinstance(t, VectorType) else () for t in (value, offsets)]
        if shapes[0] != shapes[1]:
            raise VerifyException(f"{self.name}: a value of {value} has no place for each of {offsets}")


@irdl_op_definition
class SlideOp(IRDLOperation):
    """A shift of ``rows`` by one lane: element j is element j + 1 of ``rows`` along the last axis, the last is
    ``next``.

    ``%b = kernel.slide %a, %n : vector<6x32xf32>, vector<6x1xf32>``
    """

    name = "kernel.slide"
    rows = operand_def(VectorType)
    next = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(PURE)
    assembly_format = "$rows `,` $next attr-dict `:` type($rows) `,` type($next) `->` type($result)"

    def __init__(self, rows: SSAValue, next: SSAValue):
        super().__init__(operands=[rows, next], result_types=[rows.type])

    def verify_(self) -> None:
        rows, last = self.rows.type, self.next.type
        assert isinstance(rows, VectorType) and isinstance(last, VectorType)
        column = VectorType(rows.element_type, [*rows.get_shape()[:-1], 1])
        if self.result.type != rows or last != column:
            raise VerifyException(f"{self.name}: {rows} needs one element for each row from {column}, not {last}")


@irdl_op_definition
class StepOp(IRDLOperation):
    """The vector 0, 1, 2, … along its only axis with an extent other than 1."""

    name = "kernel.step"
    result = result_def()
    traits = traits_def(PURE)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, result: Attribute):
        super().__init__(result_types=[result])


WIDENING = {element: f"extf.{element}" for element in FLOAT8}
"""The lanewise operations that widen the codes of floats of 8 bits, of type i8, to f32."""


@irdl_op_definition
class LanewiseOp(IRDLOperation):
    """An operation that xDSL lacks (``arith.remf``, ``dot4``, ``extf.f8e5m2``) or defines only on scalars, applied to
    every lane.

    ``%m = kernel.lanewise "arith.cmpf"(%a, %b) {of = {predicate = 4 : i64}} : (vector<16xf32>, …) -> vector<16xi1>``
    """

    name = "kernel.lanewise"
    op = prop_def(StringAttr)
    of = prop_def(DictionaryAttr)
    args = var_operand_def()
    result = result_def()
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$op `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, op: str, args: Sequence[SSAValue], properties: Mapping[str, Attribute], result: Attribute):
        of = DictionaryAttr({k: v for k, v in properties.items() if not k.startswith("fast")})
        super().__init__(operands=[args], properties={"op": StringAttr(op), "of": of}, result_types=[result])
