"""A graph of ATen operators as torch.compile gives it: compiled for the parameters that are constants of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.fx import GraphModule, Node

from mlc.api import make_options, open_built
from mlc.driver.cache import digest
from mlc.driver.compile import compile_source
from mlc.errors import InputError
from mlc.frontends.torch.graphs import import_graph
from mlc.frontends.torch.importer import results_of
from mlc.options import Numerics, Options
from mlc.runtime import Model
from mlc.torch.model import Kind, kind_of, to_array, to_leaf
from mlc.torch.source import graph_parts, tensor_parts
from mlc.torch.views import Views
from mlc.tracing.source import TraceSource

Function = Callable[..., Any]


@dataclass(frozen=True)
class Settings:
    """``torch.compile(options=…)``: ``fallback`` runs a graph eagerly that cannot be compiled; ``threads``: None for
    torch.get_num_threads(); ``numerics`` as in mlc.compile."""

    fallback: bool = True
    threads: int | None = None
    numerics: Numerics = "default"

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Settings:
        """InputError if an option is unknown."""
        known = cls.__dataclass_fields__
        if unknown := sorted(options.keys() - known.keys()):
            raise InputError(f"backend 'mlc' has no option '{unknown[0]}'", hint=f"Its options: {', '.join(known)}")
        return cls(**options)


@dataclass(frozen=True)
class Argument:
    """A result of the graph that is argument ``n`` itself."""

    n: int


@dataclass(frozen=True)
class Output:
    """A result of the graph that is output ``n`` of the model."""

    n: int
    kind: Kind


@dataclass(frozen=True)
class Variant:
    """A program compiled for parameters as they are: ``inputs`` are which arguments the model takes, ``state`` holds
    each argument that is a parameter, with its version."""

    model: Model
    inputs: list[int]
    results: list[Any]
    state: list[tuple[int, Any, int]]

    def fits(self, args: Sequence[Any]) -> bool:
        """Whether these are the same parameters, unchanged."""
        return all(args[n] is x and x._version == version for n, x, version in self.state)

    def is_stale(self) -> bool:
        """Whether a parameter has changed since."""
        return any(x._version != version for _, x, version in self.state)

    def __call__(self, args: Sequence[Any]) -> list[Any]:
        """The results of the graph but for views."""
        given = zip(self.inputs, self.model.inputs.values(), strict=True)
        found = self.model(*[_as_array(args[n], spec.dtype) for n, spec in given]) if self.model.outputs else ()
        arrays = found if isinstance(found, tuple) else (found,)
        return [_result(arrays, args, each) for each in self.results]


class Program:
    """A graph of ATen operators; compiled for each set of parameters, as dynamo has one graph for modules of one
    class."""

    def __init__(self, graph: GraphModule, state: Mapping[int, str], settings: Settings) -> None:
        self.graph, self.state, self.settings = graph, dict(state), settings
        self.options: Options = make_options(threads=settings.threads, numerics=settings.numerics)
        self.names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
        self.views = Views(graph.graph)
        self.variants: list[Variant] = []

    def prepare(self, args: Sequence[Any]) -> Variant:
        """Compile for the parameters among ``args``."""
        kept = {self.names[n]: (name, args[n]) for n, name in self.state.items()}
        parts = [*graph_parts(self.graph), str(self.state), *tensor_parts({key: x for key, (_, x) in kept.items()})]
        source = TraceSource(
            "graph", digest.of_bytes("\n".join([torch.__version__, *parts]).encode()),
            lambda: import_graph(self.graph.graph, kept, "graph", self.views.results), kind="torch graph",
        )  # fmt: skip
        threads = self.settings.threads or torch.get_num_threads()
        model = open_built(compile_source(source, self.options), threads)
        results = [self._result(model, n, x) for n, x in enumerate(results_of(self.graph.graph))]
        state = [(n, args[n], args[n]._version) for n in self.state]
        inputs = [self.names.index(name) for name in model.inputs]
        made = Variant(model, inputs, results, state)
        self.variants = [made, *(each for each in self.variants if not each.is_stale())]
        return made

    def _result(self, model: Model, n: int, x: Any) -> Any:
        """Result ``n`` of the graph: a node, or a constant such as None."""
        if isinstance(x, Node) and x.op == "placeholder":
            return Argument(self.names.index(x.name))
        if not isinstance(x, Node) or n in self.views.results:
            return None if n in self.views.results else x
        if f"y{n}" not in model.outputs:
            raise InputError(f"Result {n} of the graph, {x.format_node()}, is no tensor", stage="import")
        return Output(list(model.outputs).index(f"y{n}"), kind_of(x.meta.get("val")))

    def boxed(self) -> Function:
        """The program as aot_autograd calls it: with one list of arguments."""

        def call(args: list[Any]) -> list[Any]:
            return self(args)

        call._boxed_call = True  # type: ignore[attr-defined]
        return call

    def __call__(self, args: list[Any]) -> list[Any]:
        variant = next((each for each in self.variants if each.fits(args)), None)
        results = (variant or self.prepare(args))(args)
        return self.views(args, results) if self.views.results else results


def _as_array(x: Any, dtype: np.dtype[Any]) -> Any:
    """An argument as the model takes it; None is a token that orders effects, a tensor without elements in graphs."""
    if x is None:
        return np.zeros(0, dtype)
    return np.asarray(x, np.int64) if isinstance(x, int) else to_array(x)


def _result(arrays: Sequence[Any], args: Sequence[Any], each: Any) -> Any:
    """A result of the graph: an output of the model as a tensor or a size, an argument, or a constant."""
    if isinstance(each, Argument):
        return args[each.n]
    if not isinstance(each, Output):
        return each
    return to_leaf(arrays[each.n], each.kind)
