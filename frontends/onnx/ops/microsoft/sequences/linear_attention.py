"""LinearAttention and LinearAttentionGate."""

from __future__ import annotations

from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.state import linear_attention_27
from mlc.frontends.onnx.ops.microsoft import DOMAIN


@onnx_op("LinearAttention", domain=DOMAIN)
def linear_attention(node: Node) -> tuple[Tensor, Tensor]:
    """As ONNX's. With ``state_window`` W the states are those after the last W tokens, [W, B, H, dk, dv]."""
    node.only("q_num_heads", "kv_num_heads", "scale", "update_rule", "chunk_size", "state_window")
    return linear_attention_27(node)


@onnx_op("LinearAttentionGate", domain=DOMAIN)
def linear_attention_gate(node: Node) -> tuple[Tensor | None, ...]:
    """(scale * softplus(a + bias), sigmoid(b)) of [B, T, H], in f32."""
    node.only()
    build, a = node.build, node[0]
    decay = build.cast(build.map("x2 * softplus(x0 + x1)", build.cast(a, "f32"), node[1], node[2]), a.element)
    return decay, build.formula("sigmoid(x0)", node[3]) if node.wants(1) else None
