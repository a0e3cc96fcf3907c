"""Counts of equal elements: in bins, of each number, the most frequent one; elements repeated by counts."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import is_float
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.running import running_extreme
from mlc.frontends.build.ops.indexing.scatter import scatter_nd
from mlc.frontends.build.ops.indexing.sorting import prefix_sum, top_k
from mlc.frontends.build.ops.reduction import arg_extreme
from mlc.frontends.build.tensors import Tensor


def counted(build: Builder, at: Tensor, length: DimLike, weights: Tensor | None = None) -> Tensor:
    """[length]: how often each number is in ``at``, or the sum of its ``weights``; i64 or the element of these. Other
    numbers are passed over."""
    given = build.constant(1, "i64") if weights is None else weights
    flat = build.reshape(at, (product(at.shape), 1))
    ones = build.broadcast(given, at.shape) if weights is None else given
    zeros = build.broadcast(build.constant(0, given.element), (length,))
    return scatter_nd(build, zeros, flat, build.reshape(ones, flat.shape[:1]), "add")


def histogram(build: Builder, x: Tensor, bins: int, low: float, high: float) -> Tensor:
    """[bins] of i64: how many elements are in each of the intervals of one width from ``low`` to ``high``, or from the
    least to the greatest element where these are equal; the last interval has both its ends."""
    flat = build.reshape(x, (product(x.shape),))
    ends = [build.constant(value, x.element) for value in (low, high)]
    if low == high and x.shape != (0,):
        ends = [build.reduce(fn, flat, [0]) for fn in ("min", "max")]
    low_end, high_end = (build.map(f"where(x0 == x1, x0 {sign} 1, x0)", *pair)
                         for sign, pair in (("-", ends), ("+", ends[::-1])))  # fmt: skip
    place = f"min((x0 - x1) * {bins} / (x2 - x1), {bins - 1})"
    outside = f"(x0 < x1) | (x0 > x2){' | (x0 != x0)' if is_float(x.element) else ''}"
    at = build.map(f"where({outside}, {bins}, i64(where({outside}, 0, {place})))", flat, low_end, high_end)
    return counted(build, at, bins)


def mode(build: Builder, x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The most frequent element along an axis, the least of several, and the position (i64) of the last that equals it;
    without that axis."""
    values, order = top_k(build, x, axis, x.shape[axis], largest=False)
    here = ", ".join(f"i{n}" for n in range(x.rank))
    before = ", ".join(f"max(i{n} - 1, 0)" if n == axis else f"i{n}" for n in range(x.rank))
    begins = f"(i{axis} == 0) | (x0[{here}] != x0[{before}])"
    starts = build.compute(f"where({begins}, i64(i{axis}), 0)", [values], x.shape)
    start, _ = running_extreme(build, "max", starts, axis)
    length = build.compute(f"i64(i{axis}) - x0[{here}]", [start], x.shape)
    found = arg_extreme(build, "max", length, axis)
    kept = [n for n in range(x.rank) if n != axis]
    at = [f"x1[{', '.join(f'i{k}' for k in range(len(kept))) or '()'}]" if n == axis else f"i{kept.index(n)}"
          for n in range(x.rank)]  # fmt: skip
    shape = [x.shape[n] for n in kept]
    y, position = (build.compute(f"x0[{', '.join(at)}]", [each, found], shape) for each in (values, order))
    return y, position


def repeated(build: Builder, times: Tensor, total: DimLike) -> Tensor:
    """[total] of i64: each position in ``times`` [n] as often as this says, whose sum is ``total``.

    The number of an element is how many positions have ended before it: a sum over marks at their ends.
    """
    ends = prefix_sum(build, build.cast(times, "i64"))
    marks = counted(build, ends, total + 1)
    return build.cut(prefix_sum(build, marks), 0, 0, total)
