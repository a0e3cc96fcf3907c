"""What operators with a seed draw: the numbers that NumPy's ``RandomState`` gives onnx's reference implementation.

The first run draws those of ``RandomState(seed)``, run n those of ``RandomState([seed, n])``; in loops the numbers of
the turns, the outermost first, stand between the two. Zeros at the end are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.dims import DimLike, product
from mlc.dialects.graph import DrawOp
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node
from mlc.frontends.onnx.tensors import Tensor

SEEDS = 1 << 32


def seed_of(node: Node) -> int | None:
    """The whole part of the attribute; None without one, or for NaN.

    Raises:
        NotSupported: NumPy takes no such seed.
    """
    seed = node.attr("seed", None)
    if seed is None or seed != seed:
        return None
    if not -1 < seed < SEEDS:
        raise NotSupported(
            f"attribute 'seed' = {seed}; NumPy takes seeds from 0 to {SEEDS - 1}. Give one of these, or none"
        )
    return int(seed)


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


def bernoulli(build: Builder, seed: int, shares: Tensor) -> Tensor:
    """[shape of ``shares``] of i1: ``RandomState.binomial(1, shares)``, which inverts from the smaller side."""
    wide, drawn = build.cast(shares, "f64"), uniform(build, seed, shares.shape)
    return build.map("((x0 <= 0.5) & (x1 > 1 - x0)) | ((x0 > 0.5) & (x1 <= x0))", wide, drawn)


def _drawn(build: Builder, kind: str, seed: int, count: DimLike) -> Tensor:
    return build.emit(DrawOp(kind, build.value(_key(build, seed)), count))


def _key(build: Builder, seed: int) -> Tensor:
    """[words] of i64; the number of the run has two."""
    words = [str(seed), *(f"i64({n})" for n in build.turn_numbers), "x0[()]", "x0[()] >> 32"]
    text = words.pop()
    for n, word in reversed(list(enumerate(words))):
        text = f"where(i0 == {n}, {word}, {text})"
    return build.compute(text, [build.run_number()], (len(words) + 1,))
