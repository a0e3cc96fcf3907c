"""From an exported program to a graph module: user inputs become arguments of ``@main``, parameters weights."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import sympy
import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Node
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.weights import WeightStore
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.prove import assuming
from mlc.frontends.build.module import graph_module
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_fixed_dims
from mlc.frontends.imported import Imported
from mlc.frontends.torch.arguments import argument_of, is_argument
from mlc.frontends.torch.dtypes import Complex
from mlc.frontends.torch.errors import Unsupported, UnsupportedError
from mlc.frontends.torch.importer import Importer, Poison, results_of
from mlc.frontends.torch.ops import load_all
from mlc.frontends.torch.registry import translation_of
from mlc.frontends.torch.signature import WEIGHTS, inputs, named_results, tensor_of
from mlc.frontends.torch.symbols import Symbols
from mlc.frontends.torch.weights import weight

Translated = tuple[ModuleOp, WeightStore, list[Unsupported]]


def import_program(
    program: ExportedProgram,
    dims: Mapping[str, int],
    name: str,
    opened: Container[str] = (),
    keep_rules: bool = False,
) -> Imported:
    """Translate an exported program into the graph dialect; ``dims`` fixes symbolic dimensions, ``opened`` names
    parameters that become arguments. ``keep_rules``: the module is to be differentiated.

    Raises:
        UnsupportedError: it uses what mlc does not support; lists all of it.
    """
    module, weights, unsupported = translate(program, dims, opened, keep_rules)
    if unsupported:
        raise UnsupportedError(unsupported)
    return Imported(module, weights, name)


def translate(
    program: ExportedProgram, dims: Mapping[str, int], opened: Container[str] = (), keep_rules: bool = False
) -> Translated:
    """(module, weights, unsupported operators); the module is only complete where there are none."""
    lowered = decomposed(program)
    return with_fixed_dims(lambda fixed: _translated(lowered, fixed, opened, keep_rules), dims)


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


def _translated(
    program: ExportedProgram, fixed: Mapping[str, DimLike], opened: Container[str], keep_rules: bool
) -> Translated:
    """As ``translate``.

    Raises:
        Fixed: the program can only be right where that dimension has one extent.
    """
    weights = WeightStore()
    build = Builder(Block(), weights)
    importer = Importer(build)
    values, inputs = _inputs(program, importer, fixed, opened)
    results = named_results(program, results_of(program.graph))
    names, wanted = zip(*results, strict=True) if results else ((), ())
    with assuming(build.guards):
        outputs = importer.outputs(dict(zip(names, importer.nodes(program.graph, values, wanted), strict=True)))
    if importer.unsupported:
        return ModuleOp([]), weights, importer.unsupported
    return graph_module(build, inputs, outputs, keep_rules=keep_rules), weights, []


def _inputs(
    program: ExportedProgram, importer: Importer, fixed: Mapping[str, DimLike], opened: Container[str]
) -> tuple[dict[Node, Any], list[str]]:
    """The values of the placeholders, and the names of those that are arguments, in order."""
    build, (arguments, constants) = importer.build, inputs(program, opened)
    symbols = Symbols({name: node for name, spec, node in arguments if spec.kind == InputKind.USER_INPUT}, fixed)
    values = dict[Node, Any]()
    for n, (_, spec, node) in enumerate((*arguments, *constants)):
        try:
            is_constant = n >= len(arguments) and spec.kind in WEIGHTS
            values[node] = _weight(program, spec, build) if is_constant else argument_of(build, node, symbols)
        except NotSupported as why:
            values[node] = Poison()
            kind = "weight" if spec.kind in WEIGHTS else "input"
            importer.unsupported.append(Unsupported(kind, node.name, str(why)))
    symbols.require(build, program.range_constraints)
    return values, [name for name, _, node in arguments if is_argument(node, symbols)]


def _weight(program: ExportedProgram, spec: Any, build: Builder) -> Tensor | Complex:
    return weight(build.weights, spec.target, tensor_of(program, spec.target))
