"""Bulk stores of tensors (CUDA: TMA, ``cp.async.bulk.tensor`` from shared memory; Triton: ``tt.descriptor_store``)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IndexType, IntegerAttr, MemRefType, VectorType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.bulk_copy import TensorMap, map_of, map_properties
from mlc.dialects.kernel.effects import Accesses, Orders
from mlc.dialects.types import element_name, element_of

PART = 64  # rows that a warpgroup stores at a time, each of 128 bytes
WIDTH = 128  # bytes of a row


def part_columns(itemsize: int) -> int:
    """Return the columns that a warpgroup stores at a time: 64 of 16 bits, 32 of 32."""
    return WIDTH // itemsize


@irdl_op_definition
class BulkStoreOp(IRDLOperation):
    """A bulk store: warpgroups write their sums to shared memory, and one thread of each warpgroup starts the copy.

    ``kernel.bulk_store %v through %s to %y[%x, %i] {extents = ["120", "100"], strides = array<i64: 240>,
    box = array<i64: 64, 64>, span = 128 : i64} : vector<64x128xf16>, memref<2x64x64xf16>, memref<100x120xf16>``

    The tile begins at (x, i, …), the fastest coordinate first; elements outside the tensor are not written. ``%s`` has
    an equal number of buffers, of 64 rows of 128 bytes, for each warpgroup. A warpgroup uses its buffers in turn, and
    waits until the previous store from a buffer has read it. Elements have 16 or 32 bits. ``kernel.bulk_store_wait`` is
    at the end of the kernel.
    """

    name = "kernel.bulk_store"
    value = operand_def(VectorType)
    staging = operand_def(MemRefType)
    buffer = operand_def(MemRefType)
    coordinates = var_operand_def(IndexType)
    extents = prop_def(ArrayAttr)
    strides = prop_def(DenseArrayBase)
    box = prop_def(DenseArrayBase)
    span = prop_def(IntegerAttr)
    traits = traits_def(Accesses(reads=("staging",), writes=("staging", "buffer")))
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$value `through` $staging `to` $buffer `[` $coordinates `]` attr-dict "
        "`:` type($value) `,` type($staging) `,` type($buffer)"
    )

    def __init__(self, value: SSAValue, staging: SSAValue, map_: TensorMap, coordinates: Sequence[SSAValue]):
        super().__init__(operands=[value, staging, map_.buffer, list(coordinates)], properties=map_properties(map_))

    @property
    def map(self) -> TensorMap:
        return map_of(self)

    @property
    def bytes(self) -> int:
        """The bytes of the tile."""
        assert isinstance(self.value.type, VectorType)
        return prod(self.value.type.get_shape()) * self.map.itemsize

    def verify_(self) -> None:
        map_, value = self.map, self.value.type
        assert isinstance(value, VectorType)
        names = {element_of(self.buffer), element_of(self.staging), element_name(value.element_type)}
        if len(names) > 1 or map_.itemsize not in (2, 4):
            found = " and ".join(sorted(names))
            raise VerifyException(f"{self.name}: elements of 16 or 32 bits of one type, not {found}")
        columns = part_columns(map_.itemsize)
        if map_.span != WIDTH or map_.box[0] != columns or prod(map_.box) != PART * columns:
            raise VerifyException(f"{self.name}: boxes have {PART} x {columns} elements")
        if len(self.coordinates) != len(map_.box) or any(n % PART for n in value.get_shape()):
            raise VerifyException(f"{self.name}: {value} is not made of {PART} x {columns} elements")


@irdl_op_definition
class BulkStoreWaitOp(IRDLOperation):
    """A wait until the bulk stores have read shared memory (CUDA: cp.async.bulk.wait_group.read)."""

    name = "kernel.bulk_store_wait"
    traits = traits_def(Orders())
    assembly_format = "attr-dict"
