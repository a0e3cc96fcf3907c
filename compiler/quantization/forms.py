"""The forms of quantization, of one interface: which layers they take, what they write, and what a weight becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from mlc.quantization import blocks, dynamic, static
from mlc.quantization.layers import Layer
from mlc.quantization.network import Array, Network
from mlc.quantization.products import in_layout
from mlc.quantization.ranges import Range
from mlc.quantization.settings import Settings
from mlc.quantization.static import Plan, Scale, Writer, plan_of, scales_of


class Form(Protocol):
    """A form of quantization."""

    @property
    def name(self) -> str:
        """What a report says of a layer: ``int8``."""

    def refusal(self, layer: Layer) -> str | None:
        """Why a layer stays as it is; None where it is quantized."""

    def floats(self, layer: Layer) -> Array:
        """The weight of a layer as it is multiplied, in floats, in the layout of the model."""

    def write(self, network: Network, layers: Sequence[Layer]) -> None:
        """Quantize layers of a model."""


@dataclass
class Static:
    """QDQ form. ``ranges`` are of all tensors that ``plan`` names for all layers."""

    settings: Settings
    ranges: Mapping[str, Range] = field(default_factory=dict)
    name: str = "int8"

    def refusal(self, layer: Layer) -> str | None:
        if layer.scope.outer is not None:
            return f"it is in the body of '{layer.scope.owner}', whose values have no measured range"
        takes = layer.element in ("f32", "f16")
        return None if takes else f"QuantizeLinear takes f32 and f16, and this is {layer.element}"

    def plan(self, layers: Sequence[Layer]) -> Plan:
        return plan_of(layers[0].scope, layers)

    def scales(self, layers: Sequence[Layer]) -> dict[str, Scale]:
        return scales_of(self.plan(layers), self.ranges, self.settings.activations)

    def writer(self, network: Network, layers: Sequence[Layer]) -> Writer:
        s = self.settings
        plan, scales = self.plan(layers), self.scales(layers)
        return Writer(network, layers[0].scope, layers, plan, scales, s.levels, s.per_channel, s.search)

    def floats(self, layer: Layer) -> Array:
        s, scale = self.settings, Scale.of(self.ranges[layer.operand], self.settings.activations)
        return static.quantized(layer, scale, s.levels, s.per_channel, s.search).floats()

    def write(self, network: Network, layers: Sequence[Layer]) -> None:
        self.writer(network, layers).write()


@dataclass
class Dynamic:
    """Products of integers whose left factor is quantized at run time."""

    settings: Settings
    name: str = "int8 dynamic"

    def refusal(self, layer: Layer) -> str | None:
        return dynamic.refusal(layer)

    def floats(self, layer: Layer) -> Array:
        s = self.settings
        return in_layout(layer, dynamic.quantized(layer, s.levels, s.per_channel, s.search).floats())

    def write(self, network: Network, layers: Sequence[Layer]) -> None:
        s = self.settings
        dynamic.write(network, list(layers), s.levels, s.per_channel, s.search)


@dataclass
class WeightOnly:
    """Weights of 4 or 8 bits, activations in floats."""

    settings: Settings
    bits: int

    @property
    def name(self) -> str:
        return f"{self.bits} bits"

    def refusal(self, layer: Layer) -> str | None:
        return blocks.refusal(layer, self.bits)

    def floats(self, layer: Layer) -> Array:
        s = self.settings
        return blocks.quantized(layer, self.bits, s.block, s.symmetric, s.search)

    def write(self, network: Network, layers: Sequence[Layer]) -> None:
        s = self.settings
        blocks.write(network, list(layers), self.bits, s.block, s.symmetric, s.search)


def form_of(settings: Settings) -> Form | None:
    """The form of a mode; None where nothing is quantized."""
    if settings.mode == "static":
        return Static(settings)
    if settings.mode == "dynamic":
        return Dynamic(settings)
    return None if settings.mode == "none" else WeightOnly(settings, int(settings.mode[-1]))
