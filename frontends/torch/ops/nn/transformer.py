"""The fast path of torch's transformer layers in evaluation: attention of heads, and an encoder layer, as one operator.

Source: ATen/native/transformers/transformer.cpp, attention.cpp.
"""

from __future__ import annotations

from mlc.frontends.build.ops.activations import activation
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.math.contraction import attend, linear
from mlc.frontends.torch.ops.nn.normalization import layer_norm
from mlc.frontends.torch.registry import Call, aten

OF_KEYS = 1
"""The kind of a mask [B, keys]; others are of queries and keys."""


@aten("_native_multi_head_attention")
def multi_head_attention(
    call: Call,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    size: int,
    heads: int,
    weight: Tensor,
    bias: Tensor,
    last_weight: Tensor,
    last_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """([B, S, size], weights of attention [B, S, keys], or [B, heads, S, keys] where they are not averaged)."""
    build = call.build
    given = zip((query, key, value), (0, size, 2 * size), strict=True)
    cut = [(x, build.cut(weight, 0, at, size), build.cut(bias, 0, at, size)) for x, at in given]
    q, k, v = (_split(call, linear(call, *each), heads) for each in cut)
    allowed = None if mask is None else _allowed(call, mask, mask_type)
    y = attend(call, q, k, v, allowed)
    rows = build.reshape(build.transpose(y, [0, 2, 1, 3]), query.shape)
    found = linear(call, rows, last_weight, last_bias)
    return found, _weights(call, q, k, allowed, average) if need_weights and call.wants(1) else None


def _split(call: Call, x: Tensor, heads: int) -> Tensor:
    """[B, S, size] as [B, heads, S, size of a head]."""
    batch, rows, size = x.shape
    return call.build.transpose(call.build.reshape(x, (batch, rows, heads, size // heads)), [0, 2, 1, 3])


def _allowed(call: Call, mask: Tensor, mask_type: int | None) -> Tensor:
    """Where attention is allowed: where a mask of predicates is false; a mask of floats is added to scores."""
    batch_first = mask_type == OF_KEYS and mask.rank == 2
    wide = call.build.reshape(mask, (mask.shape[0], 1, 1, mask.shape[1])) if batch_first else mask
    return call.build.map("not_(x0)", wide) if mask.element == "i1" else wide


def _weights(call: Call, q: Tensor, k: Tensor, allowed: Tensor | None, average: bool) -> Tensor:
    """softmax(q k' / sqrt(size) + mask): attention of the unit vectors of keys."""
    build, keys = call.build, k.shape[-2]
    unit = build.compute(f"{q.element}(i0 == i1)", [], (keys, keys))
    y = attend(call, q, k, build.broadcast(unit, (*k.shape[:-2], keys, keys)), allowed)
    return build.map(f"x0 / {q.shape[1]}", build.reduce("add", y, [1], False)) if average else y


@aten("_transformer_encoder_layer_fwd")
def encoder_layer(
    call: Call,
    x: Tensor,
    size: int,
    heads: int,
    weight: Tensor,
    bias: Tensor,
    last_weight: Tensor,
    last_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    scale_1: Tensor,
    offset_1: Tensor,
    scale_2: Tensor,
    offset_2: Tensor,
    inner_weight: Tensor,
    inner_bias: Tensor,
    outer_weight: Tensor,
    outer_bias: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    def attended(x: Tensor) -> Tensor:
        own = (size, heads, weight, bias, last_weight, last_bias, mask, False, True, mask_type)
        return multi_head_attention(call, x, x, x, *own)[0]

    def inner(x: Tensor) -> Tensor:
        text = activation("gelu") if use_gelu else "relu(x0)"
        hidden = call.build.formula(text, linear(call, x, inner_weight, inner_bias))
        return linear(call, hidden, outer_weight, outer_bias)

    for step, scale, offset in ((attended, scale_1, offset_1), (inner, scale_2, offset_2)):
        given = layer_norm(call, x, (size,), scale, offset, eps) if norm_first else x
        x = call.build.map("x0 + x1", x, step(given))
        x = x if norm_first else layer_norm(call, x, (size,), scale, offset, eps)
    return x
