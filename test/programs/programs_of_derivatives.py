# ruff: noqa: E731
"""Derivatives of derivatives, at kinks and guarded points, through choices and updates."""

from __future__ import annotations

from typing import Any

from transform_table import numbers, program

Rng = Any


@program
def jvp_of_vjp(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 3))
    f = lambda x: t.vjp(lambda y: np.sin(y) * y, x)[1](np.ones_like(x))[0]
    return t.jvp(f, (x,), (np.asarray(numbers(rng, 3)),))


@program
def vjp_of_jvp(t: Any, np: Any, rng: Rng) -> Any:
    x, d = np.asarray(numbers(rng, 3)), np.asarray(numbers(rng, 3))
    y, back = t.vjp(lambda x, d: t.jvp(lambda z: np.exp(z) * z, (x,), (d,))[1], x, d)
    return y, back(np.ones_like(y))


@program
def hessian_of_a_guarded_root(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0))
    x = np.asarray([0.0, 1.0, -2.0, 4.0])
    return t.grad(f)(x), t.hessian(f)(x), t.jacfwd(t.jacfwd(f))(x), t.jacrev(t.jacrev(f))(x)


@program
def grad_of_an_unguarded_root(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0))
    x = np.asarray([0.0, 1.0, -2.0, 4.0])
    return t.grad(f)(x), t.jvp(f, (x,), (np.ones_like(x),))


@program
def grad_of_an_unguarded_log(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(np.where(x > 0, x * np.log(x), 0.0))
    return t.grad(f)(np.asarray([0.0, 1.0, -2.0, 4.0]))


@program
def norm_at_zero(t: Any, np: Any, rng: Rng) -> Any:
    return t.grad(lambda x: np.sqrt(np.sum(x**2)))(np.zeros(3)), t.grad(lambda x: np.linalg.norm(x))(np.ones(3))


@program
def power_at_zero(t: Any, np: Any, rng: Rng) -> Any:
    g = lambda n: t.grad(lambda x: x**n)(np.asarray(0.0))
    both = t.grad(lambda x, y: x**y, argnums=(0, 1))
    return g(2), g(1), g(2.0), g(1.0), g(0), both(0.0, 2.0)[0], both(2.0, 0.0), both(2.0, 3.0)


@program
def power_of_negatives(t: Any, np: Any, rng: Rng) -> Any:
    return t.grad(lambda x: x**3)(-2.0), t.grad(lambda x: x**3.0)(-2.0), t.grad(t.grad(lambda x: x**2))(0.0)


@program
def kinks(t: Any, np: Any, rng: Rng) -> Any:
    fs = (np.sign, np.floor, lambda x: np.maximum(x, 0.0), lambda x: np.minimum(x, 0.0), t.nn.relu)
    fs += (t.nn.relu6, lambda x: np.clip(x, 0.0, 1.0), t.nn.hard_tanh, t.nn.leaky_relu, t.nn.elu, np.round)
    return [t.vmap(t.grad(f))(np.asarray([-1.0, 0.0, 1.0, 6.0])) for f in fs]


@program
def ties_of_two(t: Any, np: Any, rng: Rng) -> Any:
    g = lambda f: t.grad(f, argnums=(0, 1))(1.0, 1.0)
    return g(np.maximum), g(np.minimum), g(np.hypot), g(np.arctan2), g(np.logaddexp)


@program
def ties_of_many(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    fs = (np.max, np.min, lambda x: np.sum(np.max(x, axis=1)), lambda x: np.sum(np.min(x, axis=0) ** 2))
    return [t.grad(f)(x) for f in fs]


@program
def grad_of_sort(t: Any, np: Any, rng: Rng) -> Any:
    x, w = np.asarray([3.0, 1.0, 2.0, 1.0]), np.asarray([1.0, 2.0, 3.0, 4.0])
    f = lambda x: np.sum(np.sort(x) * w)
    return t.grad(f)(x), t.jvp(np.sort, (x,), (w,)), t.hessian(lambda x: np.sum(np.sort(x) ** 2 * w))(x)


@program
def grad_of_sort_along_axes(t: Any, np: Any, rng: Rng) -> Any:
    x, w = np.asarray(numbers(rng, 3, 4)), np.asarray(numbers(rng, 3, 4))
    return [t.grad(lambda x, a=a: np.sum(np.sort(x, axis=a) * w))(x) for a in (0, 1, -1)]


@program
def grad_at_the_argmax(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(x[np.arange(3), np.argmax(x, axis=1)] ** 2)
    return t.grad(f)(np.asarray(numbers(rng, 3, 4)))


@program
def grad_by_argsort(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(np.take_along_axis(x, np.argsort(x, axis=-1), axis=-1) * np.arange(4))
    return t.vmap(t.grad(f))(np.asarray(numbers(rng, 2, 4)))


@program
def grad_of_top_k(t: Any, np: Any, rng: Rng) -> Any:
    def f(x: Any) -> Any:
        values, positions = t.top_k(x, 2)
        return np.sum(values**2 * (1 + positions))

    x = np.asarray(numbers(rng, 3, 5))
    return t.grad(f)(x), t.top_k(x, 3), t.vmap(lambda r: t.top_k(r, 1))(x)


@program
def grad_of_median(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 6))
    return t.grad(np.median)(x), t.grad(lambda x: np.quantile(x, 0.3))(x), t.grad(np.median)(x[:5])


@program
def grad_of_running_products(t: Any, np: Any, rng: Rng) -> Any:
    w = np.asarray([1.0, 2.0, 3.0, 4.0])
    g = t.grad(lambda x: np.sum(np.cumprod(x) * w))
    return g(np.asarray([2.0, 0.0, 3.0, 4.0])), g(np.asarray([0.0, 0.0, 3.0, 4.0])), g(np.asarray([1.0, 2.0, 3.0, 4.0]))


@program
def hessian_of_products_with_zeros(t: Any, np: Any, rng: Rng) -> Any:
    return [t.hessian(np.prod)(np.asarray(x)) for x in ([2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0])]


@program
def grad_of_running_sums(t: Any, np: Any, rng: Rng) -> Any:
    w = np.asarray(numbers(rng, 2, 4))
    f = lambda x: np.sum(np.cumsum(x, axis=1) * w)
    return t.grad(f)(np.asarray(numbers(rng, 2, 4)))


@program
def grad_of_running_extremes(t: Any, np: Any, rng: Rng) -> Any:
    x, w = np.asarray([1.0, 3.0, 2.0, 3.0, 5.0]), np.asarray([1.0, 2.0, 3.0, 4.0, 5.0])
    return t.cummax(x), t.cummin(x), t.grad(lambda x: np.sum(t.cummax(x) * w))(x)


@program
def cumlogsumexps(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 5))
    return t.cumlogsumexp(x), t.grad(lambda x: np.sum(t.cumlogsumexp(x) ** 2))(x)


@program
def updates_with_duplicates(t: Any, np: Any, rng: Rng) -> Any:
    x, at, v = np.asarray(numbers(rng, 4)), np.asarray([1, 1, 3, 1]), np.asarray(numbers(rng, 4))
    return [getattr(x.at[at], name)(v) for name in ("add", "mul", "min", "max")]


@program
def grad_of_add_at_duplicates(t: Any, np: Any, rng: Rng) -> Any:
    x, at, v = np.asarray(numbers(rng, 4)), np.asarray([1, 1, 3, 1]), np.asarray(numbers(rng, 4))
    f = lambda x, v: np.sum(x.at[at].add(v) ** 2)
    return t.grad(f, argnums=(0, 1))(x, v), t.hessian(f)(x, v)


@program
def grad_of_set_at(t: Any, np: Any, rng: Rng) -> Any:
    x, at, v = np.asarray(numbers(rng, 4)), np.asarray([1, 0, 3]), np.asarray(numbers(rng, 3))
    return t.grad(lambda x, v: np.sum(x.at[at].set(v) ** 3), argnums=(0, 1))(x, v)


@program
def grad_of_extremes_at(t: Any, np: Any, rng: Rng) -> Any:
    x, at, v = np.asarray(numbers(rng, 4)), np.asarray([1, 0, 3]), np.asarray(numbers(rng, 3))
    f = lambda name: t.grad(lambda x, v: np.sum(getattr(x.at[at], name)(v) ** 3), argnums=(0, 1))(x, v)
    return f("min"), f("max")


@program
def updates_of_slices(t: Any, np: Any, rng: Rng) -> Any:
    x, v = np.asarray(numbers(rng, 4, 5)), np.asarray(numbers(rng, 2, 2))
    f = lambda x, v: np.sum(np.sin(x.at[1:3, ::3].set(v).at[:, -1].mul(2.0).at[0].add(1.0)))
    return t.value_and_grad(f, argnums=(0, 1))(x, v)


@program
def updates_by_masks(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 6))
    return x.at[x > 0].set(0.0), x.at[x < 0].multiply(-1.0), np.where(x > 0, 0.0, x)


@program
def updates_outside(t: Any, np: Any, rng: Rng) -> Any:
    x, at = np.asarray(numbers(rng, 4)), np.asarray([-1, 4, 9, -5])
    return (
        x.at[at].add(1.0),
        x.at[at].set(7.0, mode="drop"),
        x.at[at].add(1.0, mode="clip"),
        x.at[at].get(mode="fill", fill_value=-1),
    )


@program
def reads_outside(t: Any, np: Any, rng: Rng) -> Any:
    x, f = np.asarray(numbers(rng, 4)), lambda i, x: x[i]
    return [t.jit(f)(np.asarray(i), x) for i in (-1, -4, -9, 3, 4, 99)]


@program
def grad_of_reads_with_duplicates(t: Any, np: Any, rng: Rng) -> Any:
    at = np.asarray([[0, 1], [1, 1]])
    return t.grad(lambda x: np.sum(x[at] ** 2))(np.asarray(numbers(rng, 3, 2)))


@program
def dynamic_slices_clamp(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 5))
    f = lambda i, x: t.dynamic_slice(x, (i,), (3,))
    return [f(np.asarray(i), x) for i in (-9, -1, 0, 1, 2, 4, 99)], t.grad(lambda x: np.sum(f(np.asarray(4), x) ** 2))(
        x
    )


@program
def dynamic_updates_clamp(t: Any, np: Any, rng: Rng) -> Any:
    x, v = np.asarray(numbers(rng, 5)), np.asarray(numbers(rng, 2))
    f = lambda i, x, v: t.dynamic_update_slice(x, v, (i,))
    return [f(np.asarray(i), x, v) for i in (-9, -1, 0, 3, 4, 99)], t.grad(
        lambda x, v: np.sum(f(4, x, v) ** 2), argnums=(0, 1)
    )(x, v)


@program
def vmap_of_dynamic_slice(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 5, 4))
    return t.vmap(lambda i, j: t.dynamic_slice(x, (i, j), (2, 3)))(np.asarray([0, 3, 9]), np.asarray([-1, 1, 0]))


@program
def dynamic_slices_of_one_axis(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 5, 4))
    return (
        t.dynamic_index_in_dim(x, 2, axis=1),
        t.dynamic_slice_in_dim(x, 3, 4),
        t.dynamic_update_index_in_dim(x, np.zeros(4, dtype="float64"), 1, 0),
    )
