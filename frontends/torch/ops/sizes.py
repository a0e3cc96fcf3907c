"""Functions on sizes, which are Python numbers in torch: dimensions, and floats that are computed of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from mlc.dialects.semantics.dims import Dim, DimLike, floordiv
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.comparisons import larger, smaller
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import number_of

SYMBOLIC: dict[Any, Callable[..., Any]] = {
    operator.getitem: operator.getitem,
    operator.add: operator.add,
    operator.sub: operator.sub,
    operator.mul: operator.mul,
    operator.floordiv: operator.floordiv,
    operator.truediv: operator.truediv,
    operator.mod: operator.mod,
    operator.neg: operator.neg,
    operator.pow: lambda x, n: math.prod([x] * n),
    torch.sym_sum: sum,
    torch.sym_max: larger,
    torch.sym_min: smaller,
    torch.sym_float: float,
    torch.sym_int: int,
    math.prod: math.prod,
    math.trunc: math.trunc,
    math.floor: math.floor,
    math.ceil: math.ceil,
}
"""What they are of numbers that are known."""
SIGNS = {operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/"}
ROUNDED = {torch.sym_int: "trunc", math.trunc: "trunc", math.floor: "floor", math.ceil: "ceil"}
MOST_PARTS = 1000  # of a factor as a fraction, such as 13/10
CHECKED_SIZES = 1 << 16  # for which products by the fraction and in f64 are compared


@dataclass(frozen=True)
class Scaled:
    """A dimension as a float, times a factor."""

    dim: Dim
    factor: float


def on_sizes(build: Builder, function: Any, args: Any, kwargs: Any) -> Any:
    """A function of sizes. A quotient, and all that is computed from it, is a tensor of f64 without dimensions. A
    multiple that is rounded down is a dimension where it is a fraction of one.
    """
    if function is torch.sym_float and isinstance(args[0], Dim):
        return Scaled(args[0], 1.0)
    if function is operator.mul and (scaled := _multiple(*args)) is not None:
        return scaled
    if function in ROUNDED and isinstance(args[0], Scaled):
        found = None if function is math.ceil else _rounded_down(args[0])
        args = (_float(build, args[0]),) if found is None else args
        if found is not None:
            return found
    if function in ROUNDED and isinstance(args[0], Tensor):
        whole = build.map(f"{ROUNDED[function]}(x0)", args[0])
        return build.scalars.of(build.cast(whole, "i64")).item()
    quotient = function is operator.truediv and any(isinstance(x, Dim) for x in args)
    if function not in SIGNS or not quotient and not any(isinstance(x, Tensor | Scaled) for x in args):
        return SYMBOLIC[function](*args, **kwargs)
    return build.map(f"x0 {SIGNS[function]} x1", *(_float(build, x) for x in args))


def _multiple(a: Any, b: Any) -> Scaled | None:
    scaled, factor = (a, b) if isinstance(a, Scaled) else (b, a)
    fits = isinstance(scaled, Scaled) and isinstance(factor, float)
    return Scaled(scaled.dim, scaled.factor * factor) if fits else None


def _rounded_down(x: Scaled) -> DimLike | None:
    """The multiple of a size, rounded down, as a dimension; None where a fraction does not give the same in f64."""
    ratio, sizes = Fraction(x.factor).limit_denominator(MOST_PARTS), np.arange(CHECKED_SIZES)
    fractions = sizes * ratio.numerator // ratio.denominator
    if x.factor < 0 or not np.array_equal((sizes * x.factor).astype(np.int64), fractions):
        return None
    return floordiv(x.dim * ratio.numerator, ratio.denominator)


def _float(build: Builder, x: Any) -> Tensor:
    """A tensor of f64 without dimensions."""
    if isinstance(x, Scaled):
        return build.map("x0 * x1", _float(build, x.dim), build.constant(x.factor, "f64"))
    x = number_of(build, x) if isinstance(x, Dim) else x
    return build.cast(x, "f64") if isinstance(x, Tensor) else build.constant(float(x), "f64")
