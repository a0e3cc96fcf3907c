"""com.microsoft: RotaryEmbedding (Su et al., 2021)."""

from __future__ import annotations

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.attention import heads_of, joined
from mlc.frontends.build.ops.rotary import angles_at, rotated
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN


@onnx_op("RotaryEmbedding", domain=DOMAIN)
def rotary_embedding(node: Node) -> Tensor:
    """x, [B, S, hidden] or [B, heads, S, size], rotated by the angles of its positions."""
    node.only("interleaved", "num_heads", "rotary_embedding_dim", "scale", is_packed_batching=0)
    x, build, cosine = node[0], node.build, node[2]
    if node.attr("scale", 1.0) != 1:
        raise NotSupported(f"attribute 'scale' = {node.attr('scale')}, which onnxruntime leaves out; use 1")
    heads = node.attr("num_heads", 0) or (x.shape[2] // (2 * cosine.shape[1]) if x.rank == 3 else 0)
    wide = heads_of(build, x, heads) if x.rank == 3 else x  # type: ignore[arg-type]
    c, s = (angles_at(build, node[n], node[1], wide.shape[2]) for n in (2, 3))
    y = rotated(build, wide, c, s, bool(node.attr("interleaved", 0)))
    return joined(build, y) if x.rank == 3 else y
