# ruff: noqa: E731
"""Rules of one's own, what else functions compute, Jacobians, integers and complex numbers."""

from __future__ import annotations

from typing import Any

from transform_table import numbers, program

Rng = Any


@program
def custom_jvp_of_two(t: Any, np: Any, rng: Rng) -> Any:
    @t.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return np.sin(x) * y

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x, y), (dx, dy) = primals, tangents
        return f(x, y), 2 * np.cos(x) * dx * y + 3 * np.sin(x) * dy

    x = np.asarray(numbers(rng, 3))
    return (
        t.jvp(f, (x, x), (np.ones_like(x), x)),
        t.grad(lambda x: np.sum(f(x, 2 * x)))(x),
        t.vmap(t.grad(f, argnums=1))(x, x),
    )


@program
def custom_jvp_by_nondiff(t: Any, np: Any, rng: Rng) -> Any:
    def powered(f: Any, x: Any, n: Any) -> Any:
        return f(x) ** n

    g = t.custom_jvp(powered, nondiff_argnums=(0, 2))
    g.defjvp(lambda f, n, primals, tangents: (g(f, *primals, n), n * f(primals[0]) * tangents[0]))
    return t.grad(lambda x: g(np.sin, x, 3))(np.asarray(0.4)), g(np.cos, 0.1, 2)


@program
def custom_jvps(t: Any, np: Any, rng: Rng) -> Any:
    f = t.custom_jvp(lambda x, y: x * y**2)
    f.defjvps(lambda dx, ans, x, y: dx * y**2, lambda dy, ans, x, y: 2 * dy * ans / y)
    g = t.custom_jvp(lambda x, y: x * y**2)
    g.defjvps(lambda dx, ans, x, y: dx * y**2, None)
    return t.grad(f, argnums=(0, 1))(1.5, 2.0), t.grad(g, argnums=(0, 1))(1.5, 2.0)


@program
def custom_vjp_that_clips(t: Any, np: Any, rng: Rng) -> Any:
    f = t.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, bar: (np.clip(bar, -0.1, 0.1),))
    x = np.asarray(numbers(rng, 4))
    return t.grad(lambda x: np.sum(f(x) ** 2))(x), t.vmap(t.grad(lambda x: f(x) ** 2))(x), t.jacrev(f)(x)


@program
def custom_vjp_by_nondiff(t: Any, np: Any, rng: Rng) -> Any:
    def scaled(n: Any, x: Any) -> Any:
        return x * n

    f = t.custom_vjp(scaled, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (f(n, x), x), lambda n, x, bar: (bar * n * x,))
    return t.grad(lambda x: np.sum(f(3.0, x)))(np.asarray(numbers(rng, 3))), f(2.0, np.ones(2))


@program
def custom_vjp_with_trees(t: Any, np: Any, rng: Rng) -> Any:
    f = t.custom_vjp(lambda p, k: (p["a"] * p["b"][0], k + 1))
    f.defvjp(
        lambda p, k: (f(p, k), (p, k)), lambda r, bars: ({"a": bars[0] * r[0]["b"][0], "b": (bars[0] * 10,)}, None)
    )
    x = np.asarray(numbers(rng, 2))
    return t.grad(lambda p: np.sum(f(p, 3)[0]))({"a": x, "b": (x + 1,)})


@program
def custom_vjp_in_scan(t: Any, np: Any, rng: Rng) -> Any:
    f = t.custom_vjp(lambda x: np.round(x))
    f.defvjp(lambda x: (np.round(x), None), lambda _, bar: (bar,))
    step = lambda c, x: (f(c * x) + c, c)
    return t.grad(lambda c, xs: t.scan(step, c, xs)[0], argnums=(0, 1))(
        np.asarray(1.3, dtype="float64"), np.asarray(numbers(rng, 4))
    )


@program
def custom_vjp_of_constants(t: Any, np: Any, rng: Rng) -> Any:
    f = t.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, (x, y)), lambda r, bar: (bar * r[1], bar * r[0] * 2))
    return t.grad(lambda y: f(2.0, y))(np.asarray(3.0)), t.grad(lambda x: f(x, 2.0))(np.asarray(3.0))


@program
def remat_of_a_layer(t: Any, np: Any, rng: Rng) -> Any:
    w, x = np.asarray(numbers(rng, 3, 3)), np.asarray(numbers(rng, 3))
    layer = t.remat(lambda w, x: np.tanh(w @ x))
    f = lambda w: np.sum(layer(w, layer(w, x)))
    return t.grad(f)(w), t.hessian(lambda x: np.sum(layer(w, x)))(x), t.vmap(t.grad(f))(np.stack([w, w + 1]))


@program
def remat_with_keywords(t: Any, np: Any, rng: Rng) -> Any:
    f = t.remat(lambda x, scale=2.0: np.sin(x * scale))
    return t.grad(lambda x: f(x, scale=3.0))(np.asarray(0.5))


@program
def stopped_gradients(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(x * t.stop_gradient(x**2) + t.stop_gradient(np.sin(x)))
    x = np.asarray(numbers(rng, 3))
    return t.grad(f)(x), t.hessian(f)(x), t.jvp(f, (x,), (np.ones_like(x),))


@program
def straight_through(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: x + t.stop_gradient(np.round(x) - x)
    return t.vmap(t.value_and_grad(lambda x: f(x) ** 2))(np.asarray(numbers(rng, 4)))


@program
def aux_of_grad(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x, k: (np.sum(x**2), {"twice": 2 * x, "k": k})
    x = np.asarray(numbers(rng, 3))
    return (
        t.grad(f, has_aux=True)(x, 3),
        t.value_and_grad(f, has_aux=True)(x, 3),
        t.vmap(t.grad(f, has_aux=True), (0, None))(x[:, None], 2),
    )


@program
def aux_of_vjp_and_jvp(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: (np.sin(x), x > 0)
    x = np.asarray(numbers(rng, 3))
    y, back, aux = t.vjp(f, x, has_aux=True)
    return y, back(np.ones_like(y)), aux, t.jvp(f, (x,), (x,), has_aux=True)


@program
def aux_of_jacobians(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: (np.sin(x) * x[0], np.sum(x))
    x = np.asarray(numbers(rng, 3))
    return (
        t.jacfwd(f, has_aux=True)(x),
        t.jacrev(f, has_aux=True)(x),
        t.hessian(lambda x: (np.sum(x**3), x), has_aux=True)(x),
    )


@program
def jacobians_of_trees(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda p: {"u": p["a"] * p["b"], "v": np.sum(p["a"])}
    p = {"a": np.asarray(numbers(rng, 2)), "b": np.asarray(numbers(rng, 2))}
    return t.jacfwd(f)(p), t.jacrev(f)(p)


@program
def jacobians_by_two(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x, y: np.outer(x, y) @ y
    x, y = np.asarray(numbers(rng, 2)), np.asarray(numbers(rng, 3))
    return (
        t.jacfwd(f, argnums=(0, 1))(x, y),
        t.jacrev(f, argnums=1)(x, y),
        t.hessian(lambda x, y: np.sum(f(x, y)), argnums=(0, 1))(x, y),
    )


@program
def grad_of_trees(t: Any, np: Any, rng: Rng) -> Any:
    p = {
        "layers": [(np.asarray(numbers(rng, 2, 2)), None), (np.asarray(numbers(rng, 2, 2)), None)],
        "b": np.asarray(1.0),
    }
    f = lambda p, x: np.sum(np.tanh(p["layers"][0][0] @ x) @ p["layers"][1][0]) * p["b"]
    return t.grad(f)(p, np.asarray(numbers(rng, 2)))


@program
def grad_of_negative_argnums(t: Any, np: Any, rng: Rng) -> Any:
    return t.grad(lambda x, y: x * y**2, argnums=-1)(2.0, 3.0), t.grad(lambda x, y: x * y**2, argnums=(1, 0))(2.0, 3.0)


@program
def integers_beside_floats(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x, i: np.sum(x[i] ** 2)
    x, i = np.asarray(numbers(rng, 4)), np.asarray([0, 2, 2])
    y, back = t.vjp(lambda x: f(x, i), x)
    return t.grad(f)(x, i), y, back(np.ones_like(y)), t.vmap(t.grad(f), (None, 0))(x, np.asarray([[0], [3]]))


@program
def vjp_with_integer_arguments(t: Any, np: Any, rng: Rng) -> Any:
    y, back = t.vjp(lambda x, i: x[i] * 2, np.asarray(numbers(rng, 4)), np.asarray([0, 2, 2]))
    return y, back(np.ones_like(y))[0]


@program
def gradients_of_complex_arguments(t: Any, np: Any, rng: Rng) -> Any:
    z = np.asarray(numbers(rng, 3) + 1j * numbers(rng, 3))
    found = [
        t.grad(f)(z)
        for f in (
            lambda z: np.sum(np.abs(z) ** 2),
            lambda z: np.sum(np.real(z**2)),
            lambda z: np.sum(np.imag(z) * np.real(z)),
        )
    ]
    return [(np.real(g), t.sign * np.imag(g)) for g in found]


@program
def gradients_through_complex_values(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 8))
    f = lambda x: np.sum(np.abs(np.fft.fft(x) * np.exp(1j * x)) ** 2 * np.arange(8))
    return t.grad(f)(x), t.grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) * np.arange(5)))(x)


@program
def jvp_of_complex_values(t: Any, np: Any, rng: Rng) -> Any:
    z, d = (np.asarray(numbers(rng, 3) + 1j * numbers(rng, 3)) for _ in range(2))
    return [
        t.jvp(f, (z,), (d,))
        for f in (np.exp, np.sin, lambda z: z**3, np.conj, lambda z: z * np.conj(z), np.sqrt, np.log)
    ]
