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


@onnx_op("MRotaryEmbedding", domain=DOMAIN)
def multimodal_rotary_embedding(node: Node) -> Tensor:
    """As RotaryEmbedding, with three positions a token, [3, B, S]: each pair of elements has the angle of one."""
    read = ("interleaved", "mrope_layout", "mrope_section", "num_heads", "rotary_embedding_dim")
    node.only(*read, scale=1.0, is_packed_batching=0)
    x, build, positions = node[0], node.build, node.build.cast(node[1], "i64")
    pairs = node[2].shape[1]
    heads = node.attr("num_heads", 0) or (x.shape[2] // (2 * pairs) if x.rank == 3 else 0)
    wide = heads_of(build, x, heads) if x.rank == 3 else x  # type: ignore[arg-type]
    streams = build.constant(_streams(node, int(pairs)), "i64")  # type: ignore[arg-type]
    shape = (positions.shape[1], 1, positions.shape[2], pairs)
    c, s = (build.compute("x0[x1[x2[i3], i0, i2], i3]", [node[n], positions, streams], shape) for n in (2, 3))
    y = rotated(build, wide, c, s, bool(node.attr("interleaved", 0)))
    return joined(build, y) if x.rank == 3 else y


def _streams(node: Node, pairs: int) -> list[int]:
    """Which of the three positions each pair has."""
    sections = node.attr("mrope_section")
    if len(sections) != 3 or sum(sections) != pairs:
        raise NotSupported(f"attribute 'mrope_section' = {sections}; three numbers that sum to {pairs} are right")
    if node.attr("mrope_layout", 0) == 0:
        return [n for n, count in enumerate(sections) for _ in range(count)]
    inside = [pair % 3 for pair in range(pairs)]
    return [n if pair < 3 * sections[n] else 0 for pair, n in enumerate(inside)]
