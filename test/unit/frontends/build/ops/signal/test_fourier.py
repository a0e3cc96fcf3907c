"""Fourier transforms of the Builder against numpy.fft."""

from __future__ import annotations

import numpy as np
import pytest
from built import built

from mlc.frontends.build.ops.signal.fourier import dft, stft


def parts(z: np.ndarray) -> np.ndarray:
    return np.stack([z.real, z.imag], -1)


@pytest.mark.parametrize("length", [None, 5, 12])
def test_dft(fresh: np.random.Generator, length: int | None) -> None:
    x = fresh.normal(size=(3, 8, 2, 2)).astype("f4")
    z = x[..., 0] + 1j * x[..., 1].astype("f8")
    forward, back = built(lambda build, t: [dft(build, t, 1, length, inverse) for inverse in (False, True)], {"x": x})
    np.testing.assert_allclose(forward, parts(np.fft.fft(z, length, 1)), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(back, parts(np.fft.ifft(z, length, 1)), rtol=1e-4, atol=1e-5)


def test_one_sided(fresh: np.random.Generator) -> None:
    x = fresh.normal(size=(3, 9, 1)).astype("f4")
    (y,) = built(lambda build, t: dft(build, t, 1, onesided=True), {"x": x})
    spectrum = np.fft.rfft(x[..., 0].astype("f8"))
    np.testing.assert_allclose(y, parts(spectrum), rtol=1e-4, atol=1e-5)
    (back,) = built(lambda build, t: dft(build, t, 1, 9, inverse=True, onesided=True), {"x": y})
    np.testing.assert_allclose(back, x, rtol=1e-4, atol=1e-5)


def test_stft(fresh: np.random.Generator) -> None:
    x, window = fresh.normal(size=(2, 20, 1)).astype("f4"), fresh.uniform(0.5, 1, 8).astype("f4")
    (y,) = built(lambda build, t, w: stft(build, t, 3, 8, w), {"x": x, "window": window})
    frames = np.stack([x[:, n : n + 8, 0] * window.astype("f8") for n in range(0, 13, 3)], 1)
    np.testing.assert_allclose(y, parts(np.fft.rfft(frames)), rtol=1e-4, atol=1e-5)
