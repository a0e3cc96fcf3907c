"""Every function of ``mlc.numpy``, in programs for an emulated GPU, against NumPy and against the CPU target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fake_gpu import Gpu
from test_array_functions import CASES
from test_array_functions import compare as agree
from test_namespace_derivatives import CREATION, OF_OTHERS, TYPES, WITHOUT, call

import mlc
import mlc.numpy as mnp
from mlc.frontends.array.namespace import NAMESPACE

TARGET = "cuda:sm_90"
SMOOTH = sorted(NAMESPACE.keys() - WITHOUT.keys() - OF_OTHERS)
RNG = np.random.default_rng()
X, Y = RNG.normal(size=(2, 5, 7)).astype(np.float32)
K, J, S = RNG.integers(-9, 9, size=(5, 7)), RNG.integers(0, 6, size=(5, 7)), np.sort(RNG.integers(-9, 9, size=20))
L, F = mnp.linalg, mnp.fft
Made = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]
"""Ours, NumPy's, and their arguments."""


def same(name: str, *arrays: Any, numpy: str = "", **how: Any) -> Made:
    """A function that both have under this name, or NumPy under another."""
    ours, theirs = getattr(mnp, name), getattr(np, numpy or name)
    return lambda *xs: ours(*xs, **how), lambda *xs: theirs(*xs, **how), arrays


WIDE = RNG.uniform(0.2, 0.8, (40, 40)) + 3 * np.eye(40)
"""More columns than a warp has threads."""

OTHERS: dict[str, Made] = {
    **{name: same(name, X, numpy=name) for name in ("isinf", "logical_not", "signbit")},
    **{name: same(name, X, Y) for name in ("copysign", "nextafter", "not_equal")},
    **{name: same(name, X > 0, Y > 0) for name in ("logical_or", "logical_xor")},
    **{name: same(name, K, J) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    "bitwise_invert": same("bitwise_invert", K, numpy="invert"),
    "bitwise_left_shift": same("bitwise_left_shift", K, J, numpy="left_shift"),
    "bitwise_right_shift": same("bitwise_right_shift", K, J, numpy="right_shift"),
    "sort": same("sort", X, axis=0),
    "argsort": same("argsort", X, axis=1),
    "isin": same("isin", K, J),
    "searchsorted": same("searchsorted", S, K),
    "diff": same("diff", X, axis=1),
    "cholesky": (lambda x: L.cholesky(x @ x.mT + mnp.eye(5)), lambda x: np.linalg.cholesky(x @ x.T + np.eye(5)), (X,)),
    "solve": (lambda x, y: L.solve(x @ x.mT, y), lambda x, y: np.linalg.solve(x @ x.T, y), (X * 1.0, Y)),
    "det": (lambda x: L.det(x), lambda x: np.linalg.det(x), (X[:, :5],)),
    "wide cholesky": (lambda a: L.cholesky(a @ a.mT), lambda a: np.linalg.cholesky(a @ a.mT), (WIDE,)),
    "wide solve": (lambda a: L.solve(a, a[:, :2]), lambda a: np.linalg.solve(a, a[:, :2]), (WIDE,)),
    "svdvals": (L.svdvals, lambda x: np.linalg.svd(x, compute_uv=False), (X,)),
    "eigvalsh": (lambda x: L.eigvalsh(x @ x.mT), lambda x: np.linalg.eigvalsh(x @ x.T), (X,)),
    "qr": (lambda x: mnp.abs(L.qr(x).R), lambda x: np.abs(np.linalg.qr(x).R), (X,)),
    "fft": (lambda x: mnp.abs(F.fft(x)), lambda x: np.abs(np.fft.fft(x)), (X,)),
    "irfft": (lambda x: F.irfft(F.rfft(x, axis=0), axis=0, n=5), lambda x: x, (X,)),
}


def compiled(f: Callable[..., Any], target: str, *arguments: Any) -> Any:
    return mlc.jit(f, target=target, wait=True)(*arguments)


def test_functions_agree_with_numpy(gpu: Gpu) -> None:
    """All in one program."""
    arrays = {name: case[2] for name, case in CASES.items()}
    found = compiled(lambda given: {n: CASES[n][0](*xs) for n, xs in given.items()}, TARGET, arrays)
    for name, (_, theirs, xs) in CASES.items():
        agree(found[name], theirs(*xs))


def test_others_agree_with_numpy(gpu: Gpu) -> None:
    """All in one program as well."""
    arrays = {name: xs for name, (_, _, xs) in OTHERS.items()}
    results = compiled(lambda given: {n: OTHERS[n][0](*xs) for n, xs in given.items()}, TARGET, arrays)
    for name, (_, theirs, xs) in OTHERS.items():
        found, wanted = np.asarray(results[name]), theirs(*xs)
        exact = wanted.dtype.kind in "iub"
        atol = 0 if exact else 2e-5 * np.abs(wanted).max()
        np.testing.assert_allclose(found, wanted, rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("part", range(3))
def test_derivatives_agree_with_the_cpu(part: int, gpu: Gpu) -> None:
    """In float64, a third of the functions in each program."""
    x = RNG.uniform(0.2, 0.8, (3, 4))
    functions = {name: call(name) for name in SMOOTH[part::3]}

    def both(x: Any) -> dict[str, Any]:
        return {name: (f(x), mlc.grad(lambda x, f=f: mnp.sum(mnp.sin(f(x))))(x)) for name, f in functions.items()}

    found, wanted = (compiled(both, target, x) for target in (TARGET, "cpu"))
    for name, values in wanted.items():
        for ours, theirs in zip(found[name], values, strict=True):
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-10, atol=1e-12, err_msg=name)


def test_every_function_is_here() -> None:
    """By its derivative, by NumPy's function, or in a case of several, unless it is composed of others that are; sizes
    that data says are not in a program."""
    sizes = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
    left = NAMESPACE.keys() - {*SMOOTH, *OTHERS, *CREATION, *TYPES, *OF_OTHERS} - sizes
    assert {name for name in left if not any(name == case.split()[0] for case in CASES)} == set()
