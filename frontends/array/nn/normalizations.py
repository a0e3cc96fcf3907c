"""Normalizations: by statistics of a batch, of layers, of groups of channels, and by the root mean square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions import reductions
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map
from mlc.frontends.array.functions.shaping import reshape
from mlc.frontends.array.nn.activations import float_array
from mlc.frontends.build.folding.literals import literal


def batch_norm(
    x: Any, scale: Any, bias: Any, mean: Any = None, variance: Any = None, /, *, epsilon: float = 1e-5
) -> Array:
    """``x`` [N, C, X…] normalized by channel, times ``scale`` [C], plus ``bias`` [C]. Source: Ioffe and Szegedy, 2015.

    By ``mean`` and ``variance`` [C] where they are given (inference), else by those of the batch (training; the
    variance is divided by the number of elements), which ``batch_statistics`` gives.
    """
    image = float_array(x)
    if mean is None or variance is None:
        mean, variance = batch_statistics(image)
    by_channel = [_of_channels(each, image) for each in (mean, variance, scale, bias)]
    text = f"(x0 - x1) * rsqrt(x2 + {literal(epsilon)}) * x3 + x4"
    return apply_map(text, image, *by_channel)


def batch_statistics(x: Any, /) -> tuple[Array, Array]:
    """Mean and variance [C] of the channels of ``x`` [N, C, X…]."""
    image = float_array(x)
    axes = (0, *range(2, len(image.shape)))
    mean = reductions.mean(image, axis=axes)
    return mean, reductions.mean(apply_map("square(x0 - x1)", image, _of_channels(mean, image)), axis=axes)


def _of_channels(value: Any, image: Array) -> Array:
    given = as_array(value, image.element)
    if given.shape != (image.shape[1],):
        what = f"Statistics or parameters of shape {given.shape} for {image.shape[1]} channels: they need one for each"
        raise InputError(what)
    return reshape(given, (-1, *[1] * (len(image.shape) - 2)))


def layer_norm(
    x: Any, scale: Any = None, bias: Any = None, /, *, axis: int | Sequence[int] = -1, epsilon: float = 1e-5
) -> Array:
    """``x`` normalized along ``axis``, times ``scale``, plus ``bias``, which broadcast. Source: Ba et al., 2016."""
    given = float_array(x)
    axes = axis if isinstance(axis, int) else tuple(axis)
    mean = reductions.mean(given, axis=axes, keepdims=True)
    variance = reductions.mean(apply_map("square(x0 - x1)", given, mean), axis=axes, keepdims=True)
    return _scaled(apply_map(f"(x0 - x1) * rsqrt(x2 + {literal(epsilon)})", given, mean, variance), scale, bias)


def rms_norm(x: Any, scale: Any = None, /, *, axis: int | Sequence[int] = -1, epsilon: float = 1e-6) -> Array:
    """``x`` over its root mean square along ``axis``, times ``scale``. Source: Zhang and Sennrich, 2019."""
    given = float_array(x)
    axes = axis if isinstance(axis, int) else tuple(axis)
    square = reductions.mean(apply_map("x0 * x0", given), axis=axes, keepdims=True)
    return _scaled(apply_map(f"x0 * rsqrt(x1 + {literal(epsilon)})", given, square), scale, None)


def group_norm(x: Any, scale: Any, bias: Any, /, *, groups: int, epsilon: float = 1e-5) -> Array:
    """``x`` [N, C, X…] normalized over each of ``groups`` groups of channels. Source: Wu and He, 2018.

    With one channel a group it is instance normalization.

    Raises:
        InputError: the channels do not divide into the groups.
    """
    image = float_array(x)
    channels = image.shape[1]
    if not isinstance(channels, int) or groups < 1 or channels % groups:
        what = f"{groups} groups do not divide {channels} channels"
        raise InputError(what, hint="Give groups that divide a known number of channels")
    split = reshape(image, (image.shape[0], groups, channels // groups, *image.shape[2:]))
    normal = layer_norm(split, axis=range(2, len(split.shape)), epsilon=epsilon)
    return _scaled(reshape(normal, image.shape), _of_channels(scale, image), _of_channels(bias, image))


def _scaled(x: Array, scale: Any, bias: Any) -> Array:
    x = x if scale is None else FUNCTIONS["multiply"](x, as_array(scale, x.element))
    return x if bias is None else FUNCTIONS["add"](x, as_array(bias, x.element))


PUBLIC = ("batch_norm", "batch_statistics", "layer_norm", "rms_norm", "group_norm")
