"""Reductions: sums, means, extremes and their positions, variances, norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import is_float
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.functions import ROOT
from mlc.frontends.build.ops.indexing import sorting
from mlc.frontends.build.ops.indexing.gather import gather_elements
from mlc.frontends.build.ops.linalg import norms
from mlc.frontends.build.ops.reduction import Axes, arg_extreme, log_sum_exp, reduce, reduce_mean
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten

EXTREMES = {"amax": "max", "amin": "min", "max": "max", "min": "min", "argmax": "max", "argmin": "min"}
Dims = int | list[int] | None


@aten("sum", "prod", "amax", "amin")
def simple(call: Call, x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    if not x.rank:
        return x
    return reduce(call.build, EXTREMES.get(call.op, call.op), call.tensor(x), Axes(call.axes(x, dim), keepdim))


@aten("mean")
def mean(call: Call, x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    return reduce_mean(call.build, call.tensor(x), Axes(call.axes(x, dim), keepdim)) if x.rank else x


@aten("logsumexp")
def log_of_sum(call: Call, x: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    return log_sum_exp(call.build, call.tensor(x), Axes(call.axes(x, dim), keepdim))


@aten("any", "all")
def any_or_all(call: Call, x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    flags, monoid = call.predicate(x), "max" if call.op == "any" else "min"
    return call.build.reduce(monoid, flags, call.axes(x, dim), keepdim) if x.rank else flags


@aten("max.default", "min.default")
def extreme(call: Call, x: Tensor) -> Tensor:
    return call.build.reduce(call.op, x, list(range(x.rank))) if x.rank else x


@aten("max.other", "min.other")
def extreme_of_two(call: Call, a: Tensor, b: Tensor) -> Tensor:
    return call.build.map(f"{call.op}(x0, x1)", *call.tensors(a, b))


@aten("max.dim", "min.dim")
def extreme_with_index(call: Call, x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The extreme element and its index. The derivative goes to the element at the index, while ``amax`` shares it
    among equal ones.
    """
    (axis,) = call.axes(x, dim) or (None,)
    if axis is None:
        return x, call.build.broadcast(call.build.constant(0, "i64"), ())
    kept = [n for n in range(x.rank) if n != axis]
    at = ", ".join("r0" if n == axis else f"i{kept.index(n)}" for n in range(x.rank))
    y = call.build.compute(f"x0[{at}]", [x], [x.shape[n] for n in kept], [x.shape[axis]], call.op)
    shape = [1 if n == axis else d for n, d in enumerate(x.shape)]
    return call.build.reshape(y, shape) if keepdim else y, index_of_extreme(call, x, dim, keepdim)


@aten("argmax", "argmin")
def index_of_extreme(call: Call, x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    if not x.rank:
        return call.build.constant(0, "i64")
    axes = call.axes(x, dim)
    kept = [1 if n in axes else d for n, d in enumerate(x.shape)] if keepdim else None
    if dim is None:
        x = call.build.reshape(x, (product(x.shape),))
    found = arg_extreme(call.build, EXTREMES[call.op], x, axes[0] if dim is not None else 0)
    return call.build.reshape(found, kept) if kept is not None else found


@aten("aminmax")
def both_extremes(call: Call, x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> list[Tensor]:
    return [call.build.reduce(fn, x, call.axes(x, dim), keepdim) for fn in ("min", "max")]


@aten("var.correction", "std.correction", "var_mean.correction", "std_mean.correction")
def variance(
    call: Call, x: Tensor, dim: Dims = None, *, correction: float | None = 1, keepdim: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    build, axes = call.build, call.axes(x, dim)
    middle, spread = norms.variance(build, x, axes, 1 if correction is None else correction)
    if call.op.startswith("std"):
        spread = build.map(ROOT, spread)  # whose derivative at 0 is 0
    if not keepdim:
        shape = [d for n, d in enumerate(x.shape) if n not in axes]
        middle, spread = build.reshape(middle, shape), build.reshape(spread, shape)
    return (spread, middle) if call.op.endswith("mean") else spread


@aten("linalg_vector_norm")
def vector_norm(
    call: Call, x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    return norms.norm(call.build, call.tensor(x), ord, call.axes(x, dim), keepdim)


@aten("count_nonzero")
def count_nonzero(call: Call, x: Tensor, dim: Dims = None) -> Tensor:
    return call.build.reduce("add", call.build.cast(call.predicate(x), "i64"), call.axes(x, dim))


@aten("kthvalue")
def ranked(call: Call, x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Sequence[Tensor]:
    """The element of rank k along an axis, and its index; NaN is the greatest."""
    if not x.rank:
        return x, call.build.constant(0, "i64")
    return _dropped(call, _ranked(call, x, call.axes(x, dim)[0], k), call.axes(x, dim)[0], keepdim)


@aten("median.dim", "nanmedian.dim")
def median(call: Call, x: Tensor, dim: int, keepdim: bool = False) -> Sequence[Tensor]:
    """The median (the lower of two) and its index. NaN where an element is NaN, but ``nanmedian`` passes these over."""
    if not x.rank:
        return x, call.build.constant(0, "i64")
    axis = call.axes(x, dim)[0]
    find = _median_of_numbers if call.op == "nanmedian" else _median
    return _dropped(call, find(call, x, axis), axis, keepdim)


@aten("median.default", "nanmedian.default")
def median_of_all(call: Call, x: Tensor) -> Tensor:
    return median(call, call.build.reshape(x, (product(x.shape),)), 0)[0]


def _median(call: Call, x: Tensor, axis: int) -> Sequence[Tensor]:
    build, extent = call.build, x.shape[axis]
    value, index = _ranked(call, x, axis, (extent + 1) // 2)
    if not is_float(x.element):
        return value, index
    top, first = build.reduce("max", x, [axis], True), arg_extreme(build, "max", x, axis)
    first = build.reshape(first, index.shape)
    return build.map("where(isnan(x0), x0, x1)", top, value), build.map("where(isnan(x0), x1, x2)", top, first, index)


def _ranked(call: Call, x: Tensor, axis: int, rank: DimLike) -> Sequence[Tensor]:
    extent = x.shape[axis]
    if not isinstance(extent, int):
        raise NotSupported(f"the median of {extent} elements; fix their number with dims={{name: size}}")
    found = sorting.top_k(call.build, x, axis, rank, largest=False)
    return [call.build.cut(y, axis, rank - 1, 1) for y in found]


def _median_of_numbers(call: Call, x: Tensor, axis: int) -> Sequence[Tensor]:
    if not is_float(x.element):
        return _median(call, x, axis)
    numbers = call.build.reduce("add", call.build.map("i64(not_(isnan(x0)))", x), [axis], True)
    at = call.build.map("max(x0 - 1, 0) // 2", numbers)
    found = sorting.top_k(call.build, x, axis, x.shape[axis], largest=False)
    return [gather_elements(call.build, y, at, axis) for y in found]


def _dropped(call: Call, found: Sequence[Tensor], axis: int, keepdim: bool) -> Sequence[Tensor]:
    """Results without the reduced axis, unless it is kept."""
    shape = [d for n, d in enumerate(found[0].shape) if n != axis]
    return found if keepdim else [call.build.reshape(y, shape) for y in found]
