"""Complex arrays against NumPy, evaluated line by line, compiled, and differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp


def complex_normal(shape: tuple[int, ...], scale: float = 1) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng()
    return scale * (rng.normal(size=shape) + 1j * rng.normal(size=shape))


UNARY = "abs conj cos cosh exp expm1 imag isfinite isinf isnan log log10 log1p log2 negative positive real reciprocal"
SAME = f"{UNARY} round sign sin sinh sqrt square tan tanh".split()
NAMES = {name: name for name in SAME} | {f"a{f}": f"arc{f}" for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}


@pytest.mark.parametrize("name", NAMES)
def test_elementwise(name: str) -> None:
    x = complex_normal((40, 5), 3)
    x[0], x[1] = [0, 1, -1, 1j, -1j], [1e-9j, 1e-9, 2, -2, 3j]
    with np.errstate(all="ignore"):
        wanted = getattr(np, NAMES[name])(x)
    found = getattr(mnp, name)(mnp.asarray(x)).numpy()
    finite = np.isfinite(wanted)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found[finite], wanted[finite], rtol=1e-12, atol=1e-14)


CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "arithmetic": (lambda x, y: (x + y) * (x - 2j) / y, lambda x, y: (x + y) * (x - 2j) / y),
    "with reals": (lambda x, y: 2 * x / mnp.abs(y) + 1, lambda x, y: 2 * x / np.abs(y) + 1),
    "powers": (lambda x, y: x**y, lambda x, y: x**y),
    "matmul": (lambda x, y: x @ y.T, lambda x, y: x @ y.T),
    "by a real matrix": (lambda x, y: x @ mnp.real(y).T, lambda x, y: x @ y.real.T),
    "vecdot": (lambda x, y: mnp.vecdot(x, y), np.vecdot),
    "sum": (lambda x, y: mnp.sum(x * y, axis=0), lambda x, y: (x * y).sum(0)),
    "mean": (lambda x, y: mnp.mean(x, axis=1), lambda x, y: x.mean(1)),
    "product": (lambda x, y: mnp.prod(x, axis=1), lambda x, y: x.prod(1)),
    "cumulative": (lambda x, y: mnp.cumulative_sum(x, axis=1), lambda x, y: np.cumsum(x, 1)),
    "running product": (lambda x, y: mnp.cumulative_prod(x, axis=1), lambda x, y: np.cumprod(x, 1)),
    "movement": (
        lambda x, y: mnp.concat([mnp.flip(x, axis=1), mnp.roll(y, 2, axis=0)[:, ::-1]]),
        lambda x, y: np.concatenate([x[:, ::-1], np.roll(y, 2, 0)[:, ::-1]]),
    ),
    "with a real array": (
        lambda x, y: mnp.stack([x, mnp.real(y)], axis=1),
        lambda x, y: np.stack([x, y.real], 1),
    ),
    "indexing": (lambda x, y: x[[2, 0], 1:], lambda x, y: x[[2, 0], 1:]),
    "where": (lambda x, y: mnp.where(mnp.real(x) > 0, x, y), lambda x, y: np.where(x.real > 0, x, y)),
    "triangle": (lambda x, y: mnp.tril(x), lambda x, y: np.tril(x)),
    "equality": (lambda x, y: (x == x) & (x != y), lambda x, y: x != y),
    "truth": (lambda x, y: mnp.any(x, axis=0), lambda x, y: x.any(0)),
}


@pytest.fixture(params=["by line", "compiled"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return (lambda f, *xs: f(*xs)) if request.param == "by line" else (lambda f, *xs: mlc.jit(f)(*xs))


@pytest.mark.parametrize("name", CASES)
def test_functions(name: str, run: Callable[..., Any]) -> None:
    ours, reference = CASES[name]
    x, y = complex_normal((3, 5)), complex_normal((3, 5))
    found = run(ours, mnp.asarray(x), mnp.asarray(y)).numpy()
    wanted = reference(x, y)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_types() -> None:
    x = mnp.asarray(complex_normal((2,)).astype(np.complex64))
    assert x.dtype == (x * 2.5).dtype == (x + mnp.asarray([1, 2])).dtype == mnp.asarray([1j]).dtype == np.complex64
    assert (x + mnp.zeros(2, dtype=mnp.float64)).dtype == mnp.asarray(np.array([1j])).dtype == np.complex128
    assert mnp.zeros(3, dtype=complex).dtype == np.complex64 and mnp.abs(x).dtype == np.float32
    assert complex(mnp.asarray(1 + 2j)) == 1 + 2j
    assert repr(mnp.asarray([1 + 2j])) == "Array([1.+2.j], dtype=complex64)"


@pytest.mark.parametrize("f", [mnp.sort, mnp.max, mnp.floor, lambda x: x < x, lambda x: mnp.astype(x, float)])
def test_what_has_no_complex_meaning_says_so(f: Callable[..., Any]) -> None:
    with pytest.raises(mlc.errors.InputError, match="omplex"):
        f(mnp.asarray([1j, 2j]))


def test_a_quotient_of_large_numbers_does_not_overflow() -> None:
    x = mnp.asarray(np.array([1e300 + 1e300j, 3e-300j]))
    np.testing.assert_allclose((x / x).numpy(), 1, rtol=1e-15)
    np.testing.assert_allclose(mnp.abs(x).numpy(), [2**0.5 * 1e300, 3e-300])


def test_the_gradient_is_the_direction_of_steepest_ascent() -> None:
    x = complex_normal((4,))
    gradient = mlc.grad(lambda z: mnp.sum(mnp.real(mnp.exp(z)) + mnp.abs(z) ** 2))(mnp.asarray(x))
    np.testing.assert_allclose(gradient.numpy(), np.conj(np.exp(x)) + 2 * x, rtol=1e-10)


def test_loops_carry_complex_arrays() -> None:
    c = complex_normal((5,), 0.3)
    found = mlc.fori_loop(0, 6, lambda i, z: z * z + mnp.asarray(c), mnp.zeros(5, dtype=mnp.complex128))
    wanted = np.zeros(5, complex)
    for _ in range(6):
        wanted = wanted * wanted + c
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12)
