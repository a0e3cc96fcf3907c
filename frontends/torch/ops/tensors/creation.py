"""Tensors that are made: of a value, ranges, random numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.indexing import sorting
from mlc.frontends.build.ops.random import distributions
from mlc.frontends.build.ops.shapes.arange import arange
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, Operand, aten


@aten("full")
def full(call: Call, size: Sequence[DimLike], value: Operand, **_: Any) -> Tensor:
    return call.build.broadcast(call.tensor(value), call.extents(size))


@aten("full_like", "new_full")
def full_like(call: Call, x: Tensor, *given: Any, **_: Any) -> Tensor:
    size, value = (x.shape, given[0]) if call.op == "full_like" else given[:2]
    return full(call, size, value)


@aten("zeros", "ones", "empty")
def filled(call: Call, size: Sequence[DimLike], **_: Any) -> Tensor:
    """Memory that torch leaves undefined is 0."""
    return full(call, size, int(call.op == "ones"))


@aten("empty_strided", "new_empty_strided")
def empty_strided(call: Call, *given: Any, **_: Any) -> Tensor:
    return full(call, given[0] if call.op == "empty_strided" else given[1], 0)


@aten("zeros_like", "ones_like", "empty_like", "new_zeros", "new_ones", "new_empty")
def filled_like(call: Call, x: Tensor, size: Sequence[DimLike] | None = None, **_: Any) -> Tensor:
    return full(call, x.shape if size is None else size, int("ones" in call.op))


@aten("scalar_tensor")
def scalar_tensor(call: Call, value: Operand, **_: Any) -> Tensor:
    return call.tensor(value)


@aten("arange")
def range_(call: Call, *ends: Operand, **_: Any) -> Tensor:
    """arange(end), arange(start, end) or arange(start, end, step)."""
    start, end, step = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
    counted = call.element if call.is_real() and not all(isinstance(e, int) for e in ends) else "i64"
    made = arange(call.build, *(call.tensor(each, counted) for each in (start, end, step)))
    return call.tensor(made)


@aten("prims::iota")
def iota(call: Call, length: DimLike, *, start: DimLike, step: int, **_: Any) -> Tensor:
    return call.tensor(call.build.compute(f"i64({start}) + i0 * {step}", [], (length,)))


@aten("rand", "randn", "rand_like", "randn_like")
def random(call: Call, given: Any, *_: Any, **__: Any) -> Tensor:
    """Other numbers than torch draws: of mlc's counter-based generator."""
    shape = given.shape if isinstance(given, Tensor) else given
    draw = distributions.normal if "randn" in call.op else distributions.uniform
    return draw(call.build, shape, call.element)


@aten("randperm")
def permutation(call: Call, n: DimLike, **_: Any) -> Tensor:
    """The order of random numbers."""
    drawn = distributions.uniform(call.build, (1, n, 1), "f32")
    return call.build.reshape(sorting.argsort(call.build, drawn, n), (n,))


@aten("uniform")
def uniform(call: Call, x: Tensor, low: float = 0.0, high: float = 1.0, **_: Any) -> Tensor:
    return _of_uniform(call, x, f"{literal(low)} + {literal(high - low)} * x0")


@aten("exponential")
def exponential(call: Call, x: Tensor, rate: float = 1.0, **_: Any) -> Tensor:
    return _of_uniform(call, x, f"-log1p(-x0) / {literal(rate)}")


@aten("geometric")
def geometric(call: Call, x: Tensor, p: float, **_: Any) -> Tensor:
    return _of_uniform(call, x, f"max(ceil(log1p(-x0) / {literal(math.log1p(-p) if p < 1 else -math.inf)}), 1)")


@aten("cauchy")
def cauchy(call: Call, x: Tensor, median: float = 0.0, sigma: float = 1.0, **_: Any) -> Tensor:
    return _of_uniform(call, x, f"{literal(median)} + {literal(sigma)} * tan({math.pi!r} * (x0 - 0.5))")


def _of_uniform(call: Call, x: Tensor, expr: str) -> Tensor:
    wide = call.element if call.is_real() else "f64"
    return call.build.formula(expr, distributions.uniform(call.build, x.shape, wide))


@aten("normal_functional", "log_normal")
def normal(call: Call, x: Tensor, mean: float = 0.0, deviation: float = 1.0, **_: Any) -> Tensor:
    drawn = distributions.normal(call.build, x.shape, call.element)
    y = call.build.map(f"{literal(mean)} + {literal(deviation)} * x0", drawn)
    return call.build.map("exp(x0)", y) if call.op == "log_normal" else y


@aten("bernoulli")
def bernoulli(call: Call, probabilities: Tensor, p: float | None = None, **_: Any) -> Tensor:
    build = call.build
    if p is not None:
        probabilities = build.broadcast(build.constant(p, probabilities.element), probabilities.shape)
    return distributions.bernoulli(build, probabilities)
