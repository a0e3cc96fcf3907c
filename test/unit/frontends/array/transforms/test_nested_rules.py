"""Arguments without derivatives, what functions compute beside, integers, and loops of Python's numbers.

Sources: the rules of JAX's functions of these names, and values in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
import mlc.scipy
from mlc.errors import InputError

X = np.array([0.3, -1.2, 2.0])


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5, atol=1e-7)


def powered(f: Callable[..., Any], x: Any, n: int = 3) -> Any:
    return f(x) ** n


def test_custom_jvp_of_a_function_among_the_arguments() -> None:
    g = mlc.custom_jvp(powered, nondiff_argnums=(0, 2))
    g.defjvp(lambda f, n, primals, tangents: (g(f, *primals, n), 10 * n * tangents[0]))
    close(g(mnp.sin, 0.4), np.sin(0.4) ** 3)
    close(mlc.grad(lambda x: g(mnp.sin, x, n=2))(0.4), 20)
    close(mlc.vmap(mlc.grad(lambda x: g(mnp.sin, x)))(X), [30, 30, 30])


def test_custom_vjp_of_a_function_among_the_arguments() -> None:
    g = mlc.custom_vjp(powered, nondiff_argnums=(0, -1))
    g.defvjp(lambda f, x, n: (g(f, x, n), x), lambda f, n, x, bar: (bar * n * f(x),))
    close(mlc.jit(mlc.grad(lambda x: mnp.sum(g(mnp.cos, x, 2))))(X), 2 * np.cos(X))


def test_a_rule_an_argument() -> None:
    f = mlc.custom_jvp(lambda x, y: x * y**2)
    f.defjvps(lambda t, value, x, y: t * y**2, lambda t, value, x, y: 2 * t * value / y)
    close(mlc.grad(f, argnums=(0, 1))(1.5, 2.0), [4, 6])
    f.defjvps(None, None)
    close(mlc.grad(f, argnums=(0, 1))(1.5, 2.0), [0, 0])


def test_what_else_functions_compute() -> None:
    f = lambda x: (mnp.sin(x), {"positive": x > 0})  # noqa: E731
    value, pullback, aux = mlc.vjp(f, X, has_aux=True)
    close(pullback(np.ones(3))[0], np.cos(X))
    np.testing.assert_array_equal(aux["positive"], X > 0)
    value, tangent, aux = mlc.jvp(f, (X,), (X,), has_aux=True)
    close([value, tangent], [np.sin(X), np.cos(X) * X])
    for jacobian in (mlc.jacfwd, mlc.jacrev):
        found, aux = jacobian(f, has_aux=True)(X)
        close(found, np.diag(np.cos(X)))
        np.testing.assert_array_equal(aux["positive"], X > 0)
    second, (double,) = mlc.hessian(lambda x: (mnp.sum(x**3), (2 * x,)), has_aux=True)(X)
    close(second, np.diag(6 * X))
    close(double, 2 * X)
    with pytest.raises(InputError, match="returns a pair"):
        mlc.vjp(mnp.sin, X, has_aux=True)


def test_jacobian_by_the_last_argument() -> None:
    close(mlc.jacrev(lambda x, y: x * y, argnums=-1)(X, X), np.diag(X))
    close(mlc.jacfwd(lambda x, y: x * y, argnums=(-1, 0))(X, 2 * X)[1], np.diag(2 * X))


def test_integers_among_the_arguments() -> None:
    value, pullback = mlc.vjp(lambda x, n: x[n] * 2, X, np.array([0, 2, 2]))
    bar, nothing = pullback(np.ones(3))
    close(bar, [2, 0, 4])
    assert nothing is None
    for tangent in (None, np.zeros(3)):
        close(mlc.jvp(lambda x, n: x[n] * 2, (X, np.array([0, 2, 2])), (X, tangent))[1], 2 * X[[0, 2, 2]])
    with pytest.raises(InputError, match="no derivative by an array of type int64"):
        mlc.jacfwd(lambda n: n * 1.0)(np.array([1, 2]))


def test_static_arguments_of_a_checkpoint() -> None:
    f = mlc.checkpoint(lambda x, twice, mode: mnp.sin(x) * (2 if twice and mode == "a" else 1), static_argnums=(1, -1))
    close(mlc.grad(lambda x: f(x, True, "a"))(0.4), 2 * np.cos(0.4))


def test_jit_has_the_names_of_jax() -> None:
    f = mlc.jit(lambda x, n: x**n if n > 1 else x, static_argnums=-1)
    close(f(X, 3), X**3)
    g = mlc.jit(lambda x, *, mode: mnp.sum(x) if mode == "sum" else x, static_argnames="mode")
    close(g(X, mode="sum"), X.sum())
    step = mlc.jit(lambda w, x: w - x, donate_argnums=0)
    w = step(X, X / 2)
    close(step(w, X / 2), 0 * X)
    with pytest.raises(InputError, match="was donated"):
        w.numpy()
    with pytest.raises(InputError, match="has 2 parameters, and static says number 2"):
        mlc.jit(lambda x, n: x, static=2)


def test_python_numbers_as_states_take_the_type_of_the_body() -> None:
    close(mlc.scan(lambda s, x: (s + x, None), 0.0, X)[0], X.sum())
    assert mlc.fori_loop(0, 3, lambda i, s: s + mnp.asarray(X)[i], 0.0).dtype == np.float64
    n, y = mlc.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * mnp.asarray(X)[0]), (0, 1.0))
    close(y, 0.3**3)
    assert n.dtype == np.int64
    with pytest.raises(InputError, match="float32"):
        mlc.scan(lambda s, x: (s + x, None), np.float32(0), X)


@pytest.mark.parametrize("name", ["rel_entr", "kl_div"])
def test_branches_of_long_expressions_that_are_not_taken_have_no_derivative(name: str) -> None:
    f = getattr(mlc.scipy.special, name)
    wanted = {"rel_entr": (0, 0), "kl_div": (-1, 1)}[name]
    close(mlc.grad(f, argnums=(0, 1))(0.0, 0.5), wanted)
    close(mlc.jvp(f, (0.0, 0.5), (1.0, 1.0))[1], sum(wanted))
    assert np.isfinite(np.asarray(mlc.hessian(f, argnums=(0, 1))(0.0, 0.5))).all()


def test_derivatives_at_edges() -> None:
    special = mlc.scipy.special
    close(mlc.grad(special.erfinv)(0.3), np.sqrt(np.pi) / 2 * np.exp(float(special.erfinv(0.3)) ** 2))
    close(mlc.grad(special.xlogy, argnums=(0, 1))(0.0, 2.0), (np.log(2), 0))
    close(mlc.grad(special.xlog1py, argnums=(0, 1))(0.0, 2.0), (np.log(3), 0))
    close(mlc.grad(special.xlogy, argnums=(0, 1))(0.0, 0.0), (0, 0))
    close(special.xlogy(0.0, np.array([-1.0, 0, np.inf])), [0, 0, 0])
    close(mlc.vmap(mlc.grad(special.entr))(np.array([0.0, 1])), [np.inf, -1])
    close(mlc.vmap(mlc.grad(mnp.cbrt))(np.array([0.0, -8])), [np.inf, 1 / 12])
    entropy = lambda logits: mlc.distributions.Categorical(logits=logits).entropy()  # noqa: E731
    assert np.isfinite(np.asarray(mlc.grad(entropy)(np.array([0.0, 1, -np.inf])))[:2]).all()
