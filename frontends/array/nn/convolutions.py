"""Convolutions and pooling of images [N, C, X…], in any number of spatial dimensions. Source: PyTorch, ONNX Conv 11."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.graph.conv import window_extent
from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, operands
from mlc.frontends.array.functions.shaping import reshape
from mlc.frontends.array.nn.activations import float_array
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.convolution import pooling, transposed_conv
from mlc.frontends.build.ops.convolution.windows import Window, same_pads
from mlc.frontends.build.tensors import Tensor

Ints = int | Sequence[int]
Padding = int | str | Sequence[int | tuple[int, int]]
Pairs = tuple[tuple[DimLike, DimLike], ...]


def conv(
    x: Any,
    weight: Any,
    bias: Any = None,
    /,
    *,
    strides: Ints = 1,
    padding: Padding = 0,
    dilations: Ints = 1,
    groups: int = 1,
) -> Array:
    """Convolution (cross-correlation) of ``x`` [N, C, X…] with ``weight`` [F, C/groups, K…]; ``bias`` is [F].

    ``padding`` by zeros: a number, one or a pair (before, after) for each spatial dimension, ``"valid"`` (none), or
    ``"same"``: one window a stride.

    Raises:
        InputError: ranks or channels do not fit, or a window is larger than the padded image.
    """
    image, kernel = operands(x, weight, lowest=2)
    rank = len(kernel.shape) - 2
    if rank < 1 or len(image.shape) != rank + 2 or image.shape[1] != kernel.shape[1] * groups:
        what = f"A convolution of {image.shape} with weights {kernel.shape} in {groups} groups: the channels do not fit"
        raise InputError(what)
    window = (_each(strides, rank), _each(dilations, rank))
    pads = _pads(padding, image.shape[2:], kernel.shape[2:], *window)
    shape = (image.shape[0], kernel.shape[0], *_extents(image, kernel.shape[2:], *window, pads))
    made = apply(convolved, [image, kernel], (*window, pads, groups), image.element, shape)
    return made if bias is None else FUNCTIONS["add"](made, reshape(as_array(bias), (-1, *[1] * rank)))


def convolved(
    build: Builder,
    xs: Sequence[Tensor],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: Pairs,
    groups: int,
) -> Tensor:
    x, w = xs
    window = _window(build, x, w.shape[2:], strides, dilations, pads)
    return build.conv(window.padded(build, x, "0"), w, list(strides), list(dilations), groups)


def conv_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    /,
    *,
    strides: Ints = 1,
    padding: Padding = 0,
    dilations: Ints = 1,
    groups: int = 1,
) -> Array:
    """Transposed convolution of ``x`` [N, C, X…] with ``weight`` [C, F/groups, K…]: the derivative of ``conv`` by its
    image.

    ``padding`` is cut from the ends of the result, whose extents are (X - 1)·stride + dilation·(K - 1) + 1 - padding;
    a negative one adds to them.

    Raises:
        InputError: ranks, channels or groups do not fit.
    """
    image, kernel = operands(x, weight, lowest=2)
    rank = len(kernel.shape) - 2
    fits = rank >= 1 and len(image.shape) == rank + 2 and image.shape[1] == kernel.shape[0]
    if not fits or groups < 1 or image.shape[1] % groups:
        what = f"A transposed convolution of {image.shape} with weights {kernel.shape} in {groups} groups"
        raise InputError(f"{what} is not defined: the channels do not fit", hint="Give weights [in, out / groups, …]")
    steps, spread = _each(strides, rank), _each(dilations, rank)
    pads = _pads(padding, image.shape[2:], kernel.shape[2:], steps, spread)
    sizes = zip(image.shape[2:], kernel.shape[2:], steps, spread, pads, strict=True)
    extents = [(n - 1) * s + d * (k - 1) + 1 - a - b for n, k, s, d, (a, b) in sizes]
    shape = (image.shape[0], kernel.shape[1] * groups, *extents)
    made = apply(transposed, [image, kernel], (steps, spread, pads, groups), image.element, shape)
    return made if bias is None else FUNCTIONS["add"](made, reshape(as_array(bias), (-1, *[1] * rank)))


def transposed(
    build: Builder,
    xs: Sequence[Tensor],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: Pairs,
    groups: int,
) -> Tensor:
    low, high = zip(*pads, strict=True)
    return transposed_conv.conv_transpose(build, xs[0], xs[1], strides, dilations, groups, low, high)


def max_pool(x: Any, /, kernel: Ints, *, strides: Ints | None = None, padding: Padding = 0) -> Array:
    """The maximum of each window of [N, C, X…]; windows are side by side unless there are ``strides``."""
    return _pooled(x, kernel, strides, padding, "max")


def avg_pool(
    x: Any, /, kernel: Ints, *, strides: Ints | None = None, padding: Padding = 0, count_padding: bool = True
) -> Array:
    """The mean of each window of [N, C, X…]; ``count_padding``: zeros of the padding count, too."""
    return _pooled(x, kernel, strides, padding, "mean of all" if count_padding else "mean")


def _pooled(x: Any, kernel: Ints, strides: Ints | None, padding: Padding, fn: str) -> Array:
    image = float_array(x)
    rank = len(image.shape) - 2
    sizes = _each(kernel, rank)
    steps, ones = (sizes if strides is None else _each(strides, rank)), (1,) * rank
    pads = _pads(padding, image.shape[2:], sizes, steps, ones)
    shape = (*image.shape[:2], *_extents(image, sizes, steps, ones, pads))
    return apply(pooled, [image], (sizes, steps, pads, fn), image.element, shape)


def pooled(
    build: Builder, xs: Sequence[Tensor], kernel: tuple[int, ...], strides: tuple[int, ...], pads: Pairs, fn: str
) -> Tensor:
    window = _window(build, xs[0], kernel, strides, (1,) * len(kernel), pads)
    if fn == "max":
        return pooling.max_pool(build, xs[0], window)
    return pooling.average_pool(build, xs[0], window, fn == "mean of all")


def _window(
    build: Builder,
    x: Tensor,
    kernel: Sequence[DimLike],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Pairs,
) -> Window:
    low, high = ([pair[n] for pair in pads] for n in (0, 1))
    return Window.over(build, x.shape[2:], kernel, list(strides), list(dilations), (low, high))


def _each(value: Ints, rank: int) -> tuple[int, ...]:
    """A value for each spatial dimension."""
    found = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(found) != rank or min(found, default=1) < 1:
        raise InputError(
            f"{found} does not fit {rank} spatial dimensions", hint="Give one positive number, or one for each"
        )
    return found


def _pads(
    padding: Padding,
    spatial: Sequence[DimLike],
    kernel: Sequence[DimLike],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Pairs:
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            what = f"Padding '{padding}' is none that a convolution has"
            raise InputError(what, hint="Give numbers, 'same' or 'valid'")
        same = same_pads(spatial, kernel, strides, dilations, True)
        return tuple(zip(*same, strict=True)) if padding == "same" else ((0, 0),) * len(spatial)
    each = (padding,) * len(spatial) if isinstance(padding, int) else tuple(padding)
    if len(each) != len(spatial):
        raise InputError(
            f"Padding {each} for {len(spatial)} spatial dimensions: it needs a number for each, or a pair",
            hint="Give padding=1, or ((1, 1), (2, 2))",
        )
    return tuple((p, p) if isinstance(p, int) else (p[0], p[1]) for p in each)


def _extents(
    x: Array, kernel: Sequence[DimLike], strides: Sequence[int], dilations: Sequence[int], pads: Pairs
) -> list[DimLike]:
    sizes = zip(x.shape[2:], kernel, strides, dilations, pads, strict=True)
    found = [window_extent(n + a + b, k, s, d) for n, k, s, d, (a, b) in sizes]
    if any(isinstance(n, int) and n < 1 for n in found):
        raise InputError(
            f"A window of {tuple(kernel)} in an image of {x.shape[2:]} with padding {pads} does not fit",
            hint="Give more padding, or a smaller window",
        )
    return found


PUBLIC = ("conv", "conv_transpose", "max_pool", "avg_pool")
