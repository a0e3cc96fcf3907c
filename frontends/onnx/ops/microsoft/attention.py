"""com.microsoft: MultiHeadAttention and Attention, on heads as [batch, heads, sequence, size]."""

from __future__ import annotations

import math

from mlc.dialects.dims import DimLike
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.normalization import softmax_over
from mlc.frontends.onnx.tensors import Tensor

FILTER = -10000.0


def heads_of(build: Builder, x: Tensor, heads: int) -> Tensor:
    """[B, S, heads * size] as [B, heads, S, size]."""
    size = x.shape[2] // heads
    return build.transpose(build.reshape(x, (x.shape[0], x.shape[1], heads, size)), [0, 2, 1, 3])


def joined(build: Builder, x: Tensor) -> Tensor:
    """[B, heads, S, size] as [B, S, heads * size]."""
    batch, heads, rows, size = x.shape
    return build.reshape(build.transpose(x, [0, 2, 1, 3]), (batch, rows, heads * size))


def attend(
    build: Builder, q: Tensor, k: Tensor, v: Tensor, scale: float, added: list[Tensor], softcap: float = 0.0
) -> Tensor:
    """softmax(scale q k' + what is ``added``) v: [B, heads, S, size], in at least f32 up to the second product."""
    scores = build.contract("bnsh,bnth->bnst", build.wide(q), build.wide(k))
    scores = build.map(f"x0 * {literal(scale)}", scores)
    if softcap:
        scores = build.map(f"{literal(softcap)} * tanh(x0 * {literal(1 / softcap)})", scores)
    for bias in added:
        scores = build.map("x0 + x1", scores, build.cast(bias, scores.element))
    weights = softmax_over(build, scores, [3])
    return build.contract("bnst,bnth->bnsh", build.cast(weights, v.element), v)


def scale_of(node: Node, size: DimLike) -> float:
    """The attribute, or 1 / sqrt(head size)."""
    scale = node.attr("scale", 0.0)
    if not scale and not isinstance(size, int):
        raise NotSupported(f"heads of symbolic size {size}; fix it with dims={{name: size}}")
    return scale or 1 / math.sqrt(size)  # type: ignore[arg-type]


def causal(build: Builder, rows: DimLike, total: DimLike) -> Tensor:
    """[1, 1, rows, total]: minus infinity where a key comes after the query; the last key is the last query's own."""
    return build.compute(f"where(i3 <= i2 + ({total}) - ({rows}), f32(0), -inf)", [], (1, 1, rows, total))


def mask_bias(node: Node, mask: Tensor, rows: DimLike, total: DimLike, batch: DimLike) -> Tensor:
    """What a mask adds to scores [batch, heads, rows, total].

    It is [batch] (keys that count), [2 * batch] (their end and start), [batch, total] or [batch, rows, total].
    """
    low = f"f32({literal(node.attr('mask_filter_value', FILTER))})"
    build, mask = node.build, node.build.cast(mask, "i64")
    if mask.rank == 1 and mask.shape[0] in (batch, 2 * batch):
        inside = "i3 < x0[i0]" if mask.shape[0] == batch else f"(i3 < x0[i0]) & (i3 >= x0[i0 + {batch}])"
        return build.compute(f"where({inside}, f32(0), {low})", [mask], (batch, 1, 1, total))
    if mask.shape == (batch, total):
        return build.compute(f"where(x0[i0, i3] > 0, f32(0), {low})", [mask], (batch, 1, 1, total))
    if mask.shape == (batch, rows, total):
        return build.compute(f"where(x0[i0, i2, i3] > 0, f32(0), {low})", [mask], (batch, 1, rows, total))
    raise NotSupported(f"a mask {mask}; [{batch}], [{batch}, {total}] or [{batch}, {rows}, {total}] are supported")


def _extended(build: Builder, past: Tensor | None, new: Tensor) -> Tensor:
    return new if past is None else build.concat([past, new], 2)


@onnx_op("MultiHeadAttention", domain=DOMAIN)
def multi_head_attention(node: Node) -> tuple[Tensor, ...]:
    """(output, present key, present value). Keys and values may be [B, T, hidden], or heads; or packed with queries."""
    node.only("num_heads", "mask_filter_value", "scale", "unidirectional")
    build = node.build
    if any(node.has(n) for n in (8, 9)) or node.wants(3):
        raise NotSupported("inputs past_sequence_length and cache_indirection, and the output qk; export without them")
    q, k, v = _projected(node)
    k, v = _extended(build, node.get(6), k), _extended(build, node.get(7), v)
    return joined(build, attend(build, q, k, v, scale_of(node, q.shape[3]), _biases(node, q, k, node.get(4)))), k, v


def _biases(node: Node, q: Tensor, k: Tensor, mask: Tensor | None) -> list[Tensor]:
    """What is added to the scores: the mask's, the given bias (input 5), and that of later keys."""
    rows, total = q.shape[2], k.shape[2]
    added = [] if mask is None else [mask_bias(node, mask, rows, total, q.shape[0])]
    added += [bias for bias in [node.get(5)] if bias is not None]
    return [*added, causal(node.build, rows, total)] if node.attr("unidirectional", 0) else added


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


@onnx_op("Attention", domain=DOMAIN)
def attention(node: Node) -> tuple[Tensor, ...]:
    """(output, present): self-attention with the projection of queries, keys and values by one weight."""
    ignored = {"do_rotary": 0, "past_present_share_buffer": 0, "rotary_embedding_dim": 0}
    node.only("num_heads", "mask_filter_value", "scale", "unidirectional", "qkv_hidden_sizes", **ignored)
    build, x, weight, heads = node.build, node[0], node[1], node.attr("num_heads")
    sizes = node.attr("qkv_hidden_sizes", None) or [weight.shape[1] // 3] * 3
    flat = build.contract("bsd,dh->bsh", x, weight)
    flat = flat if node.get(2) is None else build.map("x0 + x1", flat, node[2])
    starts = [0, sizes[0], sizes[0] + sizes[1]]
    q, k, v = (heads_of(build, build.cut(flat, 2, a, n), heads) for a, n in zip(starts, sizes, strict=True))
    past = node.get(4)
    if past is not None:
        old = [build.reshape(build.cut(past, 0, n, 1), past.shape[1:]) for n in range(2)]
        k, v = _extended(build, old[0], k), _extended(build, old[1], v)
    y = joined(build, attend(build, q, k, v, scale_of(node, q.shape[3]), _biases(node, q, k, node.get(3))))
    if not node.wants(1):
        return (y,)
    return y, build.concat([build.reshape(part, (1, *part.shape)) for part in (k, v)], 0)
