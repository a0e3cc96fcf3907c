"""Attributions that are made of gradients.

Source: Simonyan et al., "Deep inside convolutional networks", 2013 (saliency); Smilkov et al., "SmoothGrad", 2017;
Sundararajan et al., "Axiomatic attribution for deep networks", 2017 (integrated gradients).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.attribution.targets import Network, chosen, slope
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.control import scan


def saliency(f: Network, x: Any, target: Any = None, *, absolute: bool = True) -> Array:
    """How much a small change of each element changes the score: |gradient|, like ``x`` [n, …].

    Args:
        f: a function from a batch to scores [n, classes]: a module, ``mlc.function(model)``, any function on arrays.
        target: the class, an index or one for each example; the one of the largest score by default.
        absolute: without it the gradient itself.
    """
    found = slope(f, as_array(x), chosen(f, x, target))
    return mnp.abs(found) if absolute else found


def input_x_gradient(f: Network, x: Any, target: Any = None) -> Array:
    """The element times the gradient by it, like ``x``; parameters as ``saliency``."""
    given = as_array(x)
    return given * slope(f, given, chosen(f, x, target))


def smooth_grad(
    f: Network, x: Any, target: Any = None, *, key: Any, samples: int = 25, deviation: float = 0.15,
    absolute: bool = False,
) -> Array:  # fmt: skip
    """The mean of the gradients at ``samples`` points near ``x``, with normal noise of the deviation
    ``deviation * (max - min)`` of each example; of their absolute values with ``absolute``.

    ``key``: a random key. Other parameters as ``saliency``.

    Raises:
        InputError: less than one sample.
    """
    if samples < 1:
        raise InputError(f"smooth_grad cannot take the mean of {samples} samples", hint="Give one at least")
    given, wanted = as_array(x), chosen(f, x, target)
    axes = tuple(range(1, given.ndim))
    width = mnp.max(given, axis=axes, keepdims=True) - mnp.min(given, axis=axes, keepdims=True)

    def add(total: Array, each: Array) -> tuple[Array, None]:
        noise = mnp.random.normal(each, given.shape, given.dtype)
        found = slope(f, given + deviation * width * noise, wanted)
        return total + (mnp.abs(found) if absolute else found), None

    return scan(add, mnp.zeros_like(given), mnp.random.split(key, samples))[0] / samples


def integrated_gradients(
    f: Network, x: Any, target: Any = None, *, baseline: Any = 0.0, steps: int = 50
) -> Array:
    """The difference from the baseline times the mean gradient on the way from there, like ``x``. All attributions of
    an example add up to the difference of the scores at ``x`` and at the baseline.

    The integral is by Gauss' and Legendre's rule of ``steps`` points. ``baseline`` broadcasts to ``x``. Other
    parameters as ``saliency``.

    Raises:
        InputError: less than one step.
    """
    if steps < 1:
        raise InputError(f"integrated_gradients cannot take {steps} steps", hint="Give one at least")
    given, wanted = as_array(x), chosen(f, x, target)
    start = mnp.broadcast_to(as_array(baseline, given.element).astype(given.dtype), given.shape)
    points, weights = np.polynomial.legendre.leggauss(steps)
    shares = np.stack([(points + 1) / 2, weights / 2], axis=1).astype(given.dtype)

    def add(total: Array, each: Array) -> tuple[Array, None]:
        at = start + each[0] * (given - start)
        return total + each[1] * slope(f, at, wanted), None

    return (given - start) * scan(add, mnp.zeros_like(given), shares)[0]
