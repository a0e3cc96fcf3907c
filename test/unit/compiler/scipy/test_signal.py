"""``mlc.scipy.signal`` and ``mlc.scipy.ndimage`` against sums element by element, and what defines them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.scipy import ndimage, signal

Array = np.ndarray[Any, Any]


def normal(*shape: int) -> Array:
    return np.random.default_rng().standard_normal(shape)


def whole(x: Array, w: Array) -> Array:
    """The full convolution."""
    found = np.zeros([n + k - 1 for n, k in zip(x.shape, w.shape, strict=True)], np.result_type(x, w))
    for at in itertools.product(*map(range, w.shape)):
        found[tuple(slice(i, i + n) for i, n in zip(at, x.shape, strict=True))] += x * w[at]
    return found


@pytest.mark.parametrize("shapes", [((7,), (4,)), ((5, 6), (3, 2)), ((4, 5, 6), (2, 3, 2))])
@pytest.mark.parametrize("method", ["direct", "fft"])
def test_convolutions_of_any_rank(shapes: Any, method: str) -> None:
    x, w = normal(*shapes[0]), normal(*shapes[1])
    full = whole(x, w)
    np.testing.assert_allclose(signal.convolve(x, w, "full", method), full, atol=1e-12)
    same = full[tuple(slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in zip(x.shape, w.shape, strict=True))]
    np.testing.assert_allclose(signal.convolve(x, w, "same", method), same, atol=1e-12)
    valid = full[tuple(slice(k - 1, n) for n, k in zip(x.shape, w.shape, strict=True))]
    np.testing.assert_allclose(signal.convolve(x, w, "valid", method), valid, atol=1e-12)
    np.testing.assert_allclose(signal.correlate(x, w, "valid", method), whole(x, np.flip(w))[
        tuple(slice(k - 1, n) for n, k in zip(x.shape, w.shape, strict=True))], atol=1e-12)  # fmt: skip


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
def test_boundaries_of_two_dimensions(boundary: str) -> None:
    x, w = normal(6, 7), normal(3, 2)
    mode: Any = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}[boundary]
    full = whole(np.pad(x, [(2, 2), (1, 1)], mode), w)[2:-2, 1:-1]
    np.testing.assert_allclose(signal.convolve2d(x, w, "full", boundary), full, atol=1e-12)
    np.testing.assert_allclose(signal.convolve2d(x, w, "same", boundary), full[1:7, 0:7], atol=1e-12)
    gradient = mlc.grad(lambda w: mnp.sum(signal.correlate2d(x, w, "valid")))(mnp.asarray(w))
    sums = [[x[i : i + 4, j : j + 6].sum() for j in range(2)] for i in range(3)]
    np.testing.assert_allclose(gradient, sums, rtol=1e-9)


def test_wrong_modes_are_refused() -> None:
    for wrong in (
        lambda: signal.convolve(normal(3), normal(2, 2)),
        lambda: signal.convolve(normal(3), normal(2), "all"),
    ):
        with pytest.raises(InputError, match="convolve takes no shapes"):
            wrong()
    with pytest.raises(InputError, match="no window"):
        signal.welch(normal(100), window="tukey")
    with pytest.raises(InputError, match="map_coordinates takes no order 3"):
        ndimage.map_coordinates(normal(3), [normal(2)], 3)


def test_trends() -> None:
    x = normal(3, 50)
    left = np.asarray(signal.detrend(x))
    np.testing.assert_allclose(left.sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(left @ np.arange(50), 0, atol=1e-8)
    np.testing.assert_allclose(signal.detrend(x, axis=0, type="constant"), x - x.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize(("count", "shared"), [(64, None), (50, 40)])
def test_segments_are_put_together_again(count: int, shared: int | None) -> None:
    x = normal(500)
    frequencies, times, z = mlc.jit(lambda x: signal.stft(x, fs=2.0, nperseg=count, noverlap=shared))(x)
    assert z.shape == (len(frequencies), len(times))
    at, found = signal.istft(z, fs=2.0, nperseg=count, noverlap=shared)
    np.testing.assert_allclose(np.asarray(found)[:500], x, atol=1e-9)
    np.testing.assert_allclose(np.asarray(at)[:3], [0, 0.5, 1])


def test_power_of_segments() -> None:
    """Parseval: with windows of ones that share nothing, the integral is the mean square."""
    x = normal(4, 320)
    f, density = map(np.asarray, signal.welch(x, fs=3.0, window="boxcar", nperseg=32, noverlap=0, detrend=False))
    np.testing.assert_allclose(density.sum(axis=-1) * f[1], (x**2).mean(axis=-1), rtol=1e-9)
    tone = np.cos(2 * np.pi * np.arange(320) * 4 / 32)
    _, power = signal.welch(tone, nperseg=32, scaling="spectrum")
    assert int(np.argmax(np.asarray(power))) == 4 and np.isclose(np.asarray(power)[4], 0.5)
    _, cross = signal.csd(x, 2 * x, nperseg=32)
    np.testing.assert_allclose(np.asarray(cross).real, 2 * np.asarray(signal.welch(x, nperseg=32)[1]), rtol=1e-9)


@pytest.mark.parametrize(("mode", "name"), [("nearest", "edge"), ("wrap", "wrap"), ("mirror", "reflect"),
                                            ("reflect", "symmetric"), ("constant", "constant")])  # fmt: skip
def test_samples_between_and_beyond_elements(mode: str, name: Any) -> None:
    x, at = normal(6), np.random.default_rng().uniform(-4, 10, 30)
    wide = np.pad(x, 6, name)
    wanted = np.interp(at + 6, np.arange(len(wide)), wide)
    np.testing.assert_allclose(ndimage.map_coordinates(x, [at], 1, mode), wanted, atol=1e-9)
    np.testing.assert_array_equal(ndimage.map_coordinates(x, [at], 0, mode), wide[np.floor(at + 6.5).astype(int)])
    w = normal(3)
    smooth = np.convolve(np.pad(x, 1, name), w[::-1], "valid")
    np.testing.assert_allclose(ndimage.correlate1d(x, w, mode=mode), smooth, atol=1e-12)


def test_derivatives_of_samples_and_smoothing() -> None:
    x = np.add.outer(3.0 * np.arange(5), 2.0 * np.arange(4))
    slope = mlc.grad(lambda at: ndimage.map_coordinates(x, [at[0], at[1]], 1))(mnp.asarray([1.3, 1.7]))
    np.testing.assert_allclose(slope, [3, 2], rtol=1e-6)
    point = np.zeros((21, 21))
    point[10, 10] = 1
    smooth = np.asarray(ndimage.gaussian_filter(point, 1.5))
    i, j = np.mgrid[-10:11, -10:11]
    wanted = np.exp(-(i**2 + j**2) / (2 * 1.5**2))
    np.testing.assert_allclose(smooth / smooth[10, 10], np.where(np.maximum(abs(i), abs(j)) <= 6, wanted, 0), atol=1e-9)
