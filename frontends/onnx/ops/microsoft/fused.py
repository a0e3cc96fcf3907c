"""com.microsoft: FusedConv, FusedGemm: followed by an activation."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.activations import activation, activation_defaults
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.math.contract import gemm
from mlc.frontends.onnx.ops.core.nn.conv import conv
from mlc.frontends.onnx.ops.microsoft import DOMAIN

OF_CONV = {"Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta")}
OF_GEMM = (
    *OF_CONV, "Celu", "Elu", "ParametricSoftplus", "ScaledTanh", "Selu", "Softplus", "Softsign", "ThresholdedRelu"
)  # fmt: skip


def _refused(name: str, known: Iterable[str]) -> NotSupported:
    return NotSupported(f"attribute 'activation' = {name}; supported are {', '.join(known)}")


@onnx_op("FusedConv", domain=DOMAIN)
def fused_conv(node: Node) -> Tensor:
    """A convolution, plus input 3 where there is one, with an activation."""
    window = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
    node.only(*window, "activation", "activation_params")
    y, added = conv(node), node.get(3)
    y = y if added is None else node.build.map("x0 + x1", y, added)
    name, given = node.attr("activation", ""), node.attr("activation_params", None) or []
    if name == "Clip":
        low, high = map(literal, [*given, *(-math.inf, math.inf)[len(given) :]])
        return node.build.map(f"min(max(x0, {low}), {high})", y)
    if name and name not in OF_CONV:
        raise _refused(name, [*OF_CONV, "Clip"])
    return node.build.map(activation(name.lower(), **dict(zip(OF_CONV[name], given, strict=False))), y) if name else y


@onnx_op("FusedGemm", domain=DOMAIN)
def fused_gemm(node: Node) -> Tensor:
    """A Gemm with an activation."""
    own = ("activation_alpha", "activation_beta", "activation_gamma")
    node.only("alpha", "beta", "transA", "transB", "activation", *own)
    y, name = gemm(node), node.attr("activation", "")
    if name and name not in OF_GEMM:
        raise _refused(name, OF_GEMM)
    known = activation_defaults(name.lower()) if name else {}
    given = {key: node.attr(f"activation_{key}", value) for key, value in known.items()}
    return node.build.map(activation(name.lower(), **given), y) if name else y
