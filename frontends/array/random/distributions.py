"""Distributions from random bits: uniform, normal, integers, choices, permutations. Source: ``jax.random``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mlc.dialects.types import is_unsigned, numpy_dtype
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import FUNCTIONS, apply_map, convert
from mlc.frontends.array.functions.positions import argmax
from mlc.frontends.array.functions.shapes import Extents, extents
from mlc.frontends.array.functions.sorting import argsort
from mlc.frontends.array.random.threefry import bits, split
from mlc.frontends.array.selecting.taking import take

NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503) + (
    -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613) + (
    0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip
"""Coefficients of the inverse of erf, from Giles, "Approximating the erfinv function" (2010)."""


def float_element(dtype: Any) -> str:
    """The element type to draw in. Raises InputError for a type that has no random numbers."""
    element = dtypes.element(dtype)
    if element not in ("f32", "f64"):
        what = f"Random numbers as {dtype} cannot be drawn"
        raise InputError(what, hint="Give float32 or float64, and convert by astype")
    return element


def uniform(key: Any, shape: Extents = (), dtype: Any = float, minval: Any = 0.0, maxval: Any = 1.0) -> Array:
    """Uniform numbers in [``minval``, ``maxval``), from 23 random bits each (float64: 52)."""
    element = float_element(dtype)
    width, digits = (32, 23) if element == "f32" else (64, 52)
    fraction = apply_map(
        f"{element}(i64(x0 >> {width - digits})) * {element}({2.0**-digits!r})", bits(key, shape, f"uint{width}")
    )
    if isinstance(minval, float | int) and (minval, maxval) == (0, 1):
        return fraction
    low, high = (convert(as_array(x, element), element) for x in (minval, maxval))
    return FUNCTIONS["maximum"](low, fraction * (high - low) + low)


def normal(key: Any, shape: Extents = (), dtype: Any = float) -> Array:
    """Normal numbers of mean 0 and variance 1: the quantiles of uniform numbers."""
    return erfinv(open_uniform(key, shape, dtype)) * math.sqrt(2)


def open_uniform(key: Any, shape: Extents = (), dtype: Any = float) -> Array:
    """Uniform numbers in the open interval (-1, 1)."""
    element = float_element(dtype)
    lowest = float(np.nextafter(numpy_dtype(element).type(-1), numpy_dtype(element).type(0)))
    return uniform(key, shape, dtype, lowest, 1.0)


def erfinv(x: Array) -> Array:
    """The inverse of ``erf``: a polynomial of 24 bits, for float64 with two steps of Newton's method."""
    wide = apply_map("-log1p(-x0 * x0)", x)
    near, far = _horner(NEAR, "(x0 - 2.5)"), _horner(FAR, "(sqrt(x0) - 3)")
    found = apply_map(f"where(abs(x1) == 1, x1 * inf, where(x0 < 5, {near}, {far}) * x1)", wide, x)
    for _ in range(2 if x.element == "f64" else 0):
        step = f"(erf(x0) - x1) * exp(x0 * x0) * {math.sqrt(math.pi) / 2!r}"
        found = apply_map(f"where(abs(x1) == 1, x0, x0 - {step})", found, x)
    return found


def _horner(coefficients: tuple[float, ...], x: str) -> str:
    text = repr(coefficients[0])
    for each in coefficients[1:]:
        text = f"({text} * {x} + {each!r})"
    return text


def randint(key: Any, shape: Extents, minval: Any, maxval: Any, dtype: Any = int) -> Array:
    """Integers in [``minval``, ``maxval``), from twice as many bits as they have, so that all are almost equally
    likely.
    """
    element = dtypes.element(dtype)
    width = 8 * numpy_dtype(element).itemsize
    unsigned = element if is_unsigned(element) else f"ui{width}"
    low, high = (convert(as_array(x, element), element) for x in (minval, maxval))
    span = convert(high - low, unsigned)
    keys = split(key)
    upper, lower = (bits(keys[n], shape, numpy_dtype(unsigned)) for n in range(2))
    half = apply_map(f"{2 ** (width // 2)} % x0", span)
    factor = apply_map("(x0 * x0) % x1", half, span)
    offset = apply_map("((x0 % x3) * x2 + x1 % x3) % x3", upper, lower, factor, span)
    return low + convert(offset, element)


def bernoulli(key: Any, p: Any = 0.5, shape: Extents | None = None) -> Array:
    """True with probability ``p``, whose shape is the result's by default."""
    given = as_array(p)
    return uniform(key, given.shape if shape is None else shape) < given


def gumbel(key: Any, shape: Extents = (), dtype: Any = float) -> Array:
    """Numbers of the distribution of Gumbel: the largest of ``logits + gumbel`` is a choice by their probabilities."""
    least = float(np.finfo(numpy_dtype(float_element(dtype))).tiny)
    return apply_map("-log(-log(x0))", uniform(key, shape, dtype, least, 1.0))


def categorical(key: Any, logits: Any, axis: int = -1, shape: Extents | None = None) -> Array:
    """Indices along ``axis`` by probabilities whose logarithms, up to a sum, are ``logits``.

    ``shape`` of the result; it ends with the other dimensions of ``logits``, which it is by default.
    """
    given = as_array(logits)
    at = axis % given.ndim
    others = (*given.shape[:at], *given.shape[at + 1 :])
    whole = others if shape is None else extents(shape)
    outer = whole[: len(whole) - len(others)]
    noise = gumbel(key, (*outer, *given.shape), given.dtype)
    return argmax(noise + given, axis=at - given.ndim)


def permutation(key: Any, x: Any, axis: int = 0) -> Array:
    """``x`` in a random order along ``axis``. An integer stands for the numbers below it."""
    if isinstance(x, int):
        x = arange(x)
    given = as_array(x)
    order = arange(given.shape[axis])
    size = max(given.shape[axis], 2)  # type: ignore[type-var]
    for _ in range(math.ceil(3 * math.log(size) / math.log(2**32 - 1))):  # type: ignore[arg-type]
        key, now = (split(key)[n] for n in range(2))
        order = take(order, argsort(bits(now, order.shape)), axis=0)
    return take(given, order, axis=axis)
