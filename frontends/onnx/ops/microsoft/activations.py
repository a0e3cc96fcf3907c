"""com.microsoft: Gelu, FastGelu, BiasGelu, QuickGelu, BiasAdd."""

from __future__ import annotations

from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.activations import activation
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

GELUS = {"Gelu": "gelu", "BiasGelu": "gelu", "FastGelu": "gelu_tanh"}


@onnx_op(*GELUS, domain=DOMAIN)
def gelu(node: Node) -> Tensor:
    """Gelu (by erf, or by tanh in FastGelu) of the input with its bias, where there is one."""
    node.only()
    bias = node.get(1)
    x = node[0] if bias is None else node.build.map("x0 + x1", node[0], bias)
    return node.build.formula(activation(GELUS[node.op]), x)


@onnx_op("QuickGelu", domain=DOMAIN)
def quick_gelu(node: Node) -> Tensor:
    """x times the logistic function of alpha x."""
    node.only("alpha")
    return node.build.formula(f"x0 * sigmoid({literal(node.attr('alpha', 1.702))} * x0)", node[0])


@onnx_op("BiasAdd", domain=DOMAIN)
def bias_add(node: Node) -> Tensor:
    """x + bias + skip: [N, S, C], with a bias of [C]."""
    node.only()
    return node.build.formula("x0 + x1 + x2", node[0], node[1], node[2])
