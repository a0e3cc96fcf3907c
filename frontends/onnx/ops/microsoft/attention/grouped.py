"""GroupQueryAttention."""

from __future__ import annotations

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.attention import attend, joined
from mlc.frontends.build.ops.rotary import angles_at, rotated
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.attention.common import repeated, scale_of, split_heads

READ = (
    *("num_heads", "kv_num_heads", "scale", "do_rotary", "rotary_interleaved", "softcap", "local_window_size"),
    "smooth_softmax",
)  # attributes of GroupQueryAttention


@onnx_op("GroupQueryAttention", domain=DOMAIN)
def group_query_attention(node: Node) -> tuple[Tensor, ...]:
    """(output, present key, present value): causal attention in which groups of query heads share keys and values.

    ``seqlens_k`` says for each sequence how many keys it has, less one; new keys follow the old ones. The
    length of the whole, ``total_sequence_length``, must be known at import. Optional are position_ids (of the
    rotation), attention_bias and head_sink.
    """
    node.only(*READ, qk_output=0, k_quant_type="NONE", v_quant_type="NONE", kv_cache_bit_width=0)
    if any(node.has(n) for n in range(12, len(node))):
        raise NotSupported("inputs after head_sink (scales of quantized keys and values); export without them")
    build, heads, shared = node.build, node.attr("num_heads"), node.attr("kv_num_heads")
    q, k, v = split_heads(node, heads, shared)
    rows, total = q.shape[2], node.dims(6)[0]
    lengths = build.reshape(build.cast(node[5], "i64"), (q.shape[0],))
    old = build.map(f"x0 + 1 - {rows}", lengths) if total != rows else build.map("x0 - x0", lengths)
    if node.attr("do_rotary", 0):
        positions = node[9] if node.has(9) else build.compute("x0[i0] + i1", [old], (q.shape[0], rows))
        c, s = (angles_at(build, node[n], positions, rows) for n in (7, 8))
        q, k = (rotated(build, x, c, s, bool(node.attr("rotary_interleaved", 0))) for x in (q, k))
    k, v = (_appended(build, node.get(n), x, old, total) for n, x in ((3, k), (4, v)))
    added = [_allowed(build, old, rows, k.shape[2], node.attr("local_window_size", -1))]
    if (bias := node.get(10)) is not None:
        added.append(build.pad(bias, [0] * 4, [0, 0, 0, k.shape[2] - bias.shape[3]]))
    keys, values = (repeated(build, x, heads // shared) for x in (k, v))
    scale, cap = scale_of(node, q.shape[3]), node.attr("softcap", 0.0)
    return joined(build, attend(build, q, keys, values, scale, added, cap, _sink(node))), k, v


def _sink(node: Node) -> Tensor | None:
    """Attention sink: one more score of each head, given, or 0 in a smooth softmax."""
    build, sink = node.build, node.get(11)
    if sink is not None:
        return build.cast(build.reshape(sink, (1, *sink.shape, 1, 1)), "f32")
    return build.constant(np.zeros((1, 1, 1, 1)), "f32") if node.attr("smooth_softmax", 0) == 1 else None


def _appended(build: Builder, past: Tensor | None, new: Tensor, old: Tensor, total: DimLike) -> Tensor:
    """[B, heads, T, size]: the past of each sequence up to its own length, the new rows after it."""
    if past is None or past.shape[2] == 0:
        return new
    length = past.shape[2] if isinstance(total, int) and total <= past.shape[2] else total  # type: ignore[operator]
    step = f"min(max(i2 - x2[i0], 0), {new.shape[2]} - 1)"
    inside = f"(i2 >= x2[i0]) & (i2 - x2[i0] < {new.shape[2]})"
    before = f"x0[i0, i1, min(i2, {past.shape[2]} - 1), i3]"
    kept = f"where(i2 < {past.shape[2]}, {before}, 0)"
    text = f"where({inside}, x1[i0, i1, {step}, i3], {kept})"
    return build.compute(text, [past, new, old], (*new.shape[:2], length, new.shape[3]))


def _allowed(build: Builder, old: Tensor, rows: DimLike, length: DimLike, window: int) -> Tensor:
    """[B, 1, rows, length]: minus infinity at keys after a query, and at those before its local window."""
    seen = "(i3 <= x0[i0] + i2)"
    if window > 0:
        seen += f" & (i3 > x0[i0] + i2 - {window})"
    return build.compute(f"where({seen}, f32(0), -inf)", [old], (old.shape[0], 1, rows, length))
