"""Lowering of a trace: its records as a graph module, operators in the order of the trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.frontends.array.record import Record, ordered
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.module import argument, graph_module, returned
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.imported import Imported


def import_trace(
    inputs: Mapping[str, Record],
    outputs: Mapping[str, Record],
    name: str,
    aliases: Sequence[tuple[int, int]] = (),
    states: Mapping[int, np.ndarray[Any, Any] | None] | None = None,
) -> Imported:
    """The graph module from ``inputs`` to ``outputs``; other records with data become weights. ``aliases``: (output,
    input) of those that share memory, as numbers. ``states``: inputs that live in the model, with their first values
    (None: zeros).

    Raises:
        InputError: an operator cannot be translated; names the user's file and line.
    """
    weights = WeightStore()
    build = Builder(Block(), weights)
    values: dict[Record, Any] = {r: argument(build, n, r.element, r.shape) for n, r in inputs.items()}
    lower_records(build, list(outputs.values()), values)
    results = {key: returned(build, values[each]) for key, each in outputs.items()}
    names = list(inputs)
    first = {n: "" if x is None or not x.any() else weights.add(names[n], x) for n, x in (states or {}).items()}
    return Imported(graph_module(build, names, results, aliases, first), weights, name)


def lower_records(build: Builder, outputs: Sequence[Record], values: dict[Record, Any]) -> list[Tensor]:
    """Emit the records that ``outputs`` need and that ``values`` does not have yet, into it; the tensors of outputs."""
    for each in ordered(outputs, values):
        values[each] = _emitted(build, each, values)
    return [values[each] for each in outputs]


def _emitted(build: Builder, each: Record, values: Mapping[Record, Any]) -> Any:
    if each.data is not None:
        return Tensor.from_known(each.data, each.element)
    with build.at(each.where):
        try:
            made = each.emit(build, [values[operand] for operand in each.operands], *each.params)
        except (NotSupported, VerifyException) as error:
            raise InputError(f"{each.where}: {error}", op=each.emit.__name__, stage="import") from error
    if isinstance(made, Tensor) and (made.element, made.shape) != (each.element, tuple(each.shape)):
        raise AssertionError(f"{each.where}: {each} is lowered to {made}")
    return made
