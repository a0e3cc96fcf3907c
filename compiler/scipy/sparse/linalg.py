"""Systems of equations whose matrix is sparse, or a function. Source: ``jax.scipy.sparse.linalg``; Saad, "Iterative
methods for sparse linear systems", 2003.

Derivatives are implicit: of ``x = A⁻¹ b`` one more system with the transposed matrix, solved alike. Iterations save
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.frontends.array.transforms.closures import closed
from mlc.frontends.array.transforms.control import while_loop
from mlc.frontends.array.transforms.custom import custom_vjp
from mlc.frontends.array.transforms.derivatives.linear_maps import vjp
from mlc.scipy.sparse.compressed import Sparse
from mlc.scipy.sparse.direct import SparseLU, factorized, splu, spsolve
from mlc.scipy.sparse.minimal_residuals import minimal_residuals
from mlc.scipy.vectors import raveled

Operator = Callable[[Array], Array]
Solver = Callable[[Operator, Array, Array, Operator, Any, int], Array]


def cg(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Any, None]:
    """``x`` of ``A x = b`` by conjugate gradients, and None. ``A`` is symmetric and positive definite.

    ``A``, ``M``: a sparse or dense matrix [n, n], or a linear function of trees like ``b``; ``M`` approximates the
    inverse. It ends where the residual is below ``max(tol |b|, atol)``, or after ``maxiter`` (10 n) steps.
    """
    return _solved(_conjugate_gradients, A, b, x0, tol, atol, maxiter, M, symmetric=True), None


def bicgstab(
    A: Any, b: Any, x0: Any = None, *, tol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None
) -> tuple[Any, None]:
    """``x`` of ``A x = b`` by stabilized biconjugate gradients, and None; parameters as ``cg``, any matrix."""
    return _solved(_stabilized, A, b, x0, tol, atol, maxiter, M, symmetric=False), None


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """``x`` of ``A x = b`` by generalized minimal residuals, and None; parameters as ``cg``, any matrix.

    A step is ``restart`` products with ``A``, whose vectors [restart + 1, n] are kept; their number is at most n.

    Raises:
        InputError: ``restart`` is below 1.
    """
    if restart < 1:
        raise InputError(f"gmres cannot keep {restart} vectors", hint="Give restart of 1 or more")
    return _solved(partial(minimal_residuals, restart), A, b, x0, tol, atol, maxiter, M, symmetric=False), None


def _solved(
    solver: Solver, A: Any, b: Any, x0: Any, tol: float, atol: float, maxiter: int | None, M: Any, symmetric: bool
) -> Any:
    right, unravel = raveled(b)
    start = mnp.zeros_like(right) if x0 is None else raveled(x0)[0].astype(right.dtype)
    operator, inner = _operator(A, unravel), _operator(M, unravel)
    _check(operator, right)
    steps = 10 * int(right.shape[0]) if maxiter is None else maxiter  # type: ignore[arg-type]
    apply, arrays = closed(operator, right)
    precondition, others = closed(inner, right)

    def iterate(transposed: bool, arrays: list[Array], others: list[Array], b: Array, x: Array) -> Array:
        forward = lambda v: apply(arrays, v)  # noqa: E731
        condition = lambda v: precondition(others, v)  # noqa: E731
        used, by = (_transposed(forward, b), _transposed(condition, b)) if transposed else (forward, condition)
        limit = mnp.maximum(tol * mnp.sqrt(mnp.sum(b * b)), atol)
        return solver(used, b, x, by, limit, steps)

    return unravel(_implicit(iterate, apply, symmetric)(arrays, others, right, start))


def _implicit(iterate: Callable[..., Array], apply: Callable[..., Array], symmetric: bool) -> Callable[..., Array]:
    """``solve(arrays, others, b, x)``, whose derivative is a solve with the transposed matrix, and that one's a solve
    with the matrix: third derivatives, and forward mode over reverse, need four within each other."""
    solves: list[Any] = []
    for transposed in (False, True):
        solve = custom_vjp(partial(iterate, transposed))
        solve.order = 3
        solves.append(solve)

    def backward(transposed: bool, residuals: Any, bar: Array) -> tuple[Any, ...]:
        arrays, others, found = residuals
        dual = solves[transposed if symmetric else not transposed]
        by_right = dual(arrays, others, bar, mnp.zeros_like(bar))
        return _by_arrays(apply, arrays, found, by_right, transposed), None, by_right, None

    def forward(transposed: bool, arrays: list[Array], others: list[Array], b: Array, x: Array) -> tuple[Array, Any]:
        found = solves[transposed](arrays, others, b, x)
        return found, (arrays, others, found)

    for solve, transposed in zip(solves, (False, True), strict=True):
        solve.defvjp(partial(forward, transposed), partial(backward, transposed))
    return solves[False]


def _by_arrays(apply: Any, arrays: list[Array], found: Array, by_right: Array, transposed: bool) -> Any:
    """The cotangents of what the matrix is made of: -λᵀ (∂A) x."""
    if not arrays:
        return None
    x, bar = (by_right, found) if transposed else (found, by_right)
    return [-each for each in vjp(lambda given: apply(given, x), arrays)[1](bar)[0]]


def _transposed(operator: Operator, like: Array) -> Operator:
    pullback = vjp(operator, mnp.zeros_like(like))[1]
    return lambda v: pullback(v)[0]


def _operator(A: Any, unravel: Callable[[Array], Any]) -> Operator:
    if A is None:
        return lambda v: v
    if isinstance(A, Sparse):
        return lambda v: A @ v
    if callable(A):
        return lambda v: raveled(A(unravel(v)))[0]
    matrix = as_array(A)
    return lambda v: matrix @ v


def _check(operator: Operator, b: Array) -> None:
    shape = operator(b).shape
    if shape != b.shape:
        what = f"A system of {b.shape[0]} unknowns has an operator with results of shape {list(shape)}"
        raise InputError(what, hint="Give a square matrix of the size of b, or a function from trees like b to such")


def _dot(x: Array, y: Array) -> Array:
    return mnp.sum(x * y)


def _conjugate_gradients(A: Operator, b: Array, x: Array, M: Operator, limit: Array, steps: int) -> Array:
    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, x, r, p, rz = state
        along = A(p)
        alpha = rz / _dot(p, along)
        x, r = x + alpha * p, r - alpha * along
        z = M(r)
        after = _dot(r, z)
        return n + 1, x, r, z + after / rz * p, after

    r = b - A(x)
    z = M(r)
    start = (mnp.asarray(0), x, r, z, _dot(r, z))
    return while_loop(lambda s: (_dot(s[2], s[2]) > limit * limit) & (s[0] < steps), step, start)[1]


def _stabilized(A: Operator, b: Array, x: Array, M: Operator, limit: Array, steps: int) -> Array:
    """Begins anew where the residual is orthogonal to the first one, or a step was 0."""
    least = float(mnp.finfo(b.dtype).eps)

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        n, x, r, r0, p, v, rho, alpha, omega = state
        after, square = _dot(r0, r), _dot(r, r)
        anew = (mnp.abs(after) <= least * mnp.sqrt(_dot(r0, r0) * square)) | (omega == 0)
        r0, after = mnp.where(anew, r, r0), mnp.where(anew, square, after)
        factor = mnp.where(anew, 0.0, after / rho * alpha / mnp.where(omega == 0, 1.0, omega))
        p = r + factor * (p - omega * v)
        p_hat = M(p)
        v = A(p_hat)
        alpha = after / _dot(r0, v)
        s = r - alpha * v
        s_hat = M(s)
        t = A(s_hat)
        square = _dot(t, t)
        omega = _dot(t, s) / mnp.where(square == 0, 1.0, square)
        return n + 1, x + alpha * p_hat + omega * s_hat, s - omega * t, r0, p, v, after, alpha, omega

    one, zero, r = mnp.ones_like(b[0]), mnp.zeros_like(b), b - A(x)
    start = (mnp.asarray(0), x, r, r, zero, zero, one, one, one)
    return while_loop(lambda s: (_dot(s[2], s[2]) > limit * limit) & (s[0] < steps), step, start)[1]


__all__ = ["SparseLU", "bicgstab", "cg", "factorized", "gmres", "splu", "spsolve"]

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.sparse.linalg", name, __all__)
