"""Sparse matrices beside dense ones in NumPy, and beside SciPy where that is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy import sparse

Known = np.ndarray[Any, Any]


def drawn(rows: int, columns: int, share: float = 0.3) -> Known:
    rng = np.random.default_rng()
    return rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < share)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("shape", [(7, 5), (1, 6), (4, 1), (3, 3)])
def test_products_are_those_of_the_dense_matrix(kind: Any, shape: tuple[int, int]) -> None:
    rng, dense = np.random.default_rng(), drawn(*shape)
    a = kind(dense)
    x, y, m = (rng.standard_normal(n) for n in (shape[1], shape[0], (shape[1], 3)))
    np.testing.assert_array_equal(a.toarray(), dense)
    np.testing.assert_array_equal(a.T.toarray(), dense.T)
    for found, wanted in ((a @ x, dense @ x), (a @ m, dense @ m), (y @ a, y @ dense), (a.T @ y, dense.T @ y)):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(m.T @ a.T, m.T @ dense.T, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(mnp.asarray(y) @ a, y @ dense, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(mlc.jit(lambda a, x: a @ x)(a, x), dense @ x, rtol=1e-13, atol=1e-13)


def test_arithmetic() -> None:
    dense, other = drawn(6, 4), drawn(6, 4)
    a, b = sparse.csr_array(dense), sparse.csc_array(other)
    row = np.random.default_rng().standard_normal(4)
    for found, wanted in (
        (a + b, dense + other),
        (a - b, dense - other),
        (2 * a, 2 * dense),
        (-a / 4, -dense / 4),
        (a.multiply(row), dense * row),
        (a @ b.T, dense @ other.T),
        (b.T @ a, other.T @ dense),
    ):
        np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(a + row, dense + row)
    np.testing.assert_allclose(a.sum(), dense.sum())
    for axis in (0, 1):
        np.testing.assert_allclose(a.sum(axis), dense.sum(axis), atol=1e-14)
        np.testing.assert_allclose(b.sum(axis), other.sum(axis), atol=1e-14)
    np.testing.assert_allclose(a.diagonal(), dense.diagonal())
    for there in (a.tocsc().tocsr(), b.tocsr().tocsc()):
        np.testing.assert_array_equal(there.toarray(), dense if there.by_rows else other)
    assert a.astype(np.float32).dtype == np.float32


def test_gradients_by_values_and_by_the_dense_operand() -> None:
    dense = drawn(6, 4)
    a, rng = sparse.csr_array(dense), np.random.default_rng()
    x, w = rng.standard_normal(4), rng.standard_normal(6)

    def loss(values: Any, x: Any) -> Any:
        return mnp.sum(w * (a.with_data(values) @ x) ** 2)

    by_values, by_x = mlc.jit(mlc.grad(loss, (0, 1)))(a.data, x)
    bar = 2 * w * (dense @ x)
    np.testing.assert_allclose(by_values, np.outer(bar, x)[tuple(map(np.asarray, a.coords))], rtol=1e-12)
    np.testing.assert_allclose(by_x, dense.T @ bar, rtol=1e-12)
    hessian = mlc.hessian(lambda x: loss(a.data, x))(x)
    np.testing.assert_allclose(hessian, 2 * dense.T @ (w[:, None] * dense), rtol=1e-12, atol=1e-12)


def test_batches_of_values_and_of_vectors() -> None:
    dense, rng = drawn(5, 4), np.random.default_rng()
    a = sparse.csr_array(dense)
    x, values = rng.standard_normal((3, 4)), rng.standard_normal((3, a.nnz))
    np.testing.assert_allclose(mlc.vmap(lambda x: a @ x)(x), x @ dense.T, rtol=1e-12, atol=1e-13)
    found = mlc.vmap(lambda values, x: a.with_data(values) @ x)(values, x)
    wanted = [np.asarray(a.with_data(v).toarray()) @ each for v, each in zip(values, x, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def test_blocks() -> None:
    rng, dense = np.random.default_rng(), np.kron(drawn(3, 4, 0.5) != 0, np.ones((2, 3)))
    dense = dense * rng.standard_normal(dense.shape)
    a = sparse.bsr_array(dense, blocksize=(2, 3))
    x, y, m = (rng.standard_normal(n) for n in (12, 6, (12, 2)))
    np.testing.assert_array_equal(a.toarray(), dense)
    np.testing.assert_array_equal(a.T.toarray(), dense.T)
    for found, wanted in ((a @ x, dense @ x), (a @ m, dense @ m), (y @ a, y @ dense), (a.T @ y, dense.T @ y)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
    gradient = mlc.jit(mlc.grad(lambda blocks: mnp.sum((a.with_data(blocks) @ x) ** 2)))(a.data)
    wanted = sparse.bsr_array(np.outer(2 * dense @ x, x) * (dense != 0) + 1e-300 * (dense != 0), blocksize=(2, 3))
    np.testing.assert_allclose(gradient, wanted.data, rtol=1e-10, atol=1e-12)


def test_parts_duplicates_and_diagonals() -> None:
    a = sparse.csr_array(([1.0, 2.0, 4.0], ([0, 1, 0], [2, 0, 2])), (2, 3))
    np.testing.assert_array_equal(a.toarray(), [[0, 0, 5], [2, 0, 0]])
    b = sparse.csr_array((np.array([3.0, 4.0]), np.array([1, 0]), np.array([0, 2, 2])), (2, 2))
    np.testing.assert_array_equal(b.toarray(), [[4, 3], [0, 0]])
    made = mlc.jit(lambda data, indices, indptr: sparse.csr_array((data, indices, indptr), (2, 2)) @ mnp.ones(2))
    np.testing.assert_array_equal(made(np.array([3.0, 4.0]), np.array([1, 0]), np.array([0, 2, 2])), [7, 0])
    band = sparse.diags_array([np.arange(3.0), -1.0], offsets=[-1, 0])
    np.testing.assert_array_equal(band.toarray(), np.diag(np.arange(3.0), -1) - np.eye(4))
    np.testing.assert_array_equal(sparse.eye_array(3, 4, k=1).toarray(), np.eye(3, 4, 1))
    empty = sparse.csr_array(np.zeros((2, 3)))
    np.testing.assert_array_equal(empty @ np.ones(3), np.zeros(2))
    assert sparse.issparse(a) and "csr_array float32 [2, 3], 2 stored" in repr(a)


@pytest.mark.parametrize("make, says", [
    (lambda: sparse.csr_array(np.ones(3)), "shape"),
    (lambda: sparse.csr_array(([1.0], ([0], [3])), (2, 3)), "index 3 is outside of a dimension of 3"),
    (lambda: sparse.csr_array(([1.0], [0], [0, 1])), "Give shape="),
    (lambda: sparse.csr_array(([1.0], [0], [0, 1, 1, 1]), (2, 3)), "indptr"),
    (lambda: sparse.eye_array(3) @ np.ones(4), "cannot be multiplied"),
    (lambda: sparse.eye_array(3) @ np.ones((3, 2, 2)), "mlc.vmap"),
    (lambda: sparse.eye_array(3) * sparse.eye_array(3), "elementwise"),
    (lambda: sparse.eye_array(3)[0], "toarray"),
    (lambda: sparse.eye_array(3).with_data([1.0]), "3 values"),
    (lambda: sparse.bsr_array(np.ones((3, 4)), blocksize=(2, 2)), "blocks"),
    (lambda: mlc.jit(lambda x: sparse.csr_array(x).sum())(np.eye(2)), "not known while"),
])  # fmt: skip
def test_what_is_refused(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_beside_scipy() -> None:
    scipy_sparse = pytest.importorskip("scipy.sparse")
    given = scipy_sparse.random_array((200, 150), density=0.02, rng=np.random.default_rng())
    a = sparse.csr_array(given.tocsr())
    x = np.random.default_rng().standard_normal(150)
    np.testing.assert_allclose(a @ x, given @ x, rtol=1e-13, atol=1e-14)
    back = (a @ a.T).to_scipy()
    assert abs(back - given @ given.T).max() < 1e-13 and back.format == "csr"
    blocks = scipy_sparse.bsr_array(given.tocsr(), blocksize=(2, 3))
    np.testing.assert_allclose(sparse.bsr_array(blocks) @ x, given @ x, rtol=1e-12, atol=1e-13)


def residual(u: Any) -> Any:
    """A reaction between neighbours, with a boundary of 0."""
    padded = mnp.concat([mnp.zeros(1, dtype=u.dtype), u, mnp.zeros(1, dtype=u.dtype)])
    return padded[:-2] - 2 * u + padded[2:] + mnp.exp(u) * u


def test_jacobian_of_a_band_takes_three_derivatives() -> None:
    u = np.random.default_rng().standard_normal(40)
    pattern = sparse.jacobian_sparsity(residual, u)
    assert pattern.nnz == 118
    from mlc.scipy.sparse.jacobians import color

    assert color(*map(np.asarray, pattern.coords), 40).max() == 2
    found = mlc.jit(sparse.sparse_jacobian(residual, pattern))(u)
    np.testing.assert_allclose(found.toarray(), mlc.jacfwd(residual)(u), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wide", [True, False])
def test_jacobian_by_columns_or_rows(wide: bool) -> None:
    """A full row makes every column another colour, and the rows two."""
    f = (lambda x: mnp.concat([mnp.sum(x**2)[None], x[1:] ** 3])) if wide else (lambda x: x[0] * mnp.sin(x))
    x = np.random.default_rng().standard_normal(9)
    jacobian = sparse.sparse_jacobian(f, sparse.jacobian_sparsity(f, x))
    np.testing.assert_allclose(jacobian(x).toarray(), mlc.jacrev(f)(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["cg", "bicgstab", "gmres"])
def test_iterative_solvers_and_their_derivatives(name: str) -> None:
    rng, n = np.random.default_rng(), 12
    dense = drawn(n, n) + 8 * np.eye(n)
    dense = dense @ dense.T if name == "cg" else dense
    a, b = sparse.csr_array(dense), rng.standard_normal(n)
    solve = getattr(sparse.linalg, name)
    x = solve(a, b, tol=1e-13)[0]
    np.testing.assert_allclose(x, np.linalg.solve(dense, b), rtol=1e-9, atol=1e-12)
    inverse = sparse.diags_array([1 / dense.diagonal()])
    np.testing.assert_allclose(solve(a, b, tol=1e-13, M=inverse)[0], x, rtol=1e-9, atol=1e-12)

    def loss(values: Any, b: Any) -> Any:
        return mnp.sum(solve(a.with_data(values), b, tol=1e-13)[0] ** 2)

    by_values, by_b = mlc.jit(mlc.grad(loss, (0, 1)))(a.data, b)
    dual = np.linalg.solve(dense.T, 2 * np.asarray(x))
    np.testing.assert_allclose(by_b, dual, rtol=1e-8, atol=1e-10)
    rows, columns = map(np.asarray, a.coords)
    np.testing.assert_allclose(by_values, -dual[rows] * np.asarray(x)[columns], rtol=1e-8, atol=1e-10)
    along, inverse_matrix = rng.standard_normal(n), np.linalg.inv(dense)
    second = mlc.hvp(lambda b: loss(a.data, b), (b,), (along,))
    np.testing.assert_allclose(second, 2 * inverse_matrix.T @ inverse_matrix @ along, rtol=1e-7, atol=1e-9)


def test_minimal_residuals_where_a_residual_does_not_shrink() -> None:
    """A shift of n elements leaves the residual as it is for n - 1 products; of the identity one product is all."""
    from mlc.scipy.sparse.linalg import gmres

    n = 11
    b = np.random.default_rng().standard_normal(n)
    np.testing.assert_allclose(gmres(lambda v: mnp.roll(v, 1), b, tol=1e-12)[0], np.roll(b, -1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(gmres(lambda v: 2 * v, b, tol=1e-12)[0], b / 2, rtol=1e-12)
    matrix = drawn(n, n) + 6 * np.eye(n)
    found = gmres(matrix, b, tol=1e-12, restart=4)[0]
    np.testing.assert_allclose(found, np.linalg.solve(matrix, b), rtol=1e-8, atol=1e-10)
    with pytest.raises(InputError, match="cannot keep 0 vectors"):
        gmres(matrix, b, restart=0)
