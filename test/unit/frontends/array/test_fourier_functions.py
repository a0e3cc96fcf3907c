"""``mlc.numpy.fft`` against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
LENGTHS = [2, 7, 33, 97, 131, 210, 1024, 37 * 41]  # whole, of factors, prime, of large prime factors


def complex_normal(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng()
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def given(name: str, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.real if name in ("rfft", "ihfft", "rfftn") else x


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("length", LENGTHS)
def test_lengths(name: str, length: int) -> None:
    x = given(name, complex_normal((2, length)))
    wanted = getattr(np.fft, name)(x)
    np.testing.assert_allclose(
        getattr(mnp.fft, name)(mnp.asarray(x)).numpy(), wanted, atol=3e-15 * length**0.5 * np.abs(wanted).max()
    )


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("length", [1, 9, 97, 128, 210, 262])
def test_many_at_a_time(name: str, length: int) -> None:
    """Vectors run along the transforms where there are many."""
    x = given(name, complex_normal((3, 7, length)))
    options = {"n": length} if name in ("irfft", "hfft") else {}
    cut = x[..., : length // 2 + 1] if options else x
    wanted = getattr(np.fft, name)(cut, **options)
    np.testing.assert_allclose(
        getattr(mnp.fft, name)(mnp.asarray(cut), **options).numpy(), wanted, atol=1e-13 * np.abs(wanted).max()
    )


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("options", [{"n": 5, "axis": 0}, {"n": 9, "axis": 1, "norm": "ortho"}, {"norm": "forward"}])
def test_options(name: str, options: dict[str, Any]) -> None:
    x = given(name, complex_normal((6, 7, 2)))
    found = getattr(mnp.fft, name)(mnp.asarray(x), **options).numpy()
    np.testing.assert_allclose(found, getattr(np.fft, name)(x, **options), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("options", [{}, {"axes": (2, 0)}, {"s": (5, 8), "axes": (0, 1), "norm": "ortho"}])
def test_several_dimensions(name: str, options: dict[str, Any]) -> None:
    x = given(name, complex_normal((4, 6, 5)))
    found = getattr(mnp.fft, name)(mnp.asarray(x), **options).numpy()
    np.testing.assert_allclose(found, getattr(np.fft, name)(x, **options), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("n", [8, 9])
def test_frequencies_and_shifts(n: int) -> None:
    x = np.random.default_rng().normal(size=(n, 4))
    np.testing.assert_allclose(mnp.fft.fftfreq(n, d=0.25).numpy(), np.fft.fftfreq(n, 0.25), rtol=1e-6)
    np.testing.assert_allclose(mnp.fft.rfftfreq(n, dtype=mnp.float64).numpy(), np.fft.rfftfreq(n), rtol=1e-15)
    np.testing.assert_array_equal(mnp.fft.fftshift(mnp.asarray(x)).numpy(), np.fft.fftshift(x))
    np.testing.assert_array_equal(mnp.fft.ifftshift(mnp.asarray(x), axes=0).numpy(), np.fft.ifftshift(x, 0))


def test_compiled_and_differentiated() -> None:
    """A filter in the frequency domain, and its gradient, whose transform is the filter's transpose."""
    rng = np.random.default_rng()
    x, weight = rng.normal(size=(3, 40)).astype(np.float32), rng.normal(size=21).astype(np.float32)
    smooth = mlc.jit(lambda x, w: mnp.fft.irfft(mnp.fft.rfft(x) * w))
    wanted = np.fft.irfft(np.fft.rfft(x.astype(float)) * weight)
    np.testing.assert_allclose(smooth(x, weight).numpy(), wanted, atol=2e-5)
    gradient = mlc.grad(lambda x: mnp.sum(mnp.fft.irfft(mnp.fft.rfft(x) * weight) ** 2) / 2)(mnp.asarray(x))
    np.testing.assert_allclose(gradient.numpy(), np.fft.irfft(np.fft.rfft(wanted) * weight), atol=1e-4)


def test_errors() -> None:
    with pytest.raises(mlc.errors.InputError, match="0 elements"):
        mnp.fft.fft(mnp.zeros((2, 0)))
    with pytest.raises(mlc.errors.InputError, match="norm 'unit'"):
        mnp.fft.fft(mnp.zeros(4), norm="unit")
