"""Walks the nodes of a torch graph and calls the translation of each operator."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.semantics.dims import Dim
from mlc.dialects.semantics.expr import ExprError
from mlc.errors import InputError
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.module import returned
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.dtypes import Complex
from mlc.frontends.torch.errors import Unsupported
from mlc.frontends.torch.locations import line_of, location
from mlc.frontends.torch.ops import load_all
from mlc.frontends.torch.ops.math.complex import FORMULAS, complex_translation, is_complex, joined
from mlc.frontends.torch.ops.sizes import SYMBOLIC, on_sizes
from mlc.frontends.torch.registry import Call, name_of, number_of, translation_of
from mlc.frontends.torch.weights import weight

# Exceptions of translations where arguments, shapes or types do not fit together.
MISTAKES = (
    VerifyException, ExprError, ValueError, LookupError, TypeError, ArithmeticError, AttributeError, AssertionError
)  # fmt: skip


class Poison:
    """The value of a node that could not be imported: its users are not imported either."""


class Importer:
    """Translates nodes in order; ``unsupported`` collects everything that has no translation."""

    def __init__(self, build: Builder) -> None:
        load_all()
        self.build = build
        self.unsupported: list[Unsupported] = []

    def nodes(self, graph: Graph, values: dict[Node, Any], results: Sequence[Any]) -> Sequence[Any]:
        """The values of ``results``, nodes or constants, given those of the placeholders; other nodes are left out."""
        needed = _needed(results)
        for node in graph.nodes:
            if node in needed and node.op == "call_function":
                values[node] = self._value(node, values)
            elif node in needed and node.op == "get_attr":
                values[node] = self._attribute(node)
            elif node in needed and node.op != "placeholder":
                raise InputError(
                    f"The program has a node '{node.op}' of {node.target}, which cannot be translated",
                    node=location(node),
                    stage="import",
                )
        return resolved(results, values)

    def _attribute(self, node: Node) -> Any:
        """A constant of the graph's module."""
        found = attribute_of(node)
        return weight(self.build.weights, str(node.target), found) if isinstance(found, torch.Tensor) else found

    def _value(self, node: Node, values: Mapping[Node, Any]) -> Any:
        args, kwargs = resolved(node.args, values), resolved(node.kwargs, values)
        try:
            poisoned, translate = _is_poisoned((args, kwargs)), translation_of(node.target)
            of_sizes = node.target in SYMBOLIC
            if not (poisoned or of_sizes) and node.all_input_nodes and is_complex(node, (args, kwargs)):
                translate = complex_translation(node.target)
            if translate is None and not of_sizes and not (poisoned and name_of(node.target) in FORMULAS):
                return self._constant(node, args, kwargs)
            if poisoned:
                return Poison()
            with self.build.at(location(node), name_of(node.target)):
                if translate is None:
                    return on_sizes(self.build, node.target, args, kwargs)
                call = Call(self.build, node, self._subgraph, values)
                return _typed(call, translate(call, *args, **kwargs))
        except NotSupported as e:
            return self._refused(node, str(e))
        except MISTAKES as e:
            return self._refused(node, _mistake((args, kwargs), e))

    def _refused(self, node: Node, why: str) -> Poison:
        op, where = name_of(node.target), line_of(node) or location(node)
        self.unsupported.append(Unsupported(op, where, why, node.name))
        return Poison()

    def _subgraph(self, module: GraphModule, given: Sequence[Any]) -> list[Any]:
        """The results of a graph that a higher-order operator calls.

        Raises:
            NotSupported: one of its operators is; it is noted, and why.
        """
        graph = module.graph
        placeholders = [node for node in graph.nodes if node.op == "placeholder"]
        results = self.nodes(graph, dict(zip(placeholders, given, strict=True)), results_of(graph))
        if _is_poisoned(list(results)):
            raise NotSupported("its body has unsupported operators")
        return list(results)

    def outputs(self, results: Mapping[str, Any]) -> dict[str, SSAValue]:
        """The tensors among results, by name, as returned values, complex ones [.., 2]; others are for the caller."""
        found: dict[str, SSAValue] = {}
        for name, result in results.items():
            with self.build.at(name):
                made = number_of(self.build, result) if isinstance(result, Dim) else result
                made = joined(self.build, made) if isinstance(made, Complex) else made
                if isinstance(made, Tensor):
                    found[name] = returned(self.build, made)
        return found

    def _constant(self, node: Node, args: Any, kwargs: Any) -> Tensor | Complex:
        """The value of an operator that reads no tensor and draws nothing: torch computes it.

        Raises:
            NotSupported: it is none.
        """
        tags = getattr(node.target, "tags", ())
        if node.all_input_nodes or not tags or torch.Tag.nondeterministic_seeded in tags:
            raise NotSupported("operator not supported")
        return weight(self.build.weights, node.name, node.target(*args, **kwargs))


def _typed(call: Call, made: Any) -> Any:
    """Results in the element types that torch gives them."""
    expected, build = call.node.meta.get("val"), call.build
    if isinstance(made, Complex):
        return Complex(*map(call.tensor, made))
    if isinstance(made, Tensor):
        return build.named(call.tensor(made), call.node.name) if call.elements else made
    if isinstance(made, tuple | list) and isinstance(expected, tuple | list):
        elements = iter(call.elements)
        given = [next(elements) if hasattr(each, "dtype") else None for each in expected]
        return [_cast(call, y, element) for y, element in zip(made, given, strict=False)]
    return made


def _cast(call: Call, made: Any, element: str | None) -> Any:
    """One of several results in its element type."""
    if isinstance(made, Complex):
        return Complex(*(call.tensor(part, element) for part in made))
    return call.build.cast(made, element) if isinstance(made, Tensor) and element else made


def results_of(graph: Graph) -> Sequence[Any]:
    """The values that a graph returns: nodes, or constants such as None."""
    found = next(node for node in graph.nodes if node.op == "output").args[0]
    return found if isinstance(found, tuple | list) else [found]


def attribute_of(node: Node) -> Any:
    """The value that a node ``get_attr`` reads from its graph's module."""
    return operator.attrgetter(str(node.target))(node.graph.owning_module)


def resolved(args: Any, values: Mapping[Node, Any]) -> Any:
    """Arguments with nodes replaced by their values."""
    if isinstance(args, Node):
        return values[args]
    if isinstance(args, Mapping):
        return {key: resolved(each, values) for key, each in args.items()}
    if isinstance(args, slice):
        return slice(*(resolved(each, values) for each in (args.start, args.stop, args.step)))
    if isinstance(args, Sequence) and not isinstance(args, str):
        items = [resolved(each, values) for each in args]
        return tuple(items) if isinstance(args, tuple) else items
    return args


def _needed(results: Sequence[Any]) -> set[Node]:
    """The nodes that results depend on."""
    waiting = [each for each in results if isinstance(each, Node)]
    found = set(waiting)
    while waiting:
        new = [each for each in waiting.pop().all_input_nodes if each not in found]
        found.update(new)
        waiting += new
    return found


def _is_poisoned(args: Any) -> bool:
    if isinstance(args, Mapping):
        return any(map(_is_poisoned, args.values()))
    if isinstance(args, tuple | list):
        return any(map(_is_poisoned, args))
    return isinstance(args, Poison)


def _mistake(args: Any, error: Exception) -> str:
    shapes = ", ".join(str(x) for x in _tensors(args)) or "none"
    what = str(error).partition("\n")[0] or "arguments, shapes and types do not fit together"
    return f"{what} (inputs: {shapes})"


def _tensors(args: Any) -> list[Tensor]:
    if isinstance(args, Mapping):
        args = list(args.values())
    if isinstance(args, tuple | list):
        return [x for each in args for x in _tensors(each)]
    return [args] if isinstance(args, Tensor) else []
