"""Accesses to tiles of linear buffers: their strides, of which some are run-time values, and their valid extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, MemRefType, VectorType, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import ints
from mlc.dialects.types import bit_width, element_of, is_float, is_narrow

Valid = Mapping[int, SSAValue]
"""The number of valid elements along some axes of a tile. Elements beyond it are not accessed (padding of a GPU's
tiles)."""


class TileAccess(IRDLOperation):
    """An access to a register tile of a linear buffer: element (a, b, …) is at ``offset + a·strides[0] + b·strides[1] +
    …``."""

    def __init__(
        self,
        operands: Sequence[Sequence[SSAValue]],
        properties: Mapping[str, Attribute | None],
        result_types: Sequence[Attribute] = (),
    ):
        """Set one list for each operand. xDSL's constructor, which does the same, takes three times as long."""
        given = {name: each for name, each in properties.items() if each is not None}
        sizes = {AttrSizedOperandSegments.attribute_name: _segments(tuple(map(len, operands)))}
        flat = [value for values in operands for value in values]
        Operation.__init__(self, operands=flat, result_types=result_types, properties={**given, **sizes})

    def verify_(self) -> None:
        tile = (*self.results, *self.operands)[0].type
        self.verify_strides(len(tile.get_shape()) if isinstance(tile, VectorType) else 0)
        verify_element(self, self.buffer, tile)  # type: ignore[attr-defined]

    def verify_strides(self, rank: int) -> None:
        """Check that there is a stride for each axis of a tile of ``rank`` axes."""
        strides = self.strides.get_values()  # type: ignore[attr-defined]
        if len(strides) != rank:
            raise VerifyException(f"{self.name}: {len(strides)} strides for a tile of rank {rank}")
        if sum(s == DYNAMIC_INDEX for s in strides) != len(self.dynamic):  # type: ignore[attr-defined]
            raise VerifyException(f"{self.name}: one operand in strides(…) for each stride known at run time only")

    @property
    def mixed_strides(self) -> list[int | SSAValue]:
        """The stride along each axis (MLIR: ``getMixedStrides``)."""
        return [self.stride(axis) for axis in range(len(self.strides.get_values()))]  # type: ignore[attr-defined]

    def stride(self, axis: int) -> int | SSAValue:
        """Return the distance in elements between neighbours along ``axis``: a constant, or the SSA value of a run-time
        stride."""
        strides = [int(s) for s in self.strides.get_values()]  # type: ignore[attr-defined]
        if strides[axis] != DYNAMIC_INDEX:
            return strides[axis]
        return self.dynamic[sum(s == DYNAMIC_INDEX for s in strides[:axis])]  # type: ignore[attr-defined]


@cache
def _segments(sizes: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, sizes)


def verify_element(op: IRDLOperation, buffer: SSAValue, tile: Attribute) -> None:
    """Check that a tile has the element type of its buffer, or a signless integer: of equal width for unsigned
    elements, of a byte for narrow ones."""
    assert isinstance(buffer.type, MemRefType)
    stored, element = buffer.type.element_type, tile.element_type if isinstance(tile, VectorType) else tile
    bits = 8 if is_narrow(element_of(buffer)) else bit_width(element_of(buffer))
    if element != stored and (is_float(element_of(buffer)) or element != IntegerType(bits)):
        raise VerifyException(f"{op.name}: a tile of {element} in a buffer of {stored}")


def axes_of(valid: Valid) -> DenseArrayBase | None:
    """Return the property ``valid_axes``: the axes of which ``valid`` has the extents."""
    return ints(valid) if valid else None


def valid_of(op: IRDLOperation) -> dict[int, SSAValue]:
    """Return the number of valid elements along each axis on which a read, write or gather may have fewer than the
    tile."""
    axes = op.valid_axes  # type: ignore[attr-defined]
    return {} if axes is None else dict(zip(map(int, axes.get_values()), op.valid, strict=True))  # type: ignore[attr-defined]


def split_strides(strides: Sequence[int | SSAValue]) -> tuple[DenseArrayBase, list[SSAValue]]:
    """Return the property ``strides``, with DYNAMIC_INDEX for run-time values, and these values."""
    static = [s if isinstance(s, int) else DYNAMIC_INDEX for s in strides]
    return ints(static), [s for s in strides if isinstance(s, SSAValue)]
