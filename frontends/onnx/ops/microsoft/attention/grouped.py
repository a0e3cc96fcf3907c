"""GroupQueryAttention."""

from __future__ import annotations

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.attention import joined, scored, weighed
from mlc.frontends.build.ops.rotary import angles_at, rotated
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.attention.cache import Cache
from mlc.frontends.onnx.ops.microsoft.attention.common import repeated, scale_of, split_heads
from mlc.frontends.onnx.ops.microsoft.gates.units import rms_normalized

READ = (
    *("num_heads", "kv_num_heads", "scale", "do_rotary", "rotary_interleaved", "softcap", "local_window_size"),
    *("smooth_softmax", "causal", "qk_output", "q_norm_epsilon", "k_norm_epsilon", "qk_norm_epsilon"),
    *("k_quant_type", "v_quant_type", "kv_cache_bit_width"),
)  # attributes of GroupQueryAttention


@onnx_op("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(node: Node) -> tuple[Tensor, ...]:
    """(output, present key, present value, scores): attention in which groups of query heads share keys and values.

    ``seqlens_k`` says for each sequence how many keys it has, less one; new keys follow the old ones. The
    length of the whole, ``total_sequence_length``, must be known at import. Optional are position_ids (of the
    rotation), attention_bias, head_sink, scales of a cache of integers, scales of queries and keys that are normalized,
    and how many of the new rows count.
    """
    node.only(*READ, sliding_window_cache=0)
    build, heads, shared = node.build, node.attr("num_heads"), node.attr("kv_num_heads")
    q, k, v = split_heads(node, heads, shared)
    q, k = _normalized(node, q, 14), _normalized(node, k, 15)
    rows, total = q.shape[2], node.dims(6)[0]
    lengths = build.reshape(build.cast(node[5], "i64"), (q.shape[0],))
    if node.has(16):
        new = build.reshape(build.cast(node[16], "i64"), (q.shape[0],))
        old = build.map("x0 + 1 - x1", lengths, new)
    else:
        new, old = None, build.map(f"max(x0 + 1 - {rows}, 0)", lengths)
    if node.attr("do_rotary", 0):
        positions = node[9] if node.has(9) else build.compute("x0[i0] + i1", [old], (q.shape[0], rows))
        if node.has(9) and total == rows and not node.has(16):  # a first call goes on from the first position of all
            positions = build.reshape(build.slice(positions, [0, 0], [1, 1]), (1,))
        c, s = (angles_at(build, node[n], positions, rows) for n in (7, 8))
        q, k = (rotated(build, x, c, s, bool(node.attr("rotary_interleaved", 0))) for x in (q, k))
    caches = [Cache.of(node, 3, 12, "k_quant_type"), Cache.of(node, 4, 13, "v_quant_type")]
    stored = [cache.extended(build, x, old, new, total) for cache, x in zip(caches, (k, v), strict=True)]
    keys, values = (cache.read(build, x, q.element) for cache, x in zip(caches, stored, strict=True))
    added = _added(node, old, rows, keys.shape[2])
    keys, values = (repeated(build, x, heads // shared) for x in (keys, values))
    scores = scored(build, q, keys, scale_of(node, q.shape[3]), added, node.attr("softcap", 0.0))
    y = joined(build, weighed(build, scores, values, _sink(node)))
    return y, *stored, _shown(node, scores, q.element) if node.wants(3) else y


def _normalized(node: Node, x: Tensor, n: int) -> Tensor:
    """Heads over their root mean square, where input ``n`` has the scale of it."""
    if not node.has(n):
        return x
    own = f"{'q' if n == 14 else 'k'}_norm_epsilon"
    epsilon = node.attr(own, node.attr("qk_norm_epsilon", 1e-6))
    return node.build.cast(rms_normalized(node.build, node.build.cast(x, "f32"), node[n], epsilon), x.element)


def _shown(node: Node, scores: Tensor, element: str) -> Tensor:
    """The scores that output 3 has: before the softmax, with 0 for keys that a query does not see, or after it."""
    kind = node.attr("qk_output", 0)
    if kind not in (1, 2):
        raise NotSupported(f"output_qk with qk_output = {kind}; 1 (before the softmax) and 2 (after it) are supported")
    build = node.build
    y = build.map("where(x0 == -inf, 0, x0)", scores) if kind == 1 else softmax(build, scores, [3], sink=_sink(node))
    return build.cast(y, element)


def _sink(node: Node) -> Tensor | None:
    """Attention sink: one more score of each head, given, or 0 in a smooth softmax."""
    build, sink = node.build, node.get(11)
    if sink is not None:
        return build.cast(build.reshape(sink, (1, *sink.shape, 1, 1)), "f32")
    return build.constant(np.zeros((1, 1, 1, 1)), "f32") if node.attr("smooth_softmax", 0) == 1 else None


def _added(node: Node, old: Tensor, rows: DimLike, length: DimLike) -> list[Tensor]:
    """The additive biases of the scores."""
    build, bias = node.build, node.get(10)
    added = [_allowed(build, node, old, rows, length)]
    if bias is not None:
        added.append(build.pad(bias, [0] * 4, [0, 0, 0, length - bias.shape[3]]))
    return added


def _allowed(build: Builder, node: Node, old: Tensor, rows: DimLike, length: DimLike) -> Tensor:
    """[B, 1, rows, length]: minus infinity at keys after a query, and at those before its local window.

    Where nothing is causal, at those that a sequence does not have.
    """
    window, last = node.attr("local_window_size", -1), "x0[i0] + i2"
    if not node.attr("causal", 1):
        lengths = build.reshape(build.cast(node[5], "i64"), old.shape)
        return build.compute("where(i3 <= x0[i0], f32(0), -inf)", [lengths], (old.shape[0], 1, rows, length))
    seen = f"(i3 <= {last})"
    if window > 0:
        seen += f" & (i3 > {last} - {window})"
    return build.compute(f"where({seen}, f32(0), -inf)", [old], (old.shape[0], 1, rows, length))
