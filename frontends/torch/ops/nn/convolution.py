"""Convolutions, transposed ones, and pools; images are [N, C, D…], or [C, D…] without a batch."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import product
from mlc.dialects.types import is_float
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.contraction import add_channel_bias
from mlc.frontends.build.ops.convolution import pooling
from mlc.frontends.build.ops.convolution.transposed_conv import conv_transpose
from mlc.frontends.build.ops.convolution.windows import Window
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten

Sizes = Sequence[int] | int


@aten("convolution")
def convolution(
    call: Call,
    x: Tensor,
    w: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    build, rank = call.build, w.rank - 2
    strides, pads, dilations, extra = (sizes_of(s, rank) for s in (stride, padding, dilation, output_padding))
    if transposed:
        high = [p - e for p, e in zip(pads, extra, strict=True)]
        y = conv_transpose(build, x, w, strides, dilations, groups, pads, high)
    else:
        window = Window.over(build, x.shape[2:], w.shape[2:], strides, dilations, (list(pads), list(pads)))
        y = build.conv(window.padded(build, x, "0"), w, strides, dilations, groups)
    return add_channel_bias(build, y, bias)


def sizes_of(sizes: Sizes, rank: int) -> list[int]:
    """A size for each dimension. A single one serves all."""
    given = [sizes] if isinstance(sizes, int) else list(sizes)
    return given * rank if len(given) == 1 else given


def batched(call: Call, x: Tensor, rank: int) -> Tensor:
    return x if x.rank == rank + 2 else call.build.reshape(x, (1, *x.shape))


def like(call: Call, y: Tensor, x: Tensor) -> Tensor:
    """``y``, without its batch dimension where ``x`` has none."""
    return y if y.rank == x.rank else call.build.reshape(y, y.shape[1:])


def window_of(
    call: Call, x: Tensor, kernel: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> Window:
    rank = x.rank - 2
    sizes, pads = sizes_of(kernel, rank), sizes_of(padding, rank)
    strides = sizes_of(stride, rank) if stride not in (None, []) else sizes
    ends = list(pads), list(pads)
    return Window.over(call.build, x.shape[2:], sizes, strides, sizes_of(dilation, rank), ends, ceil_mode)  # type: ignore[arg-type]


@aten("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(
    call: Call,
    x: Tensor,
    kernel: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> Tensor:
    images = batched(call, x, pool_rank(call))
    y = pooling.max_pool(call.build, images, window_of(call, images, kernel, stride, padding, dilation, ceil_mode))
    return like(call, y, x)


def pool_rank(call: Call) -> int:
    """The number of dimensions over which an operator pools, by its name: ``max_pool2d_with_indices``."""
    return int(call.op.partition("pool")[2][0])


@aten("max_pool2d_with_indices", "max_pool3d_with_indices", "max_pool1d_with_indices")
def max_pool_with_indices(
    call: Call,
    x: Tensor,
    kernel: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Positions count within the image of a channel."""
    if not call.wants(1):
        return max_pool(call, x, kernel, stride, padding, dilation, ceil_mode), None
    images = batched(call, x, pool_rank(call))
    window = window_of(call, images, kernel, stride, padding, dilation, ceil_mode)
    y, positions = pooling.max_pool_with_positions(call.build, images, window)
    inside = call.build.map(f"x0 % ({product(images.shape[2:])})", positions)
    return like(call, y, x), like(call, inside, x)


@aten("avg_pool1d", "avg_pool2d", "avg_pool3d")
def average_pool(
    call: Call,
    x: Tensor,
    kernel: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    if not is_float(x.element):  # fractions of whole numbers are dropped
        wide = call.build.cast(x, "f64")
        y = average_pool(call, wide, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return call.build.map("trunc(x0)", y)
    build, images = call.build, batched(call, x, pool_rank(call))
    window = window_of(call, images, kernel, stride, padding, 1, ceil_mode)
    if divisor_override is None:
        return like(call, pooling.average_pool(build, images, window, count_include_pad), x)
    padded = window.padded(build, build.wide(images), "0")
    total = build.pool("add", padded, window.kernel, window.strides, window.dilations)
    return like(call, build.map(f"x0 * {literal(1 / divisor_override)}", total), x)
