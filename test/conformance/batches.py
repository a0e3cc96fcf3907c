"""Node tests in batches: the models of one opset, side by side in one model that is compiled once and run once.

Alone, a model of one node takes the C compiler and the linker ten times as long as its kernel does. A batch has only
tests that are selected, so that one test alone is compiled alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from cases import Case, as_array, expected_failure, small_cases
from onnx import ModelProto, compose

import mlc
from mlc.errors import MlcError
from mlc.frontends.onnx import import_model

SIZE = 32  # models


def kind_of(case: Case) -> tuple[Any, ...]:
    """Return what all models of a batch share: the versions of their operators."""
    return tuple(sorted((o.domain, o.version) for o in case.model.opset_import))


def fits(name: str) -> bool:
    """Return whether a test may be in a batch: it has tensors of fixed ranks and one set of data, and no attribute
    names a tensor, because tensors get other names in the batch.
    """
    case = small_cases().get(name)
    if case is None or len(case.data_sets) != 1 or case.model.functions or expected_failure(name, "compiled"):
        return False
    if any(n.op_type == "Gradient" for n in case.model.graph.node):
        return False
    values = [*case.model.graph.input, *case.model.graph.output]
    return "image_decoder" not in name and all(
        v.type.HasField("tensor_type") and not any(d.dim_param for d in v.type.tensor_type.shape.dim) for v in values
    )


def in_order(names: Iterable[str]) -> list[str]:
    """Sort tests so that those of one batch follow each other: few batches are then divided among workers."""
    known = small_cases()
    return sorted(names, key=lambda name: (not fits(name), kind_of(known[name]) if name in known else ()))


class Batch:
    """A batch of tests, and the outputs of their models."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.error: MlcError | None = None

    @cached_property
    def outputs(self) -> dict[str, list[Any]]:
        """Return the outputs by test. A test that compiles only for the values of its inputs has none; if the batch
        fails, no test has, and ``error`` is the reason.
        """
        accepted = [name for name in self.names if _is_accepted(small_cases()[name].model)]
        try:
            return _run(accepted) if len(accepted) > 1 else {}
        except MlcError as error:
            self.error = error
            return {}


def batches(names: Iterable[str]) -> dict[str, Batch]:
    """Return the batch of each test that may be in one."""
    alike: dict[Any, list[str]] = defaultdict(list)
    for name in filter(fits, names):
        alike[kind_of(small_cases()[name])].append(name)
    groups = [group[n : n + SIZE] for group in alike.values() for n in range(0, len(group), SIZE)]
    return {name: batch for batch in map(Batch, groups) for name in batch.names}


def _is_accepted(model: ModelProto) -> bool:
    try:
        import_model(model)
    except MlcError:
        return False
    return True


def _run(names: list[str]) -> dict[str, list[Any]]:
    known = small_cases()
    parts = {name: compose.add_prefix(known[name].model, f"{name}.") for name in names}
    model = joined(list(parts.values()))
    feeds = {}
    for name in names:
        given = {t.name for t in known[name].model.graph.initializer}
        inputs = [f"{name}.{i.name}" for i in known[name].model.graph.input if i.name not in given]
        feeds |= dict(zip(inputs, map(as_array, known[name].data_sets[0][0]), strict=True))
    results = mlc.compile(model).run(feeds)
    return {name: [results[o.name] for o in part.graph.output] for name, part in parts.items()}


def joined(models: list[ModelProto]) -> ModelProto:
    """Return one model that holds several models side by side, with names made unique."""
    whole = ModelProto()
    whole.CopyFrom(models[0])
    whole.graph.name = "batch"
    whole.ir_version = max(m.ir_version for m in models)
    for model in models[1:]:
        for field in ("node", "input", "output", "initializer", "sparse_initializer", "value_info"):
            getattr(whole.graph, field).extend(getattr(model.graph, field))
    return whole
