"""MultiHeadAttention."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.attention import heads_of, joined, scored, weighed
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.attention.common import biases, extended, scale_of


@dataclass(frozen=True)
class _Rest:
    """The positions of the inputs beside queries, keys and values. ``own``: a past length requires a past."""

    bias: int
    mask: int
    added: int
    past: int
    length: int
    beams: int
    own: bool


@onnx_op("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(node: Node) -> tuple[Tensor, ...]:
    """(output, present key, present value, scores). Keys and values may be [B, T, hidden], or heads; or packed with
    queries.

    With past_sequence_length (i32 [1]) the past is [B, heads, most, size], of which so many rows count; new ones are
    written after these. cache_indirection (i32 [B / beams, beams, most]): the beam from which a single query reads each
    row.
    """
    node.only("num_heads", "mask_filter_value", "scale", "unidirectional")
    return _attended(node, node[0], _Rest(bias=3, mask=4, added=5, past=6, length=8, beams=9, own=True))


@onnx_op("DecoderMaskedMultiHeadAttention", domain=DOMAIN)
def decoder_masked_multi_head_attention(node: Node) -> tuple[Tensor, ...]:
    """The same for one query of each sequence, in another order of inputs. With a shared past queries, keys and values
    may be packed as [B, 1, 3 * hidden]; without a past the keys and values given are heads (cross attention).
    """
    node.only("num_heads", "mask_filter_value", "scale", "past_present_share_buffer", "output_qk")
    shared = node.attr("past_present_share_buffer", 0)
    if node.has(5) and not (shared and node.has(7)):
        raise NotSupported("a past that is no shared buffer; set past_present_share_buffer, give past_sequence_length")
    q = node[0]
    if not node.has(1):
        q = node.build.reshape(q, (*q.shape[:2], 3, q.shape[2] // 3))
    return _attended(node, q, _Rest(bias=10, mask=3, added=4, past=5, length=7, beams=9, own=False))


def _attended(node: Node, query: Tensor, rest: _Rest) -> tuple[Tensor, ...]:
    """(output, present key, present value, scores before the softmax)."""
    build = node.build
    q, k, v = _projected(node, query, node.get(rest.bias))
    old, mask, bias = [node.get(rest.past), node.get(rest.past + 1)], node.get(rest.mask), node.get(rest.added)
    length = build.reshape(build.cast(node[rest.length], "i64"), (1,)) if node.has(rest.length) else None
    if length is not None and old[0] is None and rest.own:
        raise NotSupported("past_sequence_length without a past; give past_key and past_value")
    if length is not None and old[0] is not None:
        k, v = (_written(build, past, new, length) for past, new in zip(old, (k, v), strict=True))
        mask, bias = (_filled(build, x, k.shape[2]) for x in (mask, bias))
        keys, values = (_from_beams(build, x, node.get(rest.beams), length, q.shape[2]) for x in (k, v))
        if node.wants(3):
            raise NotSupported("the output qk beside a shared past; export without it")
    elif node.has(rest.beams):
        raise NotSupported("cache_indirection without past_sequence_length; give both")
    else:
        length, (k, v) = None, (extended(build, past, new) for past, new in zip(old, (k, v), strict=True))
        keys, values = k, v
    scores = scored(build, q, keys, scale_of(node, q.shape[3]), biases(node, q, k, mask, bias, length))
    return joined(build, weighed(build, scores, values)), k, v, build.cast(scores, q.element)


def _written(build: Builder, past: Tensor | None, new: Tensor, length: Tensor) -> Tensor:
    """[B, heads, most, size]: the past with the new rows after its first ``length`` rows."""
    if past is None:
        raise NotSupported("a past key or value without the other; give both")
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


def _projected(node: Node, q: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values as heads, each with its part of the bias."""
    build, heads = node.build, node.attr("num_heads")
    k, v = node.get(1), node.get(2)
    if q.rank == 5 and k is None:
        q, k, v = _unpacked(build, q)
    elif q.rank == 4:  # [B, S, parts, hidden]
        q, k, v = (build.reshape(build.cut(q, 2, n, 1), (*q.shape[:2], q.shape[3])) for n in range(3))
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
