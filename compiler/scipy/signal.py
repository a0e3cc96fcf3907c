"""``mlc.scipy.signal``: convolutions, trends and spectra of signals. Source: SciPy; ``jax.scipy.signal``."""

from __future__ import annotations

from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.functions.elementwise import operands
from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.lax.windows import conv_general_dilated
from mlc.scipy.spectra import csd, istft, stft, welch

MODES = ("full", "same", "valid")


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """The convolution of two arrays of one rank: ``full``, of the shape of ``in1`` (``same``), or where one lies
    within the other (``valid``). ``method``: "direct", "fft", or "auto", which is direct for real arrays.

    Raises:
        InputError: ranks differ, another mode or method, or nothing to convolve.
    """
    x, w = operands(in1, in2, lowest=2)
    if x.ndim != w.ndim or not x.ndim or mode not in MODES or 0 in (*x.shape, *w.shape):
        what = f"convolve takes no shapes {list(x.shape)} and {list(w.shape)} in mode {mode!r}"
        raise InputError(what, hint="Give two arrays of one rank with elements; modes are full, same and valid")
    if method not in ("auto", "direct", "fft"):
        raise InputError(f"convolve has no method {method!r}", hint="Give auto, direct or fft")
    if mode == "valid" and int(x.shape[0]) < int(w.shape[0]):  # type: ignore[arg-type]
        x, w = w, x
    by_transforms = method == "fft" or "complex" in str(x.dtype) or x.ndim > 3
    whole = _by_transforms(x, w) if by_transforms else _directly(x, w)
    return _part(whole, x, w, mode)


def _directly(x: Array, w: Array) -> Array:
    pads = [(int(k) - 1, int(k) - 1) for k in w.shape]  # type: ignore[arg-type]
    found: Array = conv_general_dilated(x[None, None], mnp.flip(w)[None, None], [1] * x.ndim, pads)[0, 0]
    return found


def _by_transforms(x: Array, w: Array) -> Array:
    shape = tuple(int(n) + int(k) - 1 for n, k in zip(x.shape, w.shape, strict=True))  # type: ignore[arg-type]
    axes = tuple(range(x.ndim))
    if "complex" in str(x.dtype):
        product = mnp.fft.fftn(x, s=shape, axes=axes) * mnp.fft.fftn(w, s=shape, axes=axes)
        return mnp.fft.ifftn(product, s=shape, axes=axes)
    product = mnp.fft.rfftn(x, s=shape, axes=axes) * mnp.fft.rfftn(w, s=shape, axes=axes)
    return mnp.fft.irfftn(product, s=shape, axes=axes)


def _part(whole: Array, x: Array, w: Array, mode: str) -> Array:
    if mode == "full":
        return whole
    kept = []
    for n, k in zip(map(int, x.shape), map(int, w.shape), strict=True):  # type: ignore[arg-type]
        first, count = ((k - 1) // 2, n) if mode == "same" else (k - 1, n - k + 1)
        if count < 1:
            what = f"convolve cannot take shapes {list(x.shape)} and {list(w.shape)} in mode 'valid'"
            raise InputError(what, hint="One shape must fit within the other; give full or same")
        kept.append(slice(first, first + count))
    found: Array = whole[tuple(kept)]
    return found


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Array:
    """The cross-correlation: ``convolve`` with the conjugate of ``in2`` from back to front along each axis."""
    return convolve(in1, mnp.flip(mnp.conj(as_array(in2))), mode, method)


def fftconvolve(in1: Any, in2: Any, mode: str = "full") -> Array:
    """``convolve`` by Fourier transforms."""
    return convolve(in1, in2, mode, "fft")


PADDING = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Array:
    """``convolve`` of two matrices; ``boundary`` says what is outside of ``in1``: "fill" (``fillvalue``), "wrap" or
    "symm".

    Raises:
        InputError: no matrices, another mode or boundary.
    """
    x, w = operands(in1, in2, lowest=2)
    if x.ndim != 2 or w.ndim != 2 or boundary not in PADDING:
        what = f"convolve2d takes no shapes {list(x.shape)} and {list(w.shape)} with boundary {boundary!r}"
        raise InputError(what, hint="Give two matrices; boundaries are fill, wrap and symm")
    if mode == "valid" or (boundary == "fill" and type(fillvalue) in (int, float) and fillvalue == 0):
        return convolve(x, w, mode)
    width = [(int(k) - 1, int(k) - 1) for k in w.shape]  # type: ignore[arg-type]
    options = {"constant_values": fillvalue} if boundary == "fill" else {}
    whole = convolve(mnp.pad(x, width, mode=PADDING[boundary], **options), w, "valid")
    return _part(whole, x, w, mode)


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Array:
    """The cross-correlation of two matrices, with ``boundary`` as ``convolve2d``."""
    w = mnp.flip(mnp.conj(as_array(in2)))
    found = convolve2d(in1, w, mode, boundary, fillvalue)
    if mode != "same":
        return found
    even = [int(k) % 2 == 0 for k in w.shape]
    if not any(even):
        return found
    whole = convolve2d(in1, w, "full", boundary, fillvalue)
    kept = [slice(int(k) // 2, int(k) // 2 + int(n)) for n, k in zip(as_array(in1).shape, w.shape, strict=True)]  # type: ignore[arg-type]
    return whole[tuple(kept)]


def detrend(data: Any, axis: int = -1, type: str = "linear") -> Array:
    """``data`` less its mean (``constant``) or the line of least squares (``linear``) along ``axis``.

    Raises:
        InputError: another type.
    """
    (x,) = operands(data, lowest=2)
    if type not in ("linear", "constant"):
        raise InputError(f"detrend has no type {type!r}", hint="Give linear or constant")
    left = x - mnp.mean(x, axis=axis, keepdims=True)
    count = int(x.shape[axis])  # type: ignore[arg-type]
    if type == "constant" or count == 1:
        return left
    shape = [count if n == axis % x.ndim else 1 for n in range(x.ndim)]
    line = from_numpy((np.arange(count) - (count - 1) / 2).reshape(shape)).astype(x.dtype)
    return left - line * (mnp.sum(left * line, axis=axis, keepdims=True) / mnp.sum(line * line))


__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "csd", "detrend", "fftconvolve", "istft", "stft", "welch",
]  # fmt: skip

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.signal", name, __all__)
