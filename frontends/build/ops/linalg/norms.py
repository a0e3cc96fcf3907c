"""Norms and variances, with their edge cases. Source: PyTorch's linalg.vector_norm, Array API 2025.12."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlc.dialects.semantics.dims import floordiv, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.indexing.gather import gather
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


def each_with_each(build: Builder, a: Tensor, b: Tensor) -> Tensor:
    """[.., P, R, M]: the difference of each row of ``a`` [.., P, M] and of ``b`` [.., R, M]."""
    left = build.reshape(a, (*a.shape[:-1], 1, a.shape[-1]))
    right = build.reshape(b, (*b.shape[:-2], 1, *b.shape[-2:]))
    return build.map("x0 - x1", left, right)


def each_with_later(build: Builder, x: Tensor) -> Tensor:
    """[N (N - 1) / 2, M]: the difference of each row of ``x`` [N, M] and each later one."""
    n = x.shape[0]
    count = floordiv(n * (n - 1), 2)
    root = f"sqrt(max(f64((2 * ({n}) - 1) * (2 * ({n}) - 1) - 8 * i0), 0))"
    near = build.compute(f"i64((2 * ({n}) - 1 - {root}) / 2)", [], (count,))  # a root may be off by its rounding
    begins = f"({{0}}) * (2 * ({n}) - 1 - ({{0}})) // 2".format
    exact = f"x0[i0] + i64({begins('x0[i0] + 1')} <= i0) - i64({begins('x0[i0]')} > i0)"
    row = build.compute(exact, [near], (count,))
    column = build.compute(f"i0 - {begins('x0[i0]')} + x0[i0] + 1", [row], (count,))
    return build.map("x0 - x1", *(gather(build, x, at, 0) for at in (row, column)))


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

