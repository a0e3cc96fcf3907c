"""Functions of torch in one exported program, interpreted, beside the results of eager torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.torch.dtypes import array_of
from mlc.frontends.torch.program import import_program

Case = tuple[Callable[..., Any], tuple[Any, ...]]
Result = tuple[list[np.ndarray], list[np.ndarray]]


class Cases(torch.nn.Module):
    """Applies each function to its own arguments."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__()
        self.functions = functions

    def forward(self, args: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
        return {name: f(*args[name]) for name, f in self.functions.items()}


def evaluated(cases: Mapping[str, Case]) -> dict[str, Result]:
    """(results of eager torch, results of the imported program) of each case: one export for all."""
    module = Cases({name: f for name, (f, _) in cases.items()})
    args = {name: given for name, (_, given) in cases.items()}
    program = torch.export.export(module, (args,))
    imported = import_program(program, {}, "cases")
    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    flat = [x for given in args.values() for x in given]
    inputs = {name: array_of(x) for name, x in zip(names, flat, strict=True)}
    found = interpret(imported.module, imported.weights, inputs)
    eager = {name: _leaves(f(*given)) for name, (f, given) in cases.items()}
    return {
        name: (eager[name], [y for key, y in found.items() if key == name or key.startswith(f"{name}.")])
        for name in cases
    }


def _leaves(y: Any) -> list[np.ndarray]:
    return [array_of(each) for each in torch.utils._pytree.tree_leaves(y)]


def assert_equal(result: Result, rtol: float = 2e-5, atol: float = 2e-6) -> None:
    """The same shapes, dtypes and, but for rounding, elements."""
    eager, found = result
    assert [(y.shape, y.dtype) for y in found] == [(y.shape, y.dtype) for y in eager]
    for wanted, y in zip(eager, found, strict=True):
        if y.dtype.kind in "biu":
            np.testing.assert_array_equal(y, wanted)
        else:
            coarse = 200 if y.dtype.itemsize == 2 else 1
            wide = (y.astype(np.float64), wanted.astype(np.float64))
            np.testing.assert_allclose(*wide, rtol=rtol * coarse, atol=atol * coarse)
