"""Low-rank factorization: a weight as the product of two smaller ones (truncated singular value decomposition)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.quantization.layers import Layer
from mlc.quantization.network import Array, Network, attribute
from mlc.quantization.products import NodeMaker, product_of, rewrite

KERNEL = ("kernel_shape", "strides", "pads", "dilations", "auto_pad")


def factorize(network: Network, layers: list[Layer], share: float) -> dict[str, str]:
    """Replace weights by two factors that keep ``share`` of the squares of the singular values, where the factors are
    smaller than the weight. What happened to each layer: its rank, or why it stays.
    """
    found = dict[str, str]()

    def change(maker: NodeMaker, _: dict[Any, Any]) -> bool:
        found[maker.layer.name] = why = _factorized(maker, share)
        return why.startswith("rank")

    rewrite(network, layers, change)
    return found


def _factorized(maker: NodeMaker, share: float) -> str:
    layer = maker.layer
    if layer.op == "ConvTranspose" or layer.array().ndim < 2 or layer.slot == 0:
        return "no matrix on the right"
    if layer.op == "Conv" and attribute(layer.node, "group", 1) != 1:
        return "its channels are in groups"
    if layer.op != "Conv" and layer.array().ndim != 2:
        return "its weight is a batch of matrices"
    weight = layer.array().reshape(len(layer.array()), -1) if layer.op == "Conv" else product_of(layer).weight
    left, right = factors(weight.astype(np.float64), share)
    if left.size + right.size >= weight.size:
        return f"rank {left.shape[1]} would need no fewer weights".replace("rank", "a rank of", 1)
    kind = layer.array().dtype
    (_convolved if layer.op == "Conv" else _multiplied)(maker, left.astype(kind), right.astype(kind))
    return f"rank {left.shape[1]} of {min(weight.shape)}"


def factors(weight: Array, share: float) -> tuple[Array, Array]:
    """[M, R] and [R, N] whose product keeps a share of the squares of a matrix [M, N]."""
    u, s, v = np.linalg.svd(weight, full_matrices=False)
    kept = np.cumsum(s**2)
    rank = 1 + int(np.searchsorted(kept, share * kept[-1] * (1 - 1e-12)))
    rank = min(rank, len(s))
    root = np.sqrt(s[:rank])
    return u[:, :rank] * root, root[:, None] * v[:rank]


def _multiplied(maker: NodeMaker, left: Array, right: Array) -> None:
    product = product_of(maker.layer)
    first = maker.node("MatMul", [maker.operand(product), maker.constant("left", left)])
    name = maker.node("MatMul", [first, maker.constant("right", right)])
    if product.alpha != 1.0:
        name = maker.node("Mul", [name, maker.constant("alpha", np.array(product.alpha, maker.float_type))])
    maker.summed(name, product)


def _convolved(maker: NodeMaker, left: Array, right: Array) -> None:
    """A convolution with R filters, then one by 1 × 1 with the bias."""
    layer, node = maker.layer, maker.layer.node
    kernel = layer.array().shape[1:]
    first = maker.node("Conv", [layer.operand, maker.constant("left", right.reshape(-1, *kernel))])
    maker.nodes[-1].attribute.extend(each for each in node.attribute if each.name in KERNEL)
    second = maker.constant("right", left.reshape(*left.shape, *[1] * (len(kernel) - 1)))
    maker.node("Conv", [first, second, *node.input[2:3]], layer.output)
