"""Distributions that are made of the gamma distribution. Source: Forbes et al., "Statistical distributions", 2011."""

from __future__ import annotations

import math
from typing import Any

import mlc.numpy as mnp
from mlc.distributions.distribution import Distribution, Shape, impossible_outside, within
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.special.betas import betaln
from mlc.frontends.array.special.entropies import xlog1py, xlogy
from mlc.frontends.array.special.gammas import digamma, gammaln
from mlc.frontends.array.special.incomplete import betainc, gammainc

random = mnp.random


class Gamma(Distribution):
    """The density ``rate^a x^(a - 1) exp(-rate x) / Γ(a)`` with ``a = concentration``."""

    concentration: Any
    rate: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        a, inside = self.concentration, x >= 0
        at = within(inside, x, 1)
        return impossible_outside(inside, a * mnp.log(self.rate) + xlogy(a - 1, at) - self.rate * at - gammaln(a))

    def _cdf(self, x: Array) -> Array:
        return gammainc(self.concentration, self.rate * mnp.maximum(x, 0.0))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.gamma(key, self.concentration, shape, dtype) / self.rate

    def _mean(self) -> Array:
        return self.concentration / self.rate

    def _variance(self) -> Array:
        return self.concentration / self.rate**2

    def _entropy(self) -> Array:
        a = self.concentration
        return a - mnp.log(self.rate) + gammaln(a) + (1 - a) * digamma(a)


def Chi2(df: Any) -> Gamma:
    """The distribution of the sum of squares of ``df`` standard normal numbers."""
    return Gamma(df / 2, 0.5 if type(df) in (int, float) else as_array(df) * 0 + 0.5)


class Beta(Distribution):
    """The density ``x^(a - 1) (1 - x)^(b - 1) / B(a, b)`` of numbers from 0 to 1, with a and b the concentrations."""

    concentration1: Any
    concentration0: Any

    def _log_prob(self, x: Array) -> Array:
        a, b, inside = self.concentration1, self.concentration0, (x >= 0) & (x <= 1)
        at = within(inside, x, 0.5)
        return impossible_outside(inside, xlogy(a - 1, at) + xlog1py(b - 1, -at) - betaln(a, b))

    def _cdf(self, x: Array) -> Array:
        return betainc(self.concentration1, self.concentration0, mnp.clip(x, 0.0, 1.0))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.beta(key, self.concentration1, self.concentration0, shape, dtype)

    def _mean(self) -> Array:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    def _variance(self) -> Array:
        a, b = self.concentration1, self.concentration0
        return a * b / ((a + b) ** 2 * (a + b + 1))

    def _entropy(self) -> Array:
        a, b = self.concentration1, self.concentration0
        both = (a + b - 2) * digamma(a + b)
        return betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + both


class Dirichlet(Distribution):
    """n numbers with the sum 1, and the density ``Π x^(a - 1) / B(a)`` of ``a = concentration`` [..., n]."""

    concentration: Any
    event_ndim = 1

    def _log_prob(self, x: Array) -> Array:
        a = self.concentration
        inside = mnp.all(x >= 0, axis=-1) & (mnp.abs(mnp.sum(x, axis=-1) - 1) < 1e-4)
        at = mnp.where(inside[..., None], x, 1.0)
        return impossible_outside(inside, mnp.sum(xlogy(a - 1, at), axis=-1) - log_beta(a))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.dirichlet(key, self.concentration, shape, dtype)

    def _mean(self) -> Array:
        return self.concentration / mnp.sum(self.concentration, axis=-1, keepdims=True)

    def _variance(self) -> Array:
        total, mean = mnp.sum(self.concentration, axis=-1, keepdims=True), self._mean()
        return mean * (1 - mean) / (total + 1)

    def _entropy(self) -> Array:
        a, total = self.concentration, mnp.sum(self.concentration, axis=-1)
        own = mnp.sum((a - 1) * digamma(a), axis=-1)
        return log_beta(a) + (total - a.shape[-1]) * digamma(total) - own


def log_beta(a: Array) -> Array:
    """ln Π Γ(a) / Γ(Σ a) over the last dimension."""
    return mnp.sum(gammaln(a), axis=-1) - gammaln(mnp.sum(a, axis=-1))


class StudentT(Distribution):
    """Student's distribution of ``df`` degrees of freedom."""

    df: Any
    loc: Any = 0.0
    scale: Any = 1.0

    def _log_prob(self, x: Array) -> Array:
        z, n = (x - self.loc) / self.scale, self.df
        factor = gammaln((n + 1) / 2) - gammaln(n / 2) - 0.5 * mnp.log(n * math.pi) - mnp.log(self.scale)
        return factor - (n + 1) / 2 * mnp.log1p(z * z / n)

    def _cdf(self, x: Array) -> Array:
        z, n = (x - self.loc) / self.scale, self.df
        tail = 0.5 * betainc(n / 2, mnp.full_like(n, 0.5), n / (n + z * z))
        return mnp.where(z < 0, tail, 1 - tail)

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return self.loc + self.scale * random.t(key, self.df, shape, dtype)

    def _mean(self) -> Array:
        return mnp.where(self.df > 1, self.loc, mnp.nan)

    def _variance(self) -> Array:
        finite = self.df > 2
        found = self.scale**2 * self.df / mnp.where(finite, self.df - 2, 1.0)
        return mnp.where(finite, found, mnp.where(self.df > 1, mnp.inf, mnp.nan))

    def _entropy(self) -> Array:
        n = self.df
        half = (n + 1) / 2
        spread = half * (digamma(half) - digamma(n / 2)) + 0.5 * mnp.log(n)
        return spread + betaln(n / 2, mnp.full_like(n, 0.5)) + mnp.log(self.scale)
