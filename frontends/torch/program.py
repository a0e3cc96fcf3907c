"""From an exported program to a graph module: user inputs become arguments of ``@main``, parameters weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from mlc.dialects.semantics.dims import Dim, DimLike, evaluate
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.module import graph_module, returned
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import Fixed
from mlc.frontends.imported import Imported
from mlc.frontends.torch.arguments import argument_of, is_argument
from mlc.frontends.torch.errors import Unsupported, UnsupportedError
from mlc.frontends.torch.importer import Importer, Poison, results_of
from mlc.frontends.torch.ops import load_all
from mlc.frontends.torch.registry import number_of, translation_of
from mlc.frontends.torch.symbols import Symbols
from mlc.frontends.torch.trees import output_names
from mlc.frontends.torch.weights import weight

WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
Translated = tuple[ModuleOp, WeightStore, list[Unsupported]]


def import_program(program: ExportedProgram, dims: Mapping[str, int], name: str) -> Imported:
    """Translate an exported program into the graph dialect; ``dims`` fixes symbolic dimensions.

    Raises:
        InputError: it changes its inputs or buffers.
        UnsupportedError: it uses what mlc does not support; lists all of it.
    """
    module, weights, unsupported = translate(program, dims)
    if unsupported:
        raise UnsupportedError(unsupported)
    return Imported(module, weights, name)


def translate(program: ExportedProgram, dims: Mapping[str, int]) -> Translated:
    """(module, weights, unsupported operators); the module is only complete where there are none."""
    lowered, fixed = decomposed(program), dict[str, DimLike](dims)
    while True:
        try:
            return _translated(lowered, fixed)
        except Fixed as found:
            fixed = {name: evaluate(d, {found.symbol: found.extent}) for name, d in fixed.items()}
            fixed[found.symbol] = found.extent


def decomposed(program: ExportedProgram) -> ExportedProgram:
    """The program in operators that have translations, as far as torch knows how to write the others in these."""
    load_all()
    table = torch.export.default_decompositions()
    for op in list(table):
        if translation_of(op) is not None:
            table.pop(op)
    _drop_ranges_of_expressions(program)
    return program.run_decompositions(table)


def _drop_ranges_of_expressions(program: ExportedProgram) -> None:
    """A loaded program has ranges of expressions such as 2*s0 among those of symbols, which run_decompositions of
    torch 2.13 refuses."""
    for node in program.graph.nodes:
        if (mode := getattr(node.meta.get("val"), "fake_mode", None)) is not None and mode.shape_env is not None:
            ranges = mode.shape_env.var_to_range
            for key in [key for key in ranges if not isinstance(key, sympy.Symbol)]:
                del ranges[key]
            return


def _translated(program: ExportedProgram, fixed: Mapping[str, DimLike]) -> Translated:
    """As ``translate``.

    Raises:
        Fixed: the program can only be right where that dimension has one extent.
    """
    weights = WeightStore()
    build = Builder(Block(), weights)
    importer = Importer(build)
    values, inputs = _inputs(program, importer, fixed)
    returns = results_of(program.graph)
    results = importer.nodes(program.graph, values, [each for spec, each in _user_outputs(program, returns)])
    outputs = _outputs(program, importer, results)
    if importer.unsupported:
        return ModuleOp([]), weights, importer.unsupported
    return graph_module(build, inputs, outputs), weights, []


def _inputs(
    program: ExportedProgram, importer: Importer, fixed: Mapping[str, DimLike]
) -> tuple[dict[Node, Any], list[str]]:
    """The values of the placeholders, and the names of those that are arguments."""
    build, values = importer.build, dict[Node, Any]()
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    given = [(spec, nodes[spec.arg.name]) for spec in program.graph_signature.input_specs]
    users = {node.name: node for spec, node in given if spec.kind == InputKind.USER_INPUT}
    symbols = Symbols(users, fixed)
    for spec, node in given:
        try:
            values[node] = _weight(program, spec, build) if spec.kind in WEIGHTS else argument_of(build, node, symbols)
        except NotSupported as why:
            values[node] = Poison()
            importer.unsupported.append(Unsupported("input" if node.name in users else "weight", node.name, str(why)))
    symbols.require(build, program.range_constraints)
    return values, [name for name, node in users.items() if is_argument(node, symbols)]


def _weight(program: ExportedProgram, spec: Any, build: Builder) -> Tensor:
    stored = program.state_dict.get(spec.target)
    return weight(build.weights, spec.target, program.constants[spec.target] if stored is None else stored)


def _user_outputs(program: ExportedProgram, returns: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Specification and value of each result that the user sees; tokens order effects, of which there are none.

    Raises:
        InputError: the program changes an input, or a buffer of its module.
    """
    found = []
    for spec, each in zip(program.graph_signature.output_specs, returns, strict=True):
        if spec.kind == OutputKind.USER_OUTPUT:
            found.append((spec, each))
        elif spec.kind != OutputKind.TOKEN:
            kind = spec.kind.name.partition("_MUTATION")[0].replace("_", " ").lower()
            what = spec.target or spec.arg.name
            hint = "Return the new value instead; export the module after eval()"
            raise InputError(f"The program changes its {kind} '{what}'", stage="import", hint=hint)
    return found


def _outputs(program: ExportedProgram, importer: Importer, results: Sequence[Any]) -> dict[str, SSAValue]:
    """The tensors that the program returns, by their paths in its tree; numbers and None are left to the caller."""
    found: dict[str, SSAValue] = {}
    for name, result in zip(output_names(program), results, strict=True):
        if isinstance(result, Dim):
            result = number_of(importer.build, result)
        if isinstance(result, Tensor):
            with importer.build.at(name):
                found[name] = returned(importer.build, result)
    return found
