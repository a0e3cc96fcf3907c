"""Pooling: maxima and their positions (and back), averages, norms; over windows or all dimensions D of [N, C, D…]."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import is_float
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.convolution.windows import Window
from mlc.frontends.build.ops.indexing.scatter import scatter_at
from mlc.frontends.build.ops.reduction import lowest
from mlc.frontends.build.tensors import Tensor


def max_pool(build: Builder, x: Tensor, window: Window) -> Tensor:
    """The maximum of each window."""
    return _pool(build, "max", x, window.padded(build, x, lowest(x.element)), window)


def _pool(build: Builder, fn: str, x: Tensor, padded: Tensor, window: Window) -> Tensor:
    """Combine the windows of ``padded`` by a monoid. Padding alone makes no window where ``x`` has no elements."""
    y = build.pool(fn, padded, window.kernel, window.strides, window.dilations)
    for extent, windows in zip(x.shape[2:], y.shape[2:], strict=True):
        build.require_elements(extent, windows)
    return y


def max_pool_with_positions(
    build: Builder, x: Tensor, window: Window, columns_first: bool = False
) -> tuple[Tensor, Tensor]:
    """The maximum of each window and its position in the flattened input: the first of equal elements, or of NaN."""
    padded, rank = window.padded(build, x, lowest(x.element)), len(window.kernel)
    y = _pool(build, "max", x, padded, window)
    inside = [
        f"(i{n + 2}*{s} + r{n}*{d} - ({p}))"
        for n, (s, d, p) in enumerate(zip(window.strides, window.dilations, window.low, strict=True))
    ]
    at = ["i0", "i1", *[f"{t} + ({p})" for t, p in zip(inside, window.low, strict=True)]]
    order = reversed(range(rank)) if columns_first else range(rank)
    flat, total = f"i0*({x.shape[1]}) + i1", product(x.shape)
    for n in order:
        flat = f"({flat})*({x.shape[2 + n]}) + {inside[n]}"
    valid = " & ".join(f"({t} >= 0) & ({t} < {d})" for t, d in zip(inside, x.shape[2:], strict=True))
    here, read = ", ".join(f"i{n}" for n in range(x.rank)), f"x0[{', '.join(at)}]"
    found = f"(({read} == x1[{here}]) | ({read} != {read}))" if is_float(x.element) else f"({read} == x1[{here}])"
    text = f"where({found} & {valid}, {flat}, {total})"
    return y, build.compute(text, [padded, y], y.shape, window.kernel, "min")


def average_pool(build: Builder, x: Tensor, window: Window, include_padding: bool) -> Tensor:
    """The mean of each window: over its elements inside the input or, with ``include_padding``, over all."""
    total = _pool(build, "add", x, window.padded(build, build.wide(x), "0"), window)
    return build.cast(averaged(build, x, window, total, include_padding), x.element)


def averaged(build: Builder, x: Tensor, window: Window, total: Tensor, include_padding: bool) -> Tensor:
    """The sums of the windows of ``x``, each divided by the number of elements that its window covers."""
    uneven = [e for e in window.extra if e != 0] or (
        [p for p in (*window.low, *window.high) if p != 0] if not include_padding else []
    )
    if not uneven:
        return build.map(f"x0 * {literal(1 / product(window.kernel))}", total)  # type: ignore[operator]
    for n in range(len(window.kernel)):
        factors = _reciprocal_counts(build, x, window, n, total, include_padding)
        inner = [1] * (len(window.kernel) - n - 1)
        total = build.map("x0 * x1", total, build.reshape(factors, (*factors.shape, *inner)))
    return total


def _reciprocal_counts(
    build: Builder, x: Tensor, window: Window, n: int, total: Tensor, include_padding: bool
) -> Tensor:
    """1 / the elements that a window covers along spatial dimension ``n``: products cost less than divisions."""
    extent, k, d = x.shape[2 + n], window.kernel[n], window.dilations[n]
    first, stop = (-window.low[n], extent + window.high[n]) if include_padding else (0, extent)
    start = f"(i0*{window.strides[n]} - ({window.low[n]}))"
    skipped = f"max(0, -(({start} - ({first})) // {d}))"
    end = f"min({k}, -(({start} - ({stop})) // {d}))"
    return build.compute(f"1 / {total.element}({end} - {skipped})", [], (total.shape[2 + n],))


def lp_pool(build: Builder, x: Tensor, window: Window, p: float) -> Tensor:
    """The norm of order ``p`` of each window."""
    powers = window.padded(build, _powers(build, x, p), "0")
    return _root(build, _pool(build, "add", x, powers, window), p, x.element)


def global_lp_pool(build: Builder, x: Tensor, p: float) -> Tensor:
    """The norm of order ``p`` over the spatial dimensions."""
    powers = _powers(build, x, p)
    return _root(build, build.reduce("add", powers, spatial_axes(x), keepdims=True), p, x.element)


def _powers(build: Builder, x: Tensor, p: float) -> Tensor:
    return build.map("x0 * x0" if p == 2 else f"abs(x0) ** {float(p)!r}", build.wide(x))


def _root(build: Builder, total: Tensor, p: float, element: str) -> Tensor:
    return build.cast(build.map("sqrt(x0)" if p == 2 else f"x0 ** {1 / p!r}", total), element)


def spatial_axes(x: Tensor) -> list[int]:
    """The dimensions after batch and channels."""
    return list(range(2, x.rank))


def max_unpool(
    build: Builder, x: Tensor, positions: Tensor, inner: Sequence[DimLike], shape: Sequence[DimLike]
) -> Tensor:
    """[*shape]: each element of ``x`` at the position that its maximum came from, zeros elsewhere.

    ``positions`` (of the shape of ``x``) count in row-major order in a tensor of shape ``inner``.
    """
    zeros = build.broadcast(build.constant(0, x.element), inner)
    y = scatter_at(build, zeros, build.reshape(build.cast(positions, "i64"), (product(x.shape),)), x, 1)
    return build.pad(y, [0] * y.rank, [o - i for o, i in zip(shape, inner, strict=True)])
