"""Discrete distributions. Source: Forbes et al., "Statistical distributions", 2011.

Values are integers, or floats without a fraction; the probability of others is 0.
"""

from __future__ import annotations

from typing import Any

import mlc.numpy as mnp
from mlc.distributions.distribution import Distribution, Shape, impossible_outside, static, within
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn.activations import log_softmax, softplus
from mlc.frontends.array.special.entropies import expit, xlog1py, xlogy
from mlc.frontends.array.special.gammas import gammaln
from mlc.frontends.array.special.incomplete import betainc, gammaincc

random = mnp.random


def _one_of(name: str, probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise InputError(f"{name} needs probs or logits, and not both", hint=f"Give {name}(probs=…)")


def _whole(x: Array, low: float, high: Any = mnp.inf) -> Array:
    return (x >= low) & (x <= high) & (x == mnp.floor(x))


def uncertainty(p: Array) -> Array:
    """``-p ln p``, whose derivative is 0 where ``p`` is: what is impossible counts nothing."""
    return -xlogy(p, p)


class Bernoulli(Distribution):
    """1 with the probability ``probs``, which is ``sigmoid(logits)``, else 0."""

    probs: Any = None
    logits: Any = None

    def __init__(self, probs: Any = None, logits: Any = None) -> None:
        """One of the two.

        Raises:
            InputError: both, or none.
        """
        _one_of("Bernoulli", probs, logits)
        self.probs, self.logits = probs, logits
        self.__post_init__()

    def _p(self) -> Array:
        return expit(self.logits) if self.probs is None else self.probs

    def _log_prob(self, x: Array) -> Array:
        inside = (x == 0) | (x == 1)
        at = within(inside, x, 0)
        if self.probs is None:
            return impossible_outside(inside, -softplus((1 - 2 * at) * self.logits))
        return impossible_outside(inside, xlogy(at, self.probs) + xlog1py(1 - at, -self.probs))

    def _cdf(self, x: Array) -> Array:
        return mnp.where(x < 0, 0.0, mnp.where(x < 1, 1 - self._p(), 1.0))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.bernoulli(key, self._p(), shape).astype(mnp.int64)

    def _mean(self) -> Array:
        return self._p()

    def _variance(self) -> Array:
        return self._p() * (1 - self._p())

    def _entropy(self) -> Array:
        return uncertainty(self._p()) + uncertainty(1 - self._p())


class Categorical(Distribution):
    """An index of the last dimension of ``probs`` [..., n], or of ``logits``, their logarithms up to a constant."""

    probs: Any = None
    logits: Any = None
    event_ndim = 1  # of the parameters; see batch_shape

    def __init__(self, probs: Any = None, logits: Any = None) -> None:
        """One of the two; ``probs`` are divided by their sum.

        Raises:
            InputError: both, or none.
        """
        _one_of("Categorical", probs, logits)
        self.probs, self.logits = probs, logits
        self.__post_init__()

    def log_probs(self) -> Array:
        """[..., n]: the logarithms of the probabilities."""
        if self.probs is None:
            return log_softmax(as_array(self.logits), axis=-1)
        given = as_array(self.probs)
        return mnp.log(given / mnp.sum(given, axis=-1, keepdims=True))

    def _log_prob(self, x: Array) -> Array:
        logs = self.log_probs()
        count = logs.shape[-1]
        inside = _whole(x, 0, count - 1)
        shape = mnp.broadcast_shapes(tuple(x.shape), tuple(logs.shape[:-1]))
        at = mnp.broadcast_to(within(inside, x, 0).astype(mnp.int64), shape)
        found = mnp.take_along_axis(mnp.broadcast_to(logs, (*shape, count)), at[..., None], axis=-1)[..., 0]
        return impossible_outside(inside, found)

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.categorical(key, self.log_probs(), shape=shape)

    def _entropy(self) -> Array:
        return mnp.sum(uncertainty(mnp.exp(self.log_probs())), axis=-1)


class Poisson(Distribution):
    """The number of events in a time in which ``rate`` are expected."""

    rate: Any

    def _log_prob(self, x: Array) -> Array:
        inside = _whole(x, 0)
        at = within(inside, x, 0)
        return impossible_outside(inside, xlogy(at, self.rate) - self.rate - gammaln(at + 1))

    def _cdf(self, x: Array) -> Array:
        return mnp.where(x < 0, 0.0, gammaincc(mnp.floor(mnp.maximum(x, 0.0)) + 1, self.rate))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.poisson(key, self.rate, shape)

    def _mean(self) -> Array:
        return self.rate

    def _variance(self) -> Array:
        return self.rate


class Geometric(Distribution):
    """The number of the first success, from 1 on, of trials that succeed with the probability ``probs``."""

    probs: Any

    def _log_prob(self, x: Array) -> Array:
        inside = _whole(x, 1)
        at = within(inside, x, 1)
        return impossible_outside(inside, xlog1py(at - 1, -self.probs) + mnp.log(self.probs))

    def _cdf(self, x: Array) -> Array:
        return -mnp.expm1(mnp.floor(mnp.maximum(x, 0.0)) * mnp.log1p(-self.probs))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.geometric(key, self.probs, shape)

    def _mean(self) -> Array:
        return 1 / self.probs

    def _variance(self) -> Array:
        return (1 - self.probs) / self.probs**2

    def _entropy(self) -> Array:
        return (uncertainty(self.probs) + uncertainty(1 - self.probs)) / self.probs


class Binomial(Distribution):
    """How many of ``total_count`` trials, an integer, succeed, each with the probability ``probs``."""

    total_count: int = static()
    probs: Any

    def _log_prob(self, x: Array) -> Array:
        n, inside = self.total_count, _whole(x, 0, self.total_count)
        at = within(inside, x, 0)
        ways = gammaln(as_array(float(n + 1), x.element)) - gammaln(at + 1) - gammaln(n - at + 1)
        return impossible_outside(inside, ways + xlogy(at, self.probs) + xlog1py(n - at, -self.probs))

    def _cdf(self, x: Array) -> Array:
        n = self.total_count
        k = mnp.floor(mnp.clip(x, 0.0, max(n - 1, 0)))
        return mnp.where(x < 0, 0.0, mnp.where(x >= n, 1.0, betainc(n - k, k + 1, 1 - self.probs)))

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.binomial(key, self.total_count, self.probs, shape, mnp.int64)

    def _mean(self) -> Array:
        return self.total_count * self.probs

    def _variance(self) -> Array:
        return self.total_count * self.probs * (1 - self.probs)

    def _entropy(self) -> Array:
        counts = mnp.arange(self.total_count + 1, dtype=self.probs.dtype)
        logs = Binomial(self.total_count, self.probs[..., None])._log_prob(counts)
        return mnp.sum(uncertainty(mnp.exp(logs)), axis=-1)
