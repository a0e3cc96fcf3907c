"""Keys that are integers, some of them arrays of rank 0, such as the counter of a loop: the number of the row there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.types import Shape
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.gather import in_range, wrapped
from mlc.frontends.build.tensors import Tensor


def integers_of(x: Array, key: Any) -> list[Any]:
    """A key of ``x``, where it is integers of which one at least is an array of rank 0; else none."""
    given = list(key) if isinstance(key, tuple) else [key]
    arrays = [each for each in given if isinstance(each, Array) and not each.ndim and dtypes.kind(each.element) == 1]
    pairs = zip(given, x.shape, strict=False)
    known = [type(each) is int and isinstance(d, int) and 0 <= each < d for each, d in pairs]
    fits = len(given) <= x.ndim and sum(known) + len(arrays) == len(given)
    return given if arrays and fits else []


def numbered(build: Builder, xs: Sequence[Tensor], shape: Shape, known: Sequence[int | None]) -> Tensor:
    """The number of the row at integers, those that are not ``known`` being ``xs``; -1 where one is outside."""
    number, outside = "0", []
    rest = iter(range(len(xs)))
    for extent, each in zip(shape, known, strict=False):
        at = str(each)
        if each is None:
            index = next(rest)
            at = wrapped(xs[index], f"x{index}[()]", extent)
            if not in_range(xs[index], extent):
                outside.append(f"({at} < 0) | ({at} >= {extent})")
        number = f"({number}) * ({extent}) + {at}"
    found = f"i64({number})"
    return build.compute(f"where({' | '.join(outside)}, -1, {found})" if outside else found, xs, ())
