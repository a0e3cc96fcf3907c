"""Times and errors of solvers beside SciPy, diffrax and optimistix, in turn: `python -m benchmarks.solvers [PROGRAM…]`.

Programs are equations that are stiff and not, a gradient of a solution, roots and minima, all in f64 and with the
same tolerances. All are compared with a solution of tolerances of 1e-12, then timed alternately. Prints microseconds,
ratios and errors. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.arrays.__main__ import in_turn

Array = np.ndarray[Any, Any]
Run = Callable[[], Any]
ROUNDS, SECONDS = 5, 0.05
RTOL, ATOL = 1e-6, 1e-9
RATES = np.array([0.04, 1e4, 3e7])
POINTS = 20


def prey(xp: Any, t: Any, y: Any, p: Any) -> Any:
    return xp.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[1] * y[0] * y[1] - p[2] * y[1]])


def reactions(xp: Any, t: Any, y: Any, p: Any) -> Any:
    first, second, third = p[0] * y[0], p[1] * y[1] * y[2], p[2] * y[1] ** 2
    return xp.stack([second - first, first - second - third, third])


def pendulum(xp: Any, t: Any, y: Any, p: Any) -> Any:
    """Van der Pol's oscillator with a stiffness of 1,000."""
    return xp.stack([y[1], p[0] * (1 - y[0] ** 2) * y[1] - y[0]])


def chain(xp: Any, x: Any) -> Any:
    """Broyden's tridiagonal function."""
    low, high = xp.concatenate([x[:1] * 0, x[:-1]]), xp.concatenate([x[1:], x[:1] * 0])
    return (3 - 2 * x) * x - low - 2 * high + 1


def valley(xp: Any, x: Any) -> Any:
    """Rosenbrock's function."""
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


EQUATIONS: dict[str, tuple[Any, bool, float, list[float], Any]] = {
    "prey": (prey, False, 20.0, [2.0, 1.0], np.array([1.1, 0.4, 0.9])),
    "reactions": (reactions, True, 4000.0, [1.0, 0, 0], RATES),
    "pendulum": (pendulum, True, 1500.0, [2.0, 0.0], np.array([1000.0])),
}
"""The right side, whether it is stiff, the last time, the first state and parameters."""


def solutions(name: str) -> Iterator[tuple[str, Run]]:
    """The state at times of one solution: by each library, the reference first."""
    f, stiff, end, y0, p = EQUATIONS[name]
    times, start = np.linspace(0, end, 11)[1:], np.array(y0)
    import scipy.integrate

    import mlc
    import mlc.numpy as mnp
    from mlc.scipy.integrate import solve_ivp

    def by_scipy(rtol: float, atol: float) -> Any:
        method = "Radau" if stiff else "RK45"
        return scipy.integrate.solve_ivp(
            lambda t, y: f(np, t, y, p), (0, end), start, method, times, rtol=rtol, atol=atol
        ).y.T

    yield "reference", lambda: by_scipy(1e-12, 1e-14)
    method = "Rodas" if stiff else "RK45"
    ours = mlc.jit(lambda y, p: solve_ivp(lambda t, y: f(mnp, t, y, p), (0.0, end), y, method, times, rtol=RTOL,
                                          atol=ATOL, adjoint=False).y.T)  # fmt: skip
    yield "mlc", lambda: np.asarray(ours(start, p))
    yield "scipy", lambda: by_scipy(RTOL, ATOL)
    if find_spec("diffrax"):
        solve = by_diffrax(f, stiff, end, times)
        yield "diffrax", lambda: np.asarray(solve(start, p))


def by_diffrax(f: Any, stiff: bool, end: float, times: Array) -> Any:
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    solver = diffrax.Kvaerno5() if stiff else diffrax.Dopri5()
    term = diffrax.ODETerm(lambda t, y, p: f(jnp, t, y, p))
    control = diffrax.PIDController(rtol=RTOL, atol=ATOL)

    def solve(y: Any, p: Any) -> Any:
        kept = diffrax.SaveAt(ts=times)
        return diffrax.diffeqsolve(term, solver, 0.0, end, None, y, p, saveat=kept, stepsize_controller=control).ys

    return jax.jit(solve)


def gradients(name: str) -> Iterator[tuple[str, Run]]:
    """The gradient by the parameters of the sum of a solution, whose steps are saved."""
    f, _, end, y0, p = EQUATIONS["prey"]
    times, start, short = np.linspace(0, end / 4, 3)[1:], np.array(y0), end / 4
    import mlc
    import mlc.numpy as mnp
    from mlc.scipy.integrate import solve_ivp

    def loss(p: Any, rtol: float = RTOL, **options: Any) -> Any:
        return mnp.sum(solve_ivp(lambda t, y: f(mnp, t, y, p), (0.0, short), start, t_eval=times, rtol=rtol,
                                 atol=rtol / 1e3, **options).y)  # fmt: skip

    exact = mlc.jit(mlc.jacfwd(lambda p: loss(p, 1e-12, adjoint=False)))
    yield "reference", lambda: np.asarray(exact(p))
    for label, options in (("mlc", {"adjoint": False, "max_steps": 64}), ("mlc adjoint", {})):
        ours = mlc.jit(mlc.grad(lambda p, options=options: loss(p, **options)))
        yield label, lambda ours=ours: np.asarray(ours(p))  # type: ignore[misc]
    if find_spec("diffrax"):
        import jax

        solve = by_diffrax(f, False, short, times)
        theirs = jax.jit(jax.grad(lambda p: solve(start, p).sum()))
        yield "diffrax", lambda: np.asarray(theirs(p))


def roots(name: str) -> Iterator[tuple[str, Run]]:
    import scipy.optimize

    import mlc
    import mlc.numpy as mnp
    from mlc.scipy.optimize import root

    start = -np.ones(POINTS)
    by_scipy = lambda tol: scipy.optimize.root(lambda x: chain(np, x), start, tol=tol).x  # noqa: E731
    yield "reference", lambda: by_scipy(1e-14)
    ours = mlc.jit(lambda x: root(lambda x: chain(mnp, x), x).x)
    yield "mlc", lambda: np.asarray(ours(start))
    yield "scipy", lambda: by_scipy(RTOL)
    if find_spec("optimistix"):
        import jax
        import jax.numpy as jnp
        import optimistix

        jax.config.update("jax_enable_x64", True)
        solver = optimistix.Newton(rtol=RTOL, atol=ATOL)
        theirs = jax.jit(lambda x: optimistix.root_find(lambda x, _: chain(jnp, x), solver, x).value)
        yield "optimistix", lambda: np.asarray(theirs(start))


def minima(name: str) -> Iterator[tuple[str, Run]]:
    import scipy.optimize

    import mlc
    import mlc.numpy as mnp
    from mlc.scipy.optimize import minimize

    start = np.full(POINTS, -0.5)
    yield "reference", lambda: np.ones(POINTS)
    ours = mlc.jit(lambda x: minimize(lambda x: valley(mnp, x), x, tol=1e-6).x)
    yield "mlc", lambda: np.asarray(ours(start))
    yield "scipy", lambda: scipy.optimize.minimize(lambda x: valley(np, x), start, method="BFGS", tol=1e-6).x
    if find_spec("optimistix"):
        import jax
        import jax.numpy as jnp
        import optimistix

        jax.config.update("jax_enable_x64", True)
        solver = optimistix.BFGS(rtol=1e-10, atol=1e-10)
        theirs = jax.jit(lambda x: optimistix.minimise(lambda x, _: valley(jnp, x), solver, x, max_steps=2000).value)
        yield "optimistix", lambda: np.asarray(theirs(start))


PROGRAMS: dict[str, Callable[[str], Iterator[tuple[str, Run]]]] = {
    **dict.fromkeys(EQUATIONS, solutions), "gradient": gradients, "root": roots, "minimum": minima,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help=f"of {', '.join(PROGRAMS)}")
    for name in parser.parse_args().programs or PROGRAMS:
        runs = dict(PROGRAMS[name](name))
        exact = runs.pop("reference")()
        errors = {label: np.max(np.abs(run() - exact)) / np.max(np.abs(exact)) for label, run in runs.items()}
        best = {label: min(each) for label, each in in_turn(runs, ROUNDS, SECONDS).items()}
        for label, each in best.items():
            ratio = each / best["mlc"]
            print(
                f"{name:10} {label:12} {each:10.1f} us  {ratio:7.2f} of mlc  error {errors[label]:.0e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
