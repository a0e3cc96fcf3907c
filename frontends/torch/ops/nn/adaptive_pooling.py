"""Pools of a given result: adaptive means and maxima, fractional maxima; images are [N, C, D…], or [C, D…]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.ops.convolution import pooling, uneven_pooling
from mlc.frontends.build.ops.convolution.uneven_pooling import adaptive_windows, fractional_windows
from mlc.frontends.build.ops.reduction import mean
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.nn.convolution import Sizes, batched, like, pool_rank, sizes_of, window_of
from mlc.frontends.torch.registry import Call, aten


@aten("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d")
@aten("_adaptive_avg_pool3d")
def adaptive_average_pool(call: Call, x: Tensor, size: Sequence[int]) -> Tensor:
    build, first = call.build, x.rank - len(size)
    if all(s == 1 for s in size):
        return mean(build, x, list(range(first, x.rank)), keepdims=True)
    if (kernel := _whole_windows(x.shape[first:], size)) is not None:
        images = batched(call, x, len(size))
        window = window_of(call, images, kernel, kernel, 0, 1, False)
        return like(call, pooling.average_pool(build, images, window, True), x)
    y = build.wide(x)
    for axis, extent in enumerate(size, first):
        y = _averaged(call, y, axis, extent)
    return y


def _whole_windows(extents: Sequence[DimLike], size: Sequence[int]) -> list[int] | None:
    """The windows of an adaptive pool where they do not overlap; None where they do."""
    whole = [d // s for d, s in zip(extents, size, strict=True) if isinstance(d, int) and d % s == 0]
    return whole if len(whole) == len(size) else None


def _averaged(call: Call, x: Tensor, axis: int, extent: int) -> Tensor:
    """The means of the windows of one axis."""
    windows = adaptive_windows(x.shape[axis], extent, f"i{axis}")
    read = f"min({windows.begin} + r0, {windows.end} - 1)"
    here = f"x0[{', '.join(read if n == axis else f'i{n}' for n in range(x.rank))}]"
    shape = [extent if n == axis else e for n, e in enumerate(x.shape)]
    inside, size = f"{windows.begin} + r0 < {windows.end}", f"{x.element}({windows.end} - {windows.begin})"
    text = f"where({inside}, {here}, {x.element}(0)) / {size}"
    return call.build.compute(text, [x], shape, [windows.widest], "add")


@aten("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(call: Call, x: Tensor, size: Sizes) -> tuple[Tensor, Tensor]:
    sizes = sizes_of(size, pool_rank(call))
    first = x.rank - len(sizes)
    windows = [adaptive_windows(x.shape[n], count, f"i{n}") for n, count in enumerate(sizes, first)]
    return uneven_pooling.maxima(call.build, x, windows, [])


@aten("fractional_max_pool2d", "fractional_max_pool3d")
def fractional_max_pool(call: Call, x: Tensor, kernel: Sizes, size: Sizes, samples: Tensor) -> tuple[Tensor, Tensor]:
    """``samples`` [N, C, axes] in [0, 1) move the windows; those of images have the last axis first."""
    rank = pool_rank(call)
    images = batched(call, x, rank)
    order = (1, 0) if rank == 2 else (0, 1, 2)
    windows = [
        fractional_windows(images.shape[2 + n], count, k, f"i{2 + n}", f"x1[i0, i1, {order[n]}]", samples.element)
        for n, (count, k) in enumerate(zip(sizes_of(size, rank), sizes_of(kernel, rank), strict=True))
    ]
    y, at = uneven_pooling.maxima(call.build, images, windows, [samples])
    return like(call, y, x), like(call, at, x)


@aten("adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward", "fractional_max_pool2d_backward")
@aten("fractional_max_pool3d_backward")
def pool_backward(call: Call, grad: Tensor, x: Tensor, *given: Any) -> Tensor:
    """The adjoints at the positions of the maxima, which are the last argument."""
    return uneven_pooling.at_positions(call.build, grad, given[-1], x.shape, pool_rank(call))
