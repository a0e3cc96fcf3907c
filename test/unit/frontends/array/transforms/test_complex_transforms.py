"""Complex arguments of jit, vmap, loops and derivatives, beside NumPy; derivatives beside closed forms."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
from mlc import numpy as mnp
from mlc import optim
from mlc.errors import InputError

Data = np.ndarray[Any, Any]
I = 1 + 2j  # noqa: E741 - a Python number


def drawn(*shape: int) -> Data:
    random = np.random.default_rng()
    return random.normal(size=shape) + 1j * random.normal(size=shape)


@pytest.fixture(autouse=True)
def no_part_is_dropped() -> Any:
    """NumPy warns where it makes a complex array real."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def turned(c: Any, x: Any) -> tuple[Any, Any]:
    return c * x, c + 1


RUNS: dict[str, tuple[Callable[[Data], Any], Callable[[Data], Any]]] = {
    "jit": (mlc.jit(lambda z: z * 2 + 1), lambda z: z * 2 + 1),
    "jit of a view": (lambda z: mlc.jit(lambda z: z * z)(z[::-1]), lambda z: z[::-1] ** 2),
    "jit of a tree": (lambda z: mlc.jit(lambda d: d["z"] * d["n"])({"z": z, "n": I}), lambda z: z * I),
    "jit of c64": (lambda z: mlc.jit(lambda z: z * 2j)(z.astype(np.complex64)), lambda z: z * 2j),
    "an open dimension": (lambda z: mlc.jit(lambda z: z * z, shapes={"z": ("n",)})(z), lambda z: z * z),
    "donated": (lambda z: mlc.jit(lambda z: z + 1j, donate=["z"])(z.copy()), lambda z: z + 1j),
    "vmap": (mlc.vmap(lambda z: mnp.abs(z) * z), lambda z: abs(z) * z),
    "vmap with a number": (lambda z: mlc.vmap(lambda z, y: z * y, in_axes=(0, None))(z, I), lambda z: z * I),
    "scan": (lambda z: mlc.scan(turned, 1 + 0j, z)[0], np.prod),
    "the states of a scan": (lambda z: mlc.scan(turned, 1 + 0j, z)[1], lambda z: np.cumprod([1, *z[:-1]]) + 1),
    "fori_loop": (lambda z: mlc.fori_loop(0, 3, lambda i, c: c * (1j + i), z), lambda z: z * 1j * (1 + 1j) * (2 + 1j)),
    "while_loop": (
        lambda z: mlc.while_loop(lambda c: mnp.abs(c[0]) < 99, lambda c: c * 2j, z / abs(z[0])),
        lambda z: z / abs(z[0]) * (2j) ** 7,
    ),
    "cond": (lambda z: mlc.cond(np.array(True), lambda z: z * 1j, lambda z: z, z), lambda z: z * 1j),
    "tree_map": (lambda z: mlc.tree_map(mnp.abs, {"z": mnp.asarray(z)})["z"], np.abs),
    "tree_map of NumPy's": (lambda z: mlc.tree_map(mnp.abs, [z])[0], np.abs),
}


@pytest.mark.parametrize("name", RUNS)
def test_functions_of_complex_arrays(name: str) -> None:
    found, wanted = RUNS[name]
    z = drawn(5)
    np.testing.assert_allclose(np.asarray(found(z)), wanted(z), rtol=1e-5 if "c64" in name else 1e-12)


A = drawn(3, 3)
TO_REAL: dict[str, tuple[Callable[[Any], Any], Callable[[Data], Data]]] = {
    "squares": (lambda z: mnp.sum(mnp.abs(z) ** 2), lambda z: 2 * z),
    "a real part": (lambda z: mnp.real(mnp.sum(z * z)), lambda z: 2 * z.conj()),
    "a quadratic form": (lambda z: mnp.real(mnp.vdot(z, A @ z)), lambda z: (A + A.conj().T) @ z),
    "a loop": (
        lambda z: mnp.sum(mnp.abs(mlc.fori_loop(0, 2, lambda i, c: A @ c, z)) ** 2),
        lambda z: 2 * (A @ A).conj().T @ (A @ A @ z),
    ),
}


@pytest.mark.parametrize("name", TO_REAL)
def test_gradients_of_real_results(name: str) -> None:
    """``∂/∂x + i ∂/∂y``, and jvp and hvp in the same terms."""
    loss, slope = TO_REAL[name]
    z, along = drawn(3), drawn(3)
    np.testing.assert_allclose(mlc.grad(loss)(z), slope(z), rtol=1e-9)
    value, found = mlc.jvp(loss, (z,), (along,))
    np.testing.assert_allclose(value, np.asarray(loss(z)), rtol=1e-12)
    np.testing.assert_allclose(found, np.real(np.vdot(slope(z), along)), rtol=1e-9)
    np.testing.assert_allclose(mlc.hvp(loss, (z,), (along,)), slope(along), rtol=1e-9)  # the slopes are linear


HOLOMORPHIC: dict[str, tuple[Callable[[Any], Any], Callable[[Data], Data], Callable[[Data], Data]]] = {
    "exp": (lambda z: mnp.sum(mnp.exp(z) * z), lambda z: np.exp(z) * (1 + z), lambda z: np.exp(z) * (2 + z)),
    "a power": (lambda z: mnp.sum(z**3), lambda z: 3 * z**2, lambda z: 6 * z),
    "log": (lambda z: mnp.sum(mnp.log(z)), lambda z: 1 / z, lambda z: -1 / z**2),
}


@pytest.mark.parametrize("name", HOLOMORPHIC)
def test_complex_derivatives(name: str) -> None:
    f, first, second = HOLOMORPHIC[name]
    z = drawn(3)
    np.testing.assert_allclose(mlc.grad(f, holomorphic=True)(z), first(z), rtol=1e-9)
    np.testing.assert_allclose(mlc.hessian(f, holomorphic=True)(z), np.diag(second(z)), rtol=1e-9, atol=1e-12)
    twice = mlc.grad(lambda z: mnp.sum(mlc.grad(f, holomorphic=True)(z)), holomorphic=True)
    np.testing.assert_allclose(twice(z), second(z), rtol=1e-9)


@pytest.mark.parametrize("jacobian", [mlc.jacfwd, mlc.jacrev])
def test_complex_jacobians(jacobian: Any) -> None:
    a, b = drawn(3), drawn(3)
    found = jacobian(lambda a, b: {"r": A @ (a * b), "s": a}, argnums=(0, 1), holomorphic=True)(a, b)
    np.testing.assert_allclose(found["r"][0], A * b, rtol=1e-12)
    np.testing.assert_allclose(found["r"][1], A * a, rtol=1e-12)
    np.testing.assert_array_equal(found["s"][0], np.eye(3))
    with pytest.raises(InputError, match="Give holomorphic=True"):
        jacobian(mnp.abs)(a)
    with pytest.raises(InputError, match="some are real"):
        jacobian(mnp.abs, holomorphic=True)(a)


def test_what_has_no_complex_derivative() -> None:
    with pytest.raises(InputError, match="returns complex128.*real, imag or abs make it real"):
        mlc.grad(lambda z: z * z)(np.array(I))
    with pytest.raises(InputError, match="holomorphic=True needs complex arguments and a complex result"):
        mlc.grad(mnp.abs, holomorphic=True)(I)
    with pytest.raises(InputError, match="holomorphic=True needs"):
        mlc.grad(lambda x: x * 1j, holomorphic=True)(2.0)


def test_gradients_by_integers_are_zeros() -> None:
    by_x, by_n = mlc.grad(lambda x, n: x * n, argnums=(0, 1), allow_int=True)(2.0, np.array(3))
    assert by_x == 3 and by_n == 0 and by_n.dtype == np.int64
    assert mlc.grad(lambda n: n * 2.0, allow_int=True)(3) == 0
    with pytest.raises(InputError, match="no derivative by an array of type int64"):
        mlc.grad(lambda n: n * 2.0)(3)


def test_a_constant_has_the_gradient_0() -> None:
    assert mlc.grad(lambda x: 2.0)(1.5) == 0


def test_optimizers_treat_the_parts_as_real_numbers() -> None:
    z, optimizer = drawn(4), optim.adam(0.1)
    updates, _ = optimizer.update(z, optimizer.init(z), z)
    both, _ = optimizer.update((z.real, z.imag), optimizer.init((z.real, z.imag)), (z.real, z.imag))
    np.testing.assert_allclose(updates, np.asarray(both[0]) + 1j * np.asarray(both[1]), rtol=1e-6)
