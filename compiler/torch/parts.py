"""A graph some of whose operators run eagerly: the others, in as few parts as their order allows, are compiled.

    a = mm(x, w); b = bessel_j0(a); y = relu(b + a)        with bessel_j0 eager
    →
    a = part_0(x, w); b = bessel_j0(a); y = part_1(b, a)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from mlc.frontends.torch.registry import name_of, translation_of
from mlc.torch.graph_program import Function

MOVES = frozenset(("view", "permute", "transpose", "t", "unsqueeze", "squeeze", "expand", "alias", "detach", "slice",
                   "select", "clone", "_to_copy", "reshape", "_unsafe_view", "sym_size"))  # fmt: skip
"""Operators for whose sake alone no part is compiled."""
Compile = Callable[[GraphModule, Mapping[int, str], Sequence[Any]], Function]


class _Compiled(OperatorSupportBase):
    """Which nodes may be in a compiled part: operators of ATen, and what is between them."""

    def __init__(self, eager: frozenset[str]) -> None:
        self.eager = eager

    def is_node_supported(self, _: Any, node: Node) -> bool:
        known = node.target is operator.getitem or translation_of(node.target) is not None
        return node.op == "call_function" and node.name not in self.eager and known


def in_parts(
    graph: GraphModule,
    eager: frozenset[str],
    constants: Mapping[int, str],
    example_inputs: Sequence[Any],
    part: Compile,
) -> Function:
    """``graph`` with its operators but those nodes of ``eager`` in parts, each of which ``part`` compiles; it gets the
    parameters among its inputs as ``constants``, and the example of no other input."""
    with unset_fake_temporarily():  # the graph's constants are copied, too
        graph = deepcopy(graph)  # which others may keep
    names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
    known = {names[n]: (name, example_inputs[n]) for n, name in constants.items()}
    partitioner = CapabilityBasedPartitioner(graph, _Compiled(eager), allows_single_node_partition=True)
    found = [each for each in partitioner.propose_partitions() if any(_computes(node) for node in each.nodes)]
    fused = partitioner.fuse_partitions(found, prefix="mlc_part_")
    for node in [node for node in fused.graph.nodes if str(node.target).startswith("mlc_part_")]:
        own = {n: known[arg.name] for n, arg in enumerate(node.args) if isinstance(arg, Node) and arg.name in known}
        _replace(fused, node, own, part)
    return fused.forward


def _computes(node: Node) -> bool:
    return node.target is not operator.getitem and name_of(node.target).removesuffix("_copy") not in MOVES


def _replace(fused: GraphModule, node: Node, own: Mapping[int, tuple[str, Any]], part: Compile) -> None:
    """Compile one part in its place."""
    inside = getattr(fused, str(node.target))
    given = [own[n][1] if n in own else None for n in range(len(node.args))]
    function = part(inside, {n: name for n, (name, _) in own.items()}, given)
    setattr(fused, str(node.target), _Part(function, not isinstance(_result(inside), tuple | list)))


def _result(graph: GraphModule) -> Any:
    return next(node for node in graph.graph.nodes if node.op == "output").args[0]


class _Part(torch.nn.Module):
    """A compiled part as a module, whose one result is not in a list."""

    def __init__(self, function: Function, is_one: bool) -> None:
        super().__init__()
        self.function, self.is_one = function, is_one

    def forward(self, *args: Any) -> Any:
        found = self.function(list(args))
        return found[0] if self.is_one and isinstance(found, list) else found
