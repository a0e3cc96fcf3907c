# ruff: noqa: E731
"""Loops and branches within derivatives and batches."""

from __future__ import annotations

from typing import Any

from transform_table import numbers, program

Rng = Any


@program
def grad_of_scan_of_cond(t: Any, np: Any, rng: Rng) -> Any:
    def step(c: Any, x: Any) -> Any:
        c = t.cond(x > 0, lambda c: np.sin(c) * x, lambda c: c * c - x, c)
        return c, c

    return t.grad(lambda c, xs: np.sum(t.scan(step, c, xs)[1]), argnums=(0, 1))(
        np.asarray(0.3, dtype="float64"), np.asarray(numbers(rng, 7))
    )


@program
def grad_of_cond_of_scan(t: Any, np: Any, rng: Rng) -> Any:
    xs = np.asarray(numbers(rng, 5))

    def f(c: Any, flag: Any) -> Any:
        loop = lambda c: t.scan(lambda c, x: (np.tanh(c + x), None), c, xs)[0]
        return np.sum(t.cond(flag, loop, lambda c: c * 2, c))

    x = np.asarray(numbers(rng, 3))
    return [t.grad(f)(x, np.asarray(flag)) for flag in (True, False)]


@program
def vmap_of_while_with_other_trips(t: Any, np: Any, rng: Rng) -> Any:
    def f(n: Any, x: Any) -> Any:
        return t.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5 + 1), (np.zeros_like(n), x))

    return t.vmap(f)(np.asarray([0, 3, 1, 7]), np.asarray(numbers(rng, 4)))


@program
def vmap_of_while_on_a_value(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: t.while_loop(lambda s: np.sum(s) < 50, lambda s: s * 2 + 0.1, x)
    return t.vmap(f)(np.abs(np.asarray(numbers(rng, 4, 3))))


@program
def vmap_of_while_with_a_shared_condition(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda n, x: t.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, np.sin(s[1])), (0, x))[1]
    return t.vmap(f, in_axes=(None, 0))(4, np.asarray(numbers(rng, 3, 2)))


@program
def vmap_of_fori_with_batched_bound(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda n, x: t.fori_loop(0, n, lambda i, s: s + i * x, 0.0 * x)
    return t.vmap(f)(np.asarray([2, 0, 5]), np.asarray(numbers(rng, 3)))


@program
def jvp_of_while(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: t.while_loop(lambda s: s < 10, lambda s: s * s + 1, x)
    return t.jvp(f, (np.asarray(0.7),), (np.asarray(1.0),))


@program
def jvp_of_vmap_of_while(t: Any, np: Any, rng: Rng) -> Any:
    f = t.vmap(lambda x: t.while_loop(lambda s: s < 10, lambda s: s * 3, x))
    x = np.abs(np.asarray(numbers(rng, 4))) + 0.1
    return t.jvp(f, (x,), (np.ones_like(x),))


@program
def vmap_of_grad_of_scan(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda c, xs: np.sum(t.scan(lambda c, x: (c * np.cos(x), c), c, xs)[1] ** 2)
    return t.vmap(t.grad(f, argnums=(0, 1)), in_axes=(0, 1))(
        np.asarray(numbers(rng, 3)), np.asarray(numbers(rng, 5, 3))
    )


@program
def hessian_of_scan(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: t.scan(lambda c, k: (np.sin(c * k), None), np.sum(x**2), np.asarray([1.0, 0.5, 2.0]))[0]
    return t.hessian(f)(np.asarray(numbers(rng, 3)))


@program
def jacobians_of_fori(t: Any, np: Any, rng: Rng) -> Any:
    a = np.asarray(numbers(rng, 3, 3)) / 3
    f = lambda x: t.fori_loop(0, 4, lambda i, s: np.tanh(a @ s + i), x)
    x = np.asarray(numbers(rng, 3))
    return t.jacfwd(f)(x), t.jacrev(f)(x)


@program
def scan_of_scan_of_grad(t: Any, np: Any, rng: Rng) -> Any:
    g = t.grad(lambda w, x: np.sum((w * x - 1) ** 2))
    inner = lambda w, x: (w - 0.01 * g(w, x), np.sum(w))
    outer = lambda w, xs: t.scan(inner, w, xs)
    return t.scan(outer, np.asarray(numbers(rng, 2)), np.asarray(numbers(rng, 3, 4, 2)))


@program
def grad_through_steps_of_grad(t: Any, np: Any, rng: Rng) -> Any:
    xs = np.asarray(numbers(rng, 4, 3))

    def trained(rate: Any) -> Any:
        g = t.grad(lambda w, x: np.sum((np.tanh(w * x) - 1) ** 2))
        w, losses = t.scan(lambda w, x: (w - rate * g(w, x), np.sum(w * x)), np.ones(3, dtype="float64"), xs)
        return np.sum(w) + np.sum(losses)

    return t.value_and_grad(trained)(np.asarray(0.1))


@program
def scan_reversed_with_several_outputs(t: Any, np: Any, rng: Rng) -> Any:
    step = lambda c, x: ({"a": c["a"] * x["u"], "b": c["b"] + 1}, (c["a"], x["v"] + c["b"]))
    xs = {"u": np.asarray(numbers(rng, 4)), "v": np.asarray(numbers(rng, 4, 2))}
    return t.scan(step, {"a": np.asarray(1.0, dtype="float64"), "b": 0}, xs, reverse=True)


@program
def scan_without_steps(t: Any, np: Any, rng: Rng) -> Any:
    return t.scan(lambda c, x: (c + x, c * x), np.asarray(2.0), np.zeros((0,)))


@program
def scan_by_length(t: Any, np: Any, rng: Rng) -> Any:
    return t.scan(lambda c, _: (c * 2, c), np.asarray(1.5), None, length=5)


@program
def scan_with_an_empty_carry(t: Any, np: Any, rng: Rng) -> Any:
    return t.scan(lambda c, x: (None, x**2), None, np.asarray(numbers(rng, 4)))


@program
def scan_of_integers_and_masks(t: Any, np: Any, rng: Rng) -> Any:
    step = lambda c, x: ((c[0] + np.where(x > 0, 1, 0), c[1] | (x > 1)), c[0])
    return t.scan(step, (np.asarray(0), np.asarray(False)), np.asarray(numbers(rng, 6)))


@program
def grad_past_integers_of_a_carry(t: Any, np: Any, rng: Rng) -> Any:
    def f(x: Any) -> Any:
        (n, y), _ = t.scan(lambda c, u: ((c[0] + 1, c[1] * u + c[0]), None), (0, x), np.asarray([1.0, 2.0, 3.0]))
        return y * n

    return t.grad(f)(np.asarray(0.5))


@program
def cond_of_closures(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 3))
    f = lambda w, s: np.sum(t.cond(s > 0, lambda: w * x, lambda: w**2 * x))
    return [t.grad(f)(np.asarray(numbers(rng, 3)), np.asarray(s)) for s in (1.0, -1.0)]


@program
def vmap_of_cond(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: t.cond(x > 0, lambda x: np.log(x), lambda x: -x, x)
    x = np.asarray(numbers(rng, 6))
    return t.vmap(f)(x), t.vmap(t.grad(f))(x)


@program
def vmap_of_cond_with_a_shared_predicate(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda p, x: t.cond(p, lambda x: x * 2, lambda x: x - 1, x)
    return t.vmap(f, in_axes=(None, 1), out_axes=1)(np.asarray(True), np.asarray(numbers(rng, 2, 3)))


@program
def switch_out_of_range(t: Any, np: Any, rng: Rng) -> Any:
    fs = [lambda x: x + 1, lambda x: x * 10, lambda x: -x]
    x = np.asarray(numbers(rng, 2))
    return [t.switch(np.asarray(n), fs, x) for n in (-3, 0, 1, 2, 9)]


@program
def vmap_and_grad_of_switch(t: Any, np: Any, rng: Rng) -> Any:
    fs = [lambda x: np.sin(x), lambda x: x**3, lambda x: np.exp(x)]
    f = lambda n, x: t.switch(n, fs, x)
    n, x = np.asarray([0, 2, 1, 5, -1]), np.asarray(numbers(rng, 5))
    return t.vmap(f)(n, x), t.vmap(t.grad(f, argnums=1))(n, x)


@program
def grad_of_nested_cond(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: t.cond(x > 0, lambda x: t.cond(x > 1, lambda x: x**2, lambda x: x**3, x), lambda x: -x, x)
    return [t.grad(f)(np.asarray(v)) for v in (2.0, 0.5, -1.0)]


@program
def cond_guards_a_nan(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: t.cond(x == 0, lambda x: np.ones_like(x), lambda x: np.sin(x) / x, x)
    return [t.value_and_grad(f)(np.asarray(v)) for v in (0.0, 0.5)]


@program
def fori_without_steps(t: Any, np: Any, rng: Rng) -> Any:
    return t.fori_loop(5, 2, lambda i, s: s + i, np.asarray(numbers(rng, 2)))


@program
def fori_from_a_negative_bound(t: Any, np: Any, rng: Rng) -> Any:
    return t.fori_loop(-3, 3, lambda i, s: s * 0.5 + i, np.asarray(numbers(rng, 2)))


@program
def fori_with_a_traced_bound(t: Any, np: Any, rng: Rng) -> Any:
    f = t.jit(lambda n, x: t.fori_loop(0, n, lambda i, s: s + x[i % 3], np.zeros((), dtype="float64")))
    return [f(np.asarray(n), np.asarray(numbers(rng, 3))) for n in (0, 4)]


@program
def fori_updates_at_the_counter(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 6))
    f = lambda x: t.fori_loop(1, 6, lambda i, s: s.at[i].set(s[i - 1] * 0.5 + s[i]), x)
    return f(x), t.grad(lambda x: np.sum(f(x) ** 2))(x), t.jvp(f, (x,), (np.ones_like(x),))[1]


@program
def fori_updates_rows(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 4, 3))
    f = lambda x: t.fori_loop(0, 4, lambda i, s: s.at[i].add(s[3 - i]), x)
    return f(x), t.jacrev(f)(x)


@program
def fori_reads_beyond_the_end(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 4))
    return t.fori_loop(0, 7, lambda i, s: s + x[i], np.zeros((), dtype="float64"))


@program
def fori_writes_beyond_the_end(t: Any, np: Any, rng: Rng) -> Any:
    return t.fori_loop(0, 7, lambda i, s: s.at[i].add(1.0), np.asarray(numbers(rng, 4)))


@program
def fori_writes_before_the_start(t: Any, np: Any, rng: Rng) -> Any:
    return t.fori_loop(0, 3, lambda i, s: s.at[i - 2].add(i + 1.0), np.asarray(numbers(rng, 5)))


@program
def fori_reads_the_neighbour_it_wrote(t: Any, np: Any, rng: Rng) -> Any:
    def body(i: Any, s: Any) -> Any:
        old = s[i + 1]
        s = s.at[i + 1].set(s[i])
        return s.at[i].set(old)

    return t.fori_loop(0, 4, body, np.asarray(numbers(rng, 5)))


@program
def carry_is_kept_beside_its_update(t: Any, np: Any, rng: Rng) -> Any:
    def step(c: Any, i: Any) -> Any:
        new = c.at[i].add(1.0)
        return new, np.sum(c * new)

    return t.scan(step, np.asarray(numbers(rng, 3)), np.arange(3))


@program
def carries_are_exchanged(t: Any, np: Any, rng: Rng) -> Any:
    a, b = np.asarray(numbers(rng, 3)), np.asarray(numbers(rng, 3))
    return t.fori_loop(0, 3, lambda i, s: (s[1].at[i].add(1.0), s[0].at[0].mul(2.0)), (a, b))


@program
def fibonacci_in_an_array(t: Any, np: Any, rng: Rng) -> Any:
    x = np.zeros(10, dtype="int64").at[1].set(1)
    return t.fori_loop(2, 10, lambda i, s: s.at[i].set(s[i - 1] + s[i - 2]), x)


@program
def scatter_by_data_in_a_scan(t: Any, np: Any, rng: Rng) -> Any:
    idx, v = np.asarray(rng.integers(0, 5, 20)), np.asarray(numbers(rng, 20))
    f = lambda v: t.scan(
        lambda c, iv: (c.at[iv[0]].add(iv[1] * c[iv[0]]), None), np.ones(5, dtype="float64"), (idx, v)
    )[0]
    return f(v), t.grad(lambda v: np.sum(f(v) ** 2))(v)


@program
def grad_of_checkpointed_scan(t: Any, np: Any, rng: Rng) -> Any:
    step = t.remat(lambda c, x: (np.sin(c * x), c))
    f = lambda c, xs: np.sum(t.scan(step, c, xs)[1])
    return t.grad(f, argnums=(0, 1))(np.asarray(0.3, dtype="float64"), np.asarray(numbers(rng, 5)))


@program
def scan_with_unroll(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda c, xs, n: t.scan(lambda c, x: (c * 0.5 + x, c), c, xs, unroll=n)
    xs = np.asarray(numbers(rng, 7))
    return [f(np.asarray(1.0, dtype="float64"), xs, n) for n in (1, 2, True)]


@program
def map_of_grad(t: Any, np: Any, rng: Rng) -> Any:
    return t.map(t.grad(lambda x: np.sum(x**3)), np.asarray(numbers(rng, 4, 2)))


@program
def associative_scans(t: Any, np: Any, rng: Rng) -> Any:
    x = np.asarray(numbers(rng, 7))
    pairs = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
    return t.associative_scan(np.add, x), t.associative_scan(pairs, (x, x + 1), reverse=True)


@program
def grad_of_associative_scan(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: np.sum(t.associative_scan(lambda a, b: a * b, x, axis=1) ** 2)
    return t.grad(f)(np.asarray(numbers(rng, 2, 5)))


@program
def vmap_of_scan_over_another_axis(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda c, xs: t.scan(lambda c, x: (c + x, c * x), c, xs)
    return t.vmap(f, in_axes=(None, 1), out_axes=(0, 1))(
        np.asarray(0.5, dtype="float64"), np.asarray(numbers(rng, 4, 3))
    )


@program
def linearize_of_scan(t: Any, np: Any, rng: Rng) -> Any:
    y, along = t.linearize(lambda x: t.scan(lambda c, _: (np.sin(c), c), x, None, length=3), np.asarray(0.4))
    return y, along(np.asarray(2.0))


@program
def newton_in_a_while(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x, a: x * x - a
    step = lambda s: s - f(s, 2.0) / t.grad(f)(s, 2.0)
    return t.while_loop(lambda s: np.abs(f(s, 2.0)) > 1e-9, step, np.asarray(1.0, dtype="float64"))


@program
def while_with_several_states(t: Any, np: Any, rng: Rng) -> Any:
    body = lambda s: {"n": s["n"] // 2, "steps": s["steps"] + 1, "x": s["x"] * s["n"]}
    return t.while_loop(lambda s: s["n"] > 0, body, {"n": np.asarray(37), "steps": 0, "x": np.asarray(numbers(rng, 2))})


@program
def hvp_through_cond_and_scan(t: Any, np: Any, rng: Rng) -> Any:
    def f(x: Any) -> Any:
        y = t.scan(
            lambda c, k: (t.cond(k > 1, lambda c: c * c, lambda c: np.sin(c), c), None), x, np.asarray([0, 2, 1, 3])
        )[0]
        return np.sum(y)

    x = np.asarray(numbers(rng, 3))
    return t.jvp(t.grad(f), (x,), (np.ones_like(x),))


@program
def third_derivative_of_a_loop(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x: t.fori_loop(0, 3, lambda i, s: np.sin(s) * x, x)
    return t.grad(t.grad(t.grad(f)))(np.asarray(0.7, dtype="float64"))


@program
def vmap_of_fori_that_updates(t: Any, np: Any, rng: Rng) -> Any:
    f = lambda x, k: t.fori_loop(0, 3, lambda i, s: s.at[i].add(s[(i + k) % 3]), x)
    return t.vmap(f)(np.asarray(numbers(rng, 2, 3)), np.asarray([1, 2]))


@program
def loops_of_python_numbers(t: Any, np: Any, rng: Rng) -> Any:
    xs = np.asarray(numbers(rng, 4))
    total = t.scan(lambda c, x: (c + x, None), 0.0, xs)[0], t.fori_loop(0, 4, lambda i, s: s + xs[i], 0.0)
    return total, t.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * xs[0]), (0, 1.0))
