"""Axes: normalization of negative ones, and axes that are run-time scalars."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike, dim_max, product
from mlc.dialects.types import Shape
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.runtime_scalars import Scalar
from mlc.frontends.build.tensors import Tensor


def normalize_axis(axis: int, rank: int) -> int:
    """A non-negative axis of a tensor of ``rank``.

    Raises:
        NotSupported: out of range.
    """
    if not -max(rank, 1) <= axis < max(rank, 1):
        raise NotSupported(f"axis {axis} of a tensor of rank {rank}")
    return axis % rank if rank else 0


def is_among(n: int, rank: int, axes: Sequence[DimLike]) -> str:
    """Whether axis ``n`` is one of ``axes``, as an expression."""
    return " | ".join(f"({a} == {n}) | ({a} == {n - rank})" for a in axes)


def select_by_axis(axis: int, rank: int, axes: Sequence[DimLike], values: Sequence[DimLike], default: Scalar) -> Scalar:
    """The one of ``values`` whose entry in ``axes`` is ``axis``, else ``default``; an expression of scalars."""
    text = f"{default}"
    for a, value in zip(axes, values, strict=True):
        text = f"where(({a} == {axis}) | ({a} == {axis - rank}), {value}, {text})"
    return text


def select_at(index: DimLike, rank: int, values: Sequence[DimLike]) -> str:
    """``values[index]`` of ``rank`` values, as an expression; negative indices count from the end."""
    text = f"{values[-1]}"
    for n, value in enumerate(values[:-1]):
        text = f"where(({index} == {n}) | ({index} == {n - rank}), {value}, {text})"
    return text


def around_axis(build: Builder, shape: Shape, axis: DimLike) -> tuple[DimLike, DimLike, DimLike]:
    """The numbers of elements before an axis, along it and after it; the axis may be a run-time scalar."""
    rank = len(shape)
    if isinstance(axis, int):
        axis = normalize_axis(axis, rank)
        return product(shape[:axis]), shape[axis], product(shape[axis + 1 :])
    build.check(f"where(({axis} >= {-rank}) & ({axis} < {rank}), 0, -1)", f"no axis of {list(shape)}")
    parts = [around_axis(build, shape, n) for n in range(rank)]
    before, along, after = (build.dim(select_at(axis, rank, each), "an extent") for each in zip(*parts, strict=True))
    return before, along, after


def split_axes(build: Builder, x: Tensor, axes: Sequence[DimLike]) -> tuple[Tensor, list[int], list[DimLike]]:
    """``x`` with each dimension split in two, the second of which is the whole where ``axes`` (run-time scalars)
    have it and else 1: so the axes to reduce are known. Also these, and the extents of the first ones."""
    kept: list[DimLike] = []
    split: list[DimLike] = []
    for n, d in enumerate(x.shape):
        here, most = is_among(n, x.rank, axes), dim_max(d, 1)  # an extent that may be 0
        kept.append(1 if d == 1 else build.dim(f"where({here}, 1, {d})", "an extent", most))
        split += [kept[-1], 1 if d == 1 else build.dim(f"where({here}, {d}, 1)", "an extent", most)]
    return build.reshape(x, split), list(range(1, 2 * x.rank, 2)), kept


def without_axes(build: Builder, shape: Sequence[DimLike], axes: Sequence[DimLike]) -> list[DimLike]:
    """``shape`` without ``axes``, run-time scalars that are all different (squeeze)."""
    rank, scalars = len(shape), build.scalars
    gone = [scalars.from_expr(is_among(n, rank, axes)) for n in range(rank)]
    before = [n - sum(gone[:n]) for n in range(rank)]  # of those that stay
    _check_different(build, sum(gone), axes, rank)
    extents = ["0"] * (rank - len(axes))
    for k in range(len(extents)):
        for n, d in enumerate(shape):
            extents[k] = f"where(({gone[n]} == 0) & ({before[n]} == {k}), {d}, {extents[k]})"
    return [build.dim(text, "an extent") for text in extents]


def with_axes(build: Builder, shape: Sequence[DimLike], axes: Sequence[DimLike]) -> list[DimLike]:
    """``shape`` with dimensions of 1 at ``axes`` of the result, run-time scalars that are all different (unsqueeze)."""
    rank, scalars = len(shape) + len(axes), build.scalars
    new = [scalars.from_expr(is_among(n, rank, axes)) for n in range(rank)]
    _check_different(build, sum(new), axes, rank)
    old = [select_at(n - sum(new[:n]), len(shape), shape) if shape else "1" for n in range(rank)]
    return [build.dim(f"where({here} == 1, 1, {d})", "an extent") for here, d in zip(new, old, strict=True)]


def _check_different(build: Builder, found: DimLike, axes: Sequence[DimLike], rank: int) -> None:
    build.check(f"-abs({found} - {len(axes)})", f"{len(axes)} axes are not different ones of rank {rank}")
