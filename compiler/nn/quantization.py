"""Quantization-aware training: layers that compute as their quantized forms will, and derivatives that pass through.

Source: Jacob et al. 2018, arXiv 1712.05877; the straight-through estimator of Bengio et al. 2013, arXiv 1308.3432.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.custom import stop_gradient
from mlc.nn.layers.basic import Linear
from mlc.nn.layers.convolutions import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from mlc.nn.module import Module, buffer, inlined, static

TRANSPOSED = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
LAYERS = (Linear, Conv1d, Conv2d, Conv3d, *TRANSPOSED)
MOMENTUM = 0.05  # of a batch in the running range
TINY = 1e-12  # of a scale


def fake_quantize(x: Any, low: Any, high: Any, bits: int = 8) -> Array:
    """``x`` rounded to 2**bits levels from ``low`` to ``high``, one of which is 0; the gradient is that of clipping.

    The range is widened to have 0 in it. ``low`` and ``high`` have no gradients.
    """
    data, levels = as_array(x), (1 << _checked(bits)) - 1
    least, most = mnp.minimum(as_array(low), 0), mnp.maximum(as_array(high), 0)
    scale = stop_gradient(mnp.maximum((most - least) / levels, TINY))
    zero = stop_gradient(mnp.clip(mnp.round(-least / scale), 0, levels))
    clipped = mnp.clip(data, -zero * scale, (levels - zero) * scale)
    rounded = mnp.clip(mnp.round(data / scale), -zero, levels - zero) * scale
    return clipped + stop_gradient(rounded - clipped)


def fake_quantize_weight(weight: Any, axis: int | None = 0, bits: int = 8) -> Array:
    """A weight rounded to levels on both sides of 0, with a scale for each index of ``axis``; the gradient passes."""
    data, levels = as_array(weight), (1 << _checked(bits) - 1) - 1
    others = tuple(n for n in range(data.ndim) if n != axis)
    scale = stop_gradient(mnp.maximum(mnp.max(mnp.abs(data), axis=others, keepdims=True) / levels, TINY))
    return data + stop_gradient(mnp.round(data / scale) * scale - data)


def _checked(bits: int) -> int:
    if not 2 <= bits <= 16:
        raise InputError(f"Integers of {bits} bits are not supported", hint="Give 2 to 16 bits")
    return bits


class FakeQuantized(Module):
    """A layer whose weight and input are rounded as its quantized form will round them.

    In training the range of the input follows the batches (``nn.functional_call`` returns it); else it is that of
    training. ``bits`` are the weight's, ``input_bits`` the input's; 0: the input is not rounded.
    """

    layer: Any = inlined()
    low: Array = buffer()
    high: Array = buffer()
    seen: Array = buffer()
    bits: int = static()
    input_bits: int = static()

    def __init__(self, layer: Any, bits: int = 8, input_bits: int = 8) -> None:
        if not isinstance(layer, LAYERS):
            raise InputError(f"A {type(layer).__name__} cannot be quantized", hint="Give a linear or convolution layer")
        self.layer, self.bits = layer, _checked(bits)
        self.input_bits = input_bits and _checked(input_bits)
        self.low, self.high, self.seen = (as_array(np.zeros((), np.float32)) for _ in range(3))

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Array:
        data = as_array(x)
        if self.input_bits:
            low, high = self._range(data)
            data = fake_quantize(data, low, high, self.input_bits)
        found: Array = self.rounded()(data, *args, **kwargs)
        return found

    @property
    def weight(self) -> Array:
        """The weight of the layer, not rounded."""
        weight: Array = self.layer.weight
        return weight

    def rounded(self) -> Any:
        """The layer with the weight that its quantized form has."""
        layer = copy.copy(self.layer)
        layer.weight = fake_quantize_weight(layer.weight, int(isinstance(layer, TRANSPOSED)), self.bits)
        return layer

    def _range(self, data: Array) -> tuple[Array, Array]:
        if not self.training:
            return self.low, self.high
        new = mnp.where(self.seen > 0, MOMENTUM, 1.0)
        low = self.low + (mnp.astype(mnp.min(stop_gradient(data)), np.float32) - self.low) * new
        high = self.high + (mnp.astype(mnp.max(stop_gradient(data)), np.float32) - self.high) * new
        self.record(low=low, high=high, seen=mnp.ones_like(self.seen))
        return low, high


def quantized(model: Any, bits: int = 8, input_bits: int = 8) -> Any:
    """A copy of a model for quantization-aware training: each linear and convolution layer is a ``FakeQuantized``.

    Raises:
        InputError: the model has no such layer.
    """
    if not any(isinstance(each, LAYERS) for each in _within(model)):
        raise InputError("The model has no linear or convolution layer to quantize", hint="Give a module of mlc.nn")

    def wrapped(leaf: Any) -> Any:
        return FakeQuantized(_copied(leaf), bits, input_bits) if isinstance(leaf, LAYERS) else leaf

    return trees.tree_map(wrapped, model, is_leaf=lambda each: isinstance(each, (*LAYERS, FakeQuantized)))


def unquantized(model: Any) -> Any:
    """A copy of a model with plain layers, whose weights are rounded as in training: ``mlc.quantize`` finds the same
    integers in what ``mlc.export_onnx`` writes of it.
    """

    def plain(leaf: Any) -> Any:
        return trees.tree_map(_evaluated, leaf.rounded()) if isinstance(leaf, FakeQuantized) else leaf

    return trees.tree_map(plain, model, is_leaf=lambda each: isinstance(each, FakeQuantized))


def _evaluated(x: Any) -> Any:
    """An array of known elements, which an exported model has as a constant."""
    return as_array(x.numpy()) if isinstance(x, Array) else x


def _within(model: Any) -> list[Any]:
    from mlc.nn.module import modules

    return list(modules(model))


def _copied(layer: Any) -> Any:
    leaves, structure = trees.flatten(layer)
    return trees.unflatten(structure, leaves)
