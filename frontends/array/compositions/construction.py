"""Creation of arrays as NumPy names it. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array, from_numpy
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.functions.creation import arange, asarray, eye, full, linspace, ones, zeros
from mlc.frontends.array.functions.elementwise import FUNCTIONS, astype, operands, pow, where
from mlc.frontends.array.functions.shapes import Extents, sizes
from mlc.frontends.array.functions.shaping import broadcast_to, concat, reshape, stack
from mlc.frontends.array.linalg.norms import diagonal


def array(value: Any, /, dtype: Any = None, *, copy: bool = True, ndmin: int = 0) -> Array:
    """An array of an array, a number or nested lists, in which arrays may be; with ``ndmin`` dimensions at least."""
    found = asarray(value, dtype=dtype)
    return reshape(found, (*[1] * (ndmin - found.ndim), *found.shape)) if found.ndim < ndmin else found


def copy(x: Any, /) -> Array:
    """An array of the same elements. Those of arrays never change, so nothing is copied."""
    return as_array(x)[...]


def identity(n: DimLike, /, dtype: Any = None) -> Array:
    """The identity matrix."""
    return eye(n, dtype=dtype)


def tri(n: int, m: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """1 on and below diagonal ``k``, 0 above."""
    return astype(arange(n)[:, None] + k >= arange(n if m is None else m), dtype or float)


def diag(x: Any, /, k: int = 0) -> Array:
    """The matrix with a vector on diagonal ``k``, or diagonal ``k`` of a matrix."""
    given = as_array(x)
    if given.ndim == 2:
        return diagonal(given, offset=k)
    if given.ndim != 1:
        raise InputError(f"mlc.numpy.diag takes no array of shape {given.shape}", hint="Give a vector or a matrix")
    padded = concat([zeros((abs(k),), dtype=given.dtype), given]) if k > 0 else given
    padded = concat([padded, zeros((abs(k),), dtype=given.dtype)]) if k < 0 else padded
    size = padded.shape[0]
    return where(eye(size, k=k, dtype=bool), broadcast_to(padded, (size, size)), full((), 0, dtype=given.dtype))


def diagflat(x: Any, /, k: int = 0) -> Array:
    """The matrix with all elements of ``x`` on diagonal ``k``."""
    return diag(ravel(x), k)


def vander(x: Any, /, n: int | None = None, increasing: bool = False) -> Array:
    """The powers of a vector as columns, the highest first."""
    given = as_array(x)
    count = len(given) if n is None else n
    columns = [given * 0 + 1]
    for _ in range(count - 1):
        columns.append(columns[-1] * given)
    return stack(columns[:count] if increasing else columns[:count][::-1], axis=1)


def logspace(
    start: Any, stop: Any, /, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None
) -> Array:
    """Powers of ``base`` with exponents at equal distances."""
    found = pow(base, linspace(start, stop, num, endpoint=endpoint))
    return found if dtype is None else astype(found, dtype)


def geomspace(start: Any, stop: Any, /, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Array:
    """Numbers of one sign with equal ratios, from ``start`` to ``stop``."""
    a, b = operands(start, stop, lowest=2)
    sign, log = FUNCTIONS["sign"](a), lambda x: FUNCTIONS["log"](FUNCTIONS["abs"](x))
    found = sign * FUNCTIONS["exp"](linspace(log(a), log(b), num, endpoint=endpoint))
    if num > 0:
        found = concat([reshape(a, (1,)), found[1:-1], reshape(b, (1,))]) if endpoint and num > 1 else found
    return found if dtype is None else astype(found, dtype)


def fromfunction(f: Callable[..., Any], shape: Sequence[int], /, dtype: Any = float) -> Array:
    """``f`` of the coordinates of all elements."""
    return as_array(f(*indices(shape, dtype)))


def indices(dimensions: Extents, /, dtype: Any = int, sparse: bool = False) -> Any:
    """The coordinates of a grid, [rank, …]; as a tuple of arrays that broadcast where ``sparse``."""
    shape = sizes(dimensions)
    each = [reshape(arange(d, dtype=dtype), [-1 if m == n else 1 for m in range(len(shape))])
            for n, d in enumerate(shape)]  # fmt: skip
    return tuple(each) if sparse else stack([broadcast_to(x, shape) for x in each])


def ix_(*vectors: Any) -> tuple[Array, ...]:
    """Index arrays that together select all combinations, each along its own dimension. A mask stands for its
    indices.
    """
    found = [as_array(x) for x in vectors]
    found = [from_numpy(np.flatnonzero(x.numpy())) if x.element == "i1" else x for x in found]
    return tuple(reshape(x, [-1 if m == n else 1 for m in range(len(found))]) for n, x in enumerate(found))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The rows and columns of the elements on and below diagonal ``k``."""
    return _of_numpy(np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The rows and columns of the elements on and above diagonal ``k``."""
    return _of_numpy(np.triu_indices(n, k, m))


def tril_indices_from(x: Any, /, k: int = 0) -> tuple[Array, ...]:
    """``tril_indices`` of the shape of a matrix."""
    n, m = as_array(x).shape
    return tril_indices(n, k, m)  # type: ignore[arg-type]


def triu_indices_from(x: Any, /, k: int = 0) -> tuple[Array, ...]:
    """``triu_indices`` of the shape of a matrix."""
    n, m = as_array(x).shape
    return triu_indices(n, k, m)  # type: ignore[arg-type]


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The coordinates of the main diagonal."""
    return (arange(n),) * ndim


def diag_indices_from(x: Any, /) -> tuple[Array, ...]:
    """``diag_indices`` of the shape of an array with equal extents."""
    given = as_array(x)
    return diag_indices(given.shape[0], given.ndim)  # type: ignore[arg-type]


def _of_numpy(found: Sequence[Any]) -> tuple[Array, ...]:
    return tuple(from_numpy(np.asarray(each, np.int64)) for each in found)


def unravel_index(indices: Any, shape: Sequence[int], /) -> tuple[Array, ...]:
    """The coordinates of positions in the flat array."""
    rest, found = as_array(indices), []
    for d in reversed(shape):
        found.append(rest % d)
        rest = rest // d
    return tuple(reversed(found))


def ravel_multi_index(multi_index: Sequence[Any], dims: Sequence[int], /, mode: str = "wrap") -> Array:
    """The positions in the flat array of coordinates, which are wrapped, or clipped into the shape."""
    total = as_array(0)
    for at, d in zip(multi_index, dims, strict=True):
        inside = as_array(at) % d if mode == "wrap" else FUNCTIONS["clip"](as_array(at), 0, d - 1)
        total = total * d + inside
    return total


def _window(name: str, terms: Sequence[float]) -> Callable[[int], Array]:
    """A window that is a sum of cosines."""

    def window(m: int, /) -> Array:
        if m < 2:
            return ones((max(m, 0),))
        at = arange(m, dtype="float64") * (2 * math.pi / (m - 1))
        total = sum((c * FUNCTIONS["cos"](n * at) for n, c in enumerate(terms)), as_array(np.float64(0)))
        return astype(total, float)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"The window of this name: cosines with coefficients {', '.join(map(str, terms))}."
    return window


hanning, hamming = _window("hanning", (0.5, -0.5)), _window("hamming", (0.54, -0.46))
blackman = _window("blackman", (0.42, -0.5, 0.08))


def bartlett(m: int, /) -> Array:
    """The triangular window."""
    if m < 2:
        return ones((max(m, 0),))
    return 1 - FUNCTIONS["abs"](arange(m, dtype=float) * (2 / (m - 1)) - 1)


PUBLIC = (
    *("array", "copy", "identity", "tri", "diag", "diagflat", "vander", "logspace", "geomspace", "fromfunction"),
    *("indices", "ix_", "tril_indices", "triu_indices", "tril_indices_from", "triu_indices_from", "diag_indices"),
    "diag_indices_from",
    *("unravel_index", "ravel_multi_index", "hanning", "hamming", "blackman", "bartlett"),
)
