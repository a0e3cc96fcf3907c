"""Seeded random numbers: those of NumPy's ``RandomState`` (MT19937, Matsumoto and Nishimura, 1998).

The first run draws those of ``RandomState(seed)``, run n those of ``RandomState([seed, n])``; in loops the numbers of
the iterations, the outermost first, are between the two. Trailing zeros are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.graph import RandomDrawOp
from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor

SEEDS = 1 << 32  # a seed is below


def uniform(build: Builder, seed: int, shape: Sequence[DimLike]) -> Tensor:
    """[shape] of f64, at least 0 and below 1: ``RandomState.rand``."""
    return build.reshape(_drawn(build, "uniform", seed, product(shape)), shape)


def normal(build: Builder, seed: int, shape: Sequence[DimLike]) -> Tensor:
    """[shape] of f64: ``RandomState.randn``. Two from each point, by the polar method (Marsaglia and Bray, 1964)."""
    count = product(shape)
    points = _drawn(build, "disc", seed, (count + 1) // 2)
    squares = build.compute("x0[i0, 0] * x0[i0, 0] + x0[i0, 1] * x0[i0, 1]", [points], points.shape[:1])
    pairs = build.compute("x0[i0, 1 - i1] * sqrt(-2 * log(x1[i0]) / x1[i0])", [points, squares], points.shape)
    flat = build.reshape(pairs, (product(pairs.shape),))
    return build.reshape(build.cut(flat, 0, 0, count), shape)


def bernoulli(build: Builder, seed: int, probabilities: Tensor) -> Tensor:
    """i1 of the shape of ``probabilities``: ``RandomState.binomial(1, p)``, which inverts from the smaller side."""
    wide, drawn = build.cast(probabilities, "f64"), uniform(build, seed, probabilities.shape)
    return build.map("((x0 <= 0.5) & (x1 > 1 - x0)) | ((x0 > 0.5) & (x1 <= x0))", wide, drawn)


def _drawn(build: Builder, kind: str, seed: int, count: DimLike) -> Tensor:
    return build.emit(RandomDrawOp(kind, build.value(_key(build, seed)), count))


def _key(build: Builder, seed: int) -> Tensor:
    """The key of a seeded generator: [n] of i64 whose lower 32 bits count. The run counter takes two of them."""
    parts = [str(seed), *(f"i64({n})" for n in build.iterations), "x0[()]", "x0[()] >> 32"]
    text = parts.pop()
    for n, part in reversed(list(enumerate(parts))):
        text = f"where(i0 == {n}, {part}, {text})"
    return build.compute(text, [build.run_counter()], (len(parts) + 1,))
