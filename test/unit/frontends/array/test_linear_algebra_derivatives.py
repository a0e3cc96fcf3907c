"""Derivatives of factorizations beside differences in f64: of both orders and modes, of singular matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
import mlc.scipy

L, S = mnp.linalg, mlc.scipy.linalg
Array = np.ndarray[Any, Any]
Scalar = Callable[[Any], Any]


def regular(n: int = 4) -> Array:
    return np.random.default_rng().normal(size=(n, n)) + 2 * np.eye(n)


def positive() -> Array:
    root = regular()
    return root @ root.T + np.diag(np.arange(4.0))


def tall() -> Array:
    return np.random.default_rng().normal(size=(5, 3))


def lacking(ranks: int) -> Array:
    """Columns that are 0 or twice another one, which elimination meets before the last one."""
    found = regular()
    found[:, 1] = 2 * found[:, 0] if ranks == 1 else 0
    found[:, 2] *= ranks == 1
    return found


def of_svd(x: Any) -> Any:
    u, s, vh = L.svd(x, full_matrices=False)
    return mnp.sum(mnp.cos((u * mnp.sin(s)) @ vh)) + mnp.sum(u**4) + mnp.sum(vh**4)


def of_eigh(x: Any) -> Any:
    values, vectors = L.eigh(x)
    return mnp.sum(mnp.sin(values)) + mnp.sum(vectors**4)


CASES: dict[str, tuple[Scalar, Callable[[], Array]]] = {
    "det": (L.det, regular),
    "det of one": (L.det, lambda: regular(1)),
    "det, a rank lacks": (L.det, lambda: lacking(1)),
    "det, two ranks lack": (L.det, lambda: lacking(2)),
    "slogdet": (lambda x: L.slogdet(x)[1], regular),
    "inv": (lambda x: mnp.sum(mnp.sin(L.inv(x))), regular),
    "solve": (lambda x: mnp.sum(mnp.sin(L.solve(x, x[:, :2]))), regular),
    "cholesky": (lambda x: mnp.sum(mnp.sin(L.cholesky(x))), positive),
    "qr": (lambda x: mnp.sum(mnp.cos(L.qr(x)[0]) + mnp.sum(mnp.sin(L.qr(x)[1]))), tall),
    "qr, wide": (lambda x: mnp.sum(mnp.cos(L.qr(x.T)[0])) + mnp.sum(mnp.sin(L.qr(x.T)[1])), tall),
    "svd": (of_svd, tall),
    "svd, wide": (lambda x: of_svd(x.T), tall),
    "eigh": (of_eigh, positive),
    "eigvalsh, equal": (lambda x: mnp.sum(L.eigvalsh(x) ** 2), lambda: np.eye(3)),
    "pinv": (lambda x: mnp.sum(mnp.sin(L.pinv(x))), tall),
    "lstsq": (lambda x: mnp.sum(mnp.sin(L.lstsq(x, x[:, 0] ** 2)[0])), tall),
    "matrix_power": (lambda x: mnp.sum(L.matrix_power(x, 3)) + mnp.sum(L.matrix_power(x, -2)), regular),
    "expm": (lambda x: mnp.sum(mnp.sin(S.expm(x))), regular),
    "solve_triangular": (lambda x: mnp.sum(mnp.sin(S.solve_triangular(x, x[:, :2], 1, True))), regular),
    "cho_solve": (lambda x: mnp.sum(mnp.sin(S.cho_solve(S.cho_factor(x), x[:, 0]))), positive),
    "lu": (lambda x: mnp.sum(mnp.sin(S.lu(x)[1])) + mnp.sum(mnp.cos(S.lu(x)[2])), regular),
    "lu_solve": (lambda x: mnp.sum(mnp.sin(S.lu_solve(S.lu_factor(x), x[:, 0], 1))), regular),
}


FIRST = ("det, two ranks lack", "svd", "svd, wide", "eigh", "eigvalsh, equal", "pinv", "lstsq")
"""Whose second derivatives take long, or are those of 0: of determinants where two ranks lack, as in JAX."""


def differences(f: Callable[[Array], Any], x: Array, step: float = 1e-5) -> Array:
    """The derivative of each element of ``f`` by each of ``x``, the latter first."""

    def along(n: int) -> Array:
        moved = step * (np.arange(x.size) == n).reshape(x.shape)
        return (np.asarray(f(x + moved)) - np.asarray(f(x - moved))) / (2 * step)

    return np.stack([along(n) for n in range(x.size)])


@pytest.mark.parametrize("case", CASES)
def test_first_and_second_derivatives(case: str) -> None:
    f, make = CASES[case]
    x = make()
    slope = np.asarray(mlc.grad(f)(x))
    close(slope.ravel(), differences(f, x))
    direction = np.random.default_rng().normal(size=x.shape)
    close(np.asarray(mlc.jvp(f, (x,), (direction,))[1]), np.sum(slope * direction))
    if case not in FIRST:
        seconds = np.asarray(mlc.hvp(f, (x,), (direction,)))
        along = differences(lambda t: mlc.grad(f)(x + t * direction), np.zeros(()))[0]
        close(seconds, along, 1e-4)


def close(found: Array, wanted: Array, tolerance: float = 1e-6) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def test_a_hessian_through_eigenvectors_is_symmetric() -> None:
    found = np.asarray(mlc.hessian(of_eigh)(positive())).reshape(16, 16)
    close(found, found.T, 1e-8)


def test_vectors_of_equal_eigenvalues_have_no_derivative() -> None:
    assert np.isnan(np.asarray(mlc.grad(lambda x: mnp.sum(L.eigh(x)[1] ** 4))(np.eye(3)))).any()
    np.testing.assert_allclose(mlc.grad(lambda x: mnp.sum(L.eigh(x)[0]))(np.eye(3)), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("of", ["eigvalsh", "eigh"])
def test_a_compiled_hessian_of_eigenvalues(of: str) -> None:
    """A loop whose number of trips the run knows is in the program more than once, each with a name of its own."""
    matrix = np.random.default_rng(4).normal(size=(3, 3))

    def loss(a: mnp.Array) -> mnp.Array:
        found = getattr(mnp.linalg, of)(a @ a.T + np.diag([1.0, 2.0, 4.0]))
        values = found if of == "eigvalsh" else found[0]
        return mnp.sum(values * values * np.array([1.0, 2.0, 3.0]))

    wanted = np.asarray(mlc.hessian(loss)(matrix))
    np.testing.assert_allclose(np.asarray(mlc.jit(mlc.hessian(loss), wait=True)(matrix)), wanted, rtol=1e-8, atol=1e-8)
