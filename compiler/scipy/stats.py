"""``mlc.scipy.stats``: densities and distribution functions under SciPy's names. Source: ``jax.scipy.stats``.

    mlc.scipy.stats.norm.logpdf(x, loc=0, scale=1)

Each is a function of a value and of the parameters in SciPy's order. Samples, moments and divergences are those of
``mlc.distributions``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc import distributions as d
from mlc.distributions.distribution import Distribution
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.missing import missing


class Continuous:
    """The functions of a family: ``shapes`` are its parameters beside location and scale."""

    def __init__(self, make: Callable[..., Distribution], shapes: int = 0) -> None:
        self.make, self.shapes = make, shapes

    def _standard(self, x: Any, parameters: tuple[Any, ...], loc: Any, scale: Any) -> tuple[Distribution, Array, Any]:
        shapes, rest = parameters[: self.shapes], parameters[self.shapes :]
        loc, scale = (*rest, *(loc, scale)[len(rest) :])
        given = as_array(x)
        given = given if given.dtype.kind == "f" else given.astype(mnp.float32)
        return self.make(*shapes), (given - loc) / scale, as_array(scale, given.element)

    def logpdf(self, x: Any, *parameters: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of the density."""
        family, z, width = self._standard(x, parameters, loc, scale)
        return family.log_prob(z) - mnp.log(width)

    def pdf(self, x: Any, *parameters: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The density."""
        return mnp.exp(self.logpdf(x, *parameters, loc=loc, scale=scale))

    def cdf(self, x: Any, *parameters: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of at most ``x``."""
        family, z, _ = self._standard(x, parameters, loc, scale)
        return family.cdf(z)

    def sf(self, x: Any, *parameters: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than ``x``."""
        return 1 - self.cdf(x, *parameters, loc=loc, scale=scale)

    def logcdf(self, x: Any, *parameters: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The logarithm of ``cdf``."""
        family, z, _ = self._standard(x, parameters, loc, scale)
        return family.log_cdf(z) if isinstance(family, d.Normal) else mnp.log(family.cdf(z))

    def ppf(self, q: Any, *parameters: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The quantile of the probability ``q``."""
        shapes, rest = parameters[: self.shapes], parameters[self.shapes :]
        loc, scale = (*rest, *(loc, scale)[len(rest) :])
        return self.make(*shapes).icdf(q) * scale + loc


class Symmetric(Continuous):
    """A family whose density is the same on both sides of ``loc``: its tails above are those below, with all digits."""

    def sf(self, x: Any, *parameters: Any, loc: Any = 0, scale: Any = 1) -> Array:
        """The probability of more than ``x``."""
        family, z, _ = self._standard(x, parameters, loc, scale)
        return family.cdf(-z)


class Discrete:
    """The functions of a family of integers."""

    def __init__(self, make: Callable[..., Distribution], shapes: int) -> None:
        self.make, self.shapes = make, shapes

    def _at(self, k: Any, parameters: tuple[Any, ...], loc: Any) -> tuple[Distribution, Array]:
        at = (*parameters[self.shapes :], loc)[0]
        return self.make(*parameters[: self.shapes]), as_array(k) - at

    def logpmf(self, k: Any, *parameters: Any, loc: Any = 0) -> Array:
        """The logarithm of the probability of ``k``."""
        family, at = self._at(k, parameters, loc)
        return family.log_prob(at)

    def pmf(self, k: Any, *parameters: Any, loc: Any = 0) -> Array:
        """The probability of ``k``."""
        return mnp.exp(self.logpmf(k, *parameters, loc=loc))

    def cdf(self, k: Any, *parameters: Any, loc: Any = 0) -> Array:
        """The probability of at most ``k``."""
        family, at = self._at(k, parameters, loc)
        return family.cdf(at)


class Vectors:
    """The density of a family of vectors [..., n]."""

    def __init__(self, make: Callable[..., Distribution]) -> None:
        self.make = make

    def logpdf(self, x: Any, *parameters: Any) -> Array:
        """The logarithm of the density."""
        return self.make(*parameters).log_prob(x)

    def pdf(self, x: Any, *parameters: Any) -> Array:
        """The density."""
        return mnp.exp(self.logpdf(x, *parameters))


norm, laplace, logistic, cauchy = (Symmetric(f) for f in (d.Normal, d.Laplace, d.Logistic, d.Cauchy))
t = Symmetric(d.StudentT, 1)
uniform, expon, gumbel_r = (Continuous(f) for f in (d.Uniform, d.Exponential, d.Gumbel))
gamma, chi2, beta = Continuous(d.Gamma, 1), Continuous(d.Chi2, 1), Continuous(d.Beta, 2)
lognorm = Continuous(lambda s: d.LogNormal(0.0, s), 1)
poisson, bernoulli, geom = (Discrete(f, 1) for f in (d.Poisson, d.Bernoulli, d.Geometric))
binom = Discrete(d.Binomial, 2)
dirichlet, multivariate_normal = Vectors(d.Dirichlet), Vectors(d.MultivariateNormal)

__all__ = [
    "bernoulli", "beta", "binom", "cauchy", "chi2", "dirichlet", "expon", "gamma", "geom", "gumbel_r", "laplace",
    "logistic", "lognorm", "multivariate_normal", "norm", "poisson", "t", "uniform",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.stats", name, __all__)
