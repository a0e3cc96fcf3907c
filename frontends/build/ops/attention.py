"""Scaled dot-product attention (Vaswani et al., 2017), and heads of [B, S, heads * size]."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.tensors import Tensor


def heads_of(build: Builder, x: Tensor, heads: int) -> Tensor:
    """[B, S, heads * size] as [B, heads, S, size]."""
    size = x.shape[2] // heads
    return build.transpose(build.reshape(x, (x.shape[0], x.shape[1], heads, size)), [0, 2, 1, 3])


def joined(build: Builder, x: Tensor) -> Tensor:
    """[B, heads, S, size] as [B, S, heads * size]."""
    batch, heads, rows, size = x.shape
    return build.reshape(build.transpose(x, [0, 2, 1, 3]), (batch, rows, heads * size))


def attend(
    build: Builder,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float,
    added: list[Tensor],
    softcap: float = 0.0,
    sink: Tensor | None = None,
    safe: bool = False,
) -> Tensor:
    """softmax(scale q k' + sum of ``added``) v: [B, heads, S, size], in at least f32 up to the second product.

    ``sink``: one more score of each head, without a value (attention sink), [1, heads or 1, 1, 1]. ``safe``: a query
    that no key is left for gives zeros.
    """
    return weighed(build, scored(build, q, k, scale, added, softcap), v, sink, safe)


def scored(build: Builder, q: Tensor, k: Tensor, scale: float, added: list[Tensor], softcap: float = 0.0) -> Tensor:
    """The scores [B, heads, S, T] of ``attend``, before the softmax."""
    scores = build.contract("bnsh,bnth->bnst", build.wide(q), build.wide(k))
    scores = build.map(f"x0 * {literal(scale)}", scores)
    if softcap:
        scores = build.map(f"{literal(softcap)} * tanh(x0 * {literal(1 / softcap)})", scores)
    for bias in added:
        scores = build.map("x0 + x1", scores, build.cast(bias, scores.element))
    return scores


def weighed(build: Builder, scores: Tensor, v: Tensor, sink: Tensor | None = None, safe: bool = False) -> Tensor:
    """The softmax of ``scores`` times the values, as in ``attend``."""
    weights = softmax(build, scores, [3], sink=sink, safe=safe)
    return build.contract("bnst,bnth->bnsh", build.cast(weights, v.element), v)


def causal(build: Builder, rows: DimLike, total: DimLike) -> Tensor:
    """[1, 1, rows, total]: minus infinity where a key comes after the query; the last key is the last query's own."""
    return build.compute(f"where(i3 <= i2 + ({total}) - ({rows}), f32(0), -inf)", [], (1, 1, rows, total))
