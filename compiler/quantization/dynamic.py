"""Dynamic quantization: activations by the range that they have at run time, weights of 8 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import helper

from mlc.quantization.layers import Layer
from mlc.quantization.network import Array, Network
from mlc.quantization.products import NodeMaker, product_of, rewrite
from mlc.quantization.weights import Quantized, by_channel, checked


def refusal(layer: Layer) -> str | None:
    """Why a layer stays as it is; None where it becomes a product of integers."""
    if layer.op == "ConvTranspose":
        return "ONNX has no transposed convolution of integers"
    if layer.element != "f32":
        return f"DynamicQuantizeLinear takes f32, and this is {layer.element}"
    return None


def quantized(layer: Layer, levels: int, per_channel: bool, search: bool) -> Quantized:
    """The weight as it is multiplied: of Gemm [K, N]."""
    if layer.is_convolution:
        return by_channel(checked(layer), layer.axis if per_channel else None, levels, search)
    product = product_of(layer)
    return by_channel(product.weight, product.axis if per_channel else None, levels, search)


def write(network: Network, layers: list[Layer], levels: int, per_channel: bool, search: bool) -> None:
    """Replace the layers by products of integers, with the scales after them."""

    def change(maker: NodeMaker, known: Bytes) -> bool:
        weight = quantized(maker.layer, levels, per_channel, search)
        (_convolution if maker.layer.is_convolution else _product)(maker, weight, known)
        return True

    rewrite(network, layers, change)


Bytes = dict[str, tuple[str, str, str]]
"""A tensor -> its bytes, their scale and their zero point: two layers that read one share them."""


def _bytes(maker: NodeMaker, name: str, known: Bytes) -> tuple[str, str, str]:
    if name not in known:
        names = [maker.network.fresh(f"{name}_{suffix}") for suffix in ("quantized", "scale", "zero_point")]
        node = helper.make_node("DynamicQuantizeLinear", [name], names, maker.network.fresh(f"{name}_quantize"))
        maker.nodes.append(node)
        known[name] = (names[0], names[1], names[2])
    return known[name]


def _scaled(maker: NodeMaker, integers: str, scale: str, weight_scales: Array) -> str:
    floats = maker.node("Cast", [integers], to=1)
    factor = maker.node("Mul", [scale, maker.constant("scale", weight_scales)])
    return maker.node("Mul", [floats, factor])


def _product(maker: NodeMaker, weight: Quantized, known: Bytes) -> None:
    product = product_of(maker.layer)
    data, scale, zero_point = _bytes(maker, maker.operand(product), known)
    values = maker.constant("quantized", weight.values)
    scales = weight.scales.astype(np.float32) * np.float32(product.alpha)
    if product.is_left:
        result = _left(maker, [values, data, zero_point, scale], scales)
    else:
        integers = maker.node("MatMulInteger", [data, values, zero_point])
        result = _scaled(maker, integers, scale, scales.reshape(-1) if scales.size > 1 else scales.reshape(()))
    maker.summed(result, product)


def _left(maker: NodeMaker, names: Sequence[str], scales: Array) -> str:
    """A constant left factor, with a scale a row. One product of both scales would let onnxruntime fuse what its
    kernel cannot multiply.
    """
    values, data, zero_point, scale = names
    none = maker.constant("zero_point", np.array(0, np.int8))
    floats = maker.node("Cast", [maker.node("MatMulInteger", [values, data, none, zero_point])], to=1)
    rows = scales if scales.ndim > 1 else scales.reshape(())
    return maker.node("Mul", [maker.node("Mul", [floats, scale]), maker.constant("scale", rows)])


def _convolution(maker: NodeMaker, weight: Quantized, known: Bytes) -> None:
    layer = maker.layer
    data, scale, zero_point = _bytes(maker, layer.operand, known)
    values = maker.constant("quantized", weight.values)
    integers = maker.node("ConvInteger", [data, values, zero_point])
    maker.nodes[-1].attribute.extend(layer.node.attribute)
    after = (-1, *[1] * (weight.values.ndim - 2))
    scales = weight.scales.reshape(after).astype(np.float32)
    maker.summed_channels(_scaled(maker, integers, scale, scales), after)
