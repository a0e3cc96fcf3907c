"""``mlc.distributions``: probability distributions as trees of parameters, with densities, samples and moments.

    d = mlc.distributions.Normal(loc, scale)
    loss = -mlc.numpy.mean(d.log_prob(x)) + kl_divergence(d, Normal(0.0, 1.0))
"""

from typing import Any

from mlc.distributions.continuous import Cauchy, Exponential, Gumbel, Laplace, Logistic, LogNormal, Normal, Uniform
from mlc.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, Poisson
from mlc.distributions.distribution import Distribution
from mlc.distributions.divergences import kl_divergence
from mlc.distributions.gammas import Beta, Chi2, Dirichlet, Gamma, StudentT
from mlc.distributions.joint import Independent, MixtureSameFamily, MultivariateNormal
from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "Dirichlet", "Distribution", "Exponential",
    "Gamma", "Geometric", "Gumbel", "Independent", "Laplace", "LogNormal", "Logistic", "MixtureSameFamily",
    "MultivariateNormal", "Normal", "Poisson", "StudentT", "Uniform", "kl_divergence",
]  # fmt: skip

publish(globals(), ["kl_divergence"])


def __getattr__(name: str) -> Any:
    raise missing("mlc.distributions", name, __all__)
