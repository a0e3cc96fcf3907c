# ruff: noqa: E731
"""Linear algebra, batches within batches, functions at their ends, and special functions."""

from __future__ import annotations

from typing import Any

import numpy
from transform_table import numbers, program

Rng = Any


@program
def derivatives_of_linalg(t: Any, np: Any, rng: Rng) -> Any:
    a = np.asarray(numbers(rng, 3, 3) + 3 * numpy.eye(3))
    b, s = np.asarray(numbers(rng, 3)), lambda a: a @ a.T
    fs = (lambda a: np.linalg.det(a), lambda a: np.linalg.slogdet(a)[1], lambda a: np.sum(np.linalg.inv(a)))
    fs += (lambda a: np.sum(np.linalg.solve(a, b)), lambda a: np.sum(np.linalg.cholesky(s(a))))
    fs += (
        lambda a: np.sum(np.linalg.eigvalsh(s(a)) ** 2),
        lambda a: np.sum(np.linalg.svd(a, compute_uv=False) ** 3),
        lambda a: np.linalg.norm(a),
    )
    fs += (
        lambda a: np.sum(np.abs(np.linalg.qr(a)[1])),
        lambda a: np.sum(np.linalg.pinv(a)),
        lambda a: np.trace(np.linalg.matrix_power(a, 3)),
    )
    return [t.grad(f)(a) for f in fs]


@program
def gradient_of_eigenvalues(t: Any, np: Any, rng: Rng) -> Any:
    a = np.asarray(numbers(rng, 3, 3))
    return t.grad(lambda a: np.sum(np.abs(np.linalg.eigvals(a)) ** 2))(a), t.grad(
        lambda a: np.sum(np.real(np.linalg.eigvals(a)) ** 3)
    )(a)


@program
def derivatives_of_eigh(t: Any, np: Any, rng: Rng) -> Any:
    a = np.asarray(numbers(rng, 3, 3))

    def f(a: Any) -> Any:
        w, v = np.linalg.eigh(a + a.T)
        return np.sum(np.sin(w) * v[0] ** 2)

    return t.grad(f)(a), t.hessian(f)(a)


@program
def per_example_gradients(t: Any, np: Any, rng: Rng) -> Any:
    w, x = np.asarray(numbers(rng, 3)), np.asarray(numbers(rng, 5, 3))
    return t.vmap(t.grad(lambda w, x: np.tanh(w @ x)), in_axes=(None, 0))(w, x), t.jacrev(lambda w: np.tanh(x @ w))(w)


@program
def vmaps_in_vmaps(t: Any, np: Any, rng: Rng) -> Any:
    x, y = np.asarray(numbers(rng, 3, 2)), np.asarray(numbers(rng, 4, 2))
    gram = lambda k: t.vmap(lambda a: t.vmap(lambda b: k(a, b))(y))(x)
    k = lambda a, b: np.exp(-np.sum((a - b) ** 2))
    return gram(k), gram(t.grad(k)), gram(t.hessian(k))


@program
def vmap_over_odd_axes(t: Any, np: Any, rng: Rng) -> Any:
    x, y = np.asarray(numbers(rng, 2, 3, 4)), np.asarray(numbers(rng, 4, 2))
    f = lambda x, y: (x * y[:, None], np.sum(x))
    return t.vmap(f, in_axes=(-1, 0), out_axes=(1, 0))(x, y), t.vmap(
        lambda d: d["a"] @ d["b"], in_axes=({"a": 1, "b": None},)
    )({"a": x[0], "b": np.ones(3, dtype="float64")})


@program
def vmap_of_reads_and_updates(t: Any, np: Any, rng: Rng) -> Any:
    x, i = np.asarray(numbers(rng, 3, 4)), np.asarray([0, 3, 2])
    return (
        t.vmap(lambda r, i: r[i])(x, i),
        t.vmap(lambda r, i: r.at[i].set(0.0))(x, i),
        t.vmap(lambda i: x[:, i])(i),
        t.vmap(lambda i: x[0].at[i].add(1.0))(i),
    )


@program
def vmap_of_sorts_and_searches(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 3, 4))
    return (
        t.vmap(np.argsort)(x),
        t.vmap(lambda r: np.searchsorted(np.sort(r), 0.0))(x),
        t.vmap(np.cumsum, in_axes=1, out_axes=1)(x),
    )


@program
def vmap_of_linalg(t: Any, np: Any, rng: Rng) -> Any:
    a, b = np.asarray(numbers(rng, 4, 3, 3)), np.asarray(numbers(rng, 3))
    return t.vmap(np.linalg.solve, (0, None))(a, b), t.vmap(np.linalg.det)(a), t.vmap(lambda a: np.linalg.norm(a))(a)


@program
def jit_of_grad_of_jit(t: Any, np: Any, rng: Rng) -> Any:
    f = t.jit(lambda x: np.sum(np.sin(x) * t.jit(np.cos)(x)))
    x = np.asarray(numbers(rng, 3))
    return (
        t.jit(t.grad(f))(x),
        t.grad(t.jit(f))(x),
        t.jit(t.vmap(t.grad(t.jit(lambda x: x**3))))(x),
        t.jit(t.hessian(f))(x),
    )


@program
def softmax_family(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray([[1.0, 2.0, -float("inf")], [0.0, 0.0, 0.0]])
    fs = (t.nn.softmax, t.nn.log_softmax, lambda x: t.nn.logsumexp(x, axis=-1))
    return [f(x) for f in fs], [t.jacrev(f)(x[1]) for f in fs], t.hessian(lambda x: t.nn.logsumexp(x))(x[1])


@program
def softplus_family_far_out(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray([-1000.0, -50.0, 0.0, 50.0, 1000.0])
    fs = (t.nn.softplus, t.nn.sigmoid, t.nn.log_sigmoid, t.nn.silu, t.nn.swish, np.tanh, t.nn.elu, t.nn.selu, t.nn.celu)
    fs += (
        lambda x: np.logaddexp(x, 0.0),
        lambda x: t.nn.gelu(x, approximate=True),
        lambda x: t.nn.gelu(x, approximate=False),
    )
    return [(f(x), t.vmap(t.grad(f))(x), t.vmap(t.grad(t.grad(f)))(x[x != 0])) for f in fs]


@program
def inverse_functions_at_their_ends(t: Any, np: Any, rng: Rng) -> Any:
    fs = (np.arcsin, np.arccos, np.arctanh, np.sqrt, np.cbrt, np.log1p, np.arccosh)
    return [t.vmap(t.grad(f))(np.asarray([0.0, 1.0, -1.0, 0.5])) for f in fs]


@program
def means_and_spreads(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 2, 4))
    fs = (
        np.mean,
        np.var,
        np.std,
        lambda x: np.sum(np.std(x, axis=0, ddof=1)),
        lambda x: np.nansum(np.nanvar(x, axis=1)),
    )
    return [t.grad(f)(x) for f in fs], t.grad(np.std)(np.ones(3)), t.grad(np.var)(np.ones(3)), t.hessian(np.var)(x[0])


@program
def reductions_past_nan(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray([1.0, float("nan"), 3.0])
    fs = (np.nansum, np.nanmean, np.nanmax, np.nanprod, np.nanstd, lambda x: np.sum(np.nan_to_num(x) ** 2))
    return (
        [t.grad(f)(x) for f in fs],
        t.grad(lambda x: np.sum(x, where=~np.isnan(x)))(x),
        t.grad(lambda x: np.max(x, where=~np.isnan(x), initial=0.0))(x),
    )


@program
def products_of_many_ranks(t: Any, np: Any, rng: Rng) -> Any:
    a, b = np.asarray(numbers(rng, 2, 3, 4)), np.asarray(numbers(rng, 4, 3))
    fs = (
        lambda a, b: np.sum(np.einsum("nij,ji->n", a, b) ** 2),
        lambda a, b: np.sum((a @ b) ** 2),
        lambda a, b: np.sum(np.tensordot(a, b, axes=([1, 2], [1, 0])) ** 3),
    )
    return [t.grad(f, argnums=(0, 1))(a, b) for f in fs]


@program
def convolutions_of_one_dimension(t: Any, np: Any, rng: Rng) -> Any:
    x, k = np.asarray(numbers(rng, 7)), np.asarray(numbers(rng, 3))
    return [
        t.grad(lambda x, k, m=m: np.sum(np.convolve(x, k, mode=m) ** 2), argnums=(0, 1))(x, k)
        for m in ("full", "same", "valid")
    ]


@program
def interpolations(t: Any, np: Any, rng: Rng) -> Any:
    xp, fp = np.asarray([0.0, 1.0, 2.0, 4.0]), np.asarray(numbers(rng, 4))
    f = lambda x, fp: np.sum(np.interp(x, xp, fp) ** 2)
    return t.grad(f, argnums=(0, 1))(np.asarray([-1.0, 0.5, 1.5, 3.0, 9.0]), fp)


@program
def where_of_infinities(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(np.where(np.isfinite(x), x**2, 0.0))
    return t.grad(f)(np.asarray([1.0, float("inf"), float("nan"), -2.0]))


@program
def halves(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 4)).astype("float16")
    f = lambda x: np.sum(np.sin(x) * x)
    return t.grad(f)(x), t.jvp(f, (x,), (x,)), t.grad(lambda x: np.sum(x.astype("float32") ** 2))(x)


@program
def mixed_types(t: Any, np: Any, rng: Rng) -> Any:
    x, y = np.asarray(numbers(rng, 3)).astype("float32"), np.asarray(numbers(rng, 3))
    return t.grad(lambda x, y: np.sum(x * y), argnums=(0, 1))(x, y), t.jacfwd(lambda x: x * y)(x)


@program
def empty_arrays(t: Any, np: Any, rng: Rng) -> Any:
    x = np.zeros((0, 3), dtype="float64")
    return t.grad(lambda x: np.sum(x**2))(x), t.vmap(np.sin)(np.zeros((2, 0))), t.jvp(np.sum, (x,), (x,))


@program
def scalars_of_python(t: Any, np: Any, rng: Rng) -> Any:
    return t.grad(lambda x: x**2)(3.0), t.vmap(lambda x: x + 1)(np.arange(3.0)), t.jvp(lambda x: x * 2, (1.0,), (1.0,))


@program
def linearized_twice(t: Any, np: Any, rng: Rng) -> Any:
    y, along = t.linearize(lambda x, y: np.sin(x) * y, np.asarray(0.3), np.asarray(2.0))
    return (
        y,
        along(np.asarray(1.0), np.asarray(0.0)),
        along(np.asarray(0.0), np.asarray(1.0)),
        t.vmap(along)(np.arange(3.0), np.ones(3)),
    )


@program
def pullbacks_in_batches(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 3))
    y, back = t.vjp(lambda x: np.stack([np.sin(x), x**2]), x)
    return t.vmap(lambda bar: back(bar)[0])(np.asarray(numbers(rng, 4, 2, 3)))


@program
def hessian_vector_products(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(np.sin(x) * np.roll(x, 1))
    x, v = np.asarray(numbers(rng, 4)), np.asarray(numbers(rng, 4))
    forward = t.jvp(t.grad(f), (x,), (v,))[1]
    return forward, t.grad(lambda x: np.vdot(t.grad(f)(x), v))(x), t.vjp(t.grad(f), x)[1](v)[0], t.hessian(f)(x) @ v


@program
def laplacians(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.exp(-np.sum(x**2)) * x[0]
    trace = lambda x: np.trace(t.hessian(f)(x))
    return t.vmap(trace)(np.asarray(numbers(rng, 3, 2))), t.grad(trace)(np.asarray(numbers(rng, 2)))


@program
def physics_informed_residual(t: Any, np: Any, rng: Rng) -> Any:
    w, v, xs = np.asarray(numbers(rng, 4)), np.asarray(numbers(rng, 4)), np.asarray(numbers(rng, 5))
    u = lambda p, x: np.sum(p["v"] * np.tanh(p["w"] * x))
    residual = lambda p, x: t.grad(t.grad(u, argnums=1), argnums=1)(p, x) + u(p, x)
    return t.value_and_grad(lambda p: np.mean(t.vmap(lambda x: residual(p, x))(xs) ** 2))({"w": w, "v": v})


@program
def static_arguments(t: Any, np: Any, rng: Rng) -> Any:
    f = t.jit(lambda x, n: x**n if n > 1 else x, static_argnums=1)
    g = t.jit(lambda x, *, mode: np.sum(x) if mode == "sum" else x, static_argnames=("mode",))
    x = np.asarray(numbers(rng, 3))
    return f(x, 3), f(x, 1), g(x, mode="sum"), g(x, mode="none"), t.grad(lambda x: np.sum(f(x, 2)))(x)


@program
def donated_arguments(t: Any, np: Any, rng: Rng) -> Any:
    step = t.jit(lambda w, x: (w - 0.1 * x, np.sum(w)), donate_argnums=(0,))
    w, total = step(np.asarray(numbers(rng, 3)), np.asarray(numbers(rng, 3)))
    return step(w, np.ones(3, dtype="float64")), total


@program
def special_functions(t: Any, np: Any, rng: Rng) -> Any:
    s, x = t.special, np.asarray([0.3, 0.5, 0.9])
    fs = (s.gammaln, s.digamma, s.erf, s.erfinv, s.ndtri, s.log_ndtr, s.logit, s.expit, s.entr, s.i0e, s.i1, s.erfc)
    return [(f(x), t.vmap(t.grad(f))(x), t.vmap(t.grad(t.grad(f)))(x)) for f in fs]


@program
def special_functions_of_two(t: Any, np: Any, rng: Rng) -> Any:
    s = t.special
    fs = (s.xlogy, s.xlog1py, s.rel_entr, s.kl_div, s.betaln, s.gammainc)
    return [t.grad(f, argnums=1)(0.7, 0.4) for f in fs], [t.grad(f, argnums=0)(0.7, 0.4) for f in fs[:5]]


@program
def entropies_at_zero(t: Any, np: Any, rng: Rng) -> Any:
    s = t.special
    pairs = ((0.0, 2.0), (1.0, 1.0), (2.0, 0.5))
    return [(f(*p), t.grad(f, argnums=(0, 1))(*p)) for f in (s.xlogy, s.xlog1py) for p in pairs], s.entr(
        np.asarray([0.0, 1.0, -1.0])
    )


@program
def entropies_relative_at_zero(t: Any, np: Any, rng: Rng) -> Any:
    s = t.special
    pairs = ((0.0, 0.5), (0.5, 0.5), (0.5, 0.0), (-1.0, 1.0), (0.0, 0.0))
    return [(f(*p), t.grad(f, argnums=(0, 1))(*p)) for f in (s.rel_entr, s.kl_div) for p in pairs]
