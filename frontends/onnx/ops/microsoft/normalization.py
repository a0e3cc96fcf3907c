"""com.microsoft: SkipLayerNormalization, SkipSimplifiedLayerNormalization, EmbedLayerNormalization.

Also SimplifiedLayerNormalization, which onnxruntime keeps in ONNX's own domain.
"""

from __future__ import annotations

from collections.abc import Callable

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.indexing.gather import gather_at
from mlc.frontends.build.ops.normalization import mean_and_variance
from mlc.frontends.build.ops.reduction import mean
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN


def _rms(build: Builder, x: Tensor, axes: list[int], scale: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """(x over its root mean square, times the scale; the reciprocal of the root)."""
    wide = build.wide(x)
    square = mean(build, build.map("x0 * x0", wide), axes, keepdims=True)
    inverse = build.map(f"rsqrt(x0 + {literal(epsilon)})", square)
    y = build.map("x0 * x1 * x2", wide, inverse, build.cast(scale, wide.element))
    return build.cast(y, x.element), inverse


def _layer(build: Builder, x: Tensor, scale: Tensor, bias: Tensor | None, epsilon: float) -> Tensor:
    """Layer normalization over the last dimension."""
    wide = build.wide(x)
    mean, variance = mean_and_variance(build, wide, [x.rank - 1])
    y = build.map(f"(x0 - x1) * rsqrt(x2 + {literal(epsilon)})", wide, mean, variance)
    y = build.map("x0 * x1", y, build.cast(scale, y.element))
    y = y if bias is None else build.map("x0 + x1", y, build.cast(bias, y.element))
    return build.cast(y, x.element)


@onnx_op("SimplifiedLayerNormalization")
def simplified_layer_normalization(node: Node) -> Tensor | tuple[Tensor, Tensor]:
    """RMS normalization over the dimensions from ``axis`` on."""
    node.only("axis", "epsilon", stash_type=1)
    x = node[0]
    axes = list(range(normalize_axis(node.attr("axis", -1), x.rank), x.rank))
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
    """(normalized, none, none, sum) of the sum of input, skip and bias."""
    total = _sum(node, node.get(4))
    y = _layer(node.build, total, node[2], node.get(3), node.attr("epsilon", 1e-12))
    return y, y, y, total


@onnx_op("SkipSimplifiedLayerNormalization", domain=DOMAIN)
def skip_simplified_layer_normalization(node: Node) -> tuple[Tensor, ...]:
    """(RMS-normalized, none, none, sum) of the sum of input, skip and bias."""
    total = _sum(node, node.get(3))
    y, _ = _rms(node.build, total, [total.rank - 1], node[2], node.attr("epsilon", 1e-12))
    return y, y, y, total


@onnx_op("EmbedLayerNormalization", domain=DOMAIN)
def embed_layer_normalization(node: Node) -> tuple[Tensor, ...]:
    """(normalized sum of word, position and segment embeddings; tokens a row by the mask; the sum)."""
    node.only("epsilon", mask_index_type=0)
    return _embedded(node, lambda table, at: gather_at(node.build, node[table], at, 0), lambda n: node[n], node.get(8))


@onnx_op("QEmbedLayerNormalization", domain=DOMAIN)
def quantized_embed_layer_normalization(node: Node) -> tuple[Tensor, ...]:
    """The same of tables, scale and bias (inputs 2 to 6) of bytes; 8 to 12 are their scales, 13 to 17 zero points."""
    node.only("epsilon")
    build = node.build

    def dequantized(n: int, x: Tensor) -> Tensor:
        scale, zero = (build.reshape(node[k], ()) for k in (n + 6, n + 11))
        return build.map("f32(i32(x0) - i32(x1)) * x2", x, zero, scale)

    def row(table: int, at: Tensor) -> Tensor:
        return dequantized(table, gather_at(build, node[table], at, 0))

    return _embedded(node, row, lambda n: dequantized(n, node[n]), None)[:2]


def _embedded(
    node: Node, row: Callable[[int, Tensor], Tensor], vector: Callable[[int], Tensor], positions: Tensor | None
) -> tuple[Tensor, ...]:
    """``row`` gives the rows of a table at indices, ``vector`` scale and bias of the normalization."""
    build, ids, segments, mask = node.build, node[0], node.get(1), node.get(7)
    if positions is None:
        positions = build.compute("i1", [], (1, ids.shape[1]))
    total = build.map("x0 + x1", row(2, ids), row(3, positions))
    if segments is not None:
        total = build.map("x0 + x1", total, row(4, segments))
    y = _layer(build, total, vector(5), vector(6), node.attr("epsilon", 1e-12))
    none = build.constant(0, "i32")
    counts = build.broadcast(none, ids.shape[:1]) if mask is None else build.reduce("add", mask, [1])
    return y, counts, total
