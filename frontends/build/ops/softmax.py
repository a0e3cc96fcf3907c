"""Softmax, log-softmax and hardmax. Source: ONNX Softmax 13."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor

LOWEST = "-3.4028234663852886e+38"  # of f32


def softmax(
    build: Builder, x: Tensor, axes: Sequence[int], log: bool = False, sink: Tensor | None = None, safe: bool = False
) -> Tensor:
    """exp(x - max) / sum, in at least f32. Each element is multiplied by the reciprocal of its row's sum.

    ``sink``, which broadcasts to the sums, is one more element of each row that counts in the sum and is left out.
    ``safe``: a row of minus infinity gives zeros, not NaN; other sums are at least exp(0).
    """
    wide = build.wide(x)
    top = build.reduce("max", wide, axes, keepdims=True)
    top = build.map(f"max(x0, {LOWEST})", top) if safe else top
    top = top if sink is None else build.map("max(x0, x1)", top, sink)
    shifted = build.map("x0 - x1", wide, top)
    exponent = build.map("exp(x0)", shifted)
    total = build.reduce("add", exponent, axes, keepdims=True)
    total = total if sink is None else build.map("x0 + exp(x1 - x2)", total, sink, top)
    if log:
        return build.cast(build.map("x0 - log(x1)", shifted, total), x.element)
    factor = build.map("1 / max(x0, 1)" if safe else "1 / x0", total)
    return build.cast(build.map("x0 * x1", exponent, factor), x.element)


def hardmax(build: Builder, x: Tensor, axis: int) -> Tensor:
    """1 at the first maximum, else 0."""
    top = build.reduce("max", x, [axis], keepdims=True)
    names = [f"i{n}" for n in range(x.rank)]
    there = ["r0" if n == axis else a for n, a in enumerate(names)]
    best = ["0" if n == axis else a for n, a in enumerate(names)]
    text = f"where(x0[{', '.join(there)}] == x1[{', '.join(best)}], r0, {x.shape[axis]})"
    first = build.compute(text, [x, top], top.shape, [x.shape[axis]], "min")
    return build.compute(f"{x.element}(x0[{', '.join(best)}] == {names[axis]})", [first], x.shape)
