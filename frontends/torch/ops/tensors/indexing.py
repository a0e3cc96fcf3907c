"""Reads and writes at computed positions; sorting; selection."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.functions import inserted_after
from mlc.frontends.build.ops.indexing import gather as reads
from mlc.frontends.build.ops.indexing import scatter as writes
from mlc.frontends.build.ops.indexing import selection, sorting
from mlc.frontends.build.ops.linalg import norms
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_extent
from mlc.frontends.torch.registry import Call, Operand, aten

Indices = list[Tensor | None]


@aten("embedding")
def embedding(call: Call, weight: Tensor, indices: Tensor, *_: Any) -> Tensor:
    return reads.gather(call.build, weight, indices, 0)


@aten("embedding_renorm")
def embedding_renorm(call: Call, weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """The table with those rows that are read scaled to a norm of at most ``max_norm``."""
    build, at = call.build, call.build.reshape(indices, (*indices.shape, 1))
    rows = reads.gather(build, weight, indices, 0)
    length = norms.norm(build, rows, norm_type, [-1], True)
    text = f"where(x1 > {float(max_norm)!r}, x0 * ({float(max_norm)!r} / (x1 + 1e-7)), x0)"
    return writes.scatter_nd(build, weight, at, build.map(text, rows, length))


@aten("index_select")
def index_select(call: Call, x: Tensor, dim: int, index: Tensor) -> Tensor:
    return reads.gather(call.build, x, index, normalize_axis(dim, x.rank)) if x.rank else x


@aten("gather")
def gather(call: Call, x: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    if product(index.shape) == 0:
        return call.build.broadcast(call.build.constant(0, x.element), index.shape)
    x = x if x.rank else call.build.reshape(x, (1,))
    at = index if index.rank else call.build.reshape(index, (1,))
    found = reads.gather_elements(call.build, x, at, normalize_axis(dim, x.rank))
    return call.build.reshape(found, index.shape)


@aten("index", "_unsafe_index")
def index(call: Call, x: Tensor, indices: Indices) -> Tensor:
    """x[i, :, j]: indices broadcast together, in the place of the first where they are neighbours, else in front."""
    given = _positions(call.build, indices)
    at = [n for n, i in enumerate(given) if i is not None]
    found = [i for i in given if i is not None]
    if len(at) == 1:
        return reads.gather(call.build, x, found[0], at[0])
    common = _common(found)
    first = at[0] if at == list(range(at[0], at[-1] + 1)) else 0
    names = [f"i{n}" for n in range(x.rank - len(at) + len(common))]
    block, rest = names[first : first + len(common)], iter([*names[:first], *names[first + len(common) :]])
    read = [_read(given[n], at.index(n) + 1, block, x.shape[n]) if n in at else next(rest) for n in range(x.rank)]
    kept = [d for n, d in enumerate(x.shape) if n not in at]
    shape = [*kept[:first], *common, *kept[first:]]
    return call.build.compute(f"x0[{', '.join(read)}]", [x, *found], shape)


def _positions(build: Builder, indices: Indices) -> Indices:
    """Indices with each mask as the positions where it is true, one index a dimension of the mask."""
    found: Indices = []
    for each in indices:
        if each is None or each.element not in ("i1", "ui8"):
            found.append(each)
            continue
        where_true = selection.nonzero(build, each)
        found += [build.reshape(build.cut(where_true, 0, n, 1), where_true.shape[1:]) for n in range(each.rank)]
    return found


def _common(indices: Sequence[Tensor]) -> list[DimLike]:
    """The shape that indices broadcast to."""
    rank = max(i.rank for i in indices)
    shapes = [(*[1] * (rank - i.rank), *i.shape) for i in indices]
    return [next((d for d in dims if d != 1), 1) for dims in zip(*shapes, strict=True)]


def _read(index: Tensor | None, operand: int, block: Sequence[str], extent: DimLike) -> str:
    assert index is not None
    names = block[len(block) - index.rank :]
    at = ", ".join("0" if d == 1 else n for n, d in zip(names, index.shape, strict=True)) or "()"
    return reads.wrapped_read(index, f"x{operand}[{at}]", extent)


@aten("index_put", "_unsafe_index_put")
def index_put(call: Call, x: Tensor, indices: Indices, values: Tensor, accumulate: bool = False) -> Tensor:
    """``x`` with x[i, :, j] replaced by, or with ``accumulate`` increased by values."""
    build, given = call.build, _positions(call.build, indices)
    at = [n for n, i in enumerate(given) if i is not None]
    first = at[0] if at == list(range(at[0], at[-1] + 1)) else 0  # where the dimensions of indices are in values
    common = _common([i for i in given if i is not None])
    columns = [build.broadcast(_leading(build, given[n], len(common)), common) for n in at]
    tuples = build.concat([build.reshape(build.cast(c, "i64"), (*common, 1)) for c in columns], len(common))
    rest = [n for n in range(x.rank) if n not in at]
    order = [*at, *rest]
    block = [x.shape[n] for n in rest]
    placed = [*block[:first], *common, *block[first:]]
    values = _leading(build, values, len(placed))
    for axis, extent in enumerate(placed):  # of a mask the run knows how many it has, and checks it
        values = values if values.shape[axis] == 1 else with_extent(build, values, axis, extent)
    values = build.broadcast(values, placed)
    spread = list(range(first, first + len(common)))
    updates = build.transpose(values, [*spread, *(n for n in range(values.rank) if n not in spread)])
    moved = build.transpose(x, order)
    y = writes.scatter_nd(build, moved, tuples, call.tensor(updates), "add" if accumulate else "none")
    return build.transpose(y, [order.index(n) for n in range(x.rank)])


def _leading(build: Builder, x: Tensor | None, rank: int) -> Tensor:
    """``x`` with dimensions of 1 before its own."""
    assert x is not None
    return build.reshape(x, (*[1] * (rank - x.rank), *x.shape))


@aten("index_add")
def index_add(call: Call, x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    scaled = source if alpha == 1 else call.build.map(f"x0 * {alpha!r}", source)
    if not x.rank:  # of one element, which the index names
        return call.build.map("x0 + x1", x, call.build.reshape(scaled, ()))
    axis = normalize_axis(dim, x.rank)
    return index_put(call, x, [*[None] * axis, index], scaled, accumulate=True)


@aten("masked_scatter")
def masked_scatter(call: Call, x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """``x`` with the next element of ``source`` at each position where the mask is true."""
    build, shape = call.build, _common([x, mask])
    x, mask = (build.broadcast(_leading(build, t, len(shape)), shape) for t in (x, mask))
    flags = build.reshape(mask, (product(x.shape),))
    order = build.reshape(sorting.prefix_sum(build, build.cast(flags, "i64")), x.shape)
    names = ", ".join(f"i{n}" for n in range(x.rank))
    flat = build.reshape(source, (product(source.shape),))
    whole = build.reshape(flags, x.shape)
    text = f"where(x1[{names}], x2[max(x3[{names}] - 1, 0)], x0[{names}])"
    return build.compute(text, [x, whole, flat, order], x.shape)


@aten("masked_scatter_backward")
def masked_scatter_backward(call: Call, grad: Tensor, mask: Tensor, sizes: Sequence[DimLike]) -> Tensor:
    """[sizes]: the adjoints where the mask is true, in order, and zeros after them: the adjoint of ``source``."""
    build, count = call.build, product(sizes)
    flags = build.reshape(build.broadcast(_leading(build, mask, grad.rank), grad.shape), (product(grad.shape),))
    order = sorting.prefix_sum(build, build.cast(flags, "i64"))
    at = build.reshape(build.map(f"where(x1, x0 - 1, {count})", order, flags), (*flags.shape, 1))
    zeros = build.broadcast(build.constant(0, grad.element), (count,))
    return build.reshape(writes.scatter_nd(build, zeros, at, build.reshape(grad, flags.shape)), tuple(sizes))


@aten("bucketize", "searchsorted")
def insertion_points(
    call: Call, a: Operand, b: Operand, *, right: bool = False, side: Any = None, sorter: Any = None, **_: Any
) -> Tensor:
    """How many of sorted boundaries [.., N] each value is inserted after (``right``: after equal ones, too)."""
    build = call.build
    values, boundaries = call.promoted(a, b) if call.op == "bucketize" else reversed(call.promoted(a, b))
    if sorter is not None:
        boundaries = reads.gather_elements(build, boundaries, sorter, boundaries.rank - 1)
    outer = [f"i{n}" for n in range(boundaries.rank - 1)]
    here = f"x1[{', '.join(f'i{n}' for n in range(values.rank)) or '()'}]"
    after = inserted_after("right" if right or side == "right" else "left", values.element)
    load = {"x0": f"x0[{', '.join([*outer, 'r0'])}]", "x1": here}
    text = re.sub("x[01]", lambda found: load[found[0]], after)
    return build.compute(f"i64({text})", [boundaries, values], values.shape, boundaries.shape[-1:], "add")


@aten("nonzero")
def nonzero(call: Call, x: Tensor) -> Tensor:
    return call.build.transpose(selection.nonzero(call.build, x), [1, 0])


@aten("masked_select")
def masked_select(call: Call, x: Tensor, mask: Tensor) -> Tensor:
    build = call.build
    shape = _common([x, mask])
    whole = [build.broadcast(_leading(build, t, len(shape)), shape) for t in (x, mask)]
    flat, flags = (build.reshape(t, (product(shape),)) for t in whole)
    return selection.compress(build, flat, flags, 0)


@aten("topk")
def topk(call: Call, x: Tensor, k: DimLike, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not x.rank:
        return x, call.build.constant(0, "i64")
    axis = normalize_axis(dim, x.rank)
    call.build.require(x.shape[axis], k)
    return sorting.top_k(call.build, x, axis, k, largest)


@aten("sort")
def sort(call: Call, x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    if not x.rank:
        return x, call.build.constant(0, "i64")
    axis = normalize_axis(dim, x.rank)
    return sorting.top_k(call.build, x, axis, x.shape[axis], descending)


@aten("sort.stable")
def sort_stable(
    call: Call, x: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    """A sort, which is always stable."""
    return sort(call, x, dim, descending)


@aten("argsort")
def argsort(call: Call, x: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return sort(call, x, dim, descending)[1]


@aten("argsort.stable")
def argsort_stable(call: Call, x: Tensor, *, stable: bool = True, dim: int = -1, descending: bool = False) -> Tensor:
    return sort(call, x, dim, descending)[1]
