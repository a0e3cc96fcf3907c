"""Creation of arrays. Source: Array API 2025.12. The default types are float32 and int64."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.dialects.semantics.dims import Dim, DimLike, dim_max
from mlc.dialects.types import numpy_dtype
from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array, apply, as_array, from_numpy
from mlc.frontends.array.functions.elementwise import astype, convert, operands, where
from mlc.frontends.array.functions.shapes import Extents, extents, of_matrices, sizes
from mlc.frontends.array.functions.shaping import broadcast_to, moveaxis, reshape, stack
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def asarray(value: Any, /, dtype: Any = None, *, device: str | None = None, copy: bool | None = None) -> Array:
    """An array of NumPy's, of DLPack's, of a number, of nested lists, in which arrays may be; a copy of others' memory.

    ``copy=False`` shares the memory of another library's array, which may not change afterwards.

    Raises:
        InputError: no elements that arrays have (strings, objects).
        ValueError: ``copy=False``, and it must be copied.
    """
    if isinstance(value, Array):
        found = value if dtype is None else astype(value, dtype)
        return found.same() if copy and found is value else found
    if isinstance(value, list | tuple) and any(isinstance(x, Array) for x in trees.leaves(value)):
        return asarray(stack([asarray(each) for each in value]), dtype)
    data = np.from_dlpack(value) if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray) else value
    given = np.array(data, copy=copy is None or copy)
    if dtype is None and not isinstance(data, np.ndarray | np.generic):
        given = dtypes.default_types(given)
    wanted = numpy_dtype(dtypes.element(given.dtype if dtype is None else dtype))
    if copy is False and wanted != given.dtype:
        raise ValueError(f"copy=False, and {given.dtype} must be converted to {wanted}")
    return from_numpy(given if wanted == given.dtype else given.astype(wanted))


def from_dlpack(value: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """An array of another library, as ``asarray``.

    Raises:
        BufferError: ``copy=False``, and it is not on this device, or not exported without a copy.
    """
    if isinstance(value, Array):
        return value
    return asarray(np.from_dlpack(value, device="cpu" if device else None, copy=copy), copy=copy)


def filled(build: Builder, xs: Sequence[Tensor], expr: str, shape: tuple[DimLike, ...]) -> Tensor:
    """An array whose elements are an expression of their indices."""
    return build.compute(expr, xs, shape)


def _of_indices(expr: str, element: str, shape: Sequence[DimLike]) -> Array:
    return apply(filled, [], (expr, tuple(shape)), element, shape)


def full(shape: Extents, fill_value: Any, dtype: Any = None, *, device: str | None = None) -> Array:
    """``fill_value`` everywhere."""
    value = as_array(fill_value)
    return broadcast_to(value if dtype is None else _as(fill_value, dtypes.element(dtype)), extents(shape))


def _as(value: Any, element: str) -> Array:
    return convert(value, element) if isinstance(value, Array) else as_array(numpy_dtype(element).type(value))


def zeros(shape: Extents, dtype: Any = None, *, device: str | None = None) -> Array:
    """0 everywhere."""
    return full(shape, 0, dtype=dtype or float)


def ones(shape: Extents, dtype: Any = None, *, device: str | None = None) -> Array:
    """1 everywhere."""
    return full(shape, 1, dtype=dtype or float)


def full_like(
    x: Any, /, fill_value: Any, dtype: Any = None, *, shape: Extents | None = None, device: str | None = None
) -> Array:
    """``fill_value`` in the shape and type of ``x``, or in those given."""
    given = as_array(x)
    return full(given.shape if shape is None else shape, fill_value, dtype=dtype or given.dtype)


def zeros_like(x: Any, /, dtype: Any = None, *, shape: Extents | None = None, device: str | None = None) -> Array:
    """0 in the shape and type of ``x``."""
    return full_like(x, 0, dtype, shape=shape)


def ones_like(x: Any, /, dtype: Any = None, *, shape: Extents | None = None, device: str | None = None) -> Array:
    """1 in the shape and type of ``x``."""
    return full_like(x, 1, dtype, shape=shape)


empty, empty_like = zeros, zeros_like


def _is_finite(n: Any) -> bool:
    return isinstance(n, numbers.Real | np.bool) and math.isfinite(n)


def arange(start: Any, /, stop: Any = None, step: float = 1, dtype: Any = None, *, device: str | None = None) -> Array:
    """``start``, ``start + step``, … before ``stop``; from 0 where only one is given. ``stop`` may be a dimension."""
    start, stop = (0, start) if stop is None else (start, stop)
    if not all(isinstance(n, Dim) or _is_finite(n) for n in (start, stop, step)) or step == 0:
        what = f"mlc.numpy.arange cannot go from {start!r} to {stop!r} by steps of {step!r}"
        raise InputError(what, hint="Give finite numbers, and a step that is not 0")
    if isinstance(stop, Dim) or isinstance(start, Dim):
        if step != 1:
            what = f"arange to the open dimension '{stop}' cannot have steps of {step}"
            raise InputError(what, hint="Multiply it instead")
        made = _of_indices(f"i64(i0 + {start})", "i64", (stop - start,))
    else:
        integers = all(isinstance(n, int) for n in (start, stop, step))
        count = max(math.ceil((stop - start) / step), 0)
        if integers:
            made = _of_indices(f"i64(i0 * {step} + ({start}))", "i64", (count,))
        else:
            made = _of_indices(f"f64(i0) * {float(step)!r} + ({float(start)!r})", "f64", (count,))
            made = convert(made, dtypes.FLOAT) if dtype is None else made
    return made if dtype is None else astype(made, dtype)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: DimLike = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: str | None = None,
) -> Any:
    """``num`` values at equal distances from ``start`` to ``stop``, which is one of them for ``endpoint``, along
    ``axis`` of arrays; ``retstep``: their distance as well.
    """
    (num,) = sizes(num)
    parts = dim_max(num - 1 if endpoint else num, 1)
    if all(isinstance(x, int | float | np.number) for x in (start, stop)):
        found = _spaced(float(start), float(stop), num, parts, endpoint, dtype)
        distance: Any = (stop - start) / parts if isinstance(parts, int) else None
    else:
        first, last = operands(start, stop, lowest=2)
        distance = (last - first) / parts
        at = reshape(convert(arange(num), first.element), (-1, *[1] * max(first.ndim, last.ndim)))
        found = moveaxis(first + at * distance, 0, axis)
        found = where(moveaxis(at == parts, 0, axis), last, found) if endpoint else found
        found = found if dtype is None else astype(found, dtype)
    return (found, distance) if retstep else found


def _spaced(start: float, stop: float, num: DimLike, parts: DimLike, endpoint: bool, dtype: Any) -> Array:
    step = f"{(stop - start) / parts!r}" if isinstance(parts, int) else f"{stop - start!r} / f64({parts})"
    expr = f"f64(i0) * ({step}) + ({start!r})"
    last = f"where(i0 == {parts}, {stop!r}, {expr})" if endpoint and num != 1 else expr
    return convert(_of_indices(last, "f64", (num,)), dtypes.FLOAT if dtype is None else dtypes.element(dtype))


def eye(
    n_rows: DimLike, n_cols: DimLike | None = None, /, k: int = 0, dtype: Any = None, *, device: Any = None
) -> Array:
    """1 on diagonal ``k``, 0 elsewhere."""
    element = dtypes.element(dtype or float)
    shape = sizes((n_rows, n_rows if n_cols is None else n_cols))
    return convert(_of_indices(f"i1 - i0 == {operator.index(k)}", "i1", shape), element)


def _triangle(name: str, x: Any, relation: str, k: int) -> Array:
    given, test = of_matrices(name, x), f"i1 - i0 {relation} {operator.index(k)}"
    inside = _of_indices(test, "i1", given.shape[-2:])
    return where(inside, given, full_like(given, 0))


def tril(x: Any, /, k: int = 0) -> Array:
    """The elements on and below diagonal ``k`` of the last two dimensions, 0 above."""
    return _triangle("tril", x, "<=", k)


def triu(x: Any, /, k: int = 0) -> Array:
    """The elements on and above diagonal ``k`` of the last two dimensions, 0 below."""
    return _triangle("triu", x, ">=", k)


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Array, ...]:
    """The coordinates of a grid: each array along a dimension of its own; ``xy`` exchanges the first two."""
    given = [as_array(x) for x in arrays]
    order = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        order[:2] = [1, 0]
    shape = [given[n].shape[0] for n in order]
    sides = [[x.shape[0] if order[place] == n else 1 for place in range(len(order))] for n, x in enumerate(given)]
    return tuple(broadcast_to(reshape(x, side), shape) for x, side in zip(given, sides, strict=True))


PUBLIC = (
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
)
