"""Shardings that an ONNX model itself has (IR version 11): ``configuration`` and the ``sharding_spec`` of its nodes.

A spec lists devices and how many shards each dimension has: the first device has the first shard, the shards of the
last sharded dimension follow each other, and a group of devices has a shard together. On a mesh these are axes that
divide the dimensions so that each rank has the shard of its device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from math import prod
from pathlib import Path

import numpy as np
from onnx import ModelProto, NodeProto, ShardingSpecProto

from mlc.errors import InputError
from mlc.frontends.onnx.reading.load import read

Axes = tuple[tuple[str, ...], ...]
"""For each dimension the mesh axes that divide it, as far as any is divided."""


def shardings_of(model: Path | bytes, mesh: Mapping[str, int]) -> dict[str, Axes]:
    """Return how the model says that tensors are divided, by their names; empty where it says nothing.

    Raises:
        InputError: a configuration of another number of devices, shards that no axes of the mesh make, or two nodes
            that divide a tensor in different ways; names node and tensor.
    """
    proto = read(model).proto
    if not any(node.device_configurations for node in proto.graph.node):
        return {}
    name, ranks = _configuration(proto, prod(mesh.values())), prod(mesh.values())
    found: dict[str, tuple[Axes, str]] = {}
    for node, spec in _specs(proto, name):
        where, axes = node.name or node.op_type, _axes(node, spec, mesh, ranks)
        known, by = found.setdefault(spec.tensor_name, (axes, where))
        if known != axes:
            what = f"It divides '{spec.tensor_name}' as {_text(axes)}, and node '{by}' as {_text(known)}"
            raise _wrong(node, what, "Let all nodes divide a tensor alike, or leave the spec of one out")
    return {tensor: axes for tensor, (axes, _) in found.items()}


def _configuration(proto: ModelProto, ranks: int) -> str:
    """Return the name of the configuration for so many devices."""
    fits = [each.name for each in proto.configuration if each.num_devices == ranks]
    if fits:
        return fits[0]
    known = ", ".join(f"'{each.name}' of {each.num_devices} devices" for each in proto.configuration) or "none"
    raise InputError(f"The model has no configuration of {ranks} devices, as the mesh has: {known}",
                     hint="Give a mesh of so many ranks, or delete the nodes' device_configurations")  # fmt: skip


def _specs(proto: ModelProto, configuration: str) -> Iterator[tuple[NodeProto, ShardingSpecProto]]:
    for node in proto.graph.node:
        for each in node.device_configurations:
            if each.configuration_id != configuration:
                continue
            if each.HasField("pipeline_stage"):
                hint = "Delete pipeline_stage: ranks of a mesh run all nodes"
                raise _wrong(node, f"It is in pipeline stage {each.pipeline_stage}, which mlc does not read", hint)
            for spec in each.sharding_spec:
                if spec.tensor_name not in (*node.input, *node.output):
                    what = f"It divides '{spec.tensor_name}', which it neither reads nor makes"
                    raise _wrong(node, what, "Name an input or output of the node")
                yield node, spec


def _axes(node: NodeProto, spec: ShardingSpecProto, mesh: Mapping[str, int], ranks: int) -> Axes:
    """Return the mesh axes that give each rank the shard of its device."""
    dims = [(each.axis, _shards(node, spec, each)) for each in spec.sharded_dim]
    if any(axis < 0 for axis, _ in dims) or len({axis for axis, _ in dims}) < len(dims):
        raise _wrong(node, f"It divides axes {[axis for axis, _ in dims]} of '{spec.tensor_name}'",
                     "Name each axis once, from 0 on")  # fmt: skip
    wanted = _shard_of_ranks(node, spec, [count for _, count in dims], ranks)
    for axes in _choices([count for _, count in dims], mesh):
        if _shards_on(axes, mesh) == wanted:
            found: list[tuple[str, ...]] = [()] * (max((axis for axis, _ in dims), default=-1) + 1)
            for (axis, _), names in zip(dims, axes, strict=True):
                found[axis] = names
            return _trimmed(found)
    shards = " x ".join(str(count) for _, count in dims) or "1"
    where = f"on devices {list(spec.device)}, as no axes of the mesh divide it"
    what = f"'{spec.tensor_name}' is in {shards} shards {where}"
    raise _wrong(node, what, f"Give another mesh than {_mesh(mesh)}, or other devices")


def _shards(node: NodeProto, spec: ShardingSpecProto, dim: object) -> int:
    counts = [each.num_shards for each in dim.simple_sharding]  # type: ignore[attr-defined]
    if len(counts) != 1 or counts[0] < 1:
        what = f"Axis {dim.axis} of '{spec.tensor_name}' has {len(counts)} simple shardings {counts}"  # type: ignore[attr-defined]
        raise _wrong(node, what, "Give one with a number of shards; an axis of several parts is not supported")
    return int(counts[0])


def _shard_of_ranks(node: NodeProto, spec: ShardingSpecProto, counts: list[int], ranks: int) -> list[int]:
    """Return the number of the shard that each rank has: ranks are devices."""
    groups = {each.key: list(each.value) for each in spec.index_to_device_group_map}
    devices = [groups.get(each, [each]) for each in spec.device]
    if not counts and len(devices) > 1:
        devices = [[each for group in devices for each in group]]  # a copy on each
    if len(devices) != prod(counts) or sorted(n for group in devices for n in group) != list(range(ranks)):
        what = f"'{spec.tensor_name}' has {prod(counts)} shards on devices {devices}, and the mesh has {ranks} ranks"
        raise _wrong(node, what, "Give each shard its devices, and each device of the mesh one shard")
    return [next(n for n, group in enumerate(devices) if rank in group) for rank in range(ranks)]


def _choices(counts: list[int], mesh: Mapping[str, int]) -> Iterator[Axes]:
    """Yield the ways to divide dimensions into so many shards by different axes of the mesh."""
    names = [name for name, size in mesh.items() if size > 1]
    orders = [each for n in range(len(names) + 1) for each in permutations(names, n)]
    fits = [[each for each in orders if prod(mesh[name] for name in each) == count] for count in counts]
    for chosen in product(*fits):
        used = [name for each in chosen for name in each]
        if len(set(used)) == len(used):
            yield chosen


def _shards_on(axes: Axes, mesh: Mapping[str, int]) -> list[int]:
    """Return the number of the shard that each rank has where these axes divide the dimensions."""
    numbers = dict(zip(mesh, np.indices(tuple(mesh.values())).reshape(len(mesh), -1), strict=True))
    shard = np.zeros(prod(mesh.values()), np.int64)
    for name in (name for each in axes for name in each):
        shard = shard * mesh[name] + numbers[name]
    return [int(each) for each in shard]


def _trimmed(axes: list[tuple[str, ...]]) -> Axes:
    while axes and not axes[-1]:
        axes.pop()
    return tuple(axes)


def _text(axes: Axes) -> str:
    return ",".join("+".join(each) or "-" for each in axes) or "whole"


def _mesh(mesh: Mapping[str, int]) -> str:
    return ",".join(f"{name}={size}" for name, size in mesh.items())


def _wrong(node: NodeProto, what: str, hint: str) -> InputError:
    return InputError(what, node=node.name or "?", op=node.op_type, stage="import", hint=hint)
