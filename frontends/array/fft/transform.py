"""The discrete Fourier transform of one dimension, of complex and real arrays.

A length whose prime factors are small takes a stage for each factor (``stages.py``). Another length is a convolution of
a composite one (Bluestein, 1970). So the number of operations is O(n log n) for every length.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import product
from mlc.dialects.types import numpy_dtype
from mlc.frontends.array.array import Array, from_numpy
from mlc.frontends.array.complex.pair import ComplexArray
from mlc.frontends.array.fft.padding import padded
from mlc.frontends.array.fft.stages import Sign, radices, real_of_half, transformed
from mlc.frontends.array.functions.elementwise import FUNCTIONS, imag, is_complex, real
from mlc.frontends.array.functions.shaping import concat, flip, reshape


def transform(x: Array, sign: Sign, rows: int | None = None) -> Array:
    """``sum over j of x[..., j] exp(sign 2πi j k / n)`` along the last axis, whose extent is a number; of the elements
    the first ``rows``, all by default."""
    n = x.shape[-1]
    assert isinstance(n, int)
    rows = n if rows is None else rows
    if radices(n) is None:
        return _convolution(x, sign)[..., :rows]
    re, im = transformed(_lines(x), sign, rows)
    shape = (*x.shape[:-1], rows)
    return ComplexArray(reshape(re, shape), reshape(im, shape))


def real_transform(half: Array, n: int, sign: Sign) -> Array:
    """The real transform of ``n`` elements, which are the ``n // 2 + 1`` of the last axis of ``half`` and the
    conjugates that they imply."""
    if radices(n) is None:
        mirrored = FUNCTIONS["conj"](flip(half[..., 1 : (n + 1) // 2], axis=-1))
        return real(transform(concat([half, mirrored], axis=-1), sign))
    parts = [*_lines(real(half)), *_lines(imag(half))]
    return reshape(real_of_half(parts, n, sign), (*half.shape[:-1], n))


def _lines(x: Array) -> list[Array]:
    """The parts of ``x`` as matrices [batch, n]."""
    given = [real(x), imag(x)] if is_complex(x) else [x]
    return [reshape(part, (product(x.shape[:-1]), x.shape[-1])) for part in given]


def _complex(x: Array) -> str:
    return "c128" if x.element in ("f64", "c128") else "c64"


def _known(data: np.ndarray[Any, Any], element: str) -> Array:
    return from_numpy(data.astype(numpy_dtype(element)))


def _convolution(x: Array, sign: Sign) -> Array:
    """Bluestein's transform: j k = (j² + k² - (k - j)²) / 2 makes it a convolution with a chirp."""
    n = x.shape[-1]
    assert isinstance(n, int)
    length = 1 << (2 * n - 2).bit_length()
    chirp, spectrum = _chirp(n, length, sign, _complex(x))
    spread = transform(padded(x * chirp, -1, length), -1)
    return (transform(spread * spectrum, 1) * (1 / length))[..., :n] * chirp


@lru_cache(256)
def _chirp(n: int, length: int, sign: int, element: str) -> tuple[Array, Array]:
    """``exp(sign πi j² / n)``, and the transform of its conjugate around 0."""
    chirp = np.exp(sign * 1j * np.pi * (np.arange(n) ** 2 % (2 * n)) / n)
    around = np.zeros(length, complex)
    around[:n] = chirp.conj()
    around[length - n + 1 :] = chirp[:0:-1].conj()
    return _known(chirp, element), _known(np.fft.fft(around), element)
