"""Random distributions: uniform, normal, Bernoulli, multinomial; dropout.

Where a ``seed`` is given, NumPy's ``RandomState`` draws (``mersenne_twister.py``), else the counter-based generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.random import mersenne_twister
from mlc.frontends.build.ops.random.counter import DIGITS, fraction, mix, random_bits
from mlc.frontends.build.ops.reduction import arg_extreme
from mlc.frontends.build.tensors import Tensor


def uniform(build: Builder, shape: Sequence[DimLike], element: str, seed: int | None = None) -> Tensor:
    """[shape], at least 0 and below 1, in ``element``; in f64 with a seed."""
    if seed is not None:
        return mersenne_twister.uniform(build, seed, shape)
    return fraction(build, random_bits(build, shape), element)


def normal(build: Builder, shape: Sequence[DimLike], element: str, seed: int | None = None) -> Tensor:
    """[shape] of the standard normal distribution in ``element``.

    By Box and Muller (1958), from the upper and the lower half of 64 bits; in f64 from twice 64 bits.
    """
    if seed is not None:
        return build.cast(mersenne_twister.normal(build, seed, shape), element)
    bits = random_bits(build, shape)
    wide = "f64" if element == "f64" else "f32"
    other = mix(build, bits) if wide == "f64" else build.map("x0 << 32", bits)
    radius = build.map("sqrt(-2 * log(1 - x0))", fraction(build, bits, wide))
    angle = build.map(f"cos({2 * pi!r} * x0)", fraction(build, other, wide))
    return build.cast(build.map("x0 * x1", radius, angle), element)


def bernoulli(build: Builder, probabilities: Tensor, seed: int | None = None) -> Tensor:
    """i1 of the shape of ``probabilities``: each element is true with its probability."""
    if seed is not None:
        return mersenne_twister.bernoulli(build, seed, probabilities)
    wide = build.wide(probabilities)
    return build.map("x0 < x1", uniform(build, wide.shape, wide.element), wide)


def multinomial(build: Builder, logits: Tensor, samples: int, key: int | None = None) -> Tensor:
    """[batch, samples] of i64: classes drawn by logarithms of their probabilities [batch, classes].

    The class of the largest sum of logarithm and Gumbel noise (Gumbel, 1954): no sums over classes are needed.
    """
    wide = build.wide(logits)
    batch, classes = wide.shape
    digits = DIGITS[wide.element] - 1
    drawn = fraction(build, random_bits(build, (batch, samples, classes), key), wide.element, digits)
    half = 0.5 * 2.0**-digits  # more than 0, which has no logarithm, and less than 1, whose logarithm has none
    scores = build.compute(f"x0[i0, i2] - log(-log(x1[i0, i1, i2] + {half!r}))", [wide, drawn], drawn.shape)
    return arg_extreme(build, "max", scores, 2)


def dropout(
    build: Builder, x: Tensor, ratio: Tensor, training: Tensor, seed: int | None = None
) -> tuple[Tensor, Tensor]:
    """(``x`` scaled by 1 / (1 - ratio) where kept, else 0; i1 which are kept: all where ``training`` is false)."""
    wide = build.wide(x)
    drawn, share = uniform(build, x.shape, wide.element, seed), build.cast(ratio, wide.element)
    mask = build.map("(x0 >= x1) | not_(x2)", drawn, build.cast(ratio, drawn.element), training)
    scale = build.map("where(x1, 1 / (1 - x0), 1)", share, training)
    return build.cast(build.map("where(x1, x0 * x2, 0)", wide, mask, scale), x.element), mask
