"""Strided slices, whose starts, ends and steps may be run-time scalars. Source: NumPy's slices, ONNX Slice 13."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.graph.loop import steps_of
from mlc.dialects.semantics.dims import Dim, DimLike, dim_max, dim_min, evaluate, floordiv, symbols_of
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.comparisons import at_least, larger, needs_nonempty, smaller
from mlc.frontends.build.folding.prove import implied
from mlc.frontends.build.ops.shapes.axes import normalize_axis, select_by_axis
from mlc.frontends.build.runtime_scalars import Scalar, any_runtime, is_runtime, values_of
from mlc.frontends.build.tensors import Tensor

NO_END = 1 << 62  # an end that is after every element
OPEN_END = (1 << 31) - 1  # positions from here on say that there is no end: ONNX's INT_MAX
FAR_END = 100_000_000  # exporters' ends that no tensor is meant to reach, such as jax2tf's 1,000,000,000: a guard

LARGE = range(1000, 1013)  # sizes whose signs are those of a position


def slices(
    build: Builder,
    x: Tensor,
    starts: Sequence[DimLike],
    ends: Sequence[DimLike],
    axes: Sequence[DimLike],
    steps: Sequence[DimLike],
) -> Tensor:
    """``x[start:end:step]`` along some axes: negative positions count from the end, those out of range are clamped.

    As in ONNX, a backward slice from before the first element begins with it; NumPy's is empty. All of them may be
    run-time scalars, the axes too.
    """
    if not any_runtime((*starts, *ends, *axes, *steps)):
        return static_slices(build, x, starts, ends, axes, steps)  # type: ignore[arg-type]
    if not any_runtime(axes):
        known = [normalize_axis(int(a), x.rank) for a in axes]  # type: ignore[arg-type]
        return _runtime_slices(build, x, starts, ends, known, steps)
    each = [
        [select_by_axis(n, x.rank, axes, values, default) for n in range(x.rank)]
        for values, default in ((starts, 0), (ends, NO_END), (steps, 1))
    ]
    return _runtime_slices(build, x, each[0], each[1], list(range(x.rank)), each[2])


def static_slices(
    build: Builder,
    x: Tensor,
    starts: Sequence[DimLike],
    ends: Sequence[DimLike],
    axes: Sequence[int],
    steps: Sequence[int],
) -> Tensor:
    """Slices of which everything is known at import, or a dimension."""
    first: list[DimLike] = [0] * x.rank
    size, strides = list(x.shape), [1] * x.rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = normalize_axis(axis, x.rank)
        strides[axis] = step
        first[axis], size[axis] = _extent(build, x.shape[axis], start, end, step)
    return build.slice(x, first, size, strides)


def _extent(build: Builder, d: DimLike, start: DimLike, end: DimLike, step: int) -> tuple[DimLike, DimLike]:
    """(first position, number of elements) of a slice of a dimension with extent ``d``."""
    low, high = (0, d) if step > 0 else (0, d - 1)
    start = _clamped(build, d, start, low, high)
    end = _clamped(build, d, end, *((0, d) if step > 0 else (-1, d - 1)))
    if step < 0:
        return start, larger(floordiv(start - end - step - 1, -step), 0)
    return start, larger(floordiv(end - start + step - 1, step), 0)


def _clamped(build: Builder, d: DimLike, at: DimLike, low: DimLike, high: DimLike) -> DimLike:
    """A position, counted from the end where it is negative, clamped to [low, high].

    A symbolic position is assumed to be inside: x[:seq] of a table of 512 rows requires seq <= 512. Where small sizes
    are not, as 600 * n + 20 of 20 elements, it is the least of both. A position of 100,000,000 or more is assumed to be
    after all elements.
    """
    if isinstance(at, Dim):
        at = _from_start(build, d, at, low)
        if at_least(high, at) is None and isinstance(high, int):
            if _inside_at_two(at, high):
                build.require(high, at)
                return larger(at, low)
            if needs_nonempty(at - high):  # an empty input has fewer
                return dim_min(larger(at, low), high)
        return smaller(larger(at, low), high)
    if abs(at) >= FAR_END:
        if abs(at) < OPEN_END:
            build.require(abs(at), d)
        return low if at < 0 else high
    return smaller(larger(at + d if at < 0 else at, low), high)


def _from_start(build: Builder, d: DimLike, at: Dim, low: DimLike) -> DimLike:
    """A position of either sign counted from the first element, before it is moved to ``low`` or after.

    It is assumed to have the sign of large sizes, which a guard requires: of n-4 n >= 4, of -(n//2) n//2 >= 1. Where
    these have both signs, as -(n%3) has, ``d`` is added where the position is negative. No guard is needed where a
    negative position is before the first element from the end as well: n-2 of n elements.
    """
    if (inside := at_least(at, 0)) is not None:
        return at if inside else at + d
    signs = {value < 0 for n in LARGE if isinstance(value := evaluate(at, dict.fromkeys(symbols_of([at]), n)), int)}
    if len(signs) == 2:
        return at + dim_min(d, OPEN_END * dim_max(-at, 0))
    if signs == {True}:
        build.require(-at, 1)
        return at + d
    if low == 0 and implied(-at - d, (-1 - at,)):  # type: ignore[arg-type]
        return at
    build.require(at, 0)
    return at if at_least(at, 0) else larger(at, 0)


def _inside_at_two(at: DimLike, high: int) -> bool:
    """Whether a position is at most ``high`` when every size is 2."""
    value = evaluate(at, dict.fromkeys(symbols_of([at]), 2))
    return isinstance(value, int) and value <= high


def _runtime_slices(
    build: Builder,
    x: Tensor,
    starts: Sequence[Scalar],
    ends: Sequence[Scalar],
    axes: Sequence[int],
    steps: Sequence[Scalar],
) -> Tensor:
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        x = _runtime_slice(build, x, axis, start, end, step)
    return x


def _runtime_slice(build: Builder, x: Tensor, axis: int, start: Scalar, end: Scalar, step: Scalar) -> Tensor:
    d = x.shape[axis]
    if d == 0:
        return x
    length = end - start if isinstance(start, Dim) and isinstance(end, Dim) else None  # as of x[i:i+2]
    if step == 1 and isinstance(length, int) and length > 0 and at_least(d, length) is not False:
        return build.cut(x, axis, _first(build, d, start, length), length)  # type: ignore[arg-type]
    if is_runtime(step):  # one beyond the extent is as good as the extent, and counting does not overflow
        step = build.scalars.from_expr(f"min(max({step}, -max({d}, 1)), max({d}, 1))")
    first = build.scalars.from_expr(_runtime_clamped(d, start, step, "0"))
    last = build.scalars.from_expr(_runtime_clamped(d, end, step, "-1"))
    count = f"max((where({step} < 0, {first - last}, {last - first}) + abs({step}) - 1) // max(abs({step}), 1), 0)"
    most = d - first if step == 1 and isinstance(first, int) else d
    size = build.dim(f"where({step} == 0, -1, {count})" if is_runtime(step) else count, "the number of elements", most)
    if step == 1:
        return build.cut(x, axis, build.dim(first, "the first element", d), size)
    reads = [f"{first} + i{n} * ({step})" if n == axis else f"i{n}" for n in range(x.rank)]
    return build.compute(f"x0[{', '.join(reads)}]", [x], [size if n == axis else e for n, e in enumerate(x.shape)])


def _first(build: Builder, d: DimLike, start: DimLike, length: int) -> DimLike:
    """The begin of a slice of ``length`` elements. A slice such as x[i:i+1] is assumed to stay inside."""
    if not values_of([start]) and _always_inside(build, start, d - length):
        return start
    text = f"where(({start}) < 0, where(({start}) + {length} < 0, ({start}) + ({d}), -1), {start})"
    return build.dim(text, f"the first of {length} elements", d - length)


def _always_inside(build: Builder, position: DimLike, most: DimLike) -> bool:
    """Whether a position that is linear in loop indices lies in [0, ``most``] in the first and in the last
    iteration.
    """
    for step in steps_of([position]):
        ends = (0, build.trip_counts[step] - 1)
        return all(_always_inside(build, position.evaluate({step: n}), most) for n in ends)  # type: ignore[union-attr]
    return bool(at_least(position, 0) and at_least(most, position))


def _runtime_clamped(d: DimLike, at: Scalar, step: Scalar, least: str) -> str:
    """A run-time position, counted from the end where it is negative, clamped. ``least`` is the lower bound of backward
    slices.
    """
    text = f"where(({at}) < 0, ({at}) + ({d}), {at})"
    forwards, backwards = f"min(max({text}, 0), {d})", f"min(max({text}, {least}), ({d}) - 1)"
    if is_runtime(step):
        return f"where(({step}) < 0, {backwards}, {forwards})"
    return backwards if step < 0 else forwards  # type: ignore[operator]
