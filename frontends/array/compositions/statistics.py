"""Order statistics, averages, covariances, histograms. Source: NumPy 2, ``jax.numpy``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import product
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.compositions.arranging import ravel
from mlc.frontends.array.functions.creation import arange, full, linspace, ones_like, zeros
from mlc.frontends.array.functions.elementwise import FUNCTIONS, astype, convert, operands, where
from mlc.frontends.array.functions.products import matmul
from mlc.frontends.array.functions.reductions import Axis, axes_of, max, mean, min, sum
from mlc.frontends.array.functions.reductions import any_ as any_of
from mlc.frontends.array.functions.shaping import broadcast_to, concat, expand_dims, moveaxis, reshape
from mlc.frontends.array.functions.sorting import searchsorted, sort
from mlc.frontends.array.selecting.taking import take_along_axis

METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


def quantile(x: Any, q: Any, /, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """Quantiles along ``axis``: the elements at ``q`` times the last position, between two of them by ``method``.

    NaN where an element is. An array ``q`` makes the first dimension of the result.

    Raises:
        InputError: another method, or complex numbers.
    """
    rows = _rows(x, axis)
    count = as_array(rows.shape[-1], rows.element)
    found = _between(sort(rows), q, count, method)
    found = where(any_of(rows != rows, axis=-1), math.nan, found)
    return _placed(found, x, axis, keepdims, as_array(q).ndim)


def nanquantile(x: Any, q: Any, /, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """``quantile`` of the elements that are not NaN."""
    rows = _rows(x, axis)
    count = sum(convert(rows == rows, rows.element), axis=-1)
    found = _between(sort(rows), q, count, method)
    return _placed(where(count == 0, math.nan, found), x, axis, keepdims, as_array(q).ndim)


def _rows(x: Any, axis: Axis) -> Array:
    """[others…, elements] as floats."""
    (given,) = operands(x, lowest=2)
    if dtypes.kind(given.element) == 3:
        raise InputError("Complex numbers have no order", hint="Use abs, real or imag")
    axes = axes_of(given, axis)
    moved = moveaxis(given, axes, tuple(range(given.ndim - len(axes), given.ndim)))
    return reshape(moved, (*moved.shape[: given.ndim - len(axes)], product(given.shape[a] for a in axes)))


def _between(rows: Array, q: Any, count: Array, method: str) -> Array:
    """[q…, others…]: the elements of sorted rows between which the quantiles are."""
    if method not in METHODS:
        what = f"There is no method '{method}' for quantiles"
        raise InputError(what, hint=f"The methods are {', '.join(METHODS)}")
    at = convert(as_array(q, rows.element), rows.element)
    place = reshape(at, (*at.shape, *[1] * (rows.ndim - 1))) * (count - 1)
    low, high = FUNCTIONS["floor"](place), FUNCTIONS["ceil"](place)
    if method in ("lower", "higher", "nearest"):
        return _at(rows, {"lower": low, "higher": high, "nearest": FUNCTIONS["round"](place)}[method])
    part = 0.5 * (high - low) if method == "midpoint" else place - low
    a, b = _at(rows, low), _at(rows, high)
    return where(part < 0.5, a + (b - a) * part, b - (b - a) * (1 - part))


def _middle(rows: Array, count: Array) -> Array:
    """The mean of the two elements in the middle of sorted rows: infinite where one is, which ``linear`` is not."""
    place = reshape(as_array(0.5, rows.element), [1] * (rows.ndim - 1)) * (count - 1)
    a, b = _at(rows, FUNCTIONS["floor"](place)), _at(rows, FUNCTIONS["ceil"](place))
    return where((a == b) & (FUNCTIONS["abs"](a) == math.inf), a, (a + b) / 2)


def _at(rows: Array, place: Array) -> Array:
    """The elements of rows at positions, which have dimensions before those of the rows; NaN of rows without any."""
    if rows.shape[-1] == 0:
        return full(broadcast_to(place, (*place.shape[: place.ndim - rows.ndim + 1], *rows.shape[:-1])).shape, math.nan,
                    dtype=rows.dtype)  # fmt: skip
    extra = place.ndim - rows.ndim + 1
    whole = broadcast_to(place, (*place.shape[:extra], *rows.shape[:-1]))
    flat = moveaxis(reshape(whole, (product(whole.shape[:extra]), *rows.shape[:-1])), 0, -1)
    index = FUNCTIONS["clip"](astype(flat, "int64"), 0, rows.shape[-1] - 1)
    return reshape(moveaxis(take_along_axis(rows, index, axis=-1), -1, 0), whole.shape)


def _placed(found: Array, x: Any, axis: Axis, keepdims: bool, extra: int) -> Array:
    given = as_array(x)
    axes = axes_of(given, axis)
    return expand_dims(found, tuple(extra + a for a in axes)) if keepdims and axes else found


def percentile(x: Any, q: Any, /, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """``quantile`` of ``q / 100``."""
    return quantile(x, FUNCTIONS["divide"](q, 100), axis, method=method, keepdims=keepdims)


def nanpercentile(x: Any, q: Any, /, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Array:
    """``nanquantile`` of ``q / 100``."""
    return nanquantile(x, FUNCTIONS["divide"](q, 100), axis, method=method, keepdims=keepdims)


def median(x: Any, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """The middle elements along ``axis``; the mean of two."""
    rows = _rows(x, axis)
    found = _middle(sort(rows), as_array(rows.shape[-1], rows.element))
    return _placed(where(any_of(rows != rows, axis=-1), math.nan, found), x, axis, keepdims, 0)


def nanmedian(x: Any, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """``median`` of the elements that are not NaN."""
    rows = _rows(x, axis)
    count = sum(convert(rows == rows, rows.element), axis=-1)
    return _placed(where(count == 0, math.nan, _middle(sort(rows), count)), x, axis, keepdims, 0)


def ptp(x: Any, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """The greatest less the least element."""
    return max(x, axis=axis, keepdims=keepdims) - min(x, axis=axis, keepdims=keepdims)


def average(
    x: Any, /, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Means along ``axis``, weighted; ``returned``: the sums of the weights as well."""
    (given,) = operands(x, lowest=2)
    if weights is None:
        found = mean(given, axis=axis, keepdims=keepdims)
        if not returned:
            return found
        return found, sum(ones_like(given), axis=axis, keepdims=keepdims)
    a, w = operands(given, weights, lowest=2)
    if w.shape != a.shape:
        w = reshape(w, [-1 if n in axes_of(a, axis) else 1 for n in range(a.ndim)])
    w = broadcast_to(w, a.shape)
    total = sum(w, axis=axis, keepdims=keepdims)
    found = sum(a * w, axis=axis, keepdims=keepdims) / total
    return (found, total) if returned else found


def cov(x: Any, y: Any = None, /, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
        fweights: Any = None, aweights: Any = None) -> Array:  # fmt: skip
    """The covariances of variables, the rows of ``x`` (columns, without ``rowvar``) and of ``y``."""
    rows = _variables(x, rowvar)
    rows = rows if y is None else concat([rows, _variables(y, rowvar)], axis=0)
    weights = [convert(as_array(w), rows.element) for w in (fweights, aweights) if w is not None]
    less = (0 if bias else 1) if ddof is None else ddof
    if not weights:
        distance = rows - mean(rows, axis=1, keepdims=True)
        return _squeezed(
            matmul(distance, FUNCTIONS["conj"](distance.T)) / FUNCTIONS["maximum"](_size(rows) - less, 0.0)
        )
    w = weights[0] if len(weights) == 1 else weights[0] * weights[1]
    total = sum(w)
    distance = rows - sum(rows * w, axis=1, keepdims=True) / total
    more = total if aweights is None else sum(w * weights[-1]) / total
    return _squeezed(
        matmul(distance * w, FUNCTIONS["conj"](distance.T)) / (total - less * (more if aweights is not None else 1))
    )


def _size(rows: Array) -> Array:
    return as_array(float(rows.shape[1]), rows.element)  # type: ignore[arg-type]


def _variables(x: Any, rowvar: bool) -> Array:
    (given,) = operands(x, lowest=2)
    given = given if given.ndim > 1 else reshape(given, (1, -1))
    return given if rowvar or given.shape[0] == 1 else given.T


def _squeezed(x: Array) -> Array:
    return reshape(x, ()) if x.shape == (1, 1) else x


def corrcoef(x: Any, y: Any = None, /, rowvar: bool = True) -> Array:
    """The correlations of variables, as ``cov``."""
    found = cov(x, y, rowvar)
    if found.ndim == 0:
        return found / found
    own = FUNCTIONS["sqrt"](FUNCTIONS["real"](found[arange(len(found)), arange(len(found))]))
    return found / own[:, None] / own[None, :]


def bincount(x: Any, /, weights: Any = None, minlength: int = 0, *, length: int | None = None) -> Array:
    """How often each number occurs among integers from 0 on, or the sums of ``weights``.

    ``length`` is the result's, and is needed while a function is traced; greater numbers are passed over.
    """
    given = ravel(x)
    if length is None:
        data = given.numpy()
        length = int(np.max([minlength, *(data.max(initial=-1) + 1,)]))
    added = as_array(1) if weights is None else ravel(weights)
    return zeros((length,), dtype=added.dtype).at[given].add(added, mode="drop")


def digitize(x: Any, bins: Any, /, right: bool = False) -> Array:
    """The number of the bin of each element; ``bins`` are limits in ascending or descending order."""
    limits = as_array(bins)
    side = "left" if right else "right"
    if len(limits) > 1 and bool(limits[0] > limits[-1]):
        return len(limits) - searchsorted(limits[::-1], x, side="right" if right else "left")
    return searchsorted(limits, x, side=side)


def histogram_bin_edges(x: Any, /, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """The limits of ``bins`` intervals of one width from the least to the greatest element, or within ``range``."""
    if not isinstance(bins, int | np.integer):
        return as_array(bins)
    (given,) = operands(x, lowest=2)
    low, high = (min(given), max(given)) if range is None else operands(given, *range)[1:]
    equal = low == high
    return linspace(where(equal, low - 0.5, low), where(equal, high + 0.5, high), int(bins) + 1)


def histogram(x: Any, /, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """How many elements are in each interval (or the sums of their ``weights``), and the limits of the intervals; the
    last one has both its ends. ``density``: divided by the total and by the widths."""
    edges = histogram_bin_edges(x, bins, range)
    values, limits = operands(ravel(x), edges)
    at = searchsorted(limits, values, side="right") - 1
    at = where(values == limits[-1], len(limits) - 2, at)
    at = where(values < limits[0], len(limits), at)
    counts = bincount(at, weights, length=len(limits) - 1)
    if density:
        counts = counts / (limits[1:] - limits[:-1]) / sum(counts)
    return counts, edges


PUBLIC = (
    *("quantile", "nanquantile", "percentile", "nanpercentile", "median", "nanmedian", "ptp", "average", "cov"),
    *("corrcoef", "bincount", "digitize", "histogram_bin_edges", "histogram"),
)
