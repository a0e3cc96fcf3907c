"""Continuous distributions as functions of uniform and normal numbers. Source: ``jax.random``."""

from __future__ import annotations

import math
from typing import Any

from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, broadcast, convert
from mlc.frontends.array.functions.shapes import Extents, extents
from mlc.frontends.array.linalg.decompositions import cholesky
from mlc.frontends.array.random.distributions import erfinv, float_element, normal, open_uniform, uniform


def exponential(key: Any, shape: Extents = (), dtype: Any = float) -> Array:
    """Numbers of mean 1 with the density ``exp(-x)``."""
    return apply_map("-log1p(-x0)", uniform(key, shape, dtype))


def laplace(key: Any, shape: Extents = (), dtype: Any = float) -> Array:
    """Numbers with the density ``exp(-|x|) / 2``."""
    return apply_map("-sign(x0) * log1p(-abs(x0))", open_uniform(key, shape, dtype))


def logistic(key: Any, shape: Extents = (), dtype: Any = float) -> Array:
    """Numbers with the distribution function ``sigmoid(x)``."""
    return apply_map("log1p(x0) - log1p(-x0)", open_uniform(key, shape, dtype))


def cauchy(key: Any, shape: Extents = (), dtype: Any = float) -> Array:
    """Numbers with the density ``1 / (π (1 + x^2))``."""
    return apply_map(f"tan(x0 * {math.pi / 2!r})", open_uniform(key, shape, dtype))


def rayleigh(key: Any, scale: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """Lengths of two normal numbers of deviation ``scale``."""
    wide, shape = _parameter(scale, shape, dtype)
    return wide * FUNCTIONS["sqrt"](2 * exponential(key, shape, dtype))


def pareto(key: Any, b: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """Numbers from 1 on with the density ``b / x^(b + 1)``."""
    wide, shape = _parameter(b, shape, dtype)
    return FUNCTIONS["exp"](exponential(key, shape, dtype) / wide)


def weibull_min(key: Any, scale: Any, concentration: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """``scale`` times powers ``1 / concentration`` of exponential numbers."""
    a, b = (convert(as_array(x, float_element(dtype)), float_element(dtype)) for x in (scale, concentration))
    whole = broadcast(a.shape, b.shape) if shape is None else extents(shape)
    return a * FUNCTIONS["pow"](exponential(key, whole, dtype), 1 / b)


def lognormal(key: Any, sigma: Any = 1.0, shape: Extents | None = None, dtype: Any = float) -> Array:
    """Exponentials of normal numbers of deviation ``sigma``."""
    wide, shape = _parameter(sigma, shape, dtype)
    return FUNCTIONS["exp"](wide * normal(key, shape, dtype))


def truncated_normal(key: Any, lower: Any, upper: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """Normal numbers of mean 0 and variance 1 between two bounds: quantiles of a part of the distribution."""
    element = float_element(dtype)
    low, high = (convert(as_array(x, element), element) for x in (lower, upper))
    whole = broadcast(low.shape, high.shape) if shape is None else extents(shape)
    a, b = (FUNCTIONS["erf"](x / math.sqrt(2)) for x in (low, high))
    found = erfinv(a + (b - a) * uniform(key, whole, dtype)) * math.sqrt(2)
    return FUNCTIONS["maximum"](low, FUNCTIONS["minimum"](found, high))


def multivariate_normal(key: Any, mean: Any, cov: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """[shape…, n]: normal vectors with this mean [n] and covariance [n, n], by Cholesky's factor."""
    element = float_element(dtype)
    middle, spread = (convert(as_array(x), element) for x in (mean, cov))
    whole = broadcast(middle.shape[:-1], spread.shape[:-2]) if shape is None else extents(shape)
    noise = normal(key, (*whole, middle.shape[-1]), dtype)
    return middle + (cholesky(spread) @ noise[..., None])[..., 0]


def _parameter(x: Any, shape: Extents | None, dtype: Any) -> tuple[Array, tuple[Any, ...]]:
    """A parameter as an array, and the shape of the result, its own by default."""
    element = float_element(dtype)
    given = convert(as_array(x, element), element)
    return given, given.shape if shape is None else extents(shape)


PUBLIC = (
    *("exponential", "laplace", "logistic", "cauchy", "rayleigh", "pareto", "weibull_min", "lognormal"),
    *("truncated_normal", "multivariate_normal"),
)
