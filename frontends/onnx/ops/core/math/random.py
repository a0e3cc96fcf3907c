"""Random operators; Dropout, which draws random numbers in training.

Nodes draw from the counter-based generator. One with a ``seed`` draws the numbers of onnx's reference implementation
instead; but for Multinomial, which that does not have: of one ``seed``, it draws the same.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.random import distributions
from mlc.frontends.build.ops.random.counter import DIGITS
from mlc.frontends.build.ops.random.mersenne_twister import SEEDS
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.reading.types import element_of_onnx


def _seed(node: Node) -> int | None:
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
    drawn = node.build.cast(distributions.uniform(node.build, shape, element, _seed(node)), element)
    return node.build.map(f"x0 * {high - low!r} + {low!r}", drawn)


@onnx_op("RandomNormal", "RandomNormalLike")
def random_normal(node: Node) -> Tensor:
    """Normal numbers of a mean and a standard deviation. ONNX opset 1, 22."""
    mean, scale = node.attr("mean", 0.0), node.attr("scale", 1.0)
    shape, element = _shape(node)
    drawn = distributions.normal(node.build, shape, element, _seed(node))
    return node.build.map(f"x0 * {scale!r} + {mean!r}", drawn)


@onnx_op("Bernoulli", since=15)
def bernoulli(node: Node) -> Tensor:
    """1 with the probability that the input says. ONNX opset 15, 22."""
    element = element_of_onnx(node.attr("dtype")) if "dtype" in node.attributes else node[0].element
    return node.build.cast(distributions.bernoulli(node.build, node[0], _seed(node)), element)


@onnx_op("Multinomial", since=7)
def multinomial(node: Node) -> Tensor:
    """[batch, samples] of [batch, classes]. ONNX opset 7, 22. The key of the generator is the bits of the seed."""
    seed = node.attr("seed", None)
    key = None if seed is None else struct.unpack("<Q", struct.pack("<d", seed))[0]
    drawn = distributions.multinomial(node.build, node[0], node.attr("sample_size", 1), key)
    return node.build.cast(drawn, element_of_onnx(node.attr("dtype", 6)))


@onnx_op("Dropout")
def dropout(node: Node) -> Tensor | tuple[Tensor, Tensor]:
    """Passes its input through, and the mask is all true; unless a third input says that it is training.

    ONNX opset 7, 10, 12, 13, 22."""
    x = node[0]
    if node.opset >= 12 and node.has(2) and (node[2].known is None or node.scalar(2)):
        ratio = node[1] if node.has(1) else node.build.constant(0.5, "f32")
        y, mask = distributions.dropout(node.build, x, ratio, node[2], _seed(node))
        return (y, mask) if node.wants(1) else y
    if not node.wants(1):
        return x
    return x, node.build.broadcast(node.build.constant(True, "i1" if node.opset >= 10 else x.element), x.shape)
