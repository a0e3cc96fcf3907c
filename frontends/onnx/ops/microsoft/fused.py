"""com.microsoft: FusedConv, FusedGemm: followed by an activation."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.math.contract import gemm
from mlc.frontends.onnx.ops.core.nn.conv import conv
from mlc.frontends.onnx.ops.microsoft import DOMAIN

# name -> (expression, defaults of its parameters a and b)
ACTIVATIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "": ("x0", ()),
    "Relu": ("relu(x0)", ()),
    "Sigmoid": ("sigmoid(x0)", ()),
    "Tanh": ("tanh(x0)", ()),
    "LeakyRelu": ("where(x0 >= 0, x0, {0} * x0)", (0.01,)),
    "HardSigmoid": ("max(0, min(1, {0} * x0 + {1}))", (0.2, 0.5)),
    "Clip": ("min(max(x0, {0}), {1})", (float("-inf"), float("inf"))),
}


def _activated(node: Node, y: Tensor, given: Sequence[float]) -> Tensor:
    name = node.attr("activation", "")
    if name not in ACTIVATIONS:
        raise NotSupported(f"attribute 'activation' = {name}; supported are {', '.join(filter(None, ACTIVATIONS))}")
    text, defaults = ACTIVATIONS[name]
    parameters = [*given, *defaults[len(given) :]]
    return node.build.map(text.format(*map(literal, parameters)), y) if name else y


@onnx_op("FusedConv", domain=DOMAIN)
def fused_conv(node: Node) -> Tensor:
    """A convolution, plus input 3 where there is one, with an activation."""
    window = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
    node.only(*window, "activation", "activation_params")
    y, added = conv(node), node.get(3)
    y = y if added is None else node.build.map("x0 + x1", y, added)
    return _activated(node, y, node.attr("activation_params", None) or [])


@onnx_op("FusedGemm", domain=DOMAIN)
def fused_gemm(node: Node) -> Tensor:
    """A Gemm with an activation."""
    node.only("alpha", "beta", "transA", "transB", "activation", "activation_alpha", "activation_beta")
    names = ("activation_alpha", "activation_beta")
    return _activated(node, gemm(node), [node.attr(n) for n in names if n in node.attributes])
