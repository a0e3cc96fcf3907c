"""Spectra of signals by transforms of overlapping segments. Source: P. Welch, 1967; SciPy's conventions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.functions.elementwise import operands

NAMED = {"hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08), "boxcar": (1.0,)}
"""Coefficients of cosines, whose signs alternate, of windows that repeat."""


class Segments(NamedTuple):
    """How a signal is divided: a window, how many elements two segments share, and the length of the transforms."""

    window: Any
    shared: int
    length: int


def _segments(window: Any, nperseg: int | None, noverlap: int | None, nfft: int | None, extent: int) -> Segments:
    if isinstance(window, str):
        if window not in NAMED:
            raise InputError(f"There is no window {window!r}", hint=f"Give {', '.join(NAMED)}, or an array")
        count = min(256 if nperseg is None else nperseg, extent)
        angles = 2 * np.pi * np.arange(count) / count
        weights: Any = sum(c * (-1) ** n * np.cos(n * angles) for n, c in enumerate(NAMED[window])) + 0 * angles
    else:
        weights = np.asarray(as_array(window).numpy(), np.float64)
        count = len(weights)
    shared = count // 2 if noverlap is None else noverlap
    length = count if nfft is None else nfft
    if not 0 <= shared < count <= length:
        what = f"Segments of {count} elements cannot share {shared} nor have transforms of {length}"
        raise InputError(what, hint="noverlap is less than nperseg, and nfft at least nperseg")
    return Segments(weights, shared, length)


def _transformed(x: Array, by: Segments, detrend: Any) -> Array:
    """[…, segments, frequencies]: the transforms of the segments along the last axis."""
    count = len(by.window)
    starts = np.arange(0, int(x.shape[-1]) - count + 1, count - by.shared)  # type: ignore[arg-type]
    parts = x[..., from_numpy(starts[:, None] + np.arange(count))]
    if detrend:
        from mlc.scipy.signal import detrend as without_trend

        parts = without_trend(parts, type=detrend)
    weighted = parts * from_numpy(by.window).astype(x.dtype)
    return mnp.fft.rfft(weighted, n=by.length)


def _real(x: Any, axis: int) -> Array:
    (given,) = operands(x, lowest=2)
    if "complex" in str(given.dtype):
        raise InputError("Spectra of complex signals are not supported", hint="Give the real and imaginary parts")
    return mnp.moveaxis(given, axis, -1)


def csd(
    x: Any, y: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", scaling: str = "density", axis: int = -1,
) -> tuple[Array, Array]:  # fmt: skip
    """Frequencies, and the cross spectrum of two real signals by Welch's method: one side, the mean of the segments.

    Raises:
        InputError: segments that do not fit, another window or scaling, or complex signals.
    """
    a, b = _real(x, axis), _real(y, axis)
    by = _segments(window, nperseg, noverlap, nfft, int(a.shape[-1]))  # type: ignore[arg-type]
    if scaling not in ("density", "spectrum"):
        raise InputError(f"There is no scaling {scaling!r}", hint="Give density or spectrum")
    total = fs * (by.window**2).sum() if scaling == "density" else by.window.sum() ** 2
    sides = np.full(by.length // 2 + 1, 2.0)
    sides[0] = 1
    sides[-1] = 1 if by.length % 2 == 0 else 2
    first = _transformed(a, by, detrend)
    second = first if y is x else _transformed(b, by, detrend)
    product = mnp.mean(mnp.conj(first) * second, axis=-2) * from_numpy(sides / total).astype(a.dtype)
    frequencies = from_numpy(np.fft.rfftfreq(by.length, 1 / fs)).astype(a.dtype)
    return frequencies, mnp.moveaxis(product, -1, axis)


def welch(
    x: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = "constant", scaling: str = "density", axis: int = -1,
) -> tuple[Array, Array]:  # fmt: skip
    """Frequencies, and the power spectrum of a real signal by Welch's method; parameters and errors as ``csd``."""
    frequencies, found = csd(x, x, fs, window, nperseg, noverlap, nfft, detrend, scaling, axis)
    return frequencies, mnp.real(found)


def stft(
    x: Any, fs: float = 1.0, window: Any = "hann", nperseg: int = 256, noverlap: int | None = None,
    nfft: int | None = None, detrend: Any = False, boundary: str | None = "zeros", padded: bool = True, axis: int = -1,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Frequencies, times, and the transforms [frequencies, …, segments] of overlapping segments of a real signal.

    ``boundary``: "zeros" on both sides, so that each element is in the middle of a window, or None; ``padded``: zeros
    after the end, so that the last segment is whole.

    Raises:
        InputError: segments that do not fit, another window or boundary, or a complex signal.
    """
    given = _real(x, axis)
    by = _segments(window, nperseg, noverlap, nfft, int(given.shape[-1]))  # type: ignore[arg-type]
    count = len(by.window)
    if boundary not in ("zeros", None):
        raise InputError(f"stft has no boundary {boundary!r}", hint="Give zeros or None")
    side = count // 2 if boundary else 0
    extent = int(given.shape[-1]) + 2 * side  # type: ignore[arg-type]
    after = (-(extent - count) % (count - by.shared)) % count if padded else 0
    given = mnp.pad(given, [*[(0, 0)] * (given.ndim - 1), (side, side + after)])
    found = _transformed(given, by, detrend) * float(1 / by.window.sum())
    frequencies = from_numpy(np.fft.rfftfreq(by.length, 1 / fs)).astype(given.dtype)
    steps = np.arange(int(found.shape[-2])) * (count - by.shared)  # type: ignore[arg-type]
    times = from_numpy((steps + count / 2 - side) / fs).astype(given.dtype)
    return frequencies, times, mnp.moveaxis(mnp.matrix_transpose(found), -2, axis - 1 if axis < 0 else axis)


def istft(
    Zxx: Any, fs: float = 1.0, window: Any = "hann", nperseg: int | None = None, noverlap: int | None = None,
    nfft: int | None = None, boundary: bool = True,
) -> tuple[Array, Array]:  # fmt: skip
    """Times, and the signal whose ``stft`` is ``Zxx`` [frequencies, segments]: the sum of overlapping segments.

    Raises:
        InputError: segments that do not fit, or another window.
    """
    given = as_array(Zxx)
    length = 2 * (int(given.shape[-2]) - 1) if nfft is None else nfft  # type: ignore[arg-type]
    count = length if nperseg is None else nperseg
    by = _segments(window, count, noverlap, length, count)
    parts = mnp.fft.irfft(mnp.matrix_transpose(given), n=length)[..., :count]
    weights = from_numpy(by.window).astype(parts.dtype)
    step, segments = count - by.shared, int(parts.shape[-2])  # type: ignore[arg-type]
    at = (np.arange(segments)[:, None] * step + np.arange(count)).ravel()
    total = (segments - 1) * step + count
    norm = np.zeros(total)
    np.add.at(norm, at, np.tile(by.window**2, segments))
    flat = mnp.reshape(parts * weights, (*parts.shape[:-2], segments * count)) * float(by.window.sum())
    sums = mnp.zeros((*parts.shape[:-2], total), dtype=parts.dtype).at[..., from_numpy(at)].add(flat)
    found = sums / from_numpy(np.where(norm > 1e-10, norm, 1.0)).astype(parts.dtype)
    found = found[..., count // 2 : total - count // 2] if boundary else found
    return from_numpy(np.arange(int(found.shape[-1])) / fs).astype(parts.dtype), found
