"""Contractions: matrix products, linear layers, Einstein sums; scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops import attention, contraction
from mlc.frontends.build.ops.indexing.sorting import computable
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, aten


@aten("mm", "bmm", "mv", "dot", "matmul")
def matmul(call: Call, a: Tensor, b: Tensor) -> Tensor:
    return contraction.matmul(call.build, a, b)


@aten("linear")
def linear(call: Call, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    build, rows = call.build, x.shape[:-1]
    flat = build.reshape(x, (product(rows), x.shape[-1]))
    if weight.rank == 1:
        return build.map("x0 + x1", contraction.matmul(build, x, weight), bias or build.constant(0, x.element))
    y = build.contract("mk,nk->mn", flat, weight)
    y = y if bias is None else build.map("x0 + x1", y, bias)
    return build.reshape(y, (*rows, weight.shape[0]))


@aten("addmm", "baddbmm", "addmv", "addbmm")
def add_product(call: Call, c: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    build = call.build
    if not call.is_real():  # torch drops the fractions of factors
        beta, alpha = int(beta), int(alpha)
    y = build.reduce("add", contraction.matmul(build, a, b), [0]) if call.op == "addbmm" else matmul(call, a, b)
    scaled = "x0" if alpha == 1 else f"{literal(alpha)} * x0"
    if beta == 0:
        return build.map(scaled, y) if alpha != 1 else y
    return build.map(f"{scaled} + {'x1' if beta == 1 else f'{literal(beta)} * x1'}", y, c)


@aten("transformers::grouped_mm_fallback", "_grouped_mm")
def grouped_matmul(
    call: Call, x: Tensor, weight: Tensor, offsets: Tensor, bias: Tensor | None = None, out_dtype: Any = None
) -> Tensor:
    """Rows of ``x`` [S, K] times the matrix [G, K, N] of the group that each is in; ``offsets`` are the ends of the
    groups. Rows after the last are 0."""
    if x.rank != 2 or weight.rank != 3 or bias is not None:
        raise NotSupported(f"products of groups {x} and {weight}; only rows of rank 2 by matrices of rank 3, no bias")
    build, rows = call.build, x.shape[:1]
    group = build.compute("i64(i64(x0[r0]) <= i0)", [offsets], rows, offsets.shape, "add")
    factors = [computable(build, each) for each in (x, weight)]
    shape = (*rows, weight.shape[2])
    y = build.compute("x0[i0, r0] * x1[x2[i0], r0, i1]", [*factors, group], shape, weight.shape[1:2], "add")
    return build.map(f"where(x0 < {weight.shape[0]}, x1, 0)", build.reshape(group, (*rows, 1)), y)


@aten("outer", "ger")
def outer(call: Call, a: Tensor, b: Tensor) -> Tensor:
    return call.build.map("x0 * x1", call.tensor(call.build.reshape(a, (*a.shape, 1))), call.tensor(b))


@aten("einsum")
def einsum(call: Call, equation: str, xs: list[Tensor], *, path: Any = None) -> Tensor:
    return contraction.einsum(call.build, equation, call.tensors(*xs))


@aten("bilinear")
def bilinear(call: Call, a: Tensor, b: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    y = contraction.einsum(call.build, "...i,kij,...j->...k", [a, weight, b])
    return y if bias is None else call.build.map("x0 + x1", y, bias)


@aten("_trilinear")
def trilinear(call: Call, a: Tensor, b: Tensor, c: Tensor, *given: Any) -> Tensor:
    """The sum over dimensions of the product of three tensors, each with further dimensions of 1."""
    *added, summed = given[:4]
    letters = "abcdefghijklmnopqrstuvwxyz"[: a.rank + len(added[0])]
    terms = ["".join(letter for n, letter in enumerate(letters) if n not in new) for new in added]
    kept = "".join(letter for n, letter in enumerate(letters) if n not in summed)
    return contraction.einsum(call.build, f"{','.join(terms)}->{kept}", [a, b, c])


@aten("scaled_dot_product_attention")
def attend(
    call: Call,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale q k' + mask) v of [.., S, size]; with ``enable_gqa`` a head of k and v serves several of q."""
    if dropout_p:
        raise NotSupported(f"dropout {dropout_p} in attention; export the module after eval()")
    build, shape = call.build, (*q.shape[:-1], v.shape[-1])
    if enable_gqa:
        k, v = (_repeated(call, x, q.shape[-3]) for x in (k, v))
    if scale is None and not isinstance(q.shape[-1], int):
        raise NotSupported("heads of symbolic size without a scale")
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale  # type: ignore[arg-type]
    q, k, v = (_four(call, x) for x in (q, k, v))
    added = [] if attn_mask is None else [_bias(call, attn_mask, q.element)]
    if is_causal:  # query n sees keys up to n, however many keys there are
        added.append(build.compute("where(i3 <= i2, f32(0), -inf)", [], (1, 1, q.shape[2], k.shape[2])))
    return build.reshape(attention.attend(build, q, k, v, scale, added, safe=attn_mask is not None), shape)


@aten("_scaled_dot_product_flash_attention_for_cpu")
def attend_on_cpu(
    call: Call,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, None]:
    """Attention in which each head of keys and values may serve several heads of queries."""
    grouped = k.shape[-3] != q.shape[-3]
    return attend(call, q, k, v, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=grouped), None


def _four(call: Call, x: Tensor) -> Tensor:
    """[.., S, size] as [B, heads, S, size]."""
    if x.rank == 4:
        return x
    lead = (1, *x.shape[:-2]) if x.rank == 3 else (product(x.shape[:-3]), x.shape[-3]) if x.rank > 4 else (1, 1)
    return call.build.reshape(x, (*lead, *x.shape[-2:]))


def _repeated(call: Call, x: Tensor, heads: Any) -> Tensor:
    """[.., heads of x, S, size] with each head repeated for the heads of queries that it serves."""
    times = heads // x.shape[-3]
    if times == 1:
        return x
    *lead, own, rows, size = x.shape
    wide = call.build.broadcast(call.build.reshape(x, (*lead, own, 1, rows, size)), (*lead, own, times, rows, size))
    return call.build.reshape(wide, (*lead, heads, rows, size))


def _bias(call: Call, mask: Tensor, element: str) -> Tensor:
    """The bias that a mask adds to scores: 0 where it is true, else minus infinity."""
    if mask.element == "i1":
        mask = call.build.map("where(x0, f32(0), -inf)", mask)
    return call.build.reshape(mask, (*[1] * (4 - mask.rank), *mask.shape)) if mask.rank < 4 else _four(call, mask)
