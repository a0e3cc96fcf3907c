"""Reductions: sums of mapped elements, means, norms, log-sum-exp, positions of extremes; over run-time axes too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import is_float, numpy_dtype
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.element_checks import check_combines
from mlc.frontends.build.ops.functions import ROOT
from mlc.frontends.build.ops.shapes.axes import split_axes, without_axes
from mlc.frontends.build.tensors import Tensor


def lowest(element: str) -> str:
    """The identity of max, as a literal.

    Raises:
        NotSupported: no function computes in ``element``.
    """
    check_combines("a maximum", element)
    if is_float(element):
        return "-inf"
    return "False" if element == "i1" else str(np.iinfo(numpy_dtype(element)).min)


def mean(build: Builder, x: Tensor, axes: Sequence[int], keepdims: bool) -> Tensor:
    """The mean in at least f32, in the element type of ``x``."""
    total = build.reduce("add", build.wide(x), axes, keepdims)
    count = product(x.shape[a] for a in axes)
    if not is_float(total.element):
        return build.map(f"x0 / {total.element}({count})", total)
    factor = f"{1 / count!r}" if isinstance(count, int) and count else f"(1 / {total.element}({count}))"
    return build.cast(build.map(f"x0 * {factor}", total), x.element)


REDUCTIONS = {
    "sum": ("", "add", ""),
    "prod": ("", "mul", ""),
    "max": ("", "max", ""),
    "min": ("", "min", ""),
    "l1": ("abs(x0)", "add", ""),
    "l2": ("x0 * x0", "add", ROOT),
    "sum_square": ("x0 * x0", "add", ""),
    "log_sum": ("", "add", "log(x0)"),
}
"""Reductions as (map before, monoid, map after)."""


@dataclass(frozen=True)
class Axes:
    """The axes of a reduction: known ones, or run-time scalars ``runtime`` in place of these."""

    known: Sequence[int]
    keepdims: bool
    runtime: Sequence[DimLike] | None = None


@dataclass(frozen=True)
class Operand:
    """An operand and its axes, and the result's shape where it is known only at run time."""

    x: Tensor
    axes: list[int]
    keepdims: bool
    shape: list[DimLike] | None = None

    def shaped(self, build: Builder, y: Tensor) -> Tensor:
        """The result of a reduction, in the shape that ``keepdims`` asks for."""
        return y if self.shape is None else build.reshape(y, self.shape)


def _operand(build: Builder, x: Tensor, axes: Axes) -> Operand:
    """Replace run-time axes by known axes of a tensor with more dimensions."""
    if axes.runtime is None:
        return Operand(x, list(axes.known), axes.keepdims)
    shape = None if axes.keepdims else without_axes(build, x.shape, axes.runtime)
    split, known, kept = split_axes(build, x, axes.runtime)
    return Operand(split, known, False, kept if shape is None else shape)


def reduce(build: Builder, name: str, x: Tensor, axes: Axes | None) -> Tensor:
    """One of ``REDUCTIONS``, accumulated in at least f32 and returned in the element of ``x``. Without axes only its
    maps are applied.
    """
    before, monoid, after = REDUCTIONS[name]
    wide = build.wide(x) if monoid in ("add", "mul") else x
    mapped = build.map(before, wide) if before else wide
    given = None if axes is None else _operand(build, mapped, axes)
    y = mapped if given is None else build.reduce(monoid, given.x, given.axes, given.keepdims)
    if after and not is_float(y.element):
        after = f"{y.element}({after.replace('x0', 'f64(x0)')})"
    y = build.cast(build.map(after, y) if after else y, x.element)
    return y if given is None else given.shaped(build, y)


def reduce_mean(build: Builder, x: Tensor, axes: Axes) -> Tensor:
    """The mean over ``axes``, made in at least f32, in the element of ``x``."""
    given = _operand(build, x, axes)
    return given.shaped(build, mean(build, given.x, given.axes, given.keepdims))


def log_sum_exp(build: Builder, x: Tensor, axes: Axes) -> Tensor:
    """log(sum(exp(x))) over ``axes``, with the maximum subtracted first, in the element of ``x``."""
    given = _operand(build, x, axes)
    over, wide = given.axes, build.wide(given.x)
    top = build.map("where(abs(x0) == inf, 0, x0)", build.reduce("max", wide, over, keepdims=True))
    total = build.reduce("add", _powers(build, x, given, wide, top), over, keepdims=True)
    y = build.map("log(x0) + x1", total, top)
    kept = [d for n, d in enumerate(wide.shape) if n not in over]
    return given.shaped(build, build.cast(y if given.keepdims else build.reshape(y, kept), x.element))


def _powers(build: Builder, x: Tensor, given: Operand, wide: Tensor, top: Tensor) -> Tensor:
    """exp(wide - top). Over run-time axes, in the shape of ``x``: the upper bounds of the split dimensions would
    multiply to the square of its elements."""
    if given.shape is None:
        return build.map("exp(x0 - x1)", wide, top)
    whole, kept = build.wide(x), [d for n, d in enumerate(top.shape) if n not in given.axes]
    here = ", ".join(f"i{n}" for n in range(whole.rank))
    least = ", ".join(f"min(i{n}, {d} - 1)" for n, d in enumerate(kept))
    powers = build.compute(f"exp(x0[{here}] - x1[{least}])", [whole, build.reshape(top, kept)], whole.shape)
    return build.reshape(powers, wide.shape)


def arg_extreme(build: Builder, fn: str, x: Tensor, axis: int, last: bool = False) -> Tensor:
    """The first (or last) index along ``axis`` of the extreme element (``fn``: min or max), i64, without that axis. As
    in NumPy, NaN is the extreme element.
    """
    extreme = build.reduce(fn, x, [axis], keepdims=True)
    kept = [n for n in range(x.rank) if n != axis]
    at = ["r0" if n == axis else f"i{kept.index(n)}" for n in range(x.rank)]
    best = ["0" if n == axis else a for n, a in enumerate(at)]
    here = f"x0[{', '.join(at)}]"
    found = f"{here} == x1[{', '.join(best)}]"
    found = f"({found}) | ({here} != {here})" if is_float(x.element) else found
    text = f"where({found}, r0, {-1 if last else x.shape[axis] - 1})"
    return build.compute(text, [x, extreme], [x.shape[n] for n in kept], [x.shape[axis]], "max" if last else "min")
