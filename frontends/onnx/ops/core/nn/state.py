"""LinearAttention and CausalConvWithState (opset 27): operators with a state from call to call."""

from __future__ import annotations

import math

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.recurrent.causal_conv import activated, causal_conv, state_after
from mlc.frontends.build.ops.recurrent.linear_attention import Tokens, last_states, linear_attention
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op

RULES = {"linear": (False, False), "gated": (True, False), "delta": (False, True), "gated_delta": (True, True)}


@onnx_op("LinearAttention", since=27)
def linear_attention_27(node: Node) -> tuple[Tensor, Tensor]:
    """(output [B, T, heads * dv], last state [B, H, dk, dv]) of packed heads [B, T, heads * size]."""
    build, window = node.build, node.attr("state_window", 0)
    tokens, (batch, heads, size, out) = _tokens(node)
    past = node.get(3)
    if past is None:
        state = build.broadcast(build.constant(0, "f32"), (batch, heads, size, out))
    else:
        last = build.reshape(build.cut(past, 0, window - 1, 1), past.shape[1:]) if window else past
        state = build.cast(last, "f32")
    scale = node.attr("scale", 0.0) or 1 / math.sqrt(int(size))  # type: ignore[arg-type]
    ys, last, states = linear_attention(build, tokens, state, scale, bool(window))
    y = build.transpose(ys, [1, 0, 2, 3])
    y = build.cast(build.reshape(y, (*y.shape[:2], y.shape[2] * y.shape[3])), node[0].element)
    present = last if states is None else last_states(build, states, window)
    return y, build.cast(present, node[0].element if past is None else past.element)


def rule_of(node: Node) -> tuple[bool, bool]:
    """The update rule: whether states decay, and whether their prediction is subtracted from values (delta rule)."""
    rule = node.attr("update_rule", "gated_delta")
    if rule not in RULES:
        raise NotSupported(f"attribute 'update_rule' = {rule}; {', '.join(RULES)} are known")
    return RULES[rule]


def _tokens(node: Node) -> tuple[Tokens, tuple[DimLike, int, DimLike, DimLike]]:
    """The inputs of the recurrence, and the shape of its state."""
    decays, corrects = rule_of(node)
    query_heads, heads = node.attr("q_num_heads"), node.attr("kv_num_heads")
    size = node[0].shape[2] // query_heads
    if not isinstance(size, int):
        raise NotSupported(f"heads of symbolic size {size}; fix it with dims={{name: size}}")
    queries, keys = _split(node, 0, query_heads), _split(node, 1, node[1].shape[2] // size)
    values, decay, rate = _split(node, 2, heads), None, None
    if decays:
        decay = _split(node, 4, heads)
    if corrects:
        rate = _split(node, 5, node[5].shape[2])
    tokens = Tokens(queries, keys, values, decay, rate)
    return tokens, (node[0].shape[0], heads, size, values.shape[3])


def _split(node: Node, n: int, heads: DimLike) -> Tensor:
    """Input ``n``, [B, T, heads * size], as [T, B, heads, size] in f32."""
    build, x = node.build, node[n]
    split = build.reshape(build.cast(x, "f32"), (*x.shape[:2], heads, x.shape[2] // heads))
    return build.transpose(split, [1, 0, 2, 3])


@onnx_op("CausalConvWithState", since=27)
def causal_conv_with_state(node: Node) -> tuple[Tensor, Tensor]:
    """(output [B, C, L], the last inputs [B, C, K - 1]) of x by a weight [C, 1, K]."""
    build, x, weight, past = node.build, node[0], node[1], node.get(3)
    y, padded = causal_conv(build, x, weight, node.get(2), past)
    return activated(build, y, node.attr("activation", "none")), state_after(build, padded, weight.shape[2] - 1)
