"""Gather: reads at computed indices along an axis, by element, by index tuples; one-hot. Source: ONNX Gather* 13.

Indices are of any integer type; negative ones count from the end.
"""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.folding.fold import symbolic
from mlc.frontends.build.runtime_scalars import is_traced, values_of
from mlc.frontends.build.tensors import Tensor


def wrapped(indices: Tensor, load: str, extent: DimLike, element: str = "i64") -> str:
    """A loaded index as an expression of ``element``: negative ones count from the end. ``load`` is such as
    ``x1[i0]``."""
    load = load if indices.element == element else f"{element}({load})"
    if indices.element.startswith("ui") or _never_negative(indices):
        return load
    return f"where({load} < 0, {load} + ({extent}), {load})"


def wrapped_read(indices: Tensor, load: str, extent: DimLike) -> str:
    """As ``wrapped``, for the index of a read: of 32 bits where that is enough, as twice as many are in a vector."""
    small = indices.element in ("i8", "i16", "i32", "ui8", "ui16") and isinstance(extent, int) and extent < 1 << 31
    return wrapped(indices, load, extent, "i32" if small else "i64")


def _never_negative(indices: Tensor) -> bool:
    if indices.known is None:
        return indices.range[0] is not None and bool(at_least(indices.range[0], 0))
    if symbolic([indices.known]):
        return all(at_least(n, 0) for n in indices.known.flat)
    return bool((indices.known >= 0).all())


def gather(build: Builder, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """``x`` with dimension ``axis`` replaced by those of ``indices``, read there; a slice where the index is known."""
    at = None if indices.known is None or symbolic([indices.known]) else indices.known
    if at is not None:
        if at.size and not isinstance(x.shape[axis], int):
            _require_inside(build, x.shape[axis], int(at.min()), int(at.max()))
        if x.known is not None:
            extent = x.known.shape[axis]
            if not ((at >= -extent) & (at < extent)).all():
                raise NotSupported(f"an index outside of an axis of {extent} elements: {at.ravel().tolist()[:8]}")
            return Tensor.from_known(x.known.take(at, axis), x.element)
        if indices.rank == 0:
            index = int(at)
            return _selected(build, x, axis, index if index >= 0 else x.shape[axis] + index)
    if indices.rank == 0 and in_range(indices, x.shape[axis]):
        index = build.scalars.of(indices).item()
        if not values_of([index]):
            return _selected(build, x, axis, index)
    result = gather_at(build, x, indices, axis)
    if at is not None and is_traced(result):
        result.trace = lambda: build.scalars.of(x).take(at, axis)
    return result


def _require_inside(build: Builder, extent: DimLike, least: int, most: int) -> None:
    """Guards: the indices from ``least`` to ``most`` are those of elements, negative ones counted from the end."""
    for needed in (-least, most + 1):
        build.refuse_empty(extent - needed)
        build.require(extent, needed)


def _selected(build: Builder, x: Tensor, axis: int, index: DimLike) -> Tensor:
    return build.reshape(build.cut(x, axis, index, 1), (*x.shape[:axis], *x.shape[axis + 1 :]))


def in_range(indices: Tensor, extent: DimLike) -> bool:
    """Whether the range of integers is known to be one of indices."""
    low, high = indices.range
    return None not in (low, high) and bool(at_least(low, 0) and at_least(extent - 1, high))  # type: ignore[arg-type]


def gather_at(build: Builder, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """As ``gather``, always a read at run time."""
    names = [f"i{n}" for n in range(x.rank - 1 + indices.rank)]
    at = ", ".join(names[axis : axis + indices.rank]) or "()"
    reads = [*names[:axis], wrapped_read(indices, f"x1[{at}]", x.shape[axis]), *names[axis + indices.rank :]]
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return build.compute(f"x0[{', '.join(reads)}]", [x, indices], shape)


def gather_elements(build: Builder, x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """One element for each index, whose other coordinates are those of the index."""
    names = [f"i{n}" for n in range(x.rank)]
    at = wrapped_read(indices, f"x1[{', '.join(names)}]", x.shape[axis])
    reads = [at if n == axis else a for n, a in enumerate(names)]
    return build.compute(f"x0[{', '.join(reads)}]", [x, indices], indices.shape)


def gather_nd(build: Builder, x: Tensor, indices: Tensor, batch: int) -> Tensor:
    """The last dimension of ``indices`` holds coordinates of ``x`` after its ``batch`` dimensions."""
    depth = indices.shape[-1]
    if not isinstance(depth, int):
        raise NotSupported("index tuples of symbolic length")
    outer = [f"i{n}" for n in range(indices.rank - 1)]
    inner = [f"i{len(outer) + n}" for n in range(x.rank - batch - depth)]
    tuple_ = [wrapped_read(indices, f"x1[{', '.join([*outer, str(n)])}]", x.shape[batch + n]) for n in range(depth)]
    shape = (*indices.shape[:-1], *x.shape[batch + depth :])
    return build.compute(f"x0[{', '.join([*outer[:batch], *tuple_, *inner]) or '()'}]", [x, indices], shape)


def one_hot(build: Builder, indices: Tensor, depth: DimLike, values: Tensor, axis: int) -> Tensor:
    """A new dimension of ``depth`` elements: ``values[1]`` at the index, ``values[0]`` elsewhere."""
    names = [f"i{n}" for n in range(indices.rank + 1)]
    at = f"i64(x0[{', '.join(n for k, n in enumerate(names) if k != axis) or '()'}])"
    hit = f"where({at} < 0, {at} + {depth}, {at}) == {names[axis]}"
    shape = (*indices.shape[:axis], depth, *indices.shape[axis:])
    return build.compute(f"x1[i64({hit})]", [indices, values], shape)
