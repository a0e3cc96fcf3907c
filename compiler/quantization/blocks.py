"""Weight-only quantization: MatMulNBits with weights of 4 or 8 bits in blocks, and weights of 8 bits elsewhere."""

from __future__ import annotations

import numpy as np
from onnx import helper

from mlc.quantization.layers import Layer
from mlc.quantization.network import CONTRIB, Array, Network
from mlc.quantization.products import NodeMaker, Product, in_layout, product_of, rewrite
from mlc.quantization.weights import Blocks, by_channel, checked, in_blocks

LEVELS = 127


def refusal(layer: Layer, bits: int) -> str | None:
    """Why a layer stays as it is; None where its weight becomes integers."""
    if layer.element not in ("f32", "f16"):
        return f"MatMulNBits takes f32 and f16, and this is {layer.element}"
    if bits == 4 and not is_product(layer):
        return "MatMulNBits multiplies by one constant matrix on the right"
    return None


def is_product(layer: Layer) -> bool:
    """Whether MatMulNBits says it."""
    return layer.op in ("MatMul", "Gemm") and layer.slot == 1 and len(layer.array().shape) == 2


def quantized(layer: Layer, bits: int, size: int, symmetric: bool, search: bool) -> Array:
    """The weight as it is multiplied, in floats again, in the layout of the model."""
    if not is_product(layer):
        return by_channel(checked(layer), layer.axis, LEVELS, search).floats()
    product = product_of(layer)
    return in_layout(layer, in_blocks(product.weight, bits, size, symmetric, search).floats())


def write(network: Network, layers: list[Layer], bits: int, size: int, symmetric: bool, search: bool) -> None:
    """Replace products by MatMulNBits, and other weights by bytes that DequantizeLinear widens."""

    def change(maker: NodeMaker, known: dict[tuple[str, int | None], list[str]]) -> bool:
        layer = maker.layer
        if is_product(layer):
            network.need(CONTRIB)
            _multiplied(maker, product_of(layer), known, (bits, size, symmetric, search))
            return True
        layer.node.input[layer.slot] = _widened(maker, known, search)
        return False

    rewrite(network, layers, change)


def _multiplied(
    maker: NodeMaker, product: Product, known: dict[tuple[str, int | None], list[str]], how: tuple[int, int, bool, bool]
) -> None:
    bits, size, symmetric, search = how
    key = (maker.layer.weight, maker.layer.axis)
    if key not in known:
        blocks = in_blocks(product.weight, bits, size, symmetric, search)
        known[key] = _constants(maker, blocks, bits, symmetric)
    rows, columns = product.weight.shape
    attributes = {"K": rows, "N": columns, "bits": bits, "block_size": size}
    name = maker.node("MatMulNBits", [maker.operand(product), *known[key]], domain=CONTRIB, **attributes)
    if product.alpha != 1.0:
        name = maker.node("Mul", [name, maker.constant("alpha", np.array(product.alpha, maker.float_type))])
    maker.summed(name, product)


def _constants(maker: NodeMaker, blocks: Blocks, bits: int, symmetric: bool) -> list[str]:
    names = [
        maker.constant(f"{bits}bits", packed(blocks.values, bits)),
        maker.constant("scales", blocks.scales.astype(maker.float_type)),
    ]
    return names if symmetric else [*names, maker.constant("zero_points", packed(blocks.zero_points, bits))]


def packed(numbers: Array, bits: int) -> Array:
    """Numbers of 4 bits in pairs along the last axis, the first in the low half; of 8 bits as they are."""
    if bits == 8:
        return numbers
    even = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, numbers.shape[-1] % 2)])
    pairs: Array = even[..., ::2] | even[..., 1::2] << 4
    return pairs


def _widened(maker: NodeMaker, known: dict[tuple[str, int | None], list[str]], search: bool) -> str:
    """The name of the weight from bytes with a scale a channel."""
    layer = maker.layer
    key = (layer.weight, layer.axis)
    if key not in known:
        found = by_channel(checked(layer), layer.axis, LEVELS, search)
        scales = found.scales.reshape(-1) if layer.axis is not None else found.scales.reshape(())
        constants = [maker.constant("8bits", found.values), maker.constant("scale", scales.astype(maker.float_type))]
        output = maker.network.fresh(f"{layer.weight}_dequantized")
        name = maker.network.fresh(f"{output}_node")
        maker.nodes.append(helper.make_node("DequantizeLinear", constants, [output], name, axis=layer.axis or 0))
        known[key] = [output]
    return known[key][0]
