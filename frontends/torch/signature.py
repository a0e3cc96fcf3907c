"""The signature of an exported program: what its placeholders and results are, under which names.

A program that changes parameters or buffers takes these as arguments ``state.<name>`` and returns their new values
under the same names. Of an input that it changes it returns the new value, ``changed.<name>``.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from mlc.errors import InputError
from mlc.frontends.torch.trees import output_names

STATE, CHANGED, WEIGHT = "state.", "changed.", "weights."
WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
MUTATIONS = {
    OutputKind.BUFFER_MUTATION: STATE,
    OutputKind.PARAMETER_MUTATION: STATE,
    OutputKind.USER_INPUT_MUTATION: CHANGED,
}
Input = tuple[str, Any, Node]
"""A name, the specification, and the placeholder."""


def inputs(program: ExportedProgram, opened: Container[str] = ()) -> tuple[list[Input], list[Input]]:
    """(arguments: the module's own, then ``opened`` weights, then what the program changes; constants)."""
    changed = {spec.target for spec in program.graph_signature.output_specs if MUTATIONS.get(spec.kind) == STATE}
    users, weights, state, constants = list[Input](), list[Input](), list[Input](), list[Input]()
    for spec, node in _placeholders(program):
        if spec.kind == InputKind.TOKEN:  # orders effects, of which there are none
            continue
        if spec.kind == InputKind.USER_INPUT:
            users.append((node.name, spec, node))
        elif spec.target in changed:
            state.append((STATE + spec.target, spec, node))
        elif spec.target in opened:
            weights.append((WEIGHT + spec.target, spec, node))
        else:
            constants.append((node.name, spec, node))
    return users + weights + state, constants


def tensor_of(program: ExportedProgram, name: str) -> torch.Tensor:
    """A parameter, buffer or constant."""
    stored = program.state_dict.get(name)
    return program.constants[name] if stored is None else stored


def _placeholders(program: ExportedProgram) -> list[tuple[Any, Node]]:
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    return [(spec, nodes[spec.arg.name]) for spec in program.graph_signature.input_specs]


def named_results(program: ExportedProgram, returns: Sequence[Any]) -> list[tuple[str, Any]]:
    """Name and value of each result: those that the user sees, by their paths in the program's tree, then new values.
    Tokens order effects, of which there are none.

    Raises:
        InputError: a result of the user has the name of a new value.
    """
    pairs = list(zip(program.graph_signature.output_specs, returns, strict=True))
    users = [each for spec, each in pairs if spec.kind == OutputKind.USER_OUTPUT]
    found = list(zip(output_names(program), users, strict=True))
    found += [(MUTATIONS[spec.kind] + spec.target, each) for spec, each in pairs if spec.kind in MUTATIONS]
    names = [name for name, _ in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"Two results have the name '{twice}'", stage="import", hint="Rename the module's own")
    return found
