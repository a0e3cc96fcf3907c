"""How much the outputs change where one layer alone is quantized, measured on one model that has a switch a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper

from mlc.errors import InputError
from mlc.quantization.execution import Run, runner
from mlc.quantization.forms import Dynamic, Form, Static
from mlc.quantization.layers import by_scope, layers_of
from mlc.quantization.network import Array, Network, set_nodes
from mlc.quantization.products import NodeMaker
from mlc.quantization.static import Scale, result_of

MOST_BATCHES = 4  # on which sensitivity is measured
TYPES = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}


@dataclass
class Switches:
    """A model whose layers are quantized where their switch is 1; measures outputs for any set of them.

    ``plain`` are its outputs without quantization, ``wanted`` those of the model before it was pruned or factorized.
    """

    run: Run
    name: str
    layers: Sequence[str]
    batches: Sequence[Mapping[str, Array]]
    plain: list[dict[str, Array]]
    wanted: list[dict[str, Array]]

    @classmethod
    def of(
        cls,
        network: Network,
        layers: Sequence[str],
        form: Form,
        batches: Sequence[Mapping[str, Array]],
        before: Network | None = None,
    ) -> Switches:
        """For layers by name; ``before`` is the network as it was given, where that is another one."""
        copy = network.copy()
        name = _switched(copy, layers, form)
        few, zeros = batches[:MOST_BATCHES], np.zeros(len(layers), np.float32)
        run = runner(copy.proto, {**few[0], name: zeros})
        plain = [run({**batch, name: zeros}) for batch in few]
        return cls(run, name, layers, few, plain, plain if before is None else _outputs(before, few))

    def error(self, quantized: set[str]) -> float:
        """The size (root of the sum of squares) of an output's difference from the given model's, as a share of its
        own; the largest one.
        """
        return self._difference(quantized, self.wanted)

    def each(self) -> dict[str, float]:
        """The error with one layer quantized, for each, beside the model with none."""
        return {layer: self._difference({layer}, self.plain) for layer in self.layers}

    def _difference(self, quantized: set[str], wanted: Sequence[Mapping[str, Array]]) -> float:
        on = np.array([layer in quantized for layer in self.layers], np.float32)
        noise, signal = dict[str, float](), dict[str, float]()
        for batch, right in zip(self.batches, wanted, strict=True):
            for name, found in self.run({**batch, self.name: on}).items():
                if np.issubdtype(found.dtype, np.floating):
                    wide = right[name].astype(np.float64)
                    noise[name] = noise.get(name, 0.0) + float(np.square(found - wide).sum())
                    signal[name] = signal.get(name, 0.0) + float(np.square(wide).sum())
        return max((relative(noise[name], signal[name]) for name in noise), default=0.0)


def _outputs(network: Network, batches: Sequence[Mapping[str, Array]]) -> list[dict[str, Array]]:
    run = runner(network.proto, batches[0])
    return [run(batch) for batch in batches]


def relative(noise: float, signal: float) -> float:
    """The root of a ratio of squares."""
    return float(np.sqrt(noise / signal)) if signal else float(noise > 0)


def kept_in_floats(switches: Switches, by_layer: Mapping[str, float], worst: int, limit: float | None) -> set[str]:
    """The layers to leave in f32: the ``worst`` ones, and as few more of these as bring the error under ``limit``.

    Raises:
        InputError: pruned or factorized, the model in f32 has a larger error.
    """
    order = sorted(by_layer, key=lambda name: -by_layer[name])
    if limit is None:
        return set(order[:worst])
    if (least := switches.error(set())) > limit:
        what = f"The outputs cannot stay within max_error={limit:g}"
        why = f"pruning and factorization alone change them by {least:.3g}"
        hint = "Prune less, keep a larger share for low_rank, or give a larger max_error"
        raise InputError(f"{what}: {why}", hint=hint)
    low, high = worst, len(order)
    while low < high:
        middle = (low + high) // 2
        if switches.error(set(order[middle:])) <= limit:
            high = middle
        else:
            low = middle + 1
    return set(order[:low])


def _switched(network: Network, names: Sequence[str], form: Form) -> str:
    """Give each layer a switch, in place; the name of the input that has them."""
    switches = network.fresh("switches")
    network.proto.graph.input.append(helper.make_tensor_value_info(switches, TensorProto.FLOAT, [len(names)]))
    chosen = {layer.name: layer for layer in layers_of(network) if layer.name in names}
    scales = form.scales(list(chosen.values())) if isinstance(form, Static) else {}
    for scope, mine in by_scope(chosen.values()):
        nodes = list(scope.graph.node)
        makers = {name: NodeMaker(network, layer, nodes) for name, layer in mine.items()}
        on = {name: _switch(maker, switches, list(names).index(name)) for name, maker in makers.items()}
        if isinstance(form, Static):
            _switch_results(makers, on, scales)
        for name, maker in makers.items():  # the weight first: its form may follow from the operand
            _switch_weight(maker, on[name], form)
            if isinstance(form, Static | Dynamic):
                _switch_operand(maker, on[name], scales.get(maker.layer.operand))
        set_nodes(scope.graph, nodes)
    return switches


def _switch(maker: NodeMaker, switches: str, index: int) -> str:
    found = maker.node("Gather", [switches, maker.constant("index", np.array(index, np.int64))], axis=0)
    return maker.node("Cast", [found], to=TYPES[maker.element])


def _mixed(maker: NodeMaker, plain: str, other: str, switch: str, output: str = "") -> str:
    difference = maker.node("Sub", [other, plain])
    return maker.node("Add", [plain, maker.node("Mul", [difference, switch])], output)


def _switch_weight(maker: NodeMaker, switch: str, form: Form) -> None:
    layer = maker.layer
    weight = layer.array()
    difference = (form.floats(layer) - weight.astype(np.float32)).astype(weight.dtype)
    scaled = maker.node("Mul", [maker.constant("difference", difference), switch])
    layer.node.input[layer.slot] = maker.node("Add", [layer.weight, scaled])


def _switch_operand(maker: NodeMaker, switch: str, scale: Scale | None) -> None:
    layer, slot = maker.layer, 1 - maker.layer.slot
    layer.node.input[slot] = _mixed(maker, layer.operand, _rounded(maker, layer.operand, scale), switch)


def _rounded(maker: NodeMaker, name: str, scale: Scale | None) -> str:
    """A tensor as bytes and as floats again: by its own range where there is no scale."""
    if scale is None:
        names = [maker.network.fresh(f"{name}_{n}") for n in range(3)]
        maker.nodes.append(helper.make_node("DynamicQuantizeLinear", [name], names))
        return maker.node("DequantizeLinear", names)
    constants = [
        maker.constant("scale", np.array(scale.scale, maker.float_type)),
        maker.constant("zero_point", np.array(scale.zero_point, scale.dtype)),
    ]
    return maker.node("DequantizeLinear", [maker.node("QuantizeLinear", [name, *constants]), *constants])


def _switch_results(makers: Mapping[str, NodeMaker], on: Mapping[str, str], scales: Mapping[str, Scale]) -> None:
    """What convolutions store is rounded too, by the switch of the convolution."""
    first = next(iter(makers.values()))
    readers, nodes = first.layer.scope.readers(), {name: node for node in first.nodes for name in node.output}
    for name, maker in makers.items():
        result = result_of(maker.layer, readers) if maker.layer.is_convolution else None
        if result is not None and result in scales:
            plain = maker.network.fresh(f"{result}_plain")
            nodes[result].output[0] = plain
            _mixed(maker, plain, _rounded(maker, plain, scales[result]), on[name], result)
