"""Bulk copies of tensors to shared memory (CUDA: TMA, ``cp.async.bulk.tensor``; MLIR: ``nvgpu.tma.async.load``), and
the barriers (``mbarrier``) by which the copying and the computing warps wait for each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Region, SSAValue
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
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.effects import Accesses, Orders
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.types import ITEMSIZE, element_of

if TYPE_CHECKING:
    from mlc.dialects.kernel.bulk_store import BulkStoreOp

SPANS = (0, 32, 64, 128)  # bytes of a row of a box in which 16-byte chunks are permuted; 0: none are
MOST_BOX, MOST_AXES = 256, 5  # elements of a box along an axis; axes of a tensor


@dataclass(frozen=True)
class TensorMap:
    """A tensor map (CUDA: ``CUtensorMap``): a buffer as a tensor, and the box of it that a bulk copy copies.

    ``extents`` in elements, the fastest axis first; ``strides`` in bytes, from the second axis on, multiples of 16;
    ``span``: the bytes of rows of a box whose 16-byte chunks are swizzled.
    """

    buffer: SSAValue
    extents: tuple[DimLike, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    span: int

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return ITEMSIZE[element_of(self.buffer)]


def map_of(op: BulkCopyOp | BulkStoreOp) -> TensorMap:
    """Return the tensor map of an operation, from its properties."""
    extents = tuple(parse_dim(e.data) for e in op.extents if isinstance(e, StringAttr))
    strides, box = (tuple(map(int, each.get_values())) for each in (op.strides, op.box))
    return TensorMap(op.buffer, extents, strides, box, op.span.value.data)


def map_properties(map_: TensorMap) -> dict[str, Attribute | None]:
    """Return the properties that hold the tensor map of an operation."""
    return {
        "extents": ArrayAttr([StringAttr(str(e)) for e in map_.extents]),
        "strides": DenseArrayBase.from_list(i64, list(map_.strides)),
        "box": DenseArrayBase.from_list(i64, list(map_.box)),
        "span": IntegerAttr(map_.span, i64),
    }


@irdl_op_definition
class BulkCopyOp(IRDLOperation):
    """A bulk copy: one thread copies a box of a tensor to shared memory; its bytes count in a phase of an mbarrier.

    ``kernel.bulk_copy %a[%x, %y] to %s[%at] barrier %full[%slot] {extents = ["160", "520"], strides = array<i64: 320>,
    box = array<i64: 64, 128>, span = 128 : i64} : memref<520x160xf16>, memref<128x64xf16>, memref<4xi64>``

    The box begins at (x, y, …), the fastest coordinate first, and is in row-major order from element ``at`` of the
    target on, but for its swizzle. Elements outside the tensor become zeros. Without a barrier, as before
    ``specialize-warps``, the copy has arrived when the operation ends. With ``multicast %mask`` it arrives in each
    block of the cluster whose bit is set, and counts in that block's barrier.
    """

    name = "kernel.bulk_copy"
    buffer = operand_def(MemRefType)
    coordinates = var_operand_def(IndexType)
    target = operand_def(MemRefType)
    at = operand_def(IndexType)
    barrier = opt_operand_def(MemRefType)
    slot = opt_operand_def(i32)
    mask = opt_operand_def(IndexType)
    extents = prop_def(ArrayAttr)
    strides = prop_def(DenseArrayBase)
    box = prop_def(DenseArrayBase)
    span = prop_def(IntegerAttr)
    traits = traits_def(Accesses(reads=("buffer",), writes=("target", "barrier")))
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$buffer `[` $coordinates `]` `to` $target `[` $at `]` (`barrier` $barrier^ `[` $slot `]`)? "
        "(`multicast` $mask^)? attr-dict "
        "`:` type($buffer) `,` type($target) (`,` type($barrier)^)?"
    )

    def __init__(
        self,
        map_: TensorMap,
        coordinates: Sequence[SSAValue],
        target: SSAValue,
        at: SSAValue,
        barrier: tuple[SSAValue, SSAValue] | None = None,
        mask: SSAValue | None = None,
    ):
        ends = barrier or (None, None)
        operands = [map_.buffer, list(coordinates), target, at, *ends, mask]
        super().__init__(operands=operands, properties=map_properties(map_))

    @property
    def map(self) -> TensorMap:
        return map_of(self)

    @property
    def bytes(self) -> int:
        """The bytes that arrive, which are those of the whole box."""
        total = self.map.itemsize
        for extent in self.map.box:
            total *= extent
        return total

    def verify_(self) -> None:
        map_, rank = self.map, len(self.coordinates)
        if not 2 <= rank <= MOST_AXES or not rank == len(map_.extents) == len(map_.box) == len(map_.strides) + 1:
            raise VerifyException(f"{self.name}: 2 to {MOST_AXES} coordinates, and as many extents and box sizes")
        if any(s % 16 for s in map_.strides) or any(not 1 <= n <= MOST_BOX for n in map_.box):
            raise VerifyException(f"{self.name}: strides are multiples of 16 bytes, and a box has at most {MOST_BOX}")
        row = map_.box[0] * map_.itemsize
        if map_.span not in SPANS or row % 16 or (map_.span and row > map_.span):
            raise VerifyException(f"{self.name}: rows of {row} bytes have no swizzle of {map_.span}")
        if element_of(self.buffer) != element_of(self.target):
            raise VerifyException(f"{self.name}: {self.buffer.type} and {self.target.type} have different elements")


@irdl_op_definition
class MbarrierInitOp(IRDLOperation):
    """Initializes barriers in shared memory: a phase of each ends with ``count`` arrivals and the bytes that they
    expect.

    ``kernel.mbarrier_init %full {count = 1 : i64} : memref<4xi64>``
    """

    name = "kernel.mbarrier_init"
    barrier = operand_def(MemRefType)
    count = prop_def(IntegerAttr)
    traits = traits_def(Accesses(writes=("barrier",)))
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$barrier attr-dict `:` type($barrier)"

    def __init__(self, barrier: SSAValue, count: int):
        super().__init__(operands=[barrier], properties={"count": IntegerAttr(count, i64)})


@irdl_op_definition
class MbarrierExpectOp(IRDLOperation):
    """An arrival of one thread, which also says how many bytes the phase waits for (CUDA:
    mbarrier.arrive.expect_tx)."""

    name = "kernel.mbarrier_expect"
    barrier = operand_def(MemRefType)
    slot = operand_def(i32)
    bytes = prop_def(IntegerAttr)
    traits = traits_def(Orders())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$barrier `[` $slot `]` attr-dict `:` type($barrier)"

    def __init__(self, barrier: SSAValue, slot: SSAValue, bytes_: int):
        super().__init__(operands=[barrier, slot], properties={"bytes": IntegerAttr(bytes_, i64)})


@irdl_op_definition
class MbarrierArriveOp(IRDLOperation):
    """An arrival of each warp (CUDA: mbarrier.arrive): ``kernel.mbarrier_arrive %empty[%slot] : memref<4xi64>``. With
    ``multicast %mask``, warps arrive at the barrier of each block of the cluster whose bit is set; with ``when %c``,
    only if the condition holds."""

    name = "kernel.mbarrier_arrive"
    barrier = operand_def(MemRefType)
    slot = operand_def(i32)
    mask = opt_operand_def(IndexType)
    when = opt_operand_def(IntegerType(1))
    traits = traits_def(Orders())
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = "$barrier `[` $slot `]` (`multicast` $mask^)? (`when` $when^)? attr-dict `:` type($barrier)"

    def __init__(self, barrier: SSAValue, slot: SSAValue, mask: SSAValue | None = None, when: SSAValue | None = None):
        super().__init__(operands=[barrier, slot, mask, when])


@irdl_op_definition
class MbarrierWaitOp(IRDLOperation):
    """A wait for the end of the phase of a parity, 0 or 1 (CUDA: mbarrier.try_wait.parity). Initially, the phase of
    parity 1 has ended."""

    name = "kernel.mbarrier_wait"
    barrier = operand_def(MemRefType)
    slot = operand_def(i32)
    parity = operand_def(i32)
    traits = traits_def(Orders())
    assembly_format = "$barrier `[` $slot `]` `parity` $parity attr-dict `:` type($barrier)"

    def __init__(self, barrier: SSAValue, slot: SSAValue, parity: SSAValue):
        super().__init__(operands=[barrier, slot, parity])


@irdl_op_definition
class SpecializeOp(IRDLOperation):
    """Warp specialization: one of the additional threads runs ``producer``, the threads of the tile run
    ``consumer``.

    ``kernel.specialize {threads = 128 : i64} producer {…} consumer {…}``: ``threads`` is the number of additional
    threads, a warpgroup that gives up registers for the computing warpgroups (``registers``: those of a copying and of
    a computing thread). With ``groups = 2``, two groups of the tile's threads run ``consumer``, and each takes every
    second tile of a block (CUTLASS: ping-pong).
    """

    name = "kernel.specialize"
    threads = prop_def(IntegerAttr)
    registers = opt_prop_def(DenseArrayBase)
    groups = opt_prop_def(IntegerAttr)
    producer = region_def("single_block")
    consumer = region_def("single_block")
    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict `producer` $producer `consumer` $consumer"

    def __init__(self, threads: int, producer: Region, consumer: Region, groups: int = 1):
        number = IntegerAttr(groups, i64) if groups > 1 else None
        properties = {"threads": IntegerAttr(threads, i64), "groups": number}
        super().__init__(regions=[producer, consumer], properties=properties)
