"""Attention and QAttention: queries, keys and values are projected by one weight."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.ops.attention import attend, heads_of, joined
from mlc.frontends.build.ops.quantization import integer_matmul
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.attention.common import biases, extended, scale_of

READ = ("num_heads", "mask_filter_value", "scale", "unidirectional")


@onnx_op("Attention", domain=DOMAIN)
def attention(node: Node) -> tuple[Tensor, ...]:
    """(output, present) of x [B, S, in], by a weight [in, sizes of q, k and v] and an optional bias of its columns.

    Input 3 is a mask, 4 the past [2, B, heads, P, size], 5 a bias of the scores.
    """
    node.only(*READ, "qkv_hidden_sizes", do_rotary=0, past_present_share_buffer=0, rotary_embedding_dim=0)
    build, weight = node.build, node[1]
    flat = build.contract("bsd,dh->bsh", node[0], weight)
    flat = flat if node.get(2) is None else build.map("x0 + x1", flat, node[2])
    sizes = node.attr("qkv_hidden_sizes", None) or [weight.shape[1] // 3] * 3
    return _attended(node, flat, sizes, node.get(3), node.get(4), node.get(5))


@onnx_op("QAttention", domain=DOMAIN)
def quantized_attention(node: Node) -> tuple[Tensor, ...]:
    """(output, present) of bytes by a weight of bytes, whose product is scaled to f32.

    Inputs 3 and 4 are the scales, 6 and 7 the zero points (0 where absent): one, or one a column of the weight. 5 is a
    mask, 8 the past.
    """
    node.only(*READ, do_rotary=0, past_present_share_buffer=0)
    build, weight = node.build, node[1]
    zeros = [None if x is None else _one(node, x) for x in (node.get(6), node.get(7))]
    total = integer_matmul(build, node[0], weight, *zeros)
    scale = build.map("x0 * x1", _one(node, node[3]), _one(node, node[4]))
    flat = build.map("f32(x0) * x1 + x2", total, scale, node[2])
    return _attended(node, flat, [weight.shape[1] // 3] * 3, node.get(5), node.get(8), None)


def _one(node: Node, x: Tensor) -> Tensor:
    return node.build.reshape(x, ()) if x.shape == (1,) else x


def _attended(
    node: Node, flat: Tensor, sizes: Sequence[DimLike], mask: Tensor | None, past: Tensor | None, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """(output, present) of queries, keys and values [B, S, sum of ``sizes``]."""
    build, heads = node.build, node.attr("num_heads")
    starts = [0, sizes[0], sizes[0] + sizes[1]]
    q, k, v = (heads_of(build, build.cut(flat, 2, a, n), heads) for a, n in zip(starts, sizes, strict=True))
    if past is not None:
        old = [build.reshape(build.cut(past, 0, n, 1), past.shape[1:]) for n in range(2)]
        k, v = extended(build, old[0], k), extended(build, old[1], v)
    added = biases(node, q, k, mask, bias)
    y = joined(build, attend(build, q, k, v, scale_of(node, q.shape[3]), added))
    if not node.wants(1):
        return (y,)
    return y, build.concat([build.reshape(part, (1, *part.shape)) for part in (k, v)], 0)
