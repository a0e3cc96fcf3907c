"""The inputs and outputs of a decoder as ONNX exports name them: tokens, masks, positions, and caches in pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, helper

from mlc.errors import InputError
from mlc.frontends.onnx.reading.caches import BRANCH, MASK, PAST, TOKENS, pairs
from mlc.frontends.onnx.reading.load import read

Shape = tuple[int | str, ...]
POSITIONS = ("position_ids", "cache_position")
KEPT = ("num_logits_to_keep",)


@dataclass(frozen=True)
class Tensor:
    """The element type and the shape of an input, with names for open extents."""

    dtype: np.dtype[Any]
    shape: Shape


@dataclass(frozen=True)
class Decoder:
    """``caches`` says which output is the next value of which input; there are none where the whole sequence is read in
    each step.
    """

    inputs: Mapping[str, Tensor]
    caches: Mapping[str, str]
    logits: str

    @property
    def tokens(self) -> Tensor:
        return self.inputs[TOKENS]

    @property
    def batch(self) -> str:
        """The name of the extent that counts sequences; "" where it is fixed or has no name."""
        found = self.tokens.shape[0]
        return found if isinstance(found, str) else ""

    @property
    def steps_alone(self) -> bool:
        """Whether the model takes one token at a time."""
        return self.tokens.shape[1] == 1


def decoder_of(model: str | Path | bytes | ModelProto) -> Decoder:
    """What an ONNX model takes and gives.

    Raises:
        InputError: it is no decoder of one sequence, or has an input that is not known.
    """
    graph = read(model).proto.graph
    fixed = {tensor.name for tensor in graph.initializer}
    inputs = {info.name: _tensor(info) for info in graph.input if info.name not in fixed}
    outputs = [info.name for info in graph.output]
    found = inputs.get(TOKENS)
    if found is None or len(found.shape) != 2 or found.dtype.kind != "i":
        has = ", ".join(inputs) or "none"
        raise InputError(f"The model has no input '{TOKENS}' of integers [batch, tokens]", hint=f"Its inputs are {has}")
    if isinstance(found.shape[0], int) and found.shape[0] != 1:
        raise InputError(f"The model reads {found.shape[0]} sequences at a time", hint="Export it with an open batch")
    if isinstance(found.shape[1], int) and found.shape[1] != 1:
        message = f"The model reads {found.shape[1]} tokens at a time, so it cannot read one after the other"
        raise InputError(message, hint="Export it with an open sequence length")
    logits = "logits" if "logits" in outputs else next((name for name in outputs if not PAST.match(name)), outputs[0])
    return _checked(Decoder(inputs, pairs(inputs, outputs), logits))


def _tensor(info: Any) -> Tensor:
    type_ = info.type.tensor_type
    shape = tuple(dim.dim_value if dim.HasField("dim_value") else dim.dim_param for dim in type_.shape.dim)
    return Tensor(np.dtype(helper.tensor_dtype_to_np_dtype(type_.elem_type or 1)), shape)


def _checked(decoder: Decoder) -> Decoder:
    known = {TOKENS, MASK, BRANCH, *POSITIONS, *KEPT, *decoder.caches}
    for name in decoder.inputs:
        if name not in known:
            what = "has no output of the same name with 'present'" if name.startswith("past") else "is not known"
            raise InputError(f"Input '{name}' {what}", hint=f"Known inputs: {', '.join(sorted(known))}")
    return decoder
