"""The functions of ``fft``. Source: Array API 2025.12; NumPy's conventions of norms and half spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.fft.padding import padded
from mlc.frontends.array.fft.stages import Sign
from mlc.frontends.array.fft.transform import real_transform, transform
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import astype, convert, real
from mlc.frontends.array.functions.reductions import axes_of
from mlc.frontends.array.functions.shaping import moveaxis, roll

Axes = Sequence[int] | None
FORWARD = {"backward": 0.0, "ortho": 0.5, "forward": 1.0}
"""By which power of 1 / n a forward transform is scaled; the inverse has the rest."""


def _scale(n: int, norm: str | None, inverse: bool) -> float:
    norm = norm or "backward"
    if norm not in FORWARD:
        what = f"A transform of norm '{norm}' does not exist"
        raise InputError(what, hint=f"The norms are {', '.join(FORWARD)}")
    power = 1 - FORWARD[norm] if inverse else FORWARD[norm]
    return 1 if power == 0 else float(n**-power)


def _line(x: Any, n: int | None, axis: int) -> tuple[Array, int]:
    """``x`` as floats, with ``axis`` moved to the end and cut or padded to ``n`` elements."""
    given = as_array(x)
    given = given if dtypes.kind(given.element) >= 2 else convert(given, dtypes.FLOAT)
    (at,) = axes_of(given, axis)
    length = given.shape[at] if n is None else n
    if not isinstance(length, int) or length < 1:
        what = f"A Fourier transform of {length} elements (an array of shape {given.shape}) is not defined"
        raise InputError(what, hint="Give n")
    return moveaxis(padded(given, at, length), at, -1), length


def _scaled(x: Array, axis: int, scale: float) -> Array:
    return moveaxis(x if scale == 1 else x * scale, -1, axis)


def fft(x: Any, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along ``axis``, which is cut or filled with zeros to ``n`` elements."""
    line, length = _line(x, n, axis)
    return _scaled(transform(line, -1), axis, _scale(length, norm, False))


def ifft(x: Any, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of ``fft``."""
    line, length = _line(x, n, axis)
    return _scaled(transform(line, 1), axis, _scale(length, norm, True))


def rfft(x: Any, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The first ``n // 2 + 1`` elements of the transform of reals; the others are their conjugates."""
    line, length = _line(x, n, axis)
    half = transform(real(line), -1, length // 2 + 1)
    return _scaled(half, axis, _scale(length, norm, False))


def irfft(x: Any, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The ``n`` reals whose ``rfft`` is ``x``. By default ``n`` is twice the number of elements of ``x``, less 2."""
    given = as_array(x)
    length = 2 * (given.shape[axis] - 1) if n is None else n
    return _hermitian(given, length, axis, _scale(length, norm, True), 1)  # type: ignore[arg-type]


def _hermitian(x: Array, length: int, axis: int, scale: float, sign: Sign) -> Array:
    """The real transform of ``x`` and the conjugates that it implies."""
    line, _ = _line(x, length // 2 + 1, axis)
    return _scaled(real_transform(line, length, sign), axis, scale)


def hfft(x: Any, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The transform, ``n`` reals, of a signal conjugate to its mirror image, of which ``x`` is the first half."""
    given = as_array(x)
    length = 2 * (given.shape[axis] - 1) if n is None else n
    return _hermitian(given, length, axis, _scale(length, norm, False), -1)  # type: ignore[arg-type]


def ihfft(x: Any, /, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of ``hfft``: ``n // 2 + 1`` complex numbers."""
    line, length = _line(x, n, axis)
    half = transform(real(line), 1, length // 2 + 1)
    return _scaled(half, axis, _scale(length, norm, True))


def _each(x: Any, s: Sequence[int] | None, axes: Axes) -> list[tuple[int | None, int]]:
    """(number of elements, axis) of each transform of several dimensions."""
    given = as_array(x)
    chosen = axes if axes is not None else range(given.ndim)[-len(s) :] if s is not None else range(given.ndim)
    lengths: Sequence[int | None] = s or [None] * len(chosen)
    return list(zip(lengths, chosen, strict=True))


def fftn(x: Any, /, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None) -> Array:
    """``fft`` along several axes, all by default."""
    for n, axis in _each(x, s, axes):
        x = fft(x, n=n, axis=axis, norm=norm)
    return as_array(x)


def ifftn(x: Any, /, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None) -> Array:
    """The inverse of ``fftn``."""
    for n, axis in _each(x, s, axes):
        x = ifft(x, n=n, axis=axis, norm=norm)
    return as_array(x)


def rfftn(x: Any, /, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None) -> Array:
    """``rfft`` along the last of several axes, ``fft`` along the others."""
    *others, (n, last) = _each(x, s, axes)
    x = rfft(x, n=n, axis=last, norm=norm)
    for n, axis in others:
        x = fft(x, n=n, axis=axis, norm=norm)
    return as_array(x)


def irfftn(x: Any, /, s: Sequence[int] | None = None, axes: Axes = None, norm: str | None = None) -> Array:
    """The inverse of ``rfftn``."""
    *others, (n, last) = _each(x, s, axes)
    for m, axis in others:
        x = ifft(x, n=m, axis=axis, norm=norm)
    return irfft(x, n=n, axis=last, norm=norm)


def fft2(x: Any, /, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Array:
    """``fftn`` of the last two dimensions."""
    return fftn(x, s, axes, norm)


def ifft2(x: Any, /, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Array:
    """``ifftn`` of the last two dimensions."""
    return ifftn(x, s, axes, norm)


def rfft2(x: Any, /, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Array:
    """``rfftn`` of the last two dimensions."""
    return rfftn(x, s, axes, norm)


def irfft2(x: Any, /, s: Sequence[int] | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Array:
    """``irfftn`` of the last two dimensions."""
    return irfftn(x, s, axes, norm)


def fftfreq(n: int, /, d: float = 1.0, *, dtype: Any = None, device: str | None = None) -> Array:
    """The frequencies of the elements of a transform of ``n`` samples at distance ``d``."""
    counts = arange(n)
    return _frequencies(counts - n * astype(counts >= (n + 1) // 2, int), n, d, dtype)


def rfftfreq(n: int, /, d: float = 1.0, *, dtype: Any = None, device: str | None = None) -> Array:
    """The frequencies of the elements of ``rfft`` of ``n`` samples at distance ``d``."""
    return _frequencies(arange(n // 2 + 1), n, d, dtype)


def _frequencies(counts: Array, n: int, d: float, dtype: Any) -> Array:
    return convert(counts, dtypes.FLOAT if dtype is None else dtypes.element(dtype)) / (n * d)


def fftshift(x: Any, /, axes: int | Sequence[int] | None = None) -> Array:
    """Frequency 0 moved to the middle."""
    return _shifted(as_array(x), axes, lambda extent: extent // 2)


def ifftshift(x: Any, /, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of ``fftshift``."""
    return _shifted(as_array(x), axes, lambda extent: -(extent // 2))


def _shifted(x: Array, axes: int | Sequence[int] | None, by: Any) -> Array:
    chosen = axes_of(x, axes if axes is None or isinstance(axes, int) else tuple(axes))
    return roll(x, tuple(by(x.shape[a]) for a in chosen), axis=chosen)
