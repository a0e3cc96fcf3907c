"""SwiGLU, ScaledSiLU, GatedAdd, GatedRMSNorm."""

from __future__ import annotations

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.reduction import mean
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

GATES = {"silu": "x0 * sigmoid(x0)", "swish": "x0 * sigmoid(x0)", "sigmoid": "sigmoid(x0)"}


@onnx_op("SwiGLU", domain=DOMAIN)
def swiglu(node: Node) -> Tensor:
    """gate * sigmoid(alpha * gate) * (up + beta), both clamped; without ``up`` the first input holds both halves."""
    node.only("activation_alpha", "activation_beta", "limit", "round_activation")
    build, x, up = node.build, node[0], node.get(1)
    if up is None:
        half = x.shape[-1] // 2
        x, up = (build.cut(x, x.rank - 1, n * half, half) for n in range(2))
    gate, up = build.cast(x, "f32"), build.cast(up, "f32")
    limit = node.attr("limit", 0.0)
    if limit > 0:
        bound = literal(limit)
        gate, up = build.map(f"min(x0, {bound})", gate), build.map(f"min(max(x0, -{bound}), {bound})", up)
    alpha, beta = (literal(node.attr(f"activation_{n}", d)) for n, d in (("alpha", 1.0), ("beta", 0.0)))
    gate = build.map(f"x0 * sigmoid({alpha} * x0)", gate)
    if node.attr("round_activation", 0):
        gate = build.cast(build.cast(gate, x.element), "f32")
    return build.cast(build.map(f"x0 * (x1 + {beta})", gate, up), x.element)


@onnx_op("ScaledSiLU", domain=DOMAIN)
def scaled_silu(node: Node) -> Tensor:
    """z * sigmoid(z) of z = scale * x, each rounded to the element of x; a scalar input scales in place of alpha."""
    node.only("alpha")
    build, x, scale = node.build, node[0], node.get(1)
    wide = build.cast(x, "f32")
    if scale is None:
        scaled = build.map(f"x0 * {literal(node.attr('alpha', 1.0))}", wide)
    else:
        scaled = build.map("x0 * x1", wide, build.cast(build.reshape(scale, ()), "f32"))
    z = build.cast(scaled, x.element)
    s = build.cast(build.map("sigmoid(x0)", build.cast(z, "f32")), x.element)
    return build.cast(build.map("x0 * x1", build.cast(z, "f32"), build.cast(s, "f32")), x.element)


@onnx_op("GatedAdd", domain=DOMAIN)
def gated_add(node: Node) -> Tensor:
    """x + y * gate, with one gate a row; the product is rounded to the element of x."""
    node.only()
    if node.has(3):
        raise NotSupported("input gate_weight, which one GPU has; give the gate itself, sigmoid(MatMul(gate, weight))")
    build, (x, y, gate) = node.build, (node.build.wide(node[n]) for n in range(3))
    product = build.cast(build.map("x0 * x1", y, gate), node[0].element)
    return build.cast(build.map("x0 + x1", x, build.wide(product)), node[0].element)


@onnx_op("GatedRMSNorm", domain=DOMAIN)
def gated_rms_norm(node: Node) -> Tensor:
    """RMS normalization of each [C] of [..., H * C], times a scale [C] and an activation of a gate [..., H * C]."""
    node.only("activation", "epsilon")
    build, x, size = node.build, node[0], node[1].shape[0]
    name = node.attr("activation", "silu")
    if name not in GATES:
        raise NotSupported(f"attribute 'activation' = {name}; {', '.join(GATES)} are known")
    wide = build.cast(build.reshape(x, (*x.shape[:-1], x.shape[-1] // size, size)), "f32")
    y = rms_normalized(build, wide, node[1], node.attr("epsilon", 1e-5))
    gate = build.map(GATES[name], build.cast(build.reshape(node[2], wide.shape), "f32"))
    return build.cast(build.reshape(build.map("x0 * x1", y, gate), x.shape), x.element)


def rms_normalized(build: Builder, x: Tensor, scale: Tensor | None, epsilon: float) -> Tensor:
    """``x`` (f32) over the root mean square of its last dimension, times a scale that broadcasts."""
    square = mean(build, build.map("x0 * x0", x), [x.rank - 1], keepdims=True)
    y = build.map(f"x0 * rsqrt(x1 + {literal(epsilon)})", x, square)
    return y if scale is None else build.map("x0 * x1", y, build.cast(scale, "f32"))
