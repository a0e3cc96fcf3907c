"""Operators of backward graphs that torch does not decompose: pullbacks of the operators that they belong to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.ops.training.gradient import leaf, pulled_back
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.nn.adaptive_pooling import adaptive_average_pool
from mlc.frontends.torch.ops.nn.convolution import Sizes, average_pool, convolution, pool_rank, sizes_of
from mlc.frontends.torch.ops.nn.images import sample_grid, upsample
from mlc.frontends.torch.ops.tensors.movement import pad_elements
from mlc.frontends.torch.registry import Call, aten


def pullback(call: Call, forward: Callable[..., Tensor], xs: Sequence[Tensor], grad: Tensor) -> list[Tensor]:
    """The adjoints of ``xs``, given that of ``forward(*xs)``."""
    leaves = [leaf(call.build, x) for x in xs]
    return pulled_back(call.build, [forward(*leaves)], leaves, [grad])


@aten("convolution_backward")
def convolution_backward(
    call: Call, grad: Tensor, x: Tensor, w: Tensor, bias_sizes: Any, *given: Any
) -> tuple[Tensor | None, ...]:
    """``given``: as convolution has them, and which of the adjoints of image, weight and bias are wanted."""
    *options, wanted = given
    by_x, by_w = pullback(call, lambda x, w: convolution(call, x, w, None, *options), [x, w], grad)
    by_bias = call.build.reduce("add", grad, [0, *range(2, grad.rank)], False) if wanted[2] else None
    return by_x if wanted[0] else None, by_w if wanted[1] else None, by_bias


@aten("avg_pool1d_backward", "avg_pool2d_backward", "avg_pool3d_backward")
def average_pool_backward(call: Call, grad: Tensor, x: Tensor, *given: Any) -> Tensor:
    return pullback(call, lambda x: average_pool(call, x, *given), [x], grad)[0]


@aten("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def adaptive_pool_backward(call: Call, grad: Tensor, x: Tensor) -> Tensor:
    size = grad.shape[-pool_rank(call) :]
    return pullback(call, lambda x: adaptive_average_pool(call, x, size), [x], grad)[0]


@aten("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def max_pool_backward(
    call: Call, grad: Tensor, x: Tensor, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    ceil_mode: bool, indices: Tensor,
) -> Tensor:  # fmt: skip
    """Each element gets the adjoints of the windows whose maximum it is, those o with o·stride + r·dilation = i +
    padding for an r of the window."""
    rank = pool_rank(call)
    first, axes = x.rank - rank, range(rank)
    kernels, strides, pads, steps = (sizes_of(s, rank) for s in (kernel, stride or kernel, padding, dilation))
    at = [f"(i{first + a} + {pads[a]} - r{a} * {steps[a]})" for a in axes]
    window = [f"({at[a]} // {strides[a]})" for a in axes]
    extents = grad.shape[first:]
    inside = [f"({at[a]} % {strides[a]} == 0) & ({at[a]} >= 0) & ({window[a]} < {extents[a]})" for a in axes]
    read = ", ".join([f"i{n}" for n in range(first)] + [f"clip({window[a]}, 0, {extents[a]} - 1)" for a in axes])
    position = functools.reduce(lambda p, n: f"({p} * ({x.shape[n]}) + i{n})", range(first, x.rank), "0")
    chosen = " & ".join([*inside, f"(x1[{read}] == {position})"])
    return call.build.compute(f"where({chosen}, x0[{read}], 0)", [grad, indices], x.shape, kernels, "add")


@aten(*(f"upsample_{n}_backward" for n in ("nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d")))
@aten("upsample_trilinear3d_backward", "upsample_bicubic2d_backward", "_upsample_bilinear2d_aa_backward")
@aten("_upsample_nearest_exact1d_backward", "_upsample_nearest_exact2d_backward", "_upsample_bicubic2d_aa_backward")
def upsample_backward(
    call: Call, grad: Tensor, size: Sequence[DimLike] | None, shape: Sequence[DimLike], *rest: Any
) -> Tensor:
    image = call.build.broadcast(call.build.constant(0, grad.element), shape)
    return pullback(call, lambda x: upsample(call, x, size, *rest), [image], grad)[0]


@aten("grid_sampler_2d_backward", "grid_sampler_3d_backward")
def sample_grid_backward(call: Call, grad: Tensor, x: Tensor, grid: Tensor, *given: Any) -> tuple[Tensor | None, ...]:
    *options, wanted = given
    found = pullback(call, lambda x, grid: sample_grid(call, x, grid, *options), [x, grid], grad)
    return tuple(each if want else None for each, want in zip(found, wanted, strict=True))


@aten("replication_pad1d_backward", "replication_pad2d_backward", "replication_pad3d_backward")
def pad_backward(call: Call, grad: Tensor, x: Tensor, padding: Sequence[int]) -> Tensor:
    return pullback(call, lambda x: pad_elements(call, x, padding), [x], grad)[0]


@aten("softshrink_backward", "hardshrink_backward")
def shrink_backward(call: Call, grad: Tensor, x: Tensor, lambd: float) -> Tensor:
    return call.build.map(f"where(abs(x1) > {float(lambd)!r}, x0, 0)", grad, x)


@aten("_weight_norm_interface_backward")
def weight_norm_backward(
    call: Call, grad: Tensor, v: Tensor, g: Tensor, lengths: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """Of ``g v / |v|``, with a length for each slice along ``dim``: the adjoints of v and g."""
    build, others = call.build, [n for n in range(v.rank) if n != dim]
    length = build.cast(lengths, v.element)
    along = build.reduce("add", build.map("x0 * x1", grad, v), others, True)
    by_v = build.formula("x2 / x3 * (x0 - x1 * (x4 / (x3 * x3)))", grad, v, g, length, along)
    return by_v, build.map("x0 / x1", along, length)
