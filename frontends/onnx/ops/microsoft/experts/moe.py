"""MoE and QMoE: mixtures of experts, of floats and of integers of 2, 4 or 8 bits."""

from __future__ import annotations

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.activations import activation
from mlc.frontends.build.ops.experts.layers import Dense, Layer, Packed, Weight, mixture
from mlc.frontends.build.ops.experts.routing import routed
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

ACTIVATIONS = {
    "relu": "relu(x0)",
    "gelu": activation("gelu_tanh"),
    "silu": "x0 * sigmoid(x0)",
    "identity": "x0",
}
READ = (
    *("activation_alpha", "activation_beta", "activation_type", "k", "normalize_routing_weights"),
    *("swiglu_fusion", "swiglu_limit"),
)


@onnx_op("MoE", domain=DOMAIN)
def moe(node: Node) -> Tensor:
    """Tokens [T, H] or [B, S, H]; inputs 2 to 7 are weights [E, N, K] and biases [E, N] of FC1, FC2 and FC3."""
    node.only(*READ, use_sparse_mixer=0, swiglu_limit_after_activation=0)
    layers = [_layer(node, n, Dense(node[n]), node.get(n + 1)) for n in (2, 4, 6) if node.has(n)]
    return _mixture(node, layers, None, bool(node.attr("normalize_routing_weights", 0)))


@onnx_op("QMoE", domain=DOMAIN)
def quantized_moe(node: Node) -> Tensor:
    """Inputs 2 to 10 are weights in bytes, scales and biases of FC1, FC2 and FC3, 11 to 13 their zero points."""
    own = [f"fc{n}_expert_weight_bits" for n in (1, 2, 3)]
    ignored = {"use_sparse_mixer": 0, "swiglu_limit_after_activation": 0, "quant_type": "int"}
    node.only(*READ, *own, "expert_weight_bits", "block_size", "accuracy_level", "weights_prepacked", **ignored)
    if node.attr("weights_prepacked", -1) == 1:
        raise NotSupported("attribute 'weights_prepacked' = 1, a layout of one GPU; export with weights_prepacked=0")
    if any(node.has(n) for n in range(15, len(node))):
        raise NotSupported("global scales and scales of activations; export with quant_type='int'")
    layers = [_packed(node, n, 2 + 3 * n) for n in range(3) if node.has(2 + 3 * n)]
    # onnxruntime normalizes the weights that it computes itself whatever the attribute says.
    return _mixture(node, layers, node.get(14), not node.has(14) or bool(node.attr("normalize_routing_weights", 0)))


def _mixture(node: Node, layers: list[Layer], mixing: Tensor | None, normalize: bool) -> Tensor:
    build, x = node.build, node[0]
    flat = build.cast(build.reshape(x, (product(x.shape[:-1]), x.shape[-1])), "f32")
    route = routed(build, node[1], node.attr("k", 1), normalize, mixing)
    y = mixture(build, flat, route, layers, lambda inner, gate: _activated(node, inner, gate))
    return build.cast(build.reshape(y, x.shape), x.element)


def _activated(node: Node, inner: Tensor, gate: Tensor | None) -> Tensor:
    """The activation of FC1's result, times FC3's where there is one; swiglu's halves may be in one tensor."""
    build, name = node.build, node.attr("activation_type", "relu")
    if name != "swiglu":
        if name not in ACTIVATIONS:
            raise NotSupported(f"attribute 'activation_type' = {name}; {', '.join(ACTIVATIONS)}, swiglu are supported")
        y = build.map(ACTIVATIONS[name], inner)
        return y if gate is None else build.map("x0 * x1", y, gate)
    fusion, size = node.attr("swiglu_fusion", 0), int(inner.shape[-1])  # type: ignore[arg-type]
    if fusion == 0 and gate is None:
        raise NotSupported("swiglu without FC3; give it, or set swiglu_fusion to 1 or 2")
    if fusion:
        g, up = (_half(node, inner, n, fusion == 1, size // 2) for n in range(2))
    else:
        g, up = inner, gate  # type: ignore[assignment]
    if (limit := node.attr("swiglu_limit", None)) is not None:
        bound = literal(limit)
        g, up = build.map(f"min(x0, {bound})", g), build.map(f"min(max(x0, -{bound}), {bound})", up)
    alpha, beta = (literal(node.attr(f"activation_{n}", d)) for n, d in (("alpha", 1.0), ("beta", 0.0)))
    return build.map(f"x0 * sigmoid({alpha} * x0) * (x1 + {beta})", g, up)


def _half(node: Node, x: Tensor, n: int, interleaved: bool, size: int) -> Tensor:
    """[T, experts, size]: half ``n`` of [T, experts, 2 * size]."""
    build = node.build
    if not interleaved:
        return build.cut(x, 2, n * size, size)
    pairs = build.reshape(x, (*x.shape[:2], size, 2))
    return build.reshape(build.cut(pairs, 3, n, 1), (*x.shape[:2], size))


def _layer(node: Node, n: int, weight: Weight, bias: Tensor | None, columns: int = 0) -> Layer:
    shape = weight.data.shape
    if len(shape) != 3 or not all(isinstance(d, int) for d in shape):
        raise NotSupported(f"input {n}, a weight of shape {shape}; [experts, rows, columns] of known extents is right")
    experts, rows, last = (int(d) for d in shape)  # type: ignore[arg-type]
    wide = None if bias is None else node.build.cast(bias, "f32")
    return Layer(weight, (experts, rows, columns or last), wide)


def _packed(node: Node, layer: int, at: int) -> Layer:
    """FC1, FC2 or FC3, whose weight is input ``at``."""
    build, data = node.build, node[at]
    bits = node.attr(f"fc{layer + 1}_expert_weight_bits", node.attr("expert_weight_bits", 4))
    if bits not in (2, 4, 8):
        raise NotSupported(f"weights of {bits} bits; 2, 4 and 8 are supported")
    experts, rows, last = data.shape
    columns = int(last) * (8 // bits)  # type: ignore[arg-type]
    block = node.attr("block_size", 0) or columns
    scales = build.cast(build.reshape(node[at + 1], (experts, rows, columns // block)), "f32")
    packed = Packed(data, bits, block, scales, _zeros(node, 11 + layer, bits, scales, "block_size" in node.attributes))
    return _layer(node, at, packed, node.get(at + 2), columns)


def _zeros(node: Node, at: int, bits: int, scales: Tensor, blocked: bool) -> Tensor | None:
    """Zero points [E, N, blocks] in f32; they are packed along the blocks of a row, or along the rows."""
    zero, per = node.get(at), 8 // bits
    if zero is None:
        return None
    index = f"i0, i1, i2 // {per}" if blocked else f"i0, i1 // {per}"
    shift = f"i32({'i2' if blocked else 'i1'} % {per} * {bits})"
    return node.build.compute(f"f32((i32(x0[{index}]) >> {shift}) & {2**bits - 1})", [zero], scales.shape)
