"""``mlc.numpy.random``: counter-based random numbers, which are functions of a key."""

from mlc.frontends.array.public import publish
from mlc.frontends.array.random.continuous import (
    cauchy,
    exponential,
    laplace,
    logistic,
    lognormal,
    multivariate_normal,
    pareto,
    rayleigh,
    truncated_normal,
    weibull_min,
)
from mlc.frontends.array.random.discrete import binomial, choice, geometric, poisson, rademacher
from mlc.frontends.array.random.distributions import (
    bernoulli,
    categorical,
    gumbel,
    normal,
    permutation,
    randint,
    uniform,
)
from mlc.frontends.array.random.gamma import beta, chisquare, dirichlet, gamma, t
from mlc.frontends.array.random.threefry import bits, fold_in, key, split

PRNGKey = key
"""JAX's older name."""
__all__ = [
    "PRNGKey", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare", "choice", "dirichlet",
    "exponential", "fold_in", "gamma", "geometric", "gumbel", "key", "laplace", "logistic", "lognormal",
    "multivariate_normal", "normal", "pareto", "permutation", "poisson", "rademacher", "randint", "rayleigh", "split",
    "t", "truncated_normal", "uniform", "weibull_min",
]  # fmt: skip

publish(globals(), __all__)
