"""SparseAttention: causal attention to blocks of keys that a table gives (Phi-3-small)."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.attention import attend, joined
from mlc.frontends.build.ops.rotary import angles_at, rotated
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.attention.common import repeated, scale_of, split_heads

LOWEST = -3.4028234663852886e38  # of f32: a query that no block is left for sees all keys alike


@onnx_op("SparseAttention", domain=DOMAIN)
def sparse_attention(node: Node) -> tuple[Tensor, Tensor, Tensor]:
    """(output, present key, present value), where the present is the past [B, kv heads, most, size] with new rows.

    Inputs 5 and 6 are the blocks of keys that each block of queries sees, as compressed rows [layouts, blocks + 1] and
    columns [layouts, most]; heads have the layouts in turn. 8 is how many keys each sequence has, [B], with the new
    ones; as many as new ones where the total length (input 7) is that of the queries.
    """
    names = ("num_heads", "kv_num_heads", "scale", "do_rotary", "rotary_interleaved", "sparse_block_size")
    node.only(*names)
    build, heads, shared = node.build, node.attr("num_heads"), node.attr("kv_num_heads")
    q, k, v = split_heads(node, heads, shared)
    rows, total, lengths = q.shape[2], build.cast(node[7], "i64"), build.cast(node[8], "i64")
    total = build.reshape(total, (1,))
    old = build.map(f"where(x1 == {rows}, 0, x0 - {rows})", lengths, total)
    if node.attr("do_rotary", 0):
        positions = build.compute("x0[i0] + i1", [old], (q.shape[0], rows))
        c, s = (angles_at(build, node[n], positions, rows) for n in (9, 10))
        q, k = (rotated(build, x, c, s, bool(node.attr("rotary_interleaved", 0))) for x in (q, k))
    k, v = (_written(build, node[n], x, old) for n, x in ((3, k), (4, v)))
    added = _seen(node, old, rows, k.shape[2], heads)
    keys, values = (repeated(build, x, heads // shared) for x in (k, v))
    return joined(build, attend(build, q, keys, values, scale_of(node, q.shape[3]), added)), k, v


def _written(build: Builder, past: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """The past with the new rows of each sequence after its first ``old`` rows."""
    at = f"min(max(i2 - x2[i0], 0), {new.shape[2]} - 1)"
    inside = f"(i2 >= x2[i0]) & (i2 < x2[i0] + {new.shape[2]})"
    return build.compute(f"where({inside}, x1[i0, i1, {at}, i3], x0[i0, i1, i2, i3])", [past, new, old], past.shape)


def _seen(node: Node, old: Tensor, rows: DimLike, most: DimLike, heads: int) -> list[Tensor]:
    """Minus infinity at keys after a query, and the lowest number at those of other blocks: [B, heads, rows, most]."""
    build, size, starts = node.build, node.attr("sparse_block_size"), _whole(node, 5)
    columns, layouts = _whole(node, 6), starts.shape[0]
    blocks = starts.shape[1] - 1
    inside = "(r0 >= x0[i0, i1]) & (r0 < x0[i0, i1 + 1]) & (x1[i0, r0] == i2)"
    table = build.compute(f"i64({inside})", [starts, columns], (layouts, blocks, blocks), (columns.shape[1],), "max")
    position, batch = "(x0[i0] + i2)", old.shape[0]
    block = f"x1[i1 % {layouts}, {position} // {size}, i3 // {size}]"
    text = f"where(i3 > {position}, -inf, where({block} > 0, f32(0), f32({LOWEST})))"
    return [build.compute(text, [old, table], (batch, heads, rows, most))]


def _whole(node: Node, n: int) -> Tensor:
    """Input ``n`` in i64."""
    return node.build.cast(node[n], "i64")
