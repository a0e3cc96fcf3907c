"""Random operators, by a generator that counts: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

Element ``e`` of a node is number ``e`` of the sequence that starts where the node's seed and the number of the run (in
a loop: and of the turn) say. So elements need no order, and results depend neither on threads nor on the target.
Nodes have sequences of their own. One with a ``seed`` draws the numbers of onnx's reference implementation instead
(``seeded.py``); but for Multinomial, which that does not have: of one ``seed``, it draws the same.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import pi

from mlc.dialects.dims import DimLike, product
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops import seeded
from mlc.frontends.onnx.ops.reduce import extreme_place
from mlc.frontends.onnx.tensors import Tensor, element_of_onnx

GOLDEN = 0x9E3779B97F4A7C15  # between two states of the generator
ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # of its output function: shift, factor
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # of a fraction that the type holds without rounding


def bits(node: Node, shape: Sequence[DimLike]) -> Tensor:
    """[shape] of u64, each value as likely as any other."""
    build = node.build
    start = _word(build, 0)
    turns = [build.compute(f"i64({n})", [], ()) for n in build.turn_numbers]
    for number in (build.run_number(), *turns):
        start = _mixed(build, build.map("x0 + as_ui64(x1)", start, number))
    start = _mixed(build, build.map("x0 + x1", start, _word(build, _seed(node))))
    count = build.compute("as_ui64(i64(i0))", [], (product(shape),))
    states = build.map("x0 + x1 * x2", start, count, _word(build, GOLDEN))
    return build.reshape(_mixed(build, states), shape)


def _mixed(build: Builder, state: Tensor) -> Tensor:
    """What SplitMix64 puts out when it goes on from ``state``."""
    x = build.map("x0 + x1", state, _word(build, GOLDEN))
    for shift, factor in ROUNDS:
        x = build.map(f"(x0 ^ (x0 >> {shift})) * x1", x, _word(build, factor))
    return build.map("x0 ^ (x0 >> 31)", x)


def _word(build: Builder, value: int) -> Tensor:
    return build.constant(value, "ui64")


def _seed(node: Node) -> int:
    """The bits of the attribute, or the node's number among those without one."""
    if (seed := node.attr("seed", None)) is not None:
        return struct.unpack("<Q", struct.pack("<d", seed))[0]
    return node.build.count_random()


def fraction(build: Builder, words: Tensor, element: str, digits: int = 0) -> Tensor:
    """At least 0 and below 1, from the upper ``digits`` bits (by default as many as ``element`` has)."""
    digits = digits or DIGITS[element]
    return build.map(f"{element}(i64(x0 >> {64 - digits})) * {element}({2.0**-digits!r})", words)


def uniform(node: Node, shape: Sequence[DimLike], element: str) -> Tensor:
    """At least 0 and below 1; of type f64 where the node has a seed."""
    if (seed := seeded.seed_of(node)) is not None:
        return seeded.uniform(node.build, seed, shape)
    return fraction(node.build, bits(node, shape), element)


def normal(node: Node, shape: Sequence[DimLike], element: str) -> Tensor:
    """By Box and Muller (1958), from the upper and the lower half of a word; in f64 from two words."""
    build = node.build
    if (seed := seeded.seed_of(node)) is not None:
        return build.cast(seeded.normal(build, seed, shape), element)
    words = bits(node, shape)
    wide = "f64" if element == "f64" else "f32"
    other = _mixed(build, words) if wide == "f64" else build.map("x0 << 32", words)
    radius = build.map("sqrt(-2 * log(1 - x0))", fraction(build, words, wide))
    angle = build.map(f"cos({2 * pi!r} * x0)", fraction(build, other, wide))
    return build.cast(build.map("x0 * x1", radius, angle), element)


def _element(node: Node, default: str) -> str:
    """The type of the result.

    Raises:
        NotSupported: it is no float.
    """
    element = element_of_onnx(node.attr("dtype")) if "dtype" in node.attributes else default
    if element not in DIGITS:
        raise NotSupported(f"random numbers of type {element}; give one of {', '.join(DIGITS)}")
    return element


def _shape(node: Node) -> tuple[Sequence[DimLike], str]:
    if node.op.endswith("Like"):
        return node[0].shape, _element(node, node[0].element)
    return node.attr("shape"), _element(node, "f32")


@onnx_op("RandomUniform", "RandomUniformLike")
def random_uniform(node: Node) -> Tensor:
    """Between ``low`` and ``high``. ONNX opset 1, 22."""
    low, high = node.attr("low", 0.0), node.attr("high", 1.0)
    shape, element = _shape(node)
    drawn = node.build.cast(uniform(node, shape, element), element)
    return node.build.map(f"x0 * {high - low!r} + {low!r}", drawn)


@onnx_op("RandomNormal", "RandomNormalLike")
def random_normal(node: Node) -> Tensor:
    """Of a mean and a standard deviation. ONNX opset 1, 22."""
    mean, scale = node.attr("mean", 0.0), node.attr("scale", 1.0)
    return node.build.map(f"x0 * {scale!r} + {mean!r}", normal(node, *_shape(node)))


@onnx_op("Bernoulli", since=15)
def bernoulli(node: Node) -> Tensor:
    """1 with the probability that the input says. ONNX opset 15, 22."""
    x, build = node[0], node.build
    element = element_of_onnx(node.attr("dtype")) if "dtype" in node.attributes else x.element
    if (seed := seeded.seed_of(node)) is not None:
        return build.cast(seeded.bernoulli(build, seed, x), element)
    wide = build.wide(x)
    return build.cast(build.map("x0 < x1", uniform(node, x.shape, wide.element), wide), element)


@onnx_op("Multinomial", since=7)
def multinomial(node: Node) -> Tensor:
    """[batch, samples]: classes drawn by logarithms of their probabilities [batch, classes]. ONNX opset 7, 22.

    The class of the largest sum of logarithm and Gumbel noise (Gumbel, 1954): no sums over classes are needed.
    """
    build, wide = node.build, node.build.wide(node[0])
    (batch, classes), samples = wide.shape, node.attr("sample_size", 1)
    digits = DIGITS[wide.element] - 1
    drawn = fraction(build, bits(node, (batch, samples, classes)), wide.element, digits)
    half = 0.5 * 2.0**-digits  # more than 0, which has no logarithm, and less than 1, whose logarithm has none
    scores = build.compute(f"x0[i0, i2] - log(-log(x1[i0, i1, i2] + {half!r}))", [wide, drawn], drawn.shape)
    return build.cast(extreme_place(build, "max", scores, 2), element_of_onnx(node.attr("dtype", 6)))


def dropout(node: Node, x: Tensor, ratio: Tensor, training: Tensor) -> tuple[Tensor, Tensor]:
    """Elements that are kept, scaled by 1 / (1 - ratio), and which they are; all where ``training`` is false."""
    build = node.build
    wide = build.wide(x)
    drawn, share = uniform(node, x.shape, wide.element), build.cast(ratio, wide.element)
    mask = build.map("(x0 >= x1) | not_(x2)", drawn, build.cast(ratio, drawn.element), training)
    scale = build.map("where(x1, 1 / (1 - x0), 1)", share, training)
    return build.cast(build.map("where(x1, x0 * x2, 0)", wide, mask, scale), x.element), mask
