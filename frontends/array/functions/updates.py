"""Updates of arrays at indices: ``x.at[i].set(v)`` is a new array. Source: JAX's property of this name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.frontends.array.array import Array, apply, as_array, linear
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import convert
from mlc.frontends.array.functions.indexing import index
from mlc.frontends.array.functions.shaping import broadcast_to, reshape
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.scatter import scatter_at
from mlc.frontends.build.tensors import Tensor


@linear
def added(build: Builder, xs: Sequence[Tensor], reduction: str) -> Tensor:
    """Elements replaced (``none``) or added to."""
    return combined(build, xs, reduction)


def combined(build: Builder, xs: Sequence[Tensor], reduction: str) -> Tensor:
    x, offsets, values = xs
    return scatter_at(build, x, offsets, values, 1, reduction)


class At:
    """The elements of ``x`` at a key: integers, slices, index arrays, masks; clamped where they are known at run time.

    Each function returns ``x`` with these elements combined with ``values``, which are broadcast to ``x[key]`` and take
    the type of ``x``. Where the key names an element several times, the last value is set, and all are combined.
    """

    def __init__(self, x: Array, key: Any) -> None:
        self.x, self.key = x, key

    def set(self, values: Any) -> Array:
        return self._updated(added, "none", values)

    def add(self, values: Any) -> Array:
        return self._updated(added, "add", values)

    def multiply(self, values: Any) -> Array:
        return self._updated(combined, "mul", values)

    def min(self, values: Any) -> Array:
        return self._updated(combined, "min", values)

    def max(self, values: Any) -> Array:
        return self._updated(combined, "max", values)

    def _updated(self, emit: Any, reduction: str, values: Any) -> Array:
        x = self.x
        offsets = index(reshape(arange(x.size), x.shape), self.key)
        given = broadcast_to(convert(as_array(values, x.element), x.element), offsets.shape)
        if 0 in offsets.shape:
            return x
        flat = [reshape(each, (-1,)) for each in (offsets, given)]
        return apply(emit, [x, *flat], (reduction,), x.element, x.shape)


class Indexer:
    """``x.at``, which is indexed by a key."""

    def __init__(self, x: Array) -> None:
        self.x = x

    def __getitem__(self, key: Any) -> At:
        return At(self.x, key)
