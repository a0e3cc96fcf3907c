"""Pruning: weights of least magnitude become zeros, anywhere or two of four; channels of least norm are removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from onnx import NodeProto, numpy_helper

from mlc.errors import InputError
from mlc.quantization.layers import Layer
from mlc.quantization.network import Array, Network, Scope, attribute

CHANNELWISE = ("Relu", "Clip", "LeakyRelu", "Tanh", "Elu", "HardSwish", "MaxPool", "AveragePool",
               "GlobalAveragePool", "Dropout", "Identity", "Flatten")  # fmt: skip
"""Operators that keep channels apart, and make zeros of zeros."""
HINT = "Write a share as 0.5, 2:4, or channels:0.25"


def prune(network: Network, layers: list[Layer], how: str) -> dict[str, str]:
    """Prune the weights of layers in place; what happened to each.

    Raises:
        InputError: ``how`` is none of ``0.5``, ``N:M`` and ``channels:0.25``.
    """
    if match := re.fullmatch(r"(\d+):(\d+)", how):
        kept, group = int(match[1]), int(match[2])
        if not 0 < kept < group:
            what = f"'{how}' keeps no part of each group"
            raise InputError(f"{what}: the first number must be from 1 to {group - 1}", hint=HINT)
        return _masked(layers, lambda layer: _by_groups(layer, kept, group))
    channels = how.startswith("channels:")
    try:
        share = float(how.removeprefix("channels:"))
    except ValueError:
        raise InputError(f"'{how}' is no share of weights to prune", hint=HINT) from None
    if not 0 < share < 1:
        raise InputError(f"A share of {share} is not between 0 and 1", hint=HINT)
    if channels:
        return {layer.name: _without_channels(network, layer, layers, share) for layer in layers}
    return _masked(layers, lambda layer: _smallest(layer.array(), share))


def _masked(layers: Sequence[Layer], made: Callable[[Layer], Array | None]) -> dict[str, str]:
    """Give weights new values; a weight that two layers share is pruned once."""
    found, done = dict[str, str](), dict[int, str]()
    for layer in layers:
        tensor = layer.scope.tensor(layer.weight)
        if id(tensor) not in done:
            new = made(layer)
            if new is not None and tensor is not None:
                tensor.CopyFrom(numpy_helper.from_array(new.astype(layer.array().dtype), layer.weight))
            zeros = float(np.mean(layer.array() == 0))
            done[id(tensor)] = f"{zeros:.0%} zeros" if new is not None else "its sum is no multiple of the group"
        found[layer.name] = done[id(tensor)]
    return found


def _smallest(array: Array, share: float) -> Array:
    """Zeros in the place of the share of least magnitude."""
    count = round(share * array.size)
    flat = array.reshape(-1).copy()
    flat[np.argpartition(np.abs(flat), count - 1)[:count] if count else []] = 0
    return flat.reshape(array.shape)


def _by_groups(layer: Layer, kept: int, group: int) -> Array | None:
    """In each ``group`` weights along the sum, the ``kept`` greatest; None where groups do not divide it."""
    array = layer.array()
    along = 1 if layer.op == "Conv" else 0 if layer.op == "ConvTranspose" else _axis_of_sum(layer)
    moved = np.moveaxis(array, along, -1)
    if moved.shape[-1] % group:
        return None
    parts = moved.reshape(*moved.shape[:-1], -1, group)
    ranks = np.argsort(np.argsort(-np.abs(parts), axis=-1, kind="stable"), axis=-1)
    return np.moveaxis(np.where(ranks < kept, parts, 0).reshape(moved.shape), -1, along)


def _axis_of_sum(layer: Layer) -> int:
    rank = layer.array().ndim
    if rank == 1 or layer.axis is None:
        return 0
    return rank - 1 if layer.axis == rank - 2 else rank - 2


def _without_channels(network: Network, layer: Layer, layers: Sequence[Layer], share: float) -> str:
    """Remove channels of a layer and what reads them in the next layer, where the two are a chain."""
    if layer.op not in ("Conv", "Gemm", "MatMul") or layer.slot != 1 or layer.array().ndim < 2:
        return "it has no channels of its own"
    reader = _reader(layer, layers)
    if reader is None:
        return "its channels are read by more than one layer"
    if _count(layer, layers) > 1 or _count(reader, layers) > 1:
        return "its weight is shared"
    axis, array = layer.axis, layer.array()
    if axis is None or attribute(layer.node, "group", 1) != 1:
        return "its channels are in groups"
    channels = array.shape[axis]
    norms = np.abs(array.astype(np.float64)).sum(tuple(n for n in range(array.ndim) if n != axis))
    kept = np.sort(np.argsort(-norms, kind="stable")[: max(1, channels - round(share * channels))])
    return _cut(layer, reader, axis, kept)


def _count(layer: Layer, layers: Sequence[Layer]) -> int:
    return sum(each.weight == layer.weight for each in layers)


def _reader(layer: Layer, layers: Sequence[Layer]) -> Layer | None:
    """The one layer that reads the channels, through operators that keep these apart."""
    scope, readers, by_name = layer.scope, layer.scope.readers(), {each.name: each for each in layers}
    name = layer.output
    while True:
        after: list[NodeProto] = readers.get(name, [])
        if len(after) != 1 or scope.is_output(name):
            return None
        found = by_name.get(after[0].name)
        if found is not None:
            right = found.slot == 1 and found.operand == name and attribute(found.node, "group", 1) == 1
            return found if right and _is_chain(layer, found) else None
        node = after[0]
        if not _keeps_channels(node, layer, scope):
            return None
        name = node.output[0]


def _is_chain(layer: Layer, reader: Layer) -> bool:
    """Whether the channels of one are what the other sums: products read the last axis, convolutions the second."""
    if reader.op == "Conv":
        return layer.op == "Conv"
    return reader.op in ("Gemm", "MatMul") and attribute(reader.node, "transA", 0) == 0 and reader.array().ndim == 2


def _keeps_channels(node: NodeProto, layer: Layer, scope: Scope) -> bool:
    if node.op_type == "Flatten":
        return layer.op == "Conv" and attribute(node, "axis", 1) == 1
    if node.op_type == "Add" and layer.op == "MatMul":
        constant = scope.tensor(node.input[1]) or scope.tensor(node.input[0])
        return constant is not None and len(constant.dims) == 1
    pools = ("MaxPool", "AveragePool", "GlobalAveragePool")
    return node.op_type in CHANNELWISE and (layer.op == "Conv" or node.op_type not in pools)


def _cut(layer: Layer, reader: Layer, axis: int, kept: Array) -> str:
    channels = layer.array().shape[axis]
    along = 1 if reader.op == "Conv" else _axis_of_sum(reader)
    summed = reader.array().shape[along]
    if summed % channels:
        return "its channels are read in another shape"
    wide = (kept[:, None] * (summed // channels) + np.arange(summed // channels)).reshape(-1)
    addends = _addends(layer, channels)
    if addends is None:
        return "what is added to it is shared"
    _take(layer.scope, layer.weight, kept, axis)
    _take(reader.scope, reader.weight, wide, along)
    for name in addends:
        _take(layer.scope, name, kept, 0)
    return f"{len(kept)} of {channels} channels"


def _addends(layer: Layer, channels: int) -> list[str] | None:
    """Constants of one number a channel that are added: the bias, or those of Add; None where others read them."""
    scope, readers = layer.scope, layer.scope.readers()
    names = [layer.node.input[2]] if len(layer.node.input) > 2 and layer.node.input[2] else []
    for node in readers.get(layer.output, []) if layer.op == "MatMul" else []:
        names += [name for name in node.input if node.op_type == "Add" and scope.tensor(name) is not None]
    for name in names:
        tensor = scope.tensor(name)
        if tensor is None or list(tensor.dims) not in ([channels], [1]) or len(readers[name]) != 1:
            return None
    return [name for name in names if list(scope.tensor(name).dims) == [channels]]  # type: ignore[union-attr]


def _take(scope: Scope, name: str, indices: Array, axis: int) -> None:
    tensor, array = scope.tensor(name), scope.array(name)
    if tensor is not None and array is not None:
        tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array.take(indices, axis)), name))
