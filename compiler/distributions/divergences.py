"""Kullback-Leibler divergences in closed form. Source: Forbes et al., "Statistical distributions", 2011;
``torch.distributions.kl``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.distributions import continuous as c
from mlc.distributions import discrete as d
from mlc.distributions import gammas as g
from mlc.distributions.distribution import Distribution
from mlc.distributions.joint import Independent, MultivariateNormal, log_diagonal
from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.special.betas import betaln
from mlc.frontends.array.special.entropies import rel_entr
from mlc.frontends.array.special.gammas import digamma, gammaln
from mlc.scipy.linalg import solve_triangular


def kl_divergence(p: Distribution, q: Distribution) -> Array:
    """The expectation of ``p.log_prob(x) - q.log_prob(x)`` over ``p`` [batch…], for two of one family.

    Raises:
        InputError: there is no closed form.
    """
    if type(p) is not type(q) or type(p) not in _FORMS:
        hint = f"Estimate it from samples; forms are known of two {', '.join(t.__name__ for t in _FORMS)}"
        raise InputError(f"{type(p).__name__} and {type(q).__name__} have no divergence in closed form", hint=hint)
    return _FORMS[type(p)](p._with(None), q._with(None))


def _normals(p: Any, q: Any) -> Array:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - mnp.log(ratio))


def _uniforms(p: Any, q: Any) -> Array:
    inside = (q.low <= p.low) & (p.high <= q.high)
    return mnp.where(inside, mnp.log((q.high - q.low) / (p.high - p.low)), mnp.inf)


def _exponentials(p: Any, q: Any) -> Array:
    ratio = q.rate / p.rate
    return ratio - 1 - mnp.log(ratio)


def _laplaces(p: Any, q: Any) -> Array:
    apart = mnp.abs(p.loc - q.loc)
    return mnp.log(q.scale / p.scale) + (p.scale * mnp.exp(-apart / p.scale) + apart) / q.scale - 1


def _gammas(p: Any, q: Any) -> Array:
    a, b = p.concentration, q.concentration
    shapes = (a - b) * digamma(a) - gammaln(a) + gammaln(b)
    return shapes + b * mnp.log(p.rate / q.rate) + a * (q.rate / p.rate - 1)


def _betas(p: Any, q: Any) -> Array:
    sides = ((p.concentration1, q.concentration1), (p.concentration0, q.concentration0))
    total, change = p.concentration1 + p.concentration0, 0
    for a, b in sides:
        change = change + (a - b) * (digamma(a) - digamma(total))
    return betaln(*(b for _, b in sides)) - betaln(*(a for a, _ in sides)) + change


def _dirichlets(p: Any, q: Any) -> Array:
    a, b = p.concentration, q.concentration
    spread = digamma(a) - digamma(mnp.sum(a, axis=-1, keepdims=True))
    return g.log_beta(b) - g.log_beta(a) + mnp.sum((a - b) * spread, axis=-1)


def _bernoullis(p: Any, q: Any) -> Array:
    return rel_entr(p._p(), q._p()) + rel_entr(1 - p._p(), 1 - q._p())


def _categoricals(p: Any, q: Any) -> Array:
    return mnp.sum(rel_entr(mnp.exp(p.log_probs()), mnp.exp(q.log_probs())), axis=-1)


def _poissons(p: Any, q: Any) -> Array:
    return rel_entr(p.rate, q.rate) - p.rate + q.rate


def _geometrics(p: Any, q: Any) -> Array:
    return (rel_entr(p.probs, q.probs) + rel_entr(1 - p.probs, 1 - q.probs)) / p.probs


def _binomials(p: Any, q: Any) -> Array:
    if p.total_count != q.total_count:
        what = f"Binomial distributions of {p.total_count} and {q.total_count} trials have no divergence in closed form"
        raise InputError(what, hint="Give one total_count")
    return p.total_count * (rel_entr(p.probs, q.probs) + rel_entr(1 - p.probs, 1 - q.probs))


def _vectors(p: Any, q: Any) -> Array:
    own, other = p.factor(), q.factor()
    shape = mnp.broadcast_shapes(tuple(own.shape), tuple(other.shape))
    n = shape[-1]
    difference = mnp.broadcast_to((q.loc - p.loc), (*shape[:-2], n))
    wide = mnp.broadcast_to(other, shape)
    spread = solve_triangular(wide, mnp.broadcast_to(own, shape), lower=True)
    moved = solve_triangular(wide, difference[..., None], lower=True)
    squares = mnp.sum(spread**2, axis=(-2, -1)) + mnp.sum(moved**2, axis=(-2, -1))
    return 0.5 * (squares - n) + log_diagonal(other) - log_diagonal(own)


def _independents(p: Any, q: Any) -> Array:
    return p._summed(kl_divergence(p.base, q.base))


_FORMS: dict[type[Any], Callable[[Any, Any], Array]] = {
    c.Normal: _normals, c.LogNormal: _normals, c.Uniform: _uniforms, c.Exponential: _exponentials,
    c.Laplace: _laplaces, g.Gamma: _gammas, g.Beta: _betas, g.Dirichlet: _dirichlets, d.Bernoulli: _bernoullis,
    d.Categorical: _categoricals, d.Poisson: _poissons, d.Geometric: _geometrics, d.Binomial: _binomials,
    MultivariateNormal: _vectors, Independent: _independents,
}  # fmt: skip
