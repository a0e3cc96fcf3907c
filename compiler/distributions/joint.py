"""Distributions of vectors, and those that are made of others.

Source: Bishop, "Pattern recognition and machine learning", 2006, 2.3 and 9.2.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import mlc.numpy as mnp
from mlc.distributions.continuous import LOG_2_PI
from mlc.distributions.discrete import Categorical
from mlc.distributions.distribution import Distribution, Shape
from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.special.entropies import logsumexp
from mlc.scipy.linalg import solve_triangular

random = mnp.random


class MultivariateNormal(Distribution):
    """Normal vectors of mean ``loc`` [..., n] and a covariance [..., n, n]."""

    loc: Any
    covariance: Any
    event_ndim = 1

    @property
    def batch_shape(self) -> Shape:
        """The shape of parameters for one sample each."""
        loc, covariance = mnp.asarray(self.loc), mnp.asarray(self.covariance)
        return mnp.broadcast_shapes(tuple(loc.shape[:-1]), tuple(covariance.shape[:-2]))

    def factor(self) -> Array:
        """[..., n, n]: the lower Cholesky factor of the covariance."""
        return mnp.linalg.cholesky(self.covariance)

    def _log_prob(self, x: Array) -> Array:
        lower, difference = self.factor(), x - self.loc
        n, batch = difference.shape[-1], tuple(difference.shape[:-1])
        whole = mnp.broadcast_shapes(batch, tuple(lower.shape[:-2]))
        wide = mnp.broadcast_to(lower, (*whole, n, n))
        z = solve_triangular(wide, mnp.broadcast_to(difference, (*whole, n))[..., None], lower=True)[..., 0]
        return -0.5 * mnp.sum(z * z, axis=-1) - log_diagonal(lower) - 0.5 * n * LOG_2_PI

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        return random.multivariate_normal(key, self.loc, self.covariance, shape, dtype)

    def _mean(self) -> Array:
        return mnp.broadcast_to(self.loc, (*self.batch_shape, self.loc.shape[-1]))

    def _variance(self) -> Array:
        found = mnp.linalg.diagonal(self.covariance)
        return mnp.broadcast_to(found, (*self.batch_shape, found.shape[-1]))

    def _entropy(self) -> Array:
        n = self.loc.shape[-1]
        found = log_diagonal(self.factor()) + 0.5 * n * (1 + LOG_2_PI)
        return mnp.broadcast_to(found, self.batch_shape)


def log_diagonal(lower: Array) -> Array:
    """Half of the logarithm of the determinant of ``L Lᵀ``."""
    return mnp.sum(mnp.log(mnp.linalg.diagonal(lower)), axis=-1)


class Independent(Distribution):
    """The last ``ndim`` dimensions of the batch of ``base`` as dimensions of one sample."""

    base: Any
    ndim: int = dataclasses.field(default=1, metadata={"static": True})
    _broadcasts = False

    @property
    def batch_shape(self) -> Shape:
        """The shape of the base, without its last dimensions."""
        whole: Shape = self.base.batch_shape
        return whole[: len(whole) - self.ndim]

    def _summed(self, x: Array) -> Array:
        return mnp.sum(x, axis=tuple(range(-self.ndim, 0)))

    def _log_prob(self, x: Array) -> Array:
        return self._summed(self.base._nan_of(x, self.base._log_prob(x)))

    def _event(self) -> int:
        return self.ndim

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        inner = self.base.batch_shape
        return self.base._sample(key, (*shape, *inner[len(inner) - self.ndim :]), dtype)

    def _mean(self) -> Array:
        return self.base._mean()

    def _variance(self) -> Array:
        return self.base._variance()

    def _entropy(self) -> Array:
        return self._summed(mnp.broadcast_to(self.base._entropy(), self.base.batch_shape))


class MixtureSameFamily(Distribution):
    """One of n components, the last dimension of the batch of ``components``, chosen by ``mixture`` [..., n]."""

    mixture: Categorical
    components: Any
    _broadcasts = False

    def __post_init__(self) -> None:
        """Raises InputError where there are other numbers of probabilities and components."""
        logs = self.mixture.log_probs()
        shape = self.components.batch_shape
        if not shape or shape[-1] != logs.shape[-1]:
            what = f"A mixture of {logs.shape[-1]} probabilities has components of batch shape {list(shape)}"
            raise InputError(what, hint="Give components whose parameters end with one for each probability")

    @property
    def batch_shape(self) -> Shape:
        """The shape of the components, without the last dimension."""
        found: Shape = self.components.batch_shape[:-1]
        return found

    def _event(self) -> int:
        return int(self.components._event())

    def _log_prob(self, x: Array) -> Array:
        each = self.components._log_prob(mnp.expand_dims(x, axis=x.ndim - self._event()))
        found: Any = logsumexp(each + self.mixture.log_probs(), axis=-1)
        return found

    def _cdf(self, x: Array) -> Array:
        return mnp.sum(mnp.exp(self.mixture.log_probs()) * self.components._cdf(x[..., None]), axis=-1)

    def _weighted(self, each: Array) -> Array:
        """The sum over components of what has them before the dimensions of a sample."""
        weights, event = mnp.exp(self.mixture.log_probs()), self._event()
        wide = mnp.reshape(weights, (*weights.shape, *(1,) * event))
        return mnp.sum(wide * each, axis=-1 - event)

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        first, second = random.split(key)
        count, event = self.mixture.log_probs().shape[-1], self._event()
        drawn = self.components._sample(first, (*shape, count), dtype)
        chosen = random.categorical(second, mnp.broadcast_to(self.mixture.log_probs(), (*shape, count)))
        at = mnp.reshape(chosen, (*shape, 1, *(1,) * event))
        wide = mnp.broadcast_to(at, (*shape, 1, *drawn.shape[drawn.ndim - event :]))
        return mnp.squeeze(mnp.take_along_axis(drawn, wide, axis=-1 - event), axis=-1 - event)

    def _mean(self) -> Array:
        return self._weighted(self.components._mean())

    def _variance(self) -> Array:
        means, mean = self.components._mean(), self._mean()
        return self._weighted(self.components._variance() + means**2) - mean**2


