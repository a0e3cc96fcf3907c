"""The context of a tile instance: its axes, the values of iterators, and the buffers of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from mlc.dialects.semantics.dims import DimLike, evaluate, product, sum_of
from mlc.passes.loops.index.index_builder import AXIS, IndexBuilder, simplify


@dataclass(frozen=True)
class TileAxis:
    """An axis of the register tile: an iterator, the number of its points, and the number of valid ones (None: all)."""

    iterator: str
    size: int
    lanes: SSAValue | None = None

    @property
    def symbol(self) -> str:
        return AXIS + self.iterator


@dataclass(frozen=True)
class TileContext:
    """The value of each iterator (over loop variables and axis symbols), and the axes of the register tile.

    ``origins``: iterators whose loops do not begin at 0, but at the first point of a streamed block or of an unmasked
    range. ``full``: for an inner iterator, the first point that is masked for no row of the tile and the one after the
    last, counted from its origin; ``unmasked``: whether all points of the tile are in such ranges. ``ends``: the
    extents of iterators whose last block may be partly beyond the extent.
    """

    at: Mapping[str, DimLike]
    axes: tuple[TileAxis, ...]
    origins: Mapping[str, DimLike] = field(default_factory=dict)
    full: Mapping[str, tuple[DimLike, DimLike]] = field(default_factory=dict)
    unmasked: bool = False
    ends: Mapping[str, DimLike] = field(default_factory=dict)

    def extended(self, iterator: str, value: DimLike, axis: TileAxis | None = None) -> TileContext:
        at = {**self.at, iterator: value + self.origins.get(iterator, 0)}
        return replace(self, at=at, axes=(*self.axes, axis) if axis else self.axes)

    def resolve(self, value: DimLike) -> DimLike:
        """Return an index over iterators as one over loop variables and axis symbols."""
        return simplify(evaluate(value, self.at), {a.symbol: a.size for a in self.axes})

    def left(self, axis: TileAxis) -> DimLike:
        """Return the number of points from the first one of an axis to the end of its iterator."""
        return self.resolve(self.ends[axis.iterator] - evaluate(self.at[axis.iterator], {axis.symbol: 0}))


@dataclass(frozen=True)
class Value:
    """An SSA value and the axes (iterators) along which it varies."""

    ssa: SSAValue
    axes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Buffer:
    """The memory of an array: a buffer with ``shape``, indexed by the array's dimensions ``kept``.

    ``forwarded``: every reader gets the value from registers, and nothing is stored.
    """

    value: SSAValue
    shape: tuple[DimLike, ...]
    kept: tuple[int, ...]
    forwarded: bool = False

    @cached_property
    def strides(self) -> tuple[DimLike, ...]:
        return tuple(product(self.shape[n + 1 :]) for n in range(len(self.kept)))

    def linear(self, index: Sequence[DimLike]) -> DimLike:
        return sum_of(index[n] * stride for n, stride in zip(self.kept, self.strides, strict=True))


def factor_of(array: str) -> str:
    """Return the name of the array with the factors by which a new running maximum rescales other reductions."""
    return array + "'"


def vector_type(element: Attribute, axes: frozenset[str], tile: Sequence[TileAxis]) -> Attribute:
    """Return the type of a value that varies along ``axes`` of the register tile; a scalar type if it varies along
    none."""
    return spread(element, axes, tile) if axes else element


def spread(element: Attribute, axes: frozenset[str], tile: Sequence[TileAxis]) -> VectorType:
    return _vector(element, tuple(a.size if a.iterator in axes else 1 for a in tile))


@lru_cache(maxsize=4096)
def _vector(element: Attribute, shape: tuple[int, ...]) -> VectorType:
    return VectorType(element, shape)


def element_type(type_: Attribute) -> Attribute:
    return type_.element_type if isinstance(type_, VectorType) else type_


def lanes_of(context: TileContext, axes: frozenset[str]) -> SSAValue | None:
    """Return the number of valid lanes of a value that varies along the last axis, that of vectors; None if all are
    valid."""
    return context.axes[-1].lanes if context.axes and context.axes[-1].iterator in axes else None


def valid_rows(context: TileContext, axes: frozenset[str]) -> dict[int, SSAValue]:
    """Return the number of valid points along each axis except the last, that of vectors, if some tiles have fewer than
    the axis."""
    last = len(context.axes) - 1
    return {n: points for n, points in valid_axes(context, axes).items() if n < last}


def valid_axes(context: TileContext, axes: frozenset[str]) -> dict[int, SSAValue]:
    """Return the number of valid points along each axis of a value, if some tiles have fewer than the axis."""
    found = ((n, a.lanes) for n, a in enumerate(context.axes) if a.iterator in axes)
    return {n: lanes for n, lanes in found if lanes is not None}


def broadcast(out: IndexBuilder, value: Value, axes: frozenset[str], context: TileContext) -> SSAValue:
    """Return ``value`` broadcast so that it varies along ``axes``."""
    type_ = vector_type(element_type(value.ssa.type), axes, context.axes)
    if value.ssa.type == type_ or not isinstance(type_, VectorType):
        return value.ssa
    return out.emit(vector.BroadcastOp.create(operands=[value.ssa], result_types=[type_]))
