"""Times of linear algebra on two threads beside JAX, in turn: `python -m benchmarks.linalg [PROGRAM…] [--sizes N…]`.

Programs are Gaussian processes' likelihoods (value and gradient), factors and systems, batches of small matrices, their
gradients, and loops with small matrices as state; in f32 and f64. Results are compared, then all are timed alternately.
Prints microseconds and ratios. `--cpu` is for a busy machine: the time of one CPU, of one thread.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.arrays.__main__ import flat, in_turn, mean, wrong
from benchmarks.arrays.libraries import Jax, Mlc

Array = np.ndarray[Any, Any]
SIZES = (16, 32, 64, 128, 256, 500, 1000)


def likelihood(library: Any) -> Callable[..., Any]:
    """Of a Gaussian process with a kernel of radial basis functions, and its gradient by three parameters."""
    np = library.np

    def negative(p: Any, x: Any, y: Any) -> Any:
        apart = x[:, None, :] - x[None, :, :]
        near = p[0] * np.exp(-0.5 * np.sum(apart * apart, axis=-1) / p[1] ** 2)
        k = near + p[2] * np.eye(x.shape[0], dtype=x.dtype)
        return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.linalg.slogdet(k)[1]

    return library.value_and_grad(negative)


def likelihood_by_cholesky(library: Any) -> Callable[..., Any]:
    np = library.np

    def negative(p: Any, x: Any, y: Any) -> Any:
        apart = x[:, None, :] - x[None, :, :]
        near = p[0] * np.exp(-0.5 * np.sum(apart * apart, axis=-1) / p[1] ** 2)
        factor = np.linalg.cholesky(near + p[2] * np.eye(x.shape[0], dtype=x.dtype))
        z = library.solve_triangular(factor, y, lower=True)
        return 0.5 * np.sum(z * z) + np.sum(np.log(np.diagonal(factor)))

    return library.value_and_grad(negative)


def points(n: int, dtype: str) -> list[Array]:
    rng = np.random.default_rng(0)
    given = [np.array([1.0, 1.0, 0.1]), rng.normal(size=(n, 3)), rng.normal(size=n)]
    return [x.astype(dtype) for x in given]


def matrix(n: int, dtype: str) -> list[Array]:
    root = np.random.default_rng(0).normal(size=(n, n))
    return [(root @ root.T / n + np.eye(n)).astype(dtype)]


def small(_: int, dtype: str) -> list[Array]:
    root = np.random.default_rng(0).normal(size=(1000, 8, 8))
    return [(root @ root.swapaxes(1, 2) / 8 + np.eye(8)).astype(dtype)]


def turned(library: Any, gradient: bool) -> Callable[..., Any]:
    """1,000 steps of a state of 3 × 3."""

    def last(x: Any) -> Any:
        def step(state: Any, _: Any) -> tuple[Any, Any]:
            new = library.np.tanh(state @ x) + 0.1 * state
            return new, library.np.sum(new)

        return library.np.sum(library.scan(step, x, library.np.arange(1000))[1])

    return library.value_and_grad(last) if gradient else last


def updated(library: Any) -> Callable[..., Any]:
    """1,000 updates of one element of a vector."""
    return lambda x: library.fori(1000, lambda i, y: y.at[i % 64].set(0.5 * y[(i + 1) % 64] + 1), x)


def three(_: int, dtype: str) -> list[Array]:
    return [(np.random.default_rng(0).normal(size=(3, 3)) / 2).astype(dtype)]


Make = Callable[[Any], Callable[..., Any]]
PROGRAMS: dict[str, tuple[Make, Callable[[int, str], list[Array]], bool]] = {
    "likelihood": (likelihood, points, True),
    "likelihood_by_cholesky": (likelihood_by_cholesky, points, True),
    "cholesky": (lambda lib: lib.np.linalg.cholesky, matrix, True),
    "solve": (lambda lib: lambda a: lib.np.linalg.solve(a, a[:, 0]), matrix, True),
    "inverse": (lambda lib: lib.np.linalg.inv, matrix, True),
    "determinant_gradient": (lambda lib: lib.grad(lambda a: lib.np.linalg.slogdet(a)[1]), matrix, True),
    "batch_cholesky": (lambda lib: lib.np.linalg.cholesky, small, False),
    "batch_solve": (lambda lib: lambda a: lib.np.linalg.solve(a, a[..., :1]), small, False),
    "batch_inverse": (lambda lib: lib.np.linalg.inv, small, False),
    "batch_gradient": (
        lambda lib: lib.grad(lambda a: lib.np.sum(lib.np.linalg.cholesky(a)) + lib.np.sum(lib.np.linalg.inv(a))),
        small,
        False,
    ),
    "scan": (lambda lib: turned(lib, False), three, False),
    "scan_gradient": (lambda lib: turned(lib, True), three, False),
    "updates": (updated, lambda _, dtype: [np.zeros(64, dtype)], False),
}
"""What makes a function of a library, its arguments for a size and a type, and whether it is of several sizes."""


def peers() -> list[Any]:
    """mlc and JAX, with what these programs need of them beside the namespace."""
    ours, jax = Mlc(), Jax()
    jax.jax.config.update("jax_enable_x64", True)
    import jax.scipy.linalg as theirs

    import mlc.scipy

    for library, linalg, module in ((ours, mlc.scipy.linalg, mlc), (jax, theirs, jax.jax)):
        library.solve_triangular, library.value_and_grad = linalg.solve_triangular, module.value_and_grad
    return [ours, jax]


def timed(
    make: Make, arrays: Sequence[Array], rounds: int, seconds: float, clock: Callable[[], float]
) -> tuple[dict[str, float], dict[str, str]]:
    """Microseconds of each library, and whose results differ."""
    runs = {}
    for library in peers():
        f = make(library)
        runs[library.name] = library.compiled(lambda _, *xs, f=f: f(*xs), list(arrays))
    results = {name: [np.asarray(x) for x in flat(run())] for name, run in runs.items()}
    return {name: min(found) for name, found in in_turn(runs, rounds, seconds, clock).items()}, wrong(results)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.linalg", description=__doc__)
    parser.add_argument("programs", nargs="*", help="names of programs; all of them by default")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--dtypes", nargs="+", default=("float32", "float64"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each burst")
    parser.add_argument("--cpu", action="store_true", help="the time of one CPU, of one thread")
    given = parser.parse_args()
    clock = time.process_time if given.cpu else time.perf_counter
    if given.cpu:
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        os.environ |= {"OPENBLAS_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    print(f"{'program':24}{'type':>9}{'n':>6}{'mlc us':>12}{'jax us':>12}{'ratio':>8}")
    ratios = []
    for name in given.programs or PROGRAMS:
        make, arguments, sized = PROGRAMS[name]
        for dtype in given.dtypes:
            for n in given.sizes if sized else (0,):
                times, differ = timed(make, arguments(n, dtype), given.rounds, given.seconds, clock)
                ratios.append(times["jax"] / times["mlc"])
                note = f"  {differ}" if differ else ""
                print(
                    f"{name:24}{dtype:>9}{n or '':>6}{times['mlc']:12.1f}{times['jax']:12.1f}{ratios[-1]:8.2f}{note}",
                    flush=True,
                )
    print(f"geometric mean of JAX's time over ours: {mean(ratios):.2f}")


if __name__ == "__main__":
    main()
