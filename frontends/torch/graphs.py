"""From a graph of torch.compile to a graph module: parameters become weights, other inputs arguments of ``@main``."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import torch
from torch.fx import Graph, Node
from xdsl.ir import Block

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.weights import WeightStore
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.module import graph_module
from mlc.frontends.build.unify_dims import with_fixed_dims
from mlc.frontends.imported import Imported
from mlc.frontends.torch.arguments import argument_of, is_argument
from mlc.frontends.torch.errors import Unsupported, UnsupportedError
from mlc.frontends.torch.importer import Importer, Poison, results_of
from mlc.frontends.torch.symbols import Symbols
from mlc.frontends.torch.weights import weight

Constants = Mapping[str, tuple[str, torch.Tensor]]
"""Parameters and buffers by the names of their placeholders: name in the module, and tensor."""


def import_graph(graph: Graph, constants: Constants, name: str, without: Container[int] = ()) -> Imported:
    """Translate a graph of ATen operators into the graph dialect. The results are ``y0``, ``y1``, … as far as they are
    tensors or sizes, and no arguments; those that ``without`` numbers are left out.

    Raises:
        UnsupportedError: it uses what mlc does not support; lists all of it.
    """
    return with_fixed_dims(lambda fixed: _imported(graph, constants, name, fixed, without), {})


def _imported(
    graph: Graph, constants: Constants, name: str, fixed: Mapping[str, DimLike], without: Container[int]
) -> Imported:
    """As ``import_graph``.

    Raises:
        Fixed: the graph can only be right where that dimension has one extent.
    """
    weights = WeightStore()
    importer = Importer(Builder(Block(), weights))
    values, inputs = _inputs(graph, constants, importer, fixed)
    own = [None if n in without or _is_argument(x) else x for n, x in enumerate(results_of(graph))]
    results = importer.nodes(graph, values, own)
    outputs = importer.outputs({f"y{n}": result for n, result in enumerate(results)})
    if importer.unsupported:
        raise UnsupportedError(importer.unsupported)
    return Imported(graph_module(importer.build, inputs, outputs), weights, name)


def _is_argument(x: Any) -> bool:
    return isinstance(x, Node) and x.op == "placeholder"


def _inputs(
    graph: Graph, constants: Constants, importer: Importer, fixed: Mapping[str, DimLike]
) -> tuple[dict[Node, Any], list[str]]:
    """The values of the placeholders, and the names of those that are arguments."""
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    symbols = Symbols({n.name: n for n in nodes if n.name not in constants}, fixed)
    values: dict[Node, Any] = {}
    for node in nodes:
        try:
            known = constants.get(node.name)
            build = importer.build
            values[node] = argument_of(build, node, symbols) if known is None else weight(build.weights, *known)
        except NotSupported as why:
            values[node] = Poison()
            importer.unsupported.append(Unsupported("input", node.name, str(why)))
    return values, [n.name for n in nodes if n.name not in constants and is_argument(n, symbols)]
