"""The caches of a decoder as arguments of the module that are its state, and their new values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnx import ValueInfoProto
from xdsl.ir import SSAValue

from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.caches import Cache
from mlc.frontends.build.module import argument
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.reading.caches import MASK, TOKENS, Caches, growing_axis
from mlc.frontends.onnx.reading.types import element_of_onnx


def state_of(caches: Caches, build: Builder, values: dict[str, Any]) -> dict[str, Cache]:
    """Make the arguments, in the order of ``caches.pairs``, and give the past of each to ``values``; the caches by the
    names of their presents."""
    if not caches.pairs:
        return {}
    (batch, tokens), total = values[TOKENS].shape, values[MASK].shape[1]
    if not isinstance(batch, int):
        raise InputError("The number of sequences in the caches is open", hint=f"Fix it: --dim {batch}=1")
    with build.at(MASK, f"A cache of {caches.capacity} tokens"):
        build.require(caches.capacity, total)
    with build.at(MASK, "A cache"):
        build.require(total, tokens)
    named = {i.name: i for i in caches.inputs()}
    made = {past: _cache(named[past], caches, build, (batch, total - tokens, total)) for past in caches.pairs}
    for past, cache in made.items():
        with build.at(past):
            values[past] = cache.past(build)
    return {caches.pairs[past]: cache for past, cache in made.items()}


def _cache(info: ValueInfoProto, caches: Caches, build: Builder, sizes: tuple[int, DimLike, DimLike]) -> Cache:
    batch, before, total = sizes
    axis, type_ = growing_axis(info, caches.batch), info.type.tensor_type
    shape = [dim.dim_value if dim.HasField("dim_value") else batch for dim in type_.shape.dim]
    if axis is not None:
        shape = [caches.capacity, *(d for n, d in enumerate(shape) if n != axis)]
    return Cache(argument(build, info.name, element_of_onnx(type_.elem_type), tuple(shape)), axis, before, total)


def updates_of(states: Mapping[str, Cache], build: Builder, values: Mapping[str, Any]) -> dict[str, SSAValue]:
    """The new values of all caches, by the names of the outputs that they replace."""
    found = {}
    for name, cache in states.items():
        with build.at(name):
            if not isinstance(present := values.get(name), Tensor):
                raise InputError(f"Output '{name}' is no tensor", hint="Leave the cache out")
            cache.replace(build, present)
            assert cache.after is not None
            found[name] = build.value(cache.after)
    return found
