"""Scatter: writes at computed indices by element, by index tuples, into caches; reversed sequences. ONNX Scatter 18."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.graph import ScatterOp
from mlc.dialects.graph.scatter import REDUCTIONS
from mlc.dialects.semantics.dims import DimLike, floordiv, product
from mlc.dialects.types import STRING
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least, needs_nonempty
from mlc.frontends.build.ops.indexing.gather import wrapped
from mlc.frontends.build.ops.indexing.sorting import computable
from mlc.frontends.build.ops.shapes.pad import with_spare
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_shape


def scatter_elements(
    build: Builder, x: Tensor, indices: Tensor, updates: Tensor, axis: int, reduction: str = "none"
) -> Tensor:
    """data[.., index[.., r, ..], ..] = update[.., r, ..] for every r; the last of equal indices wins."""
    updates = with_shape(build, updates, indices.shape)
    names = [f"i{n}" for n in range(x.rank)]
    at = [wrapped(indices, f"x0[{', '.join(names)}]", x.shape[axis]) if n == axis else i for n, i in enumerate(names)]
    return _scattered(build, x, _linear(at, x.shape), indices, indices.shape, updates, 1, reduction)


def scatter_nd(build: Builder, x: Tensor, indices: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
    """data[index[r]] = update[r] for every row r of the indices; the last of equal rows wins."""
    depth = indices.shape[-1]
    if not isinstance(depth, int):
        raise NotSupported("index tuples of symbolic length")
    updates = with_shape(build, updates, (*indices.shape[:-1], *x.shape[depth:]))
    flat = build.reshape(indices, (product(indices.shape[:-1]), depth))
    at = [wrapped(flat, f"x0[i0, {n}]", x.shape[n]) for n in range(depth)]
    width = product(x.shape[depth:])
    return _scattered(build, x, _linear(at, x.shape[:depth]), flat, flat.shape[:1], updates, width, reduction)


def _linear(at: Sequence[str], shape: Sequence[DimLike]) -> str:
    """The row-major offset of an element, or of the slice at its leading indices; -1 where one of them is outside."""
    offset = "0"
    for index, extent in zip(at, shape, strict=True):
        offset = f"({offset}) * ({extent}) + {index}"
    outside = " | ".join(f"({i} < 0) | ({i} >= {extent})" for i, extent in zip(at, shape, strict=True))
    return f"where({outside}, -1, i64({offset}))" if outside else "i64(0)"


def _scattered(
    build: Builder,
    x: Tensor,
    offset: str,
    indices: Tensor,
    shape: Sequence[DimLike],
    updates: Tensor,
    width: DimLike,
    reduction: str,
) -> Tensor:
    offsets = build.reshape(build.compute(offset, [indices], shape), (product(shape),))
    return scatter_at(build, x, offsets, updates, width, reduction)


def scatter_at(
    build: Builder, x: Tensor, offsets: Tensor, updates: Tensor, width: DimLike, reduction: str = "none"
) -> Tensor:
    """``x`` with updates of ``width`` elements each at their offsets, or combined with the elements there."""
    if reduction not in ("none", *REDUCTIONS):
        raise NotSupported(f"reduction {reduction!r}; there are none, {', '.join(REDUCTIONS)}")
    if updates.element != x.element:
        raise NotSupported(f"updates of {updates.element} for data of {x.element}")
    count = product(updates.shape)
    if count != offsets.shape[0] * width:
        raise NotSupported(f"{offsets.shape[0]} offsets of {width} elements for updates of {count} elements")
    data = build.reshape(x, (floordiv(product(x.shape), width) if width != 0 else 0, width))
    rows = build.reshape(updates, (offsets.shape[0], width))
    if reduction != "none":
        data, rows = computable(build, data), computable(build, rows)
    y = build.emit(ScatterOp(reduction, *build.values(data, offsets, rows)), STRING if x.element == STRING else None)
    return build.reshape(build.cast(y, x.element), x.shape)


def reverse_sequence(build: Builder, x: Tensor, lengths: Tensor, time: int, batch: int) -> Tensor:
    """The first ``lengths[b]`` elements along ``time`` of each batch element in reverse order."""
    names = [f"i{n}" for n in range(x.rank)]
    length = f"x1[i{batch}]"
    back = f"where(i{time} < {length}, {length} - 1 - i{time}, i{time})"
    return build.compute(
        f"x0[{', '.join(back if n == time else a for n, a in enumerate(names))}]", [x, lengths], x.shape
    )


def update_cache(
    build: Builder, cache: Tensor, update: Tensor, starts: Tensor | None, axis: int, circular: bool
) -> Tensor:
    """``cache`` with ``update`` along ``axis`` from each batch's start on; a circular one continues at its start."""
    if update.shape[axis] == 0:
        return cache
    step = f"i{axis}" if starts is None else f"(i{axis} - x2[i0])"
    step = f"({step} % {cache.shape[axis]})" if circular else step
    may_be_empty = needs_nonempty(update.shape[axis] - 1) or not at_least(update.shape[axis], 1)
    rows = with_spare(build, update, build.constant(0, update.element), [axis] if may_be_empty else [])
    row = f"min(max({step}, 0), {rows.shape[axis]} - 1)"
    names = [f"i{n}" for n in range(cache.rank)]
    at = ", ".join(row if n == axis else a for n, a in enumerate(names))
    inside = f"({step} >= 0) & ({step} < {update.shape[axis]})"
    operands = [cache, rows] if starts is None else [cache, rows, build.cast(starts, "i64")]
    return build.compute(f"where({inside}, x1[{at}], x0[{', '.join(names)}])", operands, cache.shape)
