"""Walks the nodes of an ONNX graph and builds the graph module."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import onnx
from onnx import FunctionProto, GraphProto, NodeProto
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.semantics.expr import ExprError
from mlc.errors import InputError
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NeedsConstant, NotSupported
from mlc.frontends.build.tensors import Tensor, Value
from mlc.frontends.onnx.errors import Absent, Unsupported
from mlc.frontends.onnx.graphs.choices import Choice
from mlc.frontends.onnx.graphs.functions import body_of, bound
from mlc.frontends.onnx.graphs.subgraph import Part, Poison
from mlc.frontends.onnx.mistakes import mistake
from mlc.frontends.onnx.node import REGISTRY, Import, Make, Node, import_function
from mlc.frontends.onnx.ops import load_all
from mlc.frontends.onnx.opsets import domain_of, imported
from mlc.frontends.onnx.reading.data import TensorData
from mlc.frontends.onnx.reading.sparse import dense_tensor
from mlc.frontends.onnx.reading.validate import names_read

# Exceptions of import functions where attributes, shapes or types do not fit together.
MISTAKES = (
    VerifyException, ExprError, ValueError, LookupError, TypeError, ArithmeticError, AttributeError, AssertionError,
    StopIteration,
)  # fmt: skip
MAX_DEPTH = 32  # of functions in functions
MAX_NODES = 200_000  # with those of functions, which may double at each depth; so many take minutes to compile
_SAVED = (
    "onnxruntime wrote this operator when it saved an optimized model, which fits one machine alone. Compile the file "
    "that it was made from, or save it with graph_optimization_level = ORT_ENABLE_EXTENDED"
)
INTERNAL = dict.fromkeys(("com.microsoft.nchwc", "com.ms.internal.nhwc"), _SAVED)


class Importer:
    """Translates nodes in order; ``unsupported`` collects everything that has no translation."""

    def __init__(
        self, build: Builder, data: TensorData, opsets: Mapping[str, int], functions: Iterable[FunctionProto]
    ) -> None:
        load_all()
        self.build = build
        self.data = data
        self.opsets = opsets
        self.functions = {(domain_of(f), f.name, f.overload): f for f in functions}
        self.unsupported: list[Unsupported] = []
        self.depth = 0
        self.numbers = itertools.count(1)  # of imported nodes
        self.choices = 0  # around this node, whose branches have the nodes after them

    def nodes(self, part: Part) -> None:
        """Import the nodes of ``part`` in order, reading and adding to its values by name ('' is the absent value)."""
        while part.next < len(part.nodes):
            self.step(part)

    def step(self, part: Part) -> None:
        """Import the next node of ``part``, and those after it that an If takes into its branches."""
        part.drawn[part.next] = self.build.random
        part.next += 1
        self._import(part, part.next - 1)

    def _import(self, part: Part, index: int) -> None:
        node, name = part.nodes[index], part.name(index)
        if next(self.numbers) > MAX_NODES:
            hint = "Call fewer functions in functions, or compile parts of the model"
            what = f"The model has more than {MAX_NODES} nodes with those of its functions and unrolled loops"
            raise InputError(what, node=name, op=node.op_type, stage="import", hint=hint)
        with self.build.at(name, node.op_type):
            results = self._node(part, index, [part.values.get(i) if i else None for i in node.input])
        for n, r in zip(node.output, results, strict=False):
            if n and isinstance(r, Tensor):
                self.build.named(r, n)
        part.values.update((n, r) for n, r in zip(node.output, results, strict=False) if n and n not in part.fixed)

    def _node(self, part: Part, index: int, inputs: list[Any]) -> Sequence[Any]:
        node, name = part.nodes[index], part.name(index)
        poisoned = any(isinstance(i, Poison) for i in inputs)
        try:
            translate = self._translation(node)
            if poisoned:
                return [Poison()] * len(node.output)
            result = translate(self._bind(part, index, inputs))
            return result if isinstance(result, tuple) else (result,)
        except NotSupported as e:
            self._reject(node, name, e)
            return [Poison()] * len(node.output)
        except MemoryError as e:
            full = MemoryError("there is no memory for its sizes; make them smaller")
            raise self._mistake(node, name, inputs, full) from e
        except MISTAKES as e:
            raise self._mistake(node, name, inputs, e) from e

    def _mistake(self, node: NodeProto, name: str, inputs: Sequence[Any], error: Exception) -> InputError:
        return mistake(node, name, domain_of(node), self._opset(node), inputs, error)

    def bound(self, part: Part, index: int) -> Node:
        """The Node of an ONNX node, with the values of its inputs in ``part``."""
        return self._bind(part, index, [part.values.get(i) if i else None for i in part.nodes[index].input])

    def _bind(self, part: Part, index: int, inputs: list[Value]) -> Node:
        node, name = part.nodes[index], part.name(index)

        def branch(graph: GraphProto, given: Sequence[Value]) -> list[Any]:
            return self.subgraph(graph, given, part.values, f"{name}/")

        def reimport(y: str, given: Mapping[str, Value]) -> Any:
            return self.reimport(part, index, y, given)

        def choose(condition: Tensor, makes: Sequence[Make], usual: int | None = None) -> tuple[Any, ...]:
            return Choice(self, part, condition, makes, usual).run()

        return Node(
            node, name, self._opset(node), inputs, self.build, branch, choose, self.data, self.attempt, reimport
        )

    def reimport(self, part: Part, end: int, y: str, given: Mapping[str, Value]) -> Any:
        """The value of ``y``, a name in ``part``, where other names have given values: what depends on these is
        imported once more, and draws the same random numbers.

        Raises:
            NotSupported: no node before ``end`` computes it, or it may depend on names of other graphs.
        """
        if part.inside:
            raise Absent("in the body of a control-flow node; place it in the graph itself")
        for name in given:
            if name not in part.values:
                raise NotSupported(f"no tensor before it is named '{name}'")
        if y not in given and not part.computes(y, end):
            raise NotSupported(f"no node before it computes '{y}'")
        copy = part.with_values(given)
        with self.build.detached():
            for index in copy.between(end, y):
                self.build.random, copy.next = part.drawn[index], index + 1
                self._import(copy, index)
        return copy.values[y]

    def _opset(self, node: NodeProto) -> int:
        return self.opsets.get(domain_of(node), 1)

    def _translation(self, node: NodeProto) -> Import:
        """How to import a node: a function of the model, our own importer, or the body ONNX gives the operator."""
        domain = domain_of(node)
        local = self.functions.get((domain, node.op_type, node.overload))
        if local is not None:
            return lambda n: self.call(n, local)
        own = import_function(domain, node.op_type, self._opset(node))
        if own is not None:
            return own
        if _has_body(domain, node.op_type, self._opset(node)):
            return lambda n: self.call(n, body_of(n))
        raise Absent(_why_unknown(domain, node.op_type, self._opset(node)))

    def call(self, node: Node, function: FunctionProto) -> tuple[Any, ...]:
        """Import the body of a function in place of a node."""
        if self.depth >= MAX_DEPTH:
            raise NotSupported(f"function '{function.name}' calls itself, or functions are nested too deeply")
        opsets = {**self.opsets, **imported(function)}
        inner = Importer(self.build, self.data, opsets, ())
        inner.functions, inner.unsupported, inner.depth = self.functions, self.unsupported, self.depth + 1
        inner.numbers, inner.choices = self.numbers, self.choices
        values: dict[str, Any] = dict(zip(function.input, node.inputs, strict=False))
        inner.nodes(Part(bound(function, node.attributes), values, f"{node.name}/", list(function.output)))
        return tuple(values.get(name) for name in function.output)

    def subgraph(self, graph: GraphProto, inputs: Sequence[Value], outer: Mapping[str, Any], prefix: str) -> list[Any]:
        """Import the body of a control-flow node in place; it sees the values around it."""
        given = dict(zip((i.name for i in graph.input), inputs, strict=False))
        values = {**outer, **self.tensors(graph), **given}
        self.nodes(Part(graph.node, values, prefix, [o.name for o in graph.output], inside=True))
        return [values.get(o.name) for o in graph.output]

    def attempt(self, make: Callable[[], Any]) -> Any:
        """The result of ``make``. Where that is not supported: None, and everything that it recorded and emitted is
        undone.
        """
        before, guards, last = len(self.unsupported), dict(self.build.guards), self.build.block.last_op
        try:
            result = make()
        except NotSupported:
            result = None
        if result is None or len(self.unsupported) > before:
            del self.unsupported[before:]
            self.build.guards.clear()
            self.build.guards.update(guards)
            self.build.erase_after(last)
            return None
        return result

    def tensors(self, graph: GraphProto) -> dict[str, Any]:
        """The initializers of a graph, the last of each name, as onnxruntime; one of a type that is not supported
        matters only where something reads it."""
        found: dict[str, Any] = {}
        read = names_read(graph)
        for proto in {each.name: each for each in graph.initializer}.values():
            found[proto.name] = Poison()
            with self.rejecting("Initializer", proto.name) if proto.name in read else suppress(NotSupported):
                found[proto.name] = self.data.tensor(proto)
        for sparse in graph.sparse_initializer:
            with self.rejecting("Initializer", sparse.values.name):
                found[sparse.values.name] = Poison()
                found[sparse.values.name] = dense_tensor(self.data, sparse)
        return found

    @contextmanager
    def rejecting(self, op: str, name: str) -> Iterator[None]:
        """A context that records an unsupported initializer, input or output."""
        try:
            yield
        except NotSupported as e:
            self.unsupported.append(Unsupported(op, "", self.opsets.get("", 1), name, str(e)))

    def _reject(self, node: NodeProto, name: str, why: NotSupported) -> None:
        domain = domain_of(node)
        kinds = isinstance(why, NeedsConstant), isinstance(why, Absent)
        self.unsupported.append(Unsupported(node.op_type, domain, self._opset(node), name, str(why), *kinds))


def _has_body(domain: str, op: str, opset: int) -> bool:
    if not onnx.defs.has(op, domain):
        return False
    try:
        schema: Any = onnx.defs.get_schema(op, opset, domain)
    except onnx.defs.SchemaError:
        return False
    return schema.has_function or schema.has_context_dependent_function


def _why_unknown(domain: str, op: str, opset: int) -> str:
    if (domain, op) in REGISTRY:
        return f"not supported at this opset (from {REGISTRY[domain, op][0][0]} on)"
    if domain in INTERNAL:
        return INTERNAL[domain]
    if not onnx.defs.has(op, domain):
        return "no such operator in ONNX, and the model brings no function of this name"
    return "operator not supported"
