"""Distributions beside SciPy in float64: densities, distribution functions, moments, samples, divergences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import distributions as d
from mlc.errors import InputError
from mlc.scipy import stats as own

stats = pytest.importorskip("scipy.stats")
REAL = np.array([-3.0, -0.7, 0.0, 0.2, 0.9, 1.0, 4.5])
COUNTS = np.array([-1.0, 0, 1, 2, 5, 2.5])
f8 = np.float64
CASES: dict[str, tuple[Any, Any, Any]] = {
    "normal": (d.Normal(f8(0.3), f8(1.7)), stats.norm(0.3, 1.7), REAL),
    "lognormal": (d.LogNormal(f8(0.3), f8(0.7)), stats.lognorm(0.7, scale=np.exp(0.3)), REAL),
    "uniform": (d.Uniform(f8(-1), f8(2)), stats.uniform(-1, 3), REAL),
    "exponential": (d.Exponential(f8(2.5)), stats.expon(scale=1 / 2.5), REAL),
    "laplace": (d.Laplace(f8(0.2), f8(0.6)), stats.laplace(0.2, 0.6), REAL),
    "logistic": (d.Logistic(f8(0.2), f8(0.6)), stats.logistic(0.2, 0.6), REAL),
    "gumbel": (d.Gumbel(f8(0.2), f8(0.6)), stats.gumbel_r(0.2, 0.6), REAL),
    "cauchy": (d.Cauchy(f8(0.2), f8(0.6)), stats.cauchy(0.2, 0.6), REAL),
    "gamma": (d.Gamma(f8(2.3), f8(1.4)), stats.gamma(2.3, scale=1 / 1.4), REAL),
    "chi2": (d.Chi2(f8(3)), stats.chi2(3), REAL),
    "beta": (d.Beta(f8(0.7), f8(2.2)), stats.beta(0.7, 2.2), np.array([-0.5, 0.1, 0.5, 0.99, 1.5])),
    "t": (d.StudentT(f8(4.5), f8(0.2), f8(0.6)), stats.t(4.5, 0.2, 0.6), REAL),
    "bernoulli": (d.Bernoulli(f8(0.3)), stats.bernoulli(0.3), COUNTS),
    "bernoulli of logits": (d.Bernoulli(logits=f8(-1.1)), stats.bernoulli(1 / (1 + np.exp(1.1))), COUNTS),
    "poisson": (d.Poisson(f8(3.4)), stats.poisson(3.4), COUNTS),
    "geometric": (d.Geometric(f8(0.3)), stats.geom(0.3), COUNTS),
    "binomial": (d.Binomial(5, f8(0.3)), stats.binom(5, 0.3), COUNTS),
}


def close(found: Any, wanted: Any, rtol: float = 1e-11, atol: float = 1e-13) -> None:
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", CASES)
def test_beside_scipy(name: str) -> None:
    ours, theirs, at = CASES[name]
    log = theirs.logpmf if hasattr(theirs.dist, "logpmf") else theirs.logpdf
    close(mlc.jit(lambda d, x: d.log_prob(x))(ours, at), log(at))
    close(ours.cdf(at), theirs.cdf(at))
    if name != "cauchy":
        close([ours.mean, ours.variance, ours.stddev], [theirs.mean(), theirs.var(), theirs.std()])
    if name != "poisson":
        close(ours.entropy(), theirs.entropy(), rtol=1e-9)
    if hasattr(type(ours), "_icdf") and type(ours)._icdf is not d.Distribution._icdf:
        close(ours.icdf(np.array([0.1, 0.5, 0.97])), theirs.ppf([0.1, 0.5, 0.97]))


@pytest.mark.parametrize("name", CASES)
def test_samples_have_the_distribution(name: str) -> None:
    """By the test of Kolmogorov and Smirnov, or by frequencies."""
    ours, theirs, _ = CASES[name]
    drawn = np.asarray(mlc.jit(lambda d, key: d.sample(key, 4000))(ours, mnp.random.key(3)))
    assert drawn.shape == (4000,)
    if drawn.dtype.kind == "f":
        assert drawn.dtype == np.float64 and stats.kstest(drawn, theirs.cdf).pvalue > 1e-3
        return
    values = np.arange(int(theirs.ppf(0.001)), int(theirs.ppf(0.999)) + 1)
    shares = np.array([np.mean(drawn == v) for v in values])
    np.testing.assert_allclose(shares, theirs.pmf(values), atol=0.035)


def test_vectors_beside_scipy() -> None:
    rng = np.random.default_rng()
    a, x = rng.uniform(0.5, 3, 3), rng.dirichlet(np.ones(3), 4)
    ours, theirs = d.Dirichlet(a), stats.dirichlet(a)
    close(ours.log_prob(x), [theirs.logpdf(row) for row in x], rtol=1e-10)
    close(ours.mean, theirs.mean())
    close(ours.variance, theirs.var())
    close(ours.entropy(), theirs.entropy())
    root = rng.standard_normal((3, 3))
    mean, spread = rng.standard_normal(3), root @ root.T + np.eye(3)
    normal, reference = d.MultivariateNormal(mean, spread), stats.multivariate_normal(mean, spread)
    points = rng.standard_normal((5, 3))
    close(normal.log_prob(points), reference.logpdf(points))
    close(normal.entropy(), reference.entropy())
    close(own.multivariate_normal.logpdf(points, mean, spread), reference.logpdf(points))
    drawn = np.asarray(normal.sample(mnp.random.key(0), (5000,)))
    np.testing.assert_allclose(np.cov(drawn.T), spread, atol=0.2 * np.abs(spread).max())


def test_mixtures() -> None:
    weights, means, scales = np.array([0.3, 0.7]), np.array([-1.0, 2.0]), np.array([0.5, 1.5])
    mixture = d.MixtureSameFamily(d.Categorical(weights), d.Normal(means, scales))
    density = weights @ stats.norm.pdf(REAL, means[:, None], scales[:, None])
    close(mixture.log_prob(REAL), np.log(density))
    mean = weights @ means
    close([mixture.mean, mixture.variance], [mean, weights @ (scales**2 + means**2) - mean**2])
    drawn = np.asarray(mixture.sample(mnp.random.key(1), 4000))
    assert stats.kstest(drawn, lambda x: np.asarray(mixture.cdf(x))).pvalue > 1e-3
    planes = d.MixtureSameFamily(d.Categorical(weights), d.Independent(d.Normal(np.stack([means, -means], 1), 1.0)))
    at = np.random.default_rng().standard_normal((4, 2))
    each = [w * stats.norm.pdf(at - [m, -m]).prod(1) for w, m in zip(weights, means, strict=True)]
    close(planes.log_prob(at), np.log(sum(each)))
    assert planes.sample(mnp.random.key(0), (6,)).shape == (6, 2)
    close(planes.mean, [mean, -mean])


def test_categories() -> None:
    p = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    ours = d.Categorical(p)
    close(ours.log_prob(np.array([1, 2])), np.log([0.5, 0.8]))
    close(ours.log_prob(np.array([[0], [3]])), [np.log([0.2, 0.1]), [-np.inf, -np.inf]])
    close(ours.entropy(), stats.entropy(p, axis=1))
    drawn = np.asarray(ours.sample(mnp.random.key(0), 3000))
    assert drawn.shape == (3000, 2)
    np.testing.assert_allclose([np.bincount(c, minlength=3) / 3000 for c in drawn.T], p, atol=0.04)


PAIRS = [
    (d.Normal(f8(0.3), f8(1.7)), d.Normal(f8(-0.3), f8(0.9))),
    (d.LogNormal(f8(0.3), f8(0.7)), d.LogNormal(f8(0), f8(1))),
    (d.Uniform(f8(0), f8(1)), d.Uniform(f8(-1), f8(3))), (d.Exponential(f8(2)), d.Exponential(f8(0.6))),
    (d.Laplace(f8(0.3), f8(1.7)), d.Laplace(f8(-0.3), f8(0.9))), (d.Gamma(f8(2.3), f8(1.4)), d.Gamma(f8(1.1), f8(2))),
    (d.Beta(f8(1.7), f8(2.2)), d.Beta(f8(1), f8(3))),
]  # fmt: skip


@pytest.mark.parametrize("p, q", PAIRS, ids=lambda each: type(each).__name__)
def test_divergences_are_integrals(p: Any, q: Any) -> None:
    quantiles = type(p)._icdf is not d.Distribution._icdf
    ends = p.icdf(np.array([1e-12, 1 - 1e-12])) if quantiles else (0, 1 if isinstance(p, d.Beta) else 40)
    low, high = map(float, ends)
    x = low + (high - low) * (np.arange(40_000) + 0.5) / 40_000
    density = np.asarray(p.prob(x)) * (np.asarray(p.log_prob(x)) - np.asarray(q.log_prob(x)))
    close(d.kl_divergence(p, q), density.mean() * (high - low), rtol=1e-4, atol=1e-6)


def test_divergences_are_sums() -> None:
    k = np.arange(60.0)
    for p, q in ((d.Poisson(f8(3)), d.Poisson(f8(1.2))), (d.Geometric(f8(0.4)), d.Geometric(f8(0.7))),
                 (d.Binomial(5, f8(0.3)), d.Binomial(5, f8(0.6))), (d.Bernoulli(f8(0.3)), d.Bernoulli(f8(0.6)))):
        logs = np.asarray(p.log_prob(k)), np.asarray(q.log_prob(k))
        inside = np.isfinite(logs[0])
        close(d.kl_divergence(p, q), np.sum(np.exp(logs[0][inside]) * (logs[0][inside] - logs[1][inside])), rtol=1e-9)
    p, q = np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.1, 0.8])
    close(d.kl_divergence(d.Categorical(p), d.Categorical(q)), stats.entropy(p, q))
    a, b = d.Dirichlet(np.array([1.5, 2, 0.7])), d.Dirichlet(np.array([1.0, 1, 1]))
    drawn = np.asarray(a.sample(mnp.random.key(5), 20000))
    estimated = np.mean(np.asarray(a.log_prob(drawn)) - np.asarray(b.log_prob(drawn)))
    close(d.kl_divergence(a, b), estimated, rtol=0.05)
    first = d.MultivariateNormal(np.zeros(2), np.diag([1.0, 4.0]))
    second = d.MultivariateNormal(np.ones(2), np.diag([2.0, 3.0]))
    apart = d.Independent(d.Normal(np.zeros(2), np.array([1, 2.0]))), d.Independent(
        d.Normal(np.ones(2), np.sqrt(np.array([2, 3.0])))
    )
    close(d.kl_divergence(first, second), d.kl_divergence(*apart))


def test_gradients_and_batches() -> None:
    x = np.array([0.3, 1.2, 2.0])
    slope = mlc.jit(mlc.grad(lambda a: mnp.sum(d.Gamma(a, 1.0).log_prob(x))))(f8(2.3))
    close(slope, np.sum(np.log(x) - np.asarray(mlc.scipy.special.digamma(f8(2.3)))))
    outside = mlc.grad(lambda a: mnp.sum(mnp.where(x > 1, d.Beta(a, 2.0).log_prob(x), 0.0)))(f8(1))
    assert np.isfinite(outside)
    batch = d.Normal(np.zeros((4, 1)), np.ones(3))
    assert batch.batch_shape == (4, 3) and batch.sample(mnp.random.key(0), (2,)).shape == (2, 4, 3)
    assert batch.variance.shape == (4, 3) and batch.entropy().shape == (4, 3)
    found = mlc.vmap(lambda d, x: d.log_prob(x))(d.Normal(x, x + 1), x)
    close(found, stats.norm.logpdf(x, x, x + 1))
    reparameterized = mlc.grad(lambda m: mnp.mean(d.Normal(m, 1.0).sample(mnp.random.key(0), 5)))(f8(1))
    close(reparameterized, 1)


def test_scipys_names() -> None:
    close(own.norm.logpdf(REAL, 0.1, 2.0), stats.norm.logpdf(REAL, 0.1, 2.0))
    close(own.norm.sf(np.array([9.0])), stats.norm.sf(9.0), rtol=1e-10, atol=0)
    close(own.norm.logcdf(np.array([-40.0])), stats.norm.logcdf(-40), rtol=1e-10)
    close(own.norm.ppf(np.array([0.2]), scale=3.0), stats.norm.ppf(0.2, scale=3))
    close(own.gamma.pdf(REAL, 2.0, 0.5, 1.5), stats.gamma.pdf(REAL, 2, 0.5, 1.5))
    close(own.beta.cdf(REAL, 2.0, 3.0), stats.beta.cdf(REAL, 2, 3))
    close(own.t.sf(REAL, 3.0), stats.t.sf(REAL, 3))
    close(own.poisson.logpmf(COUNTS, 2.0), stats.poisson.logpmf(COUNTS, 2))
    close(own.poisson.pmf(COUNTS + 1, 2.0, 1), stats.poisson.pmf(COUNTS + 1, 2, 1))
    close(own.binom.pmf(COUNTS, 5, 0.4), stats.binom.pmf(COUNTS, 5, 0.4))


@pytest.mark.parametrize("call, says", [
    (lambda: d.Poisson(2.0).entropy(), "no entropy in closed form"),
    (lambda: d.Bernoulli(), "probs or logits"),
    (lambda: d.kl_divergence(d.Normal(), d.Laplace()), "no divergence"),
    (lambda: d.MixtureSameFamily(d.Categorical([0.5, 0.5]), d.Normal(np.zeros(3))), "2 probabilities"),
    (lambda: d.Categorical([0.5, 0.5]).mean, "no mean"),
])  # fmt: skip
def test_what_is_refused(call: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()


def test_the_distribution_function_of_waiting_times_has_its_density_at_0() -> None:
    slope = mlc.grad(lambda x: d.Exponential(f8(2.5)).cdf(x))
    assert float(np.asarray(slope(mnp.asarray(0.0, dtype="float64")))) == 2.5
    assert float(np.asarray(slope(mnp.asarray(-1.0, dtype="float64")))) == 0
