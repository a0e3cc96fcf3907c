"""MultiHeadAttention."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.attention import attend, heads_of, joined
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.attention.common import biases, extended, scale_of


@onnx_op("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(node: Node) -> tuple[Tensor, ...]:
    """(output, present key, present value). Keys and values may be [B, T, hidden], or heads; or packed with queries.

    With past_sequence_length (i32 [1]) the past is [B, heads, most, size], of which so many rows count; new ones are
    written after these. cache_indirection (i32 [B / beams, beams, most]): the beam from which a single query reads each
    row.
    """
    node.only("num_heads", "mask_filter_value", "scale", "unidirectional")
    build = node.build
    if node.wants(3):
        raise NotSupported("the output qk; export without it")
    q, k, v = _projected(node)
    old, mask, bias = [node.get(6), node.get(7)], node.get(4), node.get(5)
    length = build.reshape(build.cast(node[8], "i64"), (1,)) if node.has(8) else None
    if length is not None:
        k, v = (_written(build, past, new, length) for past, new in zip(old, (k, v), strict=True))
        mask, bias = (_filled(build, x, k.shape[2]) for x in (mask, bias))
        keys, values = (_from_beams(build, x, node.get(9), length, q.shape[2]) for x in (k, v))
    elif node.has(9):
        raise NotSupported("cache_indirection without past_sequence_length; give both")
    else:
        keys, values = k, v = [extended(build, past, new) for past, new in zip(old, (k, v), strict=True)]
    added = biases(node, q, k, mask, bias, length)
    return joined(build, attend(build, q, keys, values, scale_of(node, q.shape[3]), added)), k, v


def _written(build: Builder, past: Tensor | None, new: Tensor, length: Tensor) -> Tensor:
    """[B, heads, most, size]: the past with the new rows after its first ``length`` rows."""
    if past is None:
        raise NotSupported("past_sequence_length without a past; give past_key and past_value")
    text = f"where((i2 >= x2[0]) & (i2 < x2[0] + {new.shape[2]}), x1[i0, i1, i2 - x2[0], i3], x0[i0, i1, i2, i3])"
    return build.compute(text, [past, new, length], past.shape)


def _from_beams(build: Builder, x: Tensor, beams: Tensor | None, length: Tensor, rows: DimLike) -> Tensor:
    """The rows of the past from other beams of the same sequence; a prompt, of several queries, has none yet."""
    if beams is None:
        return x
    count = beams.shape[1]
    other = f"i0 // ({count}) * ({count}) + x1[i0 // ({count}), i0 % ({count}), i2]"
    text = f"where((({rows}) == 1) & (i2 < x2[0]), x0[{other}, i1, i2, i3], x0[i0, i1, i2, i3])"
    return build.compute(text, [x, build.cast(beams, "i64"), length], x.shape)


def _filled(build: Builder, x: Tensor | None, total: DimLike) -> Tensor | None:
    """A mask or bias with zeros for the keys that do not count."""
    if x is None or x.rank == 1 or x.shape[-1] == total:
        return x
    return build.pad(x, [0] * x.rank, [*[0] * (x.rank - 1), total - x.shape[-1]])


def _projected(node: Node) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values as heads, each with its part of the bias."""
    build, heads, bias = node.build, node.attr("num_heads"), node.get(3)
    q, k, v = node[0], node.get(1), node.get(2)
    if q.rank == 5 and k is None:
        q, k, v = _unpacked(build, q)
    elif k is not None and k.rank == 5 and v is None:
        k, v = _unpacked(build, k)
    if k is None or v is None:
        raise NotSupported("no keys or no values; give [B, T, hidden], or [B, T, heads, 3, size] as queries")
    start: DimLike = 0
    results = []
    for x in (q, k, v):
        if x.rank == 3 and bias is not None:
            x = build.map("x0 + x1", x, build.cut(bias, 0, start, x.shape[2]))
        start = start + (x.shape[2] if x.rank == 3 else x.shape[1] * x.shape[3])
        results.append(heads_of(build, x, heads) if x.rank == 3 else x)
    return results[0], results[1], results[2]


def _unpacked(build: Builder, x: Tensor) -> list[Tensor]:
    """[B, S, heads, parts, size] as parts of [B, S, heads * size]."""
    batch, rows, heads, parts, size = x.shape
    return [build.reshape(build.cut(x, 3, n, 1), (batch, rows, heads * size)) for n in range(parts)]  # type: ignore
