"""Sums, means, products and extremes of neighbours: segments along an axis. Source: ``torch.segment_reduce``."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.indexing.scatter import scatter_at
from mlc.frontends.build.ops.indexing.sorting import prefix_sum
from mlc.frontends.build.tensors import Tensor

EMPTY = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}


def segments(build: Builder, x: Tensor, offsets: Tensor, axis: int, how: str, initial: float | None = None) -> Tensor:
    """[.., S, ..]: ``add``, ``mul``, ``max``, ``min`` or ``mean`` of each segment of ``x`` along ``axis``, in whose
    place S is: segment s has the elements from ``offsets`` [.., S + 1] [s] to before [s + 1].

    Of an empty segment it is ``initial``, or else 0, 1, -inf, inf or NaN; others begin with ``initial``.
    """
    outer, n, inner = product(x.shape[:axis]), x.shape[axis], product(x.shape[axis + 1 :])
    shape = (*offsets.shape[:-1], offsets.shape[-1] - 1)
    limits = build.reshape(build.cast(offsets, "i64"), (outer, offsets.shape[-1]))
    at = build.reshape(_segment_of(build, limits, n), (outer * n,))
    reduction = "add" if how == "mean" else how
    extreme = reduction in ("max", "min")
    first = EMPTY[reduction] if initial is None or extreme else initial
    start = build.broadcast(build.constant(first, x.element), (*shape, *x.shape[axis + 1 :]))
    y = scatter_at(build, start, at, build.reshape(x, (outer * n, inner)), inner, reduction)
    if extreme and initial is not None:
        return build.map(f"where(x0 {'<' if how == 'max' else '>'} {literal(initial)}, {literal(initial)}, x0)", y)
    return _mean(build, y, offsets, x.rank - axis - 1, initial is None) if how == "mean" else y


def _segment_of(build: Builder, limits: Tensor, n: DimLike) -> Tensor:
    """[outer, n]: the row of the result that each element belongs to, -1 where it is in none: how many segments have
    ended by then."""
    outer, count = limits.shape[0], limits.shape[1] - 1
    ends = build.compute(f"where(x0[i0, i1 + 1] < {n}, i0 * ({n}) + x0[i0, i1 + 1], -1)", [limits], (outer, count))
    ones, none = (build.broadcast(build.constant(k, "i64"), s) for k, s in ((1, (outer * count,)), (0, (outer * n,))))
    ended = scatter_at(build, none, build.reshape(ends, (outer * count,)), ones, 1, "add")
    before = prefix_sum(build, build.reshape(ended, (outer, n)))
    inside = f"(x0[i0, i1] < {count}) & (x1[i0, 0] <= i1)"
    return build.compute(f"where({inside}, i0 * ({count}) + x0[i0, i1], -1)", [before, limits], (outer, n))


def _mean(build: Builder, sums: Tensor, offsets: Tensor, inner: int, is_nan: bool) -> Tensor:
    """Sums over the lengths of their segments; an empty one's is NaN, or else its sum."""
    names = [f"i{k}" for k in range(offsets.rank - 1)]
    here, after = (", ".join([*names, f"i{offsets.rank - 1}{plus}"]) for plus in ("", " + 1"))
    shape = (*offsets.shape[:-1], offsets.shape[-1] - 1)
    length = build.compute(f"x0[{after}] - x0[{here}]", [offsets], shape)
    column = build.cast(build.reshape(length, (*shape, *[1] * inner)), sums.element)
    return build.map(f"x0 / {'x1' if is_nan else 'max(x1, 1)'}", sums, column)
