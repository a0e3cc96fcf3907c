"""Grad-CAM: the channels of a layer, weighted by the mean gradients by them.

Source: Selvaraju et al., "Grad-CAM: visual explanations from deep networks", 2017.
"""

from __future__ import annotations

from typing import Any

import mlc.numpy as mnp
from mlc.attribution.taps import tapped
from mlc.attribution.targets import scores
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.derivatives.gradients import grad


def grad_cam(network: Any, x: Any, target: Any = None, *, layer: str, relu: bool = True) -> Array:
    """A map [n, 1, …] of the size of a layer's channels [n, c, …]: where it sees what speaks for a class.

    Args:
        network, layer: a module of ``mlc.nn`` and a path in it, an ONNX model (or path) and the name of a value, or a
            ``torch.nn.Module`` and the name of a submodule.
        x, target: as of ``saliency``.
        relu: cut off what speaks against the class.

    Raises:
        InputError: no such layer, or one whose result is not [n, c, …].
    """
    given = as_array(x)
    run = tapped(network, layer, given)
    y, channels = run(given, None)
    if channels.ndim < 3:
        what = f"The layer {layer} gives {list(channels.shape)}, and Grad-CAM weighs channels [n, c, …]"
        raise InputError(what, hint="Name a convolution, or the activation after one")
    wanted = target if target is not None or y.ndim == 1 else mnp.argmax(y, axis=1)
    slopes = grad(lambda change: mnp.sum(scores(run(given, change)[0], wanted)))(mnp.zeros_like(channels))
    weights = mnp.mean(slopes, axis=tuple(range(2, channels.ndim)), keepdims=True)
    found = mnp.sum(weights * channels, axis=1, keepdims=True)
    return mnp.maximum(found, 0.0) if relu else found


def upsampled(cam: Any, size: tuple[int, int]) -> Array:
    """A map [n, 1, h, w] in the size of the images, linearly interpolated between the middles of its elements."""
    found = as_array(cam)
    for axis, wanted in zip((2, 3), size, strict=True):
        extent = int(found.shape[axis])  # type: ignore[arg-type]
        at = (mnp.arange(wanted, dtype=found.dtype) + 0.5) * (extent / wanted) - 0.5
        at = mnp.clip(at, 0.0, extent - 1.0)
        low = mnp.floor(at).astype(mnp.int64)
        share = mnp.reshape(at - low.astype(at.dtype), (-1, 1) if axis == 2 else (-1,))
        first, second = (mnp.take(found, n, axis=axis) for n in (low, mnp.minimum(low + 1, extent - 1)))
        found = first * (1 - share) + second * share
    return found
