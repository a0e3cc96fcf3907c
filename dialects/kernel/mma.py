"""Matrix products of tensor cores (PTX: mma and wgmma): their instructions, and the operation on staged operands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, UnitAttr, VectorType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.kernel.effects import Accesses, Orders
from mlc.dialects.types import FLOAT8, element_name, element_of


@dataclass(frozen=True)
class MmaShape:
    """The product that a warp computes by one instruction: rows × columns of sums, each of ``steps`` products."""

    rows: int
    columns: int
    steps: int
    bits: int  # of a factor
    total: str  # the element type of the sums

    def __str__(self) -> str:
        return f"m{self.rows}n{self.columns}k{self.steps}"

    @property
    def packed(self) -> int:
        """The number of factors in a register of 32 bits, which are neighbours along the sum."""
        return 32 // self.bits

    @property
    def exact(self) -> bool:
        """Whether sums have no rounding error, as sums of integers."""
        return self.total == "i32"

    @property
    def promoted(self) -> bool:
        """Whether warpgroups accumulate in fewer bits than f32 has (floats of 8 bits), so that sums of a few
        instructions are added in f32 (CUTLASS: promotion)."""
        return self.bits == 8 and not self.exact


MMA_SHAPES = {
    "f32": MmaShape(16, 8, 8, 32, "f32"),
    "f16": MmaShape(16, 8, 16, 16, "f32"),
    "bf16": MmaShape(16, 8, 16, 16, "f32"),
    "i8": MmaShape(16, 8, 32, 8, "i32"),
    "ui8": MmaShape(16, 8, 32, 8, "i32"),
    **dict.fromkeys(FLOAT8, MmaShape(16, 8, 32, 8, "f32")),
}
"""The instruction for factors of an element type: mma.sync of PTX (ISA 8.5, warp-level matrix instructions). Factors of
f32 are TF32; signed and unsigned bytes multiply each other, and so do floats of 8 bits."""


def factor_element(elements: Iterable[str]) -> str | None:
    """Return the element type as which tensor cores multiply factors of these types, or None if no instruction does. A
    type of 8 bits and one of 16 bits are multiplied as the latter, which holds each value of the former."""
    found = list(dict.fromkeys(elements))
    shapes = {MMA_SHAPES.get(e) for e in found}
    halves = [e for e in found if (shape := MMA_SHAPES.get(e)) and shape.bits == 16]
    if not found or None in shapes or len(halves) > 1 or (len(shapes) > 1 and (not halves or "f32" in found)):
        return None
    return halves[0] if halves else found[0]


WARPGROUP_COLUMNS = (64, 128, 256)
"""The columns of a warpgroup's product by one instruction (wgmma of PTX): 64 rows, and steps of 32 bytes."""


def warpgroup_shape(element: str, columns: int) -> MmaShape:
    """Return the instruction of a warpgroup (four warps), with the steps and the element type of the sums of a
    warp's."""
    return replace(MMA_SHAPES[element], rows=64, columns=columns)


def is_of_warpgroup(text: str) -> bool:
    """Return whether a shape, as a schedule writes it, is that of a warpgroup's instruction."""
    return text.startswith("m64n")


@irdl_op_definition
class MmaOp(IRDLOperation):
    """Matrix products of a warp's fragments (CUDA: mma): ``acc`` plus the product of two staged operands.

    ``%d = kernel.mma %acc, %a, %b {steps = 32, strides = array<i64: 1, 32, 64, 1>} : vector<128x64xf32>,
    memref<128x32xf16>, memref<32x64xf16> -> vector<128x64xf32>``

    Element (k, m) of ``a`` is at ``k·strides[0] + m·strides[1]``, element (k, n) of ``b`` at ``k·strides[2] +
    n·strides[3]``, before the layout of the local array; the sum is over ``steps`` values of k. Products are exact,
    except that factors of f32 are rounded to TF32, with 10 bits after the point; with ``split`` each such factor is the
    sum of two, and the product has three terms (3×TF32). Sums are in f32, or in i32, where they wrap. With
    ``warpgroup`` four warps multiply 64 rows by so many columns at a time, and read the operands in shared memory; with
    ``in_flight`` the product is asynchronous, and the sums are valid after a ``kernel.mma_wait``. Warpgroups add
    products of 8-bit floats in fewer bits than f32 has, so the sum of ``steps`` is separate (``promoted``).

    ``a`` may also be a vector of rows × ``steps`` halves, which has the distribution of the sums: the registers that
    hold sums of m16n8 are those of a left factor of m16n8k16. Its strides are then 0. Steps beyond the vector count as
    0. A ``partial`` tile need not be whole fragments: elements beyond the tile are computed from arbitrary factors and
    ignored.
    """

    name = "kernel.mma"
    acc = operand_def(VectorType)
    a = operand_def(MemRefType | VectorType)
    b = operand_def(MemRefType)
    steps = prop_def(IntegerAttr)
    strides = prop_def(DenseArrayBase)
    split = opt_prop_def(UnitAttr)
    warpgroup = opt_prop_def(IntegerAttr)
    in_flight = opt_prop_def(UnitAttr)
    partial = opt_prop_def(UnitAttr)
    result = result_def(VectorType)
    traits = traits_def(Accesses(reads=("a", "b")))
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a) `,` type($b) `->` type($result)"

    def __init__(
        self, acc: SSAValue, a: SSAValue, b: SSAValue, steps: int, strides: Sequence[int], split: bool = False
    ):
        properties = {
            "steps": IntegerAttr(steps, i64),
            "strides": DenseArrayBase.from_list(i64, list(strides)),
            "split": UnitAttr() if split else None,
        }
        super().__init__(operands=[acc, a, b], properties=properties, result_types=[acc.type])

    @property
    def shape(self) -> MmaShape:
        """The instruction for the factors' element type."""
        element = element_of(self.b)
        return warpgroup_shape(element, self.warpgroup.value.data) if self.warpgroup else MMA_SHAPES[element]

    @property
    def along(self) -> bool:
        """Whether both operands have neighbours along the sum (K-major)."""
        return [int(n) for n in self.strides.get_values()][::2] == [1, 1]

    @property
    def promoted(self) -> bool:
        """Whether the sum of the steps is computed separately, and then added to ``acc`` in f32."""
        return self.warpgroup is not None and self.shape.promoted

    @property
    def held(self) -> bool:
        """Whether the left factor is in registers."""
        return isinstance(self.a.type, VectorType)

    def verify_(self) -> None:
        elements = [_element(v) for v in (self.a, self.b)]
        shapes = [MMA_SHAPES.get(e) for e in elements]
        if shapes[0] is None or shapes[0] != shapes[1] or (elements[0] != elements[1] and shapes[0].bits != 8):
            raise VerifyException(f"{self.name}: there is no product of {elements[0]} and {elements[1]}")
        mma, type_ = self.shape, self.result.type
        if self.in_flight and not self.warpgroup:
            raise VerifyException(f"{self.name}: only products of warpgroups are in flight")
        if self.warpgroup and (self.split or mma.bits != 16 and not self.along):
            raise VerifyException(f"{self.name}: warpgroups multiply no sums of two TF32, and factors of {elements[0]} "
                                  "that have neighbours along the sum only")  # fmt: skip
        assert isinstance(type_, VectorType)
        tile = tuple(type_.get_shape())
        whole = len(tile) == 2 and (self.partial is not None or tile[0] % mma.rows == tile[1] % mma.columns == 0)
        if self.acc.type != type_ or not whole or self.steps.value.data % mma.steps:
            parts = f"fragments of {mma.rows} x {mma.columns}, in steps of {mma.steps}"
            raise VerifyException(f"{self.name}: {type_} is not made of {parts}")
        if str(type_.element_type) != mma.total or len(self.strides) != 4 or self.split and mma.bits != 32:
            raise VerifyException(f"{self.name}: products of {elements[0]} have sums of {mma.total}, four strides, and "
                                  "are split for f32 only")  # fmt: skip
        if self.held and (self.warpgroup or mma.bits != 16 or not self._fits(tile)):
            raise VerifyException(f"{self.name}: a left factor in registers has rows x steps halves, not {self.a.type}")

    def _fits(self, tile: tuple[int, ...]) -> bool:
        assert isinstance(self.a.type, VectorType)
        rows, steps = self.a.type.get_shape()
        return rows == tile[0] and steps <= self.steps.value.data


@irdl_op_definition
class MmaWaitOp(IRDLOperation):
    """A wait until at most the last ``groups`` products are in flight (CUDA: wgmma.wait_group).

    ``%w = kernel.mma_wait %d {groups = 1 : i64} : vector<128x256xf32> -> vector<128x256xf32>``:
    ``%w`` is the sums ``%d``. Only products may use the sums while groups are in flight.
    """

    name = "kernel.mma_wait"
    sums = operand_def(VectorType)
    groups = prop_def(IntegerAttr)
    result = result_def(VectorType)
    traits = traits_def(Orders())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$sums attr-dict `:` type($sums) `->` type($result)"

    def __init__(self, sums: SSAValue, groups: int):
        super().__init__(operands=[sums], properties={"groups": IntegerAttr(groups, i64)}, result_types=[sums.type])

    def verify_(self) -> None:
        if self.result.type != self.sums.type or self.groups.value.data < 0:
            raise VerifyException(f"{self.name}: sums of {self.sums.type}, and 0 or more groups in flight")


def _element(value: SSAValue) -> str:
    """Return the element type of an operand in shared memory or in registers."""
    if isinstance(value.type, VectorType):
        return element_name(value.type.element_type)
    return element_of(value)
