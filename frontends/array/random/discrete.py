"""Discrete distributions: choices, signs, counts. Source: ``jax.random``."""

from __future__ import annotations

from typing import Any

from mlc.dialects.semantics.dims import product
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import FUNCTIONS, convert, where
from mlc.frontends.array.functions.reductions import all as every
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.functions.running import cumsum
from mlc.frontends.array.functions.shapes import Extents, extents
from mlc.frontends.array.functions.shaping import broadcast_to, reshape
from mlc.frontends.array.functions.sorting import argsort, searchsorted
from mlc.frontends.array.random.distributions import bernoulli, gumbel, permutation, randint, uniform
from mlc.frontends.array.random.gamma import lgamma
from mlc.frontends.array.random.threefry import split
from mlc.frontends.array.selecting.taking import take
from mlc.frontends.array.transforms.control import while_loop


def choice(
    key: Any, a: Any, shape: Extents = (), replace: bool = True, p: Any = None, axis: int = 0, mode: str | None = None
) -> Array:
    """Slices of ``a`` along ``axis`` (numbers before an integer ``a``) by probabilities ``p``, all alike by default;
    without ``replace`` no slice twice.

    Raises:
        InputError: more slices than there are, without ``replace``.
    """
    items = arange(a) if isinstance(a, int) else as_array(a)
    size, wanted = items.shape[axis], extents(shape)
    count = product(wanted)
    if not replace and isinstance(size, int) and isinstance(count, int) and count > size:
        raise InputError(
            f"mlc.numpy.random.choice cannot take {count} out of {size} without repeating one", hint="Give replace=True"
        )
    if p is None:
        chosen = randint(key, (count,), 0, size) if replace else permutation(key, size)[:count]
    elif replace:
        total = cumsum(as_array(p))
        chosen = searchsorted(total, total[-1] * (1 - uniform(key, (count,), total.dtype)))
    else:  # the largest of logarithms plus Gumbel's noise (Efraimidis and Spirakis)
        logits = FUNCTIONS["log"](as_array(p))
        chosen = argsort(-(logits + gumbel(key, logits.shape, logits.dtype)))[:count]
    found = take(items, chosen, axis=axis)
    at = axis % items.ndim
    return reshape(found, (*items.shape[:at], *wanted, *items.shape[at + 1 :]))


def rademacher(key: Any, shape: Extents = (), dtype: Any = int) -> Array:
    """-1 or 1."""
    signs = convert(bernoulli(key, 0.5, shape), dtypes.element(dtype))
    return 2 * signs - 1


def binomial(key: Any, n: int, p: Any, shape: Extents | None = None, dtype: Any = float) -> Array:
    """How many of a fixed number ``n`` of trials succeed, each with probability ``p``."""
    given = as_array(p, "f32")
    wanted = given.shape if shape is None else extents(shape)
    trials = uniform(key, (n, *wanted)) < given
    return convert(sum(trials, axis=0), dtypes.element(dtype))


def geometric(key: Any, p: Any, shape: Extents | None = None, dtype: Any = int) -> Array:
    """The number of the first success among trials of probability ``p``, from 1 on."""
    given = as_array(p, "f32")
    u = uniform(key, given.shape if shape is None else extents(shape))
    count = FUNCTIONS["floor"](FUNCTIONS["log1p"](-u) / FUNCTIONS["log1p"](-given)) + 1
    return convert(count, dtypes.element(dtype))


def poisson(key: Any, lam: Any, shape: Extents | None = None, dtype: Any = int) -> Array:
    """Counts of mean ``lam``: products of uniform numbers (Knuth) below 10, else rejection (Hörmann 1993)."""
    given = convert(as_array(lam, "f32"), "f64")
    mean = broadcast_to(given, given.shape if shape is None else extents(shape))
    first, second = (split(key)[n] for n in range(2))
    small = _by_products(first, where(mean < 10, mean, 0.0))
    large = _by_rejection(second, where(mean < 10, 100.0, mean))
    return convert(where(mean < 10, small, large), dtypes.element(dtype))


def _by_products(key: Array, mean: Array) -> Array:
    """How many exponential waiting times there are within ``mean``."""

    def draw(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        key, waited, count = state
        keys = split(key)
        waited = waited - FUNCTIONS["log1p"](-uniform(keys[1], mean.shape, mean.dtype))
        return keys[0], waited, count + where(waited <= mean, 1.0, 0.0)

    def goes_on(state: tuple[Array, Array, Array]) -> Array:
        return FUNCTIONS["logical_not"](every(state[1] > mean))

    return while_loop(goes_on, draw, (key, mean * 0, mean * 0))[2]


def _by_rejection(key: Array, mean: Array) -> Array:
    log, root = FUNCTIONS["log"](mean), FUNCTIONS["sqrt"](mean)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)

    def draw(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        key, done, found = state
        keys = split(key, 3)
        u, v = uniform(keys[1], mean.shape, mean.dtype) - 0.5, 1 - uniform(keys[2], mean.shape, mean.dtype)
        us = 0.5 - FUNCTIONS["abs"](u)
        k = FUNCTIONS["floor"]((2 * a / us + b) * u + mean + 0.43)
        positive = FUNCTIONS["maximum"](k, 0.0)
        left = FUNCTIONS["log"](v * inverse / (a / (us * us) + b))
        fits = left <= positive * log - mean - lgamma(positive + 1)
        good = ((us >= 0.07) & (v <= v_r)) | ((k >= 0) & ((us >= 0.013) | (v <= us)) & fits)
        return keys[0], done | good, where(done | FUNCTIONS["logical_not"](good), found, k)

    start = (key, mean != mean, mean)
    return while_loop(lambda state: FUNCTIONS["logical_not"](every(state[1])), draw, start)[2]


PUBLIC = ("choice", "rademacher", "binomial", "geometric", "poisson")
