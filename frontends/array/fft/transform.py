"""The discrete Fourier transform of one dimension: matrix products by factors of its length.

A length n = a b is transformed in two steps (Cooley and Tukey, 1965): a product with the matrix of length a, a twiddle
factor for each element, and a transform of length b. A large prime length is a convolution of a composite length
(Bluestein, 1970). So the number of operations is O(n log n) for every length.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mlc.dialects.types import numpy_dtype
from mlc.frontends.array.array import Array, from_numpy
from mlc.frontends.array.functions.padding import padded
from mlc.frontends.array.functions.products import contract
from mlc.frontends.array.functions.shaping import matrix_transpose, reshape

LONGEST = 32  # length of a product with a whole matrix, where its length has factors
LARGEST_PRIME = 128  # for which a product with a whole matrix costs less than a convolution


def transform(x: Array, sign: int) -> Array:
    """``sum over j of x[..., j] exp(sign 2πi j k / n)`` along the last axis, whose extent is a number."""
    n = x.shape[-1]
    assert isinstance(n, int)
    first = _factor(n)
    if first == n:
        return _product(x, sign) if n <= max(LONGEST, LARGEST_PRIME) else _convolution(x, sign)
    second = n // first
    columns = reshape(x, (*x.shape[:-1], first, second))
    letters = "abcdefgh"[: x.ndim - 1]
    mixed = contract(f"kj,{letters}ji->{letters}ki", _roots(first, first, first, sign, _complex(x)), columns)
    found = transform(mixed * _roots(first, second, n, sign, _complex(x)), sign)
    return reshape(matrix_transpose(found), x.shape)


def _factor(n: int) -> int:
    """The largest divisor up to ``LONGEST``, or the least prime one."""
    if n <= LONGEST:
        return n
    divisors = [d for d in range(2, LONGEST + 1) if n % d == 0]
    return divisors[-1] if divisors else next((d for d in range(LONGEST + 1, int(n**0.5) + 1) if n % d == 0), n)


def _complex(x: Array) -> str:
    return "c128" if x.element in ("f64", "c128") else "c64"


@lru_cache(256)
def _roots(rows: int, columns: int, n: int, sign: int, element: str) -> Array:
    """[rows, columns]: ``exp(sign 2πi j k / n)``."""
    angles = np.outer(np.arange(rows), np.arange(columns)) % n
    return _known(np.exp(sign * 2j * np.pi * angles / n), element)


def _known(data: np.ndarray[Any, Any], element: str) -> Array:
    return from_numpy(data.astype(numpy_dtype(element)))


def _product(x: Array, sign: int) -> Array:
    letters, n = "abcdefgh"[: x.ndim - 1], x.shape[-1]
    assert isinstance(n, int)
    return contract(f"{letters}j,jk->{letters}k", x, _roots(n, n, n, sign, _complex(x)))


def _convolution(x: Array, sign: int) -> Array:
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
