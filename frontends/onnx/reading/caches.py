"""The inputs and outputs of a decoder as ONNX exports name them: tokens, masks, and caches in pairs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto, TensorProto, ValueInfoProto, helper

from mlc.errors import InputError

PAST = re.compile(r"^(past|present)(_key_values?)?")
TOKENS, MASK, BRANCH = "input_ids", "attention_mask", "use_cache_branch"


def pairs(inputs: Iterable[str], outputs: Iterable[str]) -> dict[str, str]:
    """The output that is the next value of an input: ``past_key_values.0.key`` and ``present.0.key``, ``past_0`` and
    ``present_0``."""
    rest = {PAST.sub("", name): name for name in outputs if name.startswith("present")}
    named = {name: PAST.sub("", name) for name in inputs if name.startswith("past")}
    return {name: rest[short] for name, short in named.items() if short in rest}


@dataclass(frozen=True)
class Caches:
    """The caches of a graph that become state of the model: ``pairs``, with room for ``capacity`` tokens."""

    graph: GraphProto
    pairs: Mapping[str, str]
    capacity: int

    @staticmethod
    def of(graph: GraphProto, capacity: int) -> Caches:
        """The caches of a decoder, where ``capacity`` is not 0.

        Raises:
            InputError: the model has none, or no tokens.
        """
        if not capacity:
            return Caches(graph, {}, 0)
        inputs, outputs = [i.name for i in graph.input], [o.name for o in graph.output]
        found = pairs(inputs, outputs)
        if not found or TOKENS not in inputs:
            what = f"has no input '{TOKENS}'" if found else "has no caches"
            hint = f"A decoder has {TOKENS}, inputs 'past…', and outputs 'present…' of the same names"
            raise InputError(f"The model {what}, so none can be kept in it", hint=hint)
        return Caches(graph, found, capacity)

    @property
    def batch(self) -> str:
        """The name of the number of sequences; "" where it has none."""
        found = (i.type.tensor_type.shape.dim[0].dim_param for i in self.graph.input if i.name == TOKENS)
        return next(found, "")

    def dims(self, fixed: Mapping[str, int]) -> dict[str, int]:
        """``fixed`` with one sequence where nothing is said of their number: state has a known size."""
        return {self.batch: 1, **fixed} if self.pairs and self.batch else dict(fixed)

    def interface(self) -> list[ValueInfoProto]:
        """The inputs that callers give. A mask says how many tokens there are, with those before."""
        if not self.pairs:
            return list(self.graph.input)
        left = [i for i in self.graph.input if i.name not in self.pairs and i.name != BRANCH]
        found = [_mask(i, left) if i.name == MASK else i for i in left]
        return found if any(i.name == MASK for i in found) else [*found, _mask(None, left)]

    def constants(self) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
        """Inputs that have one value from now on: the branch that has a past."""
        given = [i for i in self.graph.input if i.name == BRANCH and self.pairs]
        return {i.name: np.ones([1] * len(i.type.tensor_type.shape.dim), bool) for i in given}

    def inputs(self) -> Iterable[ValueInfoProto]:
        """The caches themselves."""
        return (i for i in self.graph.input if i.name in self.pairs)


def _mask(given: ValueInfoProto | None, inputs: Iterable[ValueInfoProto]) -> ValueInfoProto:
    """The mask [batch, total_sequence_length], by whose length a run knows how many tokens are in the caches."""
    (tokens,) = (i for i in inputs if i.name == TOKENS)
    batch = tokens.type.tensor_type.shape.dim[0]
    first = batch.dim_value if batch.HasField("dim_value") else batch.dim_param
    element = TensorProto.INT64 if given is None else given.type.tensor_type.elem_type
    return helper.make_tensor_value_info(MASK, element, [first, "total_sequence_length"])


def growing_axis(info: ValueInfoProto, batch: str) -> int | None:
    """The axis of a cache along which tokens are: the open one that does not count sequences; None where there is none.

    Raises:
        InputError: there are several.
    """
    dims = info.type.tensor_type.shape.dim
    unknown = [n for n, dim in enumerate(dims) if not dim.HasField("dim_value")]
    open_ = [n for n in unknown if not batch or dims[n].dim_param != batch]
    if len(open_) > 1 and open_[0] == 0:
        open_ = open_[1:]  # sequences, under another name
    if len(open_) > 1:
        what = f"Cache '{info.name}' has {len(open_)} open axes beside that of sequences: {', '.join(map(str, open_))}"
        raise InputError(what, hint="Export it with known sizes of all axes but one")
    return open_[0] if open_ else None
