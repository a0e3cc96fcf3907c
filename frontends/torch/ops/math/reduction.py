"""Reductions: sums, means, extremes and their positions, variances, norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.indexing import sorting
from mlc.frontends.build.ops.normalization import mean_and_variance
from mlc.frontends.build.ops.reduction import Axes, arg_extreme, log_sum_exp, reduce, reduce_mean
from mlc.frontends.build.ops.shapes.axes import around_axis
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
    """The derivative is that of the element at the index, where ``amax`` shares it among equal ones."""
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
    middle, spread = mean_and_variance(build, build.wide(x), axes)
    count = product(x.shape[a] for a in axes)
    less = 1 if correction is None else correction
    if less:
        spread = build.map(f"x0 * ({spread.element}({count}) / {spread.element}({count} - {literal(less)}))", spread)
    if call.op.startswith("std"):
        spread = build.map("sqrt(x0)", spread)
    if not keepdim:
        shape = [d for n, d in enumerate(x.shape) if n not in axes]
        middle, spread = build.reshape(middle, shape), build.reshape(spread, shape)
    return (spread, middle) if call.op.endswith("mean") else spread


@aten("linalg_vector_norm")
def vector_norm(
    call: Call, x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    build, axes, wide = call.build, call.axes(x, dim), call.tensor(x)
    if ord in (1, 2):
        return reduce(build, f"l{int(ord)}", wide, Axes(axes, keepdim))
    if abs(ord) == float("inf"):
        return build.reduce("max" if ord > 0 else "min", build.map("abs(x0)", wide), axes, keepdim)
    wide = build.wide(wide)
    if ord == 0:
        return build.reduce("add", build.map(f"{wide.element}(x0 != 0)", wide), axes, keepdim)
    total = build.reduce("add", build.map(f"abs(x0) ** {literal(float(ord))}", wide), axes, keepdim)
    return build.map(f"x0 ** {literal(1 / ord)}", total)


@aten("cumsum", "cumprod")
def cumulative(call: Call, x: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    if not x.rank:
        return x
    rows = call.build.reshape(call.tensor(x), around_axis(call.build, x.shape, dim))
    y = sorting.cumulative(call.build, "add" if call.op == "cumsum" else "mul", rows)
    return call.build.reshape(call.tensor(y), x.shape)


@aten("count_nonzero")
def count_nonzero(call: Call, x: Tensor, dim: Dims = None) -> Tensor:
    return call.build.reduce("add", call.build.cast(call.predicate(x), "i64"), call.axes(x, dim))


@aten("median.dim", "kthvalue")
def ranked(call: Call, x: Tensor, *args: Any) -> Sequence[Tensor]:
    """The element of rank k along an axis, and its index; the median is the lower one of two."""
    given = args[1:] if call.op == "kthvalue" else args
    dim, keepdim = (*given, False)[:2] if len(given) < 2 else given[:2]
    axis = call.axes(x, dim if given else -1)[0]
    extent = x.shape[axis]
    if not isinstance(extent, int):
        raise NotSupported(f"the median of {extent} elements; fix their number with dims={{name: size}}")
    rank = args[0] if call.op == "kthvalue" else (extent + 1) // 2
    found = [call.build.cut(y, axis, rank - 1, 1) for y in sorting.top_k(call.build, x, axis, rank, largest=False)]
    shape = [d for n, d in enumerate(x.shape) if n != axis]
    return found if keepdim else [call.build.reshape(y, shape) for y in found]
