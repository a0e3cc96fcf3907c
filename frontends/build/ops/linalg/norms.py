"""Norms and variances, with their edge cases. Source: PyTorch's linalg.vector_norm, Array API 2025.12."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.normalization import mean_and_variance
from mlc.frontends.build.ops.reduction import Axes, reduce
from mlc.frontends.build.tensors import Tensor


def norm(build: Builder, x: Tensor, order: float, axes: Sequence[int], keepdims: bool = False) -> Tensor:
    """``(sum |x|^order)^(1 / order)`` over ``axes``, in the element of ``x``: the largest or least |x| for infinities,
    how many elements are not 0 for 0. Where all are 0 its derivative is 0."""
    if order in (1, 2):
        return reduce(build, f"l{int(order)}", x, Axes(axes, keepdims))
    if math.isinf(order):
        return build.reduce("max" if order > 0 else "min", build.map("abs(x0)", x), axes, keepdims)
    wide = build.wide(x)
    if order == 0:
        return build.cast(build.reduce("add", build.map(f"{wide.element}(x0 != 0)", wide), axes, keepdims), x.element)
    power, root = (f"abs(x0) ** {literal(float(order))}", f"x0 ** {literal(1 / order)}")
    if order > 0:
        power, root = f"where(x0 == 0, 0, {power})", f"where(x0 == 0, 0, {root})"
    total = build.reduce("add", build.map(power, wide), axes, keepdims)
    return build.cast(build.map(root, total), x.element)


def distances(build: Builder, a: Tensor, b: Tensor, order: float) -> Tensor:
    """[.., P, R]: the norm of the difference of each row of ``a`` [.., P, M] and of ``b`` [.., R, M]."""
    left = build.reshape(a, (*a.shape[:-1], 1, a.shape[-1]))
    right = build.reshape(b, (*b.shape[:-2], 1, *b.shape[-2:]))
    return norm(build, build.map("x0 - x1", left, right), order, [-1])


def variance(build: Builder, x: Tensor, axes: Sequence[int], correction: float) -> tuple[Tensor, Tensor]:
    """Mean and variance over ``axes``, which stay as dimensions of 1, in at least f32: the squared distances from the
    mean over the count less ``correction``, and over 0 where that is more than the count (infinite, or NaN of 0)."""
    middle, spread = mean_and_variance(build, build.wide(x), axes)
    if not correction:
        return middle, spread
    count, element = product(x.shape[a] for a in axes), spread.element
    if isinstance(count, int):
        free = max(count - correction, 0.0)
        text = f"x0 * {literal(count / free)}" if free else f"x0 * {literal(float(count))} / 0"
        return middle, build.map(text, spread)
    return middle, build.map(f"x0 * ({element}({count}) / max({element}({count}) - {literal(float(correction))}, 0))",
                             spread)  # fmt: skip

