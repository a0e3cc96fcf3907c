"""Random numbers of torch's distributions: of mlc's counter-based generator, so other numbers than torch's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mlc.dialects.graph import broadcast_shapes
from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.array.array import Array
from mlc.frontends.array.random import discrete, gamma
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.indexing import sorting
from mlc.frontends.build.ops.random import distributions
from mlc.frontends.build.ops.random.counter import random_bits
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.registry import Call, Operand, aten


@aten("rand", "randn", "rand_like", "randn_like")
def random(call: Call, given: Any, *_: Any, **__: Any) -> Tensor:
    shape = given.shape if isinstance(given, Tensor) else given
    draw = distributions.normal if "randn" in call.op else distributions.uniform
    return draw(call.build, shape, call.element)


@aten("randint", "randint.low")
def integers(call: Call, *given: Any, **_: Any) -> Tensor:
    """randint(high, size) or randint(low, high, size)."""
    low, high, size = given if len(given) == 3 else (0, *given)
    return _integers(call, size, low, high)


@aten("randint_like", "randint_like.low_dtype")
def integers_like(call: Call, x: Tensor, *ends: Any, **_: Any) -> Tensor:
    low, high = ends if len(ends) == 2 else (0, *ends)
    return _integers(call, x.shape, low, high)


@aten("random", "random.from", "random.to")
def whole_numbers(call: Call, x: Tensor, *ends: Any, **_: Any) -> Tensor:
    """random(x), random(x, end) or random(x, start, end); without an end as many as the type counts exactly."""
    most = {"f16": 1 << 11, "bf16": 1 << 8, "f32": 1 << 24, "f64": 1 << 53, "i1": 2, "i8": 1 << 7, "ui8": 1 << 8,
            "i16": 1 << 15, "i32": 1 << 31}.get(call.element, 1 << 62)  # fmt: skip
    low, high = (*ends, most)[:2] if call.op == "random.from" or len(ends) == 2 else (0, ends[0] if ends else most)
    return _integers(call, x.shape, low, high)


def _integers(call: Call, shape: Sequence[DimLike], low: Operand, high: Operand) -> Tensor:
    """Integers from ``low`` to ``high - 1``: the upper 63 bits of a draw modulo their number."""
    build = call.build
    drawn = build.map("i64(x0 >> 1)", random_bits(build, call.extents(shape)))
    first, end = (call.tensor(each, "i64") for each in (low, high))
    return build.map("x1 + x0 % (x2 - x1)", drawn, first, end)


@aten("randperm")
def permutation(call: Call, n: DimLike, **_: Any) -> Tensor:
    """A random permutation: the order of random numbers."""
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


@aten("normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor", "normal.float_float")
def normal_of(call: Call, mean: Operand, deviation: Operand = 1.0, size: Any = None, **_: Any) -> Tensor:
    """Normal numbers, with a mean and a deviation for each element."""
    own = [x for x in (mean, deviation) if isinstance(x, Tensor)]
    shape = broadcast_shapes([x.shape for x in own]) if own else call.extents(size)
    drawn = distributions.normal(call.build, shape, call.element)
    return call.build.formula("x1 + x2 * x0", drawn, *call.tensors(mean, deviation))


@aten("bernoulli")
def bernoulli(call: Call, probabilities: Tensor, p: float | None = None, **_: Any) -> Tensor:
    build = call.build
    if p is not None:
        probabilities = build.broadcast(build.constant(p, probabilities.element), probabilities.shape)
    return distributions.bernoulli(build, probabilities)


@aten("multinomial")
def multinomial(call: Call, weights: Tensor, count: int, replacement: bool = False, **_: Any) -> Tensor:
    """[.., count] of i64: classes drawn by weights [.., classes]; without ``replacement`` no class twice."""
    build = call.build
    rows = build.reshape(build.wide(weights), (product(weights.shape[:-1]), weights.shape[-1]))
    logits = build.map("log(x0)", rows)
    if replacement:
        found = distributions.multinomial(build, logits, count)
    else:
        noisy = build.map("x0 - log(x1)", logits, _exponential(call, rows.shape, rows.element))
        found = sorting.top_k(build, noisy, 1, count, largest=True)[1]
    return build.reshape(found, (*weights.shape[:-1], count))


def _exponential(call: Call, shape: Sequence[DimLike], element: str) -> Tensor:
    """Exponential numbers, more than 0: the logarithm of their inverses is Gumbel's noise."""
    drawn = distributions.uniform(call.build, shape, element)
    return call.build.map("max(-log1p(-x0), 1e-30)", drawn)


def _keyed(draw: Callable[..., Array]) -> Callable[..., Tensor]:
    """A distribution of ``mlc.numpy.random`` that is drawn by a key, with one of the generator."""

    def translation(call: Call, *parameters: Tensor) -> Tensor:
        key = call.build.map("ui32(x0 >> 32)", random_bits(call.build, (2,)))
        found: Tensor = by_arrays(call.build, draw, key, *parameters)
        return found

    return translation


@aten("poisson")
def poisson(call: Call, rate: Tensor, *_: Any) -> Tensor:
    return _keyed(lambda key, rate: discrete.poisson(key, rate, dtype=rate.dtype))(call, rate)


@aten("_standard_gamma")
def standard_gamma(call: Call, shape: Tensor, *_: Any) -> Tensor:
    return _keyed(lambda key, a: gamma.gamma(key, a, dtype=a.dtype))(call, shape)


@aten("_sample_dirichlet")
def dirichlet(call: Call, alpha: Tensor, *_: Any) -> Tensor:
    return _keyed(lambda key, a: gamma.dirichlet(key, a, dtype=a.dtype))(call, alpha)
