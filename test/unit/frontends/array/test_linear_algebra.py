"""``mlc.numpy.linalg`` against NumPy: real and complex, batched, line by line and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.frontends.array.linalg.jacobi import round_robin

Data = np.ndarray[Any, Any]
L = mnp.linalg


@pytest.fixture(params=["real", "complex"])
def draw(request: pytest.FixtureRequest) -> Callable[..., Data]:
    rng = np.random.default_rng()

    def normal(*shape: int) -> Data:
        x = rng.normal(size=shape)
        return x + 1j * rng.normal(size=shape) if request.param == "complex" else x

    return normal


def adjoint(x: Data) -> Data:
    return np.swapaxes(x.conj(), -1, -2)


def close(found: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def is_unitary(x: Data) -> None:
    close(adjoint(x) @ x, np.broadcast_to(np.eye(x.shape[-1]), (*x.shape[:-2], x.shape[-1], x.shape[-1])))


def test_cholesky(draw: Callable[..., Data]) -> None:
    x = draw(2, 5, 5)
    x = x @ adjoint(x) + np.eye(5)
    close(L.cholesky(mnp.asarray(x)), np.linalg.cholesky(x))
    close(L.cholesky(mnp.asarray(x), upper=True), adjoint(np.linalg.cholesky(x)))


def test_elimination(draw: Callable[..., Data]) -> None:
    x, b, v = draw(2, 5, 5), draw(5, 3), draw(5)
    x[0, 0, 0] = 0  # needs a pivot
    ours = mnp.asarray(x)
    close(L.solve(ours, mnp.asarray(b)), np.linalg.solve(x, b))
    close(L.solve(ours, mnp.asarray(v)), np.linalg.solve(x, v[:, None])[..., 0])
    several = draw(2, 3, 1, 5, 2)  # more dimensions than the matrices have
    close(L.solve(ours, mnp.asarray(several)), np.linalg.solve(x, several))
    close(L.inv(ours), np.linalg.inv(x))
    close(L.det(ours), np.linalg.det(x))
    for found, wanted in zip(L.slogdet(ours), np.linalg.slogdet(x), strict=True):
        close(found, wanted)
    close(L.matrix_power(ours, 5), np.linalg.matrix_power(x, 5))
    close(L.matrix_power(ours, -2), np.linalg.matrix_power(x, -2), 1e-10)


def test_a_singular_matrix_has_determinant_0() -> None:
    x = mnp.asarray(np.array([[1.0, 2, 0], [2, 4, 0], [5, 1, 0]]))
    assert float(L.det(x)) == 0 and float(L.slogdet(x).logabsdet) == -np.inf and int(L.matrix_rank(x)) == 2


@pytest.mark.parametrize("shape", [(2, 5, 3), (3, 5), (4, 4), (3, 0)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(draw: Callable[..., Data], shape: tuple[int, ...], mode: str) -> None:
    x = draw(*shape)
    q, r = (part.numpy() for part in L.qr(mnp.asarray(x), mode=mode))
    assert (q.shape, r.shape) == tuple(part.shape for part in np.linalg.qr(x, mode=mode))
    close(q @ r, x)
    close(np.tril(r, -1), 0)
    is_unitary(q)


@pytest.mark.parametrize("shape", [(2, 5, 5), (7, 7), (1, 1)])
def test_hermitian_eigenvalues(draw: Callable[..., Data], shape: tuple[int, ...]) -> None:
    x = draw(*shape)
    x = x + adjoint(x)
    values, vectors = (part.numpy() for part in L.eigh(mnp.asarray(x)))
    close(values, np.linalg.eigvalsh(x))
    close(x @ vectors, vectors * values[..., None, :], 1e-11)
    is_unitary(vectors)


@pytest.mark.parametrize("shape", [(2, 3, 3), (4, 4), (1, 1)])
def test_eigenvalues(draw: Callable[..., Data], shape: tuple[int, ...]) -> None:
    x = draw(*shape)
    values, vectors = (part.numpy() for part in L.eig(mnp.asarray(x)))
    close(np.sort_complex(np.round(values, 9)), np.sort_complex(np.round(np.linalg.eigvals(x), 9)), 1e-8)
    close(x @ vectors, vectors * values[..., None, :], 1e-10)
    close(np.linalg.norm(vectors, axis=-2), 1)


def test_eigenvalues_of_a_permutation() -> None:
    """The usual shift leaves it as it is."""
    values = L.eigvals(mnp.asarray(np.roll(np.eye(4), 1, 0))).numpy()
    close(values**4, 1)
    close(np.abs(values[:, None] - values).min(where=~np.eye(4, dtype=bool), initial=9), 2**0.5)


@pytest.mark.parametrize("shape", [(2, 5, 3), (3, 5), (4, 4), (4, 1)])
@pytest.mark.parametrize("deficient", [False, True])
def test_singular_values(draw: Callable[..., Data], shape: tuple[int, ...], deficient: bool) -> None:
    x = draw(*shape)
    if deficient:
        x[..., -1, :], x[..., 0] = x[..., 0, :], 0
    u, s, vh = (part.numpy() for part in L.svd(mnp.asarray(x)))
    close(s, np.linalg.svdvals(x))
    close(u[..., : s.shape[-1]] * s[..., None, :] @ vh[..., : s.shape[-1], :], x)
    is_unitary(u)
    is_unitary(adjoint(vh))


def test_what_singular_values_are_for(draw: Callable[..., Data]) -> None:
    x = draw(2, 4, 3)
    x[0, :, 2] = x[0, :, 1]
    ours = mnp.asarray(x)
    close(L.pinv(ours), np.linalg.pinv(x))
    close(L.matrix_rank(ours), np.linalg.matrix_rank(x))
    close(L.matrix_rank(ours, rtol=10.0), [0, 0])
    for order in ("fro", "nuc", 1, -1, -2, np.inf):
        close(L.matrix_norm(ours, ord=order, keepdims=True), np.linalg.matrix_norm(x, ord=order, keepdims=True))


@pytest.mark.parametrize("order", [0, 1, 2, 3.5, np.inf, -np.inf])
def test_vector_norms(draw: Callable[..., Data], order: float) -> None:
    x = draw(3, 4, 2)
    for axis in (None, 1, (0, 2)):
        close(L.vector_norm(mnp.asarray(x), ord=order, axis=axis), np.linalg.vector_norm(x, ord=order, axis=axis))


def test_products(draw: Callable[..., Data]) -> None:
    x, y = draw(3, 4, 4), draw(3, 4)
    close(L.cross(mnp.asarray(x[..., 0]), mnp.asarray(y), axis=-2), np.cross(x[..., 0], y, axis=0))
    close(L.trace(mnp.asarray(x), offset=-1), np.linalg.trace(x, offset=-1))
    close(L.diagonal(mnp.asarray(x), offset=2), np.linalg.diagonal(x, offset=2))


def test_compiled() -> None:
    """Elimination and rotations as one program, in float32."""
    rng = np.random.default_rng()
    x = rng.normal(size=(4, 4)).astype(np.float32)

    @mlc.jit
    def both(a: Any) -> Any:
        return L.solve(a, a[0]), *L.eigh(a + a.T)

    solution, values, vectors = (part.numpy() for part in both(x))
    close(x @ solution, x[0], 1e-4)
    close((x + x.T) @ vectors, vectors * values, 1e-4)


def test_differentiated() -> None:
    """The gradient of log det is the inverse, transposed; through the loop of the elimination."""
    x = np.random.default_rng().normal(size=(3, 3)) + 3 * np.eye(3)
    close(mlc.grad(lambda a: L.slogdet(a).logabsdet)(mnp.asarray(x)), np.linalg.inv(x).T)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_every_pair_meets_once(n: int) -> None:
    table = round_robin(n)
    pairs = [(i, int(p)) for row in table for i, p in enumerate(row) if i < p]
    assert sorted(pairs) == [(i, j) for i in range(n) for j in range(i + 1, n)]


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda: L.inv(mnp.zeros((2, 3))), "inv takes square matrices, not an array of shape"),
        (lambda: L.qr(mnp.zeros(3)), "qr takes matrices, not an array"),
        (lambda: L.solve(mnp.zeros((2, 2)), mnp.zeros(3)), "equal numbers of rows"),
        (lambda: L.matrix_norm(mnp.zeros((2, 2)), ord=3), "order 3"),
        (lambda: L.cross(mnp.zeros(2), mnp.zeros(2)), "3 elements"),
    ],
)
def test_errors(f: Callable[[], Any], message: str) -> None:
    with pytest.raises(mlc.errors.InputError, match=message):
        f()
