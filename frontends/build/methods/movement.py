"""Data movement: reshape, transpose, broadcast, slice, pad, concatenate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.dialects.graph import (
    BroadcastOp,
    ConcatOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike, product
from mlc.frontends.build.errors import NeedsConstant
from mlc.frontends.build.folding.comparisons import larger
from mlc.frontends.build.folding.fold import KNOWN_LIMIT, Array, Undecided, is_small
from mlc.frontends.build.methods.constants import Constants
from mlc.frontends.build.reshapes import with_elements
from mlc.frontends.build.runtime_scalars import values_of
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import unify_dims


class Movement(Constants):
    """Operators that move elements and compute nothing."""

    def reshape(self, x: Tensor, shape: Sequence[DimLike]) -> Tensor:
        if tuple(shape) == x.shape:
            return x
        if x.known is not None and all(isinstance(d, int) for d in shape):
            return self._moved(x, x.known.reshape(tuple(shape)))
        had, has = product(x.shape), product(shape)
        if had != has and sizes_of([had, has]):
            why = f"Node '{self.node}': {list(x.shape)} has other elements than {list(shape)}"
            self.scalars.check(f"-abs(({had}) - ({has}))", why)
        elif not isinstance(had - has, int):
            x = with_elements(self, x, shape)
        result = self.emit(ReshapeOp(self.value(x), shape), x.element)
        return self._traced_from(result, lambda: self.scalars.traced(x).reshape(tuple(shape)))

    def transpose(self, x: Tensor, perm: Sequence[int]) -> Tensor:
        if list(perm) == list(range(x.rank)):
            return x
        if x.known is not None:
            return self._moved(x, x.known.transpose(perm))
        return self.emit(TransposeOp(self.value(x), perm), x.element)

    def broadcast(self, x: Tensor, shape: Sequence[DimLike]) -> Tensor:
        if tuple(shape) == x.shape:
            return x
        if x.known is not None and is_small(shape):
            return self._moved(x, np.broadcast_to(x.known, tuple(shape)))  # type: ignore[arg-type]
        result = self.emit(BroadcastOp(self.value(x), shape), x.element)
        return self._traced_from(result, lambda: np.broadcast_to(self.scalars.traced(x), tuple(shape)))  # type: ignore[arg-type]

    def slice(
        self, x: Tensor, starts: Sequence[DimLike], sizes: Sequence[DimLike], steps: Sequence[int] | None = None
    ) -> Tensor:
        """``sizes[n]`` elements from ``starts[n]`` with stride ``steps[n]`` in each dimension."""
        steps = [1] * x.rank if steps is None else steps
        if tuple(sizes) == x.shape and all(s == 1 for s in steps):
            return x
        if x.known is not None and is_small((*starts, *sizes)):
            return self._moved(x, x.known[_grid(starts, sizes, steps)])
        if values_of(starts):
            raise NeedsConstant("an offset that is computed at run time")
        for extent, start, size, step in zip(x.shape, starts, sizes, steps, strict=True):
            if isinstance(extent, Dim) and isinstance(start, int) and isinstance(size, int) and size > 0:
                end = start + max(0, (size - 1) * step) + 1
                self.require(extent, end)  # a constant part of a symbolic extent
                self.refuse_empty(extent - end)
        result = self.emit(SliceOp(self.value(x), starts, sizes, steps), x.element)
        return self._traced_from(result, lambda: self.scalars.traced(x)[_grid(starts, sizes, steps)])

    def cut(self, x: Tensor, axis: int, start: DimLike, size: DimLike) -> Tensor:
        """A slice of one dimension."""
        axis %= x.rank
        starts = [start if n == axis else 0 for n in range(x.rank)]
        return self.slice(x, starts, [size if n == axis else d for n, d in enumerate(x.shape)])

    def pad(
        self,
        x: Tensor,
        low: Sequence[DimLike],
        high: Sequence[DimLike],
        value: str = "0",
        interior: Sequence[int] | None = None,
    ) -> Tensor:
        """Surround with ``value`` (a scalar literal); negative amounts crop, symbolic ones where they are negative."""
        crop_low, crop_high = [_crop(p) for p in low], [_crop(p) for p in high]
        grow_low, grow_high = (
            [p + c for p, c in zip(low, crop_low, strict=True)],
            [p + c for p, c in zip(high, crop_high, strict=True)],
        )
        if any(p != 0 for p in (*grow_low, *grow_high, *(interior or ()))):
            x = self.emit(PadOp(self.value(x), grow_low, grow_high, value, interior), x.element)
        sizes = [d - a - b for d, a, b in zip(x.shape, crop_low, crop_high, strict=True)]
        for size in sizes:
            self.require(size, 0)
        return self.slice(x, crop_low, sizes)

    def concat(self, xs: Sequence[Tensor], axis: int) -> Tensor:
        if len(xs) == 1:
            return xs[0]
        axis %= max(xs[0].rank, 1)
        if len(xs) == 2 and (cache := xs[0].cache) is not None and cache.extends(xs[0], axis):
            return cache.append(self, xs[1])  # type: ignore[arg-type]
        xs = unify_dims(self, xs, [[None if n == axis else n for n in range(x.rank)] for x in xs], range(xs[0].rank))
        known = [x.known for x in xs if x.known is not None]
        if len(known) == len(xs) and sum(array.size for array in known) <= self._most_known(known):
            return self._moved(xs[0], np.concatenate(known, axis))
        filled = [x for x in xs if x.shape[axis] != 0] or xs[:1]
        if len(filled) == 1:
            return filled[0]
        result = self.emit(ConcatOp(self.values(*filled), axis), xs[0].element)
        return self._traced_from(result, lambda: np.concatenate([self.scalars.traced(x) for x in filled], axis))

    @staticmethod
    def _most_known(arrays: Sequence[Array]) -> int:
        """The largest number of elements of a concatenation that is folded: a few, or little more than one operand
        has.
        """
        return max(KNOWN_LIMIT, 3 * max(array.size for array in arrays) // 2)

    def _moved(self, x: Tensor, array: Array) -> Tensor:
        return Tensor.from_known(array, x.element)


def _grid(starts: Sequence[Any], sizes: Sequence[Any], steps: Sequence[int]) -> tuple[Array, ...]:
    """The index of a slice at concrete offsets.

    Raises:
        Undecided: they depend on symbols.
    """
    if any(isinstance(n, Dim) for n in (*starts, *sizes)):
        raise Undecided
    return np.ix_(*(np.arange(n) * step + start for start, n, step in zip(starts, sizes, steps, strict=True)))


def _crop(amount: DimLike) -> DimLike:
    return larger(-amount, 0)
