"""Continuous distributions with a location and a scale. Source: Forbes et al., "Statistical distributions", 2011."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.distributions.distribution import Distribution, Shape, impossible_outside, within
from mlc.frontends.array.array import Array
from mlc.frontends.array.special.entropies import expit, logit
from mlc.frontends.array.special.errors import log_ndtr, ndtr, ndtri

random = mnp.random
LOG_2_PI = math.log(2 * math.pi)
EULER = float(np.euler_gamma)


class Normal(Distribution):
    """The normal distribution of mean ``loc`` and standard deviation ``scale``."""

    loc: Any = 0.0
    scale: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        z = (x - self.loc) / self.scale
        return -0.5 * z * z - mnp.log(self.scale) - 0.5 * LOG_2_PI

    def _cdf(self, x: Array) -> Array:
        return ndtr((x - self.loc) / self.scale)

    def log_cdf(self, value: Any) -> Array:
        """The logarithm of ``cdf``, exact far below the mean too."""
        x = mnp.asarray(value)
        own = self._with(x.element)
        return log_ndtr((x - own.loc) / own.scale)

    def _icdf(self, p: Array) -> Array:
        return self.loc + self.scale * ndtri(p)

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return self.loc + self.scale * random.normal(key, shape, dtype)

    def _mean(self) -> Array:
        return self.loc

    def _variance(self) -> Array:
        return self.scale**2

    def _entropy(self) -> Array:
        return 0.5 + 0.5 * LOG_2_PI + mnp.log(self.scale)


class LogNormal(Distribution):
    """Exponentials of normal numbers of mean ``loc`` and deviation ``scale``."""

    loc: Any = 0.0
    scale: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        inside = x > 0
        log = mnp.log(within(inside, x, 1))
        return impossible_outside(inside, Normal(self.loc, self.scale)._log_prob(log) - log)

    def _cdf(self, x: Array) -> Array:
        inside = x > 0
        below = Normal(self.loc, self.scale)._cdf(mnp.log(within(inside, x, 1)))
        return mnp.where(inside, below, 0.0)

    def _icdf(self, p: Array) -> Array:
        return mnp.exp(Normal(self.loc, self.scale)._icdf(p))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return mnp.exp(Normal(self.loc, self.scale)._sample(key, shape, dtype))

    def _mean(self) -> Array:
        return mnp.exp(self.loc + self.scale**2 / 2)

    def _variance(self) -> Array:
        return mnp.expm1(self.scale**2) * mnp.exp(2 * self.loc + self.scale**2)

    def _entropy(self) -> Array:
        return self.loc + Normal(self.loc, self.scale)._entropy()


class Uniform(Distribution):
    """Numbers from ``low`` to ``high``, all alike."""

    low: Any = 0.0
    high: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        return impossible_outside((x >= self.low) & (x <= self.high), -mnp.log(self.high - self.low) + x * 0)

    def _cdf(self, x: Array) -> Array:
        return mnp.clip((x - self.low) / (self.high - self.low), 0.0, 1.0)

    def _icdf(self, p: Array) -> Array:
        return self.low + (self.high - self.low) * p

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return self.low + (self.high - self.low) * random.uniform(key, shape, dtype)

    def _mean(self) -> Array:
        return (self.low + self.high) / 2

    def _variance(self) -> Array:
        return (self.high - self.low) ** 2 / 12

    def _entropy(self) -> Array:
        return mnp.log(self.high - self.low)


class Exponential(Distribution):
    """Waiting times with ``rate`` events in a unit of time: the density ``rate exp(-rate x)``."""

    rate: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        return impossible_outside(x >= 0, mnp.log(self.rate) - self.rate * x)

    def _cdf(self, x: Array) -> Array:
        return mnp.where(x < 0, 0.0, -mnp.expm1(-self.rate * within(x >= 0, x, 0)))

    def _icdf(self, p: Array) -> Array:
        return -mnp.log1p(-p) / self.rate

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.exponential(key, shape, dtype) / self.rate

    def _mean(self) -> Array:
        return 1 / self.rate

    def _variance(self) -> Array:
        return self.rate**-2.0

    def _entropy(self) -> Array:
        return 1 - mnp.log(self.rate)


class Laplace(Distribution):
    """The density ``exp(-|x - loc| / scale) / (2 scale)``."""

    loc: Any = 0.0
    scale: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        return -mnp.abs(x - self.loc) / self.scale - mnp.log(2 * self.scale)

    def _cdf(self, x: Array) -> Array:
        z = (x - self.loc) / self.scale
        half = 0.5 * mnp.exp(-mnp.abs(z))
        return mnp.where(z < 0, half, 1 - half)

    def _icdf(self, p: Array) -> Array:
        side = p - 0.5
        return self.loc - self.scale * mnp.sign(side) * mnp.log1p(-2 * mnp.abs(side))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return self.loc + self.scale * random.laplace(key, shape, dtype)

    def _mean(self) -> Array:
        return self.loc

    def _variance(self) -> Array:
        return 2 * self.scale**2

    def _entropy(self) -> Array:
        return 1 + mnp.log(2 * self.scale)


class Logistic(Distribution):
    """The distribution function ``sigmoid((x - loc) / scale)``."""

    loc: Any = 0.0
    scale: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        z = mnp.abs((x - self.loc) / self.scale)
        return -z - 2 * mnp.log1p(mnp.exp(-z)) - mnp.log(self.scale)

    def _cdf(self, x: Array) -> Array:
        return expit((x - self.loc) / self.scale)

    def _icdf(self, p: Array) -> Array:
        return self.loc + self.scale * logit(p)

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return self.loc + self.scale * random.logistic(key, shape, dtype)

    def _mean(self) -> Array:
        return self.loc

    def _variance(self) -> Array:
        return self.scale**2 * (math.pi**2 / 3)

    def _entropy(self) -> Array:
        return 2 + mnp.log(self.scale)


class Gumbel(Distribution):
    """The largest of many numbers: the distribution function ``exp(-exp(-(x - loc) / scale))``."""

    loc: Any = 0.0
    scale: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        z = (x - self.loc) / self.scale
        return -z - mnp.exp(-z) - mnp.log(self.scale)

    def _cdf(self, x: Array) -> Array:
        return mnp.exp(-mnp.exp(-(x - self.loc) / self.scale))

    def _icdf(self, p: Array) -> Array:
        return self.loc - self.scale * mnp.log(-mnp.log(p))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return self.loc + self.scale * random.gumbel(key, shape, dtype)

    def _mean(self) -> Array:
        return self.loc + EULER * self.scale

    def _variance(self) -> Array:
        return self.scale**2 * (math.pi**2 / 6)

    def _entropy(self) -> Array:
        return mnp.log(self.scale) + 1 + EULER


class Cauchy(Distribution):
    """The density ``scale / (π (scale² + (x - loc)²))``; mean and variance are NaN."""

    loc: Any = 0.0
    scale: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        z = (x - self.loc) / self.scale
        return -math.log(math.pi) - mnp.log(self.scale) - mnp.log1p(z * z)

    def _cdf(self, x: Array) -> Array:
        return 0.5 + mnp.arctan((x - self.loc) / self.scale) / math.pi

    def _icdf(self, p: Array) -> Array:
        return self.loc + self.scale * mnp.tan(math.pi * (p - 0.5))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return self.loc + self.scale * random.cauchy(key, shape, dtype)

    def _mean(self) -> Array:
        return self.loc * mnp.nan

    def _variance(self) -> Array:
        return self.scale * mnp.nan

    def _entropy(self) -> Array:
        return math.log(4 * math.pi) + mnp.log(self.scale)
