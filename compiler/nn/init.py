"""``mlc.nn.init``: initial weights. Source: the formulas and defaults of ``torch.nn.init``.

Each function makes an array of a shape on the host, from a generator of NumPy: by default that of
``mlc.nn.manual_seed``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.public import publish

Shape = Sequence[int]
Generator = np.random.Generator
GAINS = {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
"""Factors that keep the variance of activations; 1 of linear functions and sigmoids."""

_generator = [np.random.Generator(np.random.Philox(0))]


def manual_seed(seed: int) -> None:
    """Seed the generator of initial weights; it starts with seed 0."""
    _generator[0] = np.random.Generator(np.random.Philox(seed))


def calculate_gain(nonlinearity: str, slope: float = 0.01) -> float:
    """The factor for a nonlinearity; ``slope`` of ``leaky_relu``."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + slope**2))
    return GAINS.get(nonlinearity, 1.0)


def _made(values: Any) -> Array:
    return Array.of(np.asarray(values, np.float32))


def _from(rng: Generator | None) -> Generator:
    if rng is not None and not isinstance(rng, Generator):
        raise InputError(
            f"rng is {rng!r}, which is no generator of NumPy", hint="Give rng=numpy.random.default_rng(seed)"
        )
    return _generator[0] if rng is None else rng


def _extents(shape: Shape) -> Shape:
    """A shape; ValueError, which the layer's constructor explains, for one that no array has."""
    if not all(isinstance(d, int | np.integer) and d >= 0 for d in shape):
        raise ValueError(f"an array of shape {tuple(shape)} would be made, and extents are integers from 0 on")
    return tuple(shape)


def constant(shape: Shape, value: float) -> Array:
    """One value."""
    return _made(np.full(_extents(shape), value))


def zeros(shape: Shape) -> Array:
    """Zeros."""
    return constant(shape, 0.0)


def ones(shape: Shape) -> Array:
    """Ones."""
    return constant(shape, 1.0)


def uniform(shape: Shape, low: float = 0.0, high: float = 1.0, rng: Generator | None = None) -> Array:
    """Uniform from ``low`` to ``high``."""
    return _made(_from(rng).uniform(low, high, _extents(shape)))


def normal(shape: Shape, mean: float = 0.0, std: float = 1.0, rng: Generator | None = None) -> Array:
    """Normal."""
    return _made(_from(rng).normal(mean, std, _extents(shape)))


def trunc_normal(
    shape: Shape,
    mean: float = 0.0,
    std: float = 1.0,
    low: float = -2.0,
    high: float = 2.0,
    rng: Generator | None = None,
) -> Array:
    """Normal, drawn again where it is not from ``low`` to ``high``.

    Raises:
        InputError: the interval has less than a thousandth of the distribution, so that drawing would not end.
    """
    a, b = ((edge - mean) / (std * math.sqrt(2)) for edge in (low, high))
    if math.erf(b) - math.erf(a) < 2e-3:
        raise InputError(
            f"A normal distribution of mean {mean} and deviation {std} is hardly in [{low}, {high}]",
            hint="Give limits around the mean",
        )
    generator = _from(rng)
    values = generator.normal(mean, std, _extents(shape))
    while (outside := (values < low) | (values > high)).any():
        values[outside] = generator.normal(mean, std, int(outside.sum()))
    return _made(values)


def fans(shape: Shape) -> tuple[int, int]:
    """The numbers of inputs and of outputs of an element of a weight [out, in, window…].

    Raises:
        InputError: fewer than two dimensions.
    """
    if len(shape) < 2:
        raise InputError(
            f"A weight of shape {tuple(shape)} has no number of inputs and outputs", hint="Give two dimensions or more"
        )
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def xavier_uniform(shape: Shape, gain: float = 1.0, rng: Generator | None = None) -> Array:
    """Uniform of variance 2 gain² / (inputs + outputs). Source: Glorot and Bengio, 2010."""
    bound = gain * math.sqrt(6 / sum(fans(shape)))
    return uniform(shape, -bound, bound, rng)


def xavier_normal(shape: Shape, gain: float = 1.0, rng: Generator | None = None) -> Array:
    """Normal of variance 2 gain² / (inputs + outputs)."""
    return normal(shape, 0.0, gain * math.sqrt(2 / sum(fans(shape))), rng)


def _kaiming(shape: Shape, slope: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise InputError(f"There is no mode '{mode}'", hint="Use 'fan_in' or 'fan_out'")
    return calculate_gain(nonlinearity, slope) / math.sqrt(fans(shape)[mode == "fan_out"])


def kaiming_uniform(
    shape: Shape,
    slope: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    rng: Generator | None = None,
) -> Array:
    """Uniform of variance gain² / inputs. Source: He et al., 2015."""
    bound = math.sqrt(3) * _kaiming(shape, slope, mode, nonlinearity)
    return uniform(shape, -bound, bound, rng)


def kaiming_normal(
    shape: Shape,
    slope: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    rng: Generator | None = None,
) -> Array:
    """Normal of variance gain² / inputs."""
    return normal(shape, 0.0, _kaiming(shape, slope, mode, nonlinearity), rng)


def orthogonal(shape: Shape, gain: float = 1.0, rng: Generator | None = None) -> Array:
    """Rows, or columns where there are fewer, of an orthogonal matrix. Source: Saxe et al., 2013."""
    rows, columns = shape[0], math.prod(shape[1:])
    drawn = _from(rng).normal(size=(max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(drawn)
    q = q * np.sign(np.diagonal(r))
    return _made(gain * (q.T if rows < columns else q).reshape(_extents(shape)))


def by_inputs(shape: Shape, inputs: int, rng: Generator | None = None) -> Array:
    """Uniform from -1/√inputs to 1/√inputs: what PyTorch's linear, convolution and recurrent layers begin with."""
    bound = 1 / math.sqrt(inputs) if _extents(shape) and inputs > 0 else 0.0
    return uniform(shape, -bound, bound, rng)


_FUNCTIONS = [name for name, each in list(globals().items()) if getattr(each, "__module__", "") == __name__]
publish(globals(), [name for name in _FUNCTIONS if not name.startswith("_")])
