"""com.microsoft: SkipLayerNormalization, SkipSimplifiedLayerNormalization, EmbedLayerNormalization.

Also SimplifiedLayerNormalization, which onnxruntime keeps in ONNX's own domain.
"""

from __future__ import annotations

from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.gather import gathered
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.normalization import mean_and_variance
from mlc.frontends.onnx.ops.reduce import mean_over
from mlc.frontends.onnx.tensors import Tensor


def _rms(build: Builder, x: Tensor, axes: list[int], scale: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """(x over its root mean square, times the scale; the reciprocal of the root)."""
    wide = build.wide(x)
    square = mean_over(build, build.map("x0 * x0", wide), axes, keepdims=True)
    inverse = build.map(f"rsqrt(x0 + {literal(epsilon)})", square)
    y = build.map("x0 * x1 * x2", wide, inverse, build.cast(scale, wide.element))
    return build.cast(y, x.element), inverse


def _layer(build: Builder, x: Tensor, scale: Tensor, bias: Tensor | None, epsilon: float) -> Tensor:
    """Layer normalisation over the last dimension."""
    wide = build.wide(x)
    mean, variance = mean_and_variance(build, wide, [x.rank - 1])
    y = build.map(f"(x0 - x1) * rsqrt(x2 + {literal(epsilon)})", wide, mean, variance)
    y = build.map("x0 * x1", y, build.cast(scale, y.element))
    y = y if bias is None else build.map("x0 + x1", y, build.cast(bias, y.element))
    return build.cast(y, x.element)


@onnx_op("SimplifiedLayerNormalization")
def simplified_layer_normalization(node: Node) -> Tensor | tuple[Tensor, Tensor]:
    """RMS normalisation over the dimensions from ``axis`` on."""
    node.only("axis", "epsilon", stash_type=1)
    x = node[0]
    axes = list(range(normalise_axis(node.attr("axis", -1), x.rank), x.rank))
    y, inverse = _rms(node.build, x, axes, node[1], node.attr("epsilon", 1e-5))
    return (y, inverse) if node.wants(1) else y


def _sum(node: Node, bias: Tensor | None) -> Tensor:
    """input + skip + bias; the second and third outputs exist for training alone."""
    node.only("epsilon")
    if node.wants(1) or node.wants(2):
        raise NotSupported("outputs 1 and 2 (statistics for training); leave them out")
    total = node.build.map("x0 + x1", node[0], node[1])
    return total if bias is None else node.build.map("x0 + x1", total, bias)


@onnx_op("SkipLayerNormalization", domain=DOMAIN)
def skip_layer_normalization(node: Node) -> tuple[Tensor, ...]:
    """(normalised, none, none, sum) of the sum of input, skip and bias."""
    total = _sum(node, node.get(4))
    y = _layer(node.build, total, node[2], node.get(3), node.attr("epsilon", 1e-12))
    return y, y, y, total


@onnx_op("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_simplified_layer_normalization(node: Node) -> tuple[Tensor, ...]:
    """(RMS-normalised, none, none, sum) of the sum of input, skip and bias."""
    total = _sum(node, node.get(3))
    y, _ = _rms(node.build, total, [total.rank - 1], node[2], node.attr("epsilon", 1e-12))
    return y, y, y, total


@onnx_op("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(node: Node) -> tuple[Tensor, ...]:
    """(normalised sum of word, position and segment embeddings; tokens a row by the mask; the sum)."""
    node.only("epsilon", mask_index_type=0)
    build, ids, segments, mask, places = node.build, node[0], node.get(1), node.get(7), node.get(8)
    total = gathered(build, node[2], ids, 0)
    if places is None:
        total = build.map("x0 + x1", total, build.cut(node[3], 0, 0, ids.shape[1]))
    else:
        total = build.map("x0 + x1", total, gathered(build, node[3], places, 0))
    if segments is not None:
        total = build.map("x0 + x1", total, gathered(build, node[4], segments, 0))
    y = _layer(build, total, node[5], node[6], node.attr("epsilon", 1e-12))
    none = build.constant(0, "i32")
    counts = build.broadcast(none, ids.shape[:1]) if mask is None else build.reduce("add", mask, [1])
    return y, counts, total
