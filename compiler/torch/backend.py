"""The backend ``mlc`` of torch.compile, for inference: a graph of dynamo as a compiled program.

Parameters and buffers are constants of the program, and their versions are compared in each call: after
``load_state_dict`` or a step of an optimizer it is compiled anew. A graph that mlc cannot compile runs eagerly, and a
warning says why; with ``options={"fallback": False}`` that is an error.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch._dynamo.backends.common import aot_autograd
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule

from mlc.api import make_options, open_built
from mlc.driver.cache import digest
from mlc.driver.compile import compile_source
from mlc.errors import InputError
from mlc.frontends.torch.graphs import import_graph
from mlc.frontends.torch.importer import results_of
from mlc.frontends.torch.ops import load_all
from mlc.frontends.torch.registry import translation_of
from mlc.options import Numerics, Options
from mlc.runtime import Model
from mlc.torch.model import to_array, to_tensor
from mlc.torch.source import graph_parts, tensor_parts
from mlc.tracing.source import TraceSource

Function = Callable[..., Any]


@dataclass(frozen=True)
class Settings:
    """``torch.compile(options=…)``: ``fallback`` runs a graph eagerly that cannot be compiled; ``threads``: None for
    torch.get_num_threads(); ``numerics`` as in mlc.compile."""

    fallback: bool = True
    threads: int | None = None
    numerics: Numerics = "default"


def backend(graph: GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None) -> Function:
    """Compile a graph of dynamo; the function that it becomes.

    Raises:
        InputError: an option is unknown, or without ``fallback`` the graph cannot be compiled.
    """
    settings = _settings(options or {})
    try:
        _check_inference(example_inputs)
        return _compiled(graph, example_inputs, settings)
    except InputError as error:
        if not settings.fallback:
            raise
        warnings.warn(f"mlc: this graph runs eagerly. {error}", stacklevel=2)
        return graph.forward


def _settings(options: Mapping[str, Any]) -> Settings:
    known = Settings.__dataclass_fields__
    if unknown := sorted(options.keys() - known.keys()):
        raise InputError(f"backend 'mlc' has no option '{unknown[0]}'", hint=f"Its options: {', '.join(known)}")
    return Settings(**options)


def _check_inference(inputs: Sequence[Any]) -> None:
    if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs):
        raise InputError("Gradients are wanted", hint="Call the module under torch.no_grad() or torch.inference_mode()")


def _compiled(graph: GraphModule, example_inputs: Sequence[Any], settings: Settings) -> Function:
    names = [_name_of(node) for node in graph.graph.nodes if node.op == "placeholder"]

    def compiler(lowered: GraphModule, _: Sequence[Any]) -> Function:
        nodes = [node for node in lowered.graph.nodes if node.op == "placeholder"]
        same = len(nodes) == len(example_inputs)
        known = {
            n: name for n, (name, x) in enumerate(zip(names, example_inputs, strict=True)) if same and _is_state(x)
        }
        program = Program(lowered, known, settings)
        with unset_fake_temporarily():  # the parameters' elements are read
            program.prepare(example_inputs)
        return program.boxed()

    return aot_autograd(fw_compiler=compiler, inference_compiler=compiler, decompositions=_decompositions())(
        graph, example_inputs
    )


def _is_state(x: Any) -> bool:
    """Whether an input of a graph is a parameter or buffer, which dynamo marks."""
    return isinstance(x, torch.nn.Parameter) or hasattr(x, "_dynamo_static_input_type")


def _name_of(placeholder: torch.fx.Node) -> str:
    """``layers.0.weight`` of the placeholder L_self_modules_layers_modules_0_parameters_weight_."""
    source = getattr(placeholder.meta.get("grapharg"), "source", None)
    name = getattr(source, "name", placeholder.name)
    words = re.findall(r"\w+", name() if callable(name) else name)
    return ".".join(w for w in words if w not in ("L", "self", "_modules", "_parameters", "_buffers")) or "weight"


def _decompositions() -> dict[Any, Function]:
    """Torch's decompositions into core ATen of the operators that have no translation."""
    load_all()
    table = torch._decomp.core_aten_decompositions()
    return {op: function for op, function in table.items() if translation_of(op) is None}


@dataclass(frozen=True)
class Variant:
    """A program compiled for parameters as they are: ``state`` holds each argument that is one, with its version."""

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
        found = self.model(*[_as_array(args[n]) for n in self.inputs]) if self.model.outputs else ()
        arrays = found if isinstance(found, tuple) else (found,)
        return [_result(arrays, each) for each in self.results]


class Program:
    """A graph of ATen operators; compiled for each set of parameters, as dynamo has one graph for modules of one
    class."""

    def __init__(self, graph: GraphModule, state: Mapping[int, str], settings: Settings) -> None:
        self.graph, self.state, self.settings = graph, dict(state), settings
        self.options: Options = make_options(threads=settings.threads, numerics=settings.numerics)
        self.names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
        self.variants: list[Variant] = []

    def prepare(self, args: Sequence[Any]) -> Variant:
        """Compile for the parameters among ``args``."""
        kept = {self.names[n]: (name, args[n]) for n, name in self.state.items()}
        parts = [*graph_parts(self.graph), str(self.state), *tensor_parts({key: x for key, (_, x) in kept.items()})]
        source = TraceSource(
            "graph", digest.of_bytes("\n".join([torch.__version__, *parts]).encode()),
            lambda: import_graph(self.graph.graph, kept, "graph"), kind="torch graph",
        )  # fmt: skip
        threads = self.settings.threads or torch.get_num_threads()
        model = open_built(compile_source(source, self.options), threads)
        given = list(model.outputs)
        results = [
            (given.index(f"y{n}"), isinstance(getattr(x, "meta", {}).get("val"), torch.SymInt))
            if f"y{n}" in given else x for n, x in enumerate(results_of(self.graph.graph))
        ]  # fmt: skip
        state = [(n, args[n], args[n]._version) for n in self.state]
        made = Variant(model, [self.names.index(name) for name in model.inputs], results, state)
        self.variants = [made, *(each for each in self.variants if not each.is_stale())]
        return made

    def boxed(self) -> Function:
        """The program as aot_autograd calls it: with one list of arguments."""

        def call(args: list[Any]) -> list[Any]:
            return self(args)

        call._boxed_call = True  # type: ignore[attr-defined]
        return call

    def __call__(self, args: list[Any]) -> list[Any]:
        variant = next((each for each in self.variants if each.fits(args)), None)
        return (variant or self.prepare(args))(args)


def _as_array(x: Any) -> Any:
    return np.asarray(x, np.int64) if isinstance(x, int) else to_array(x)


def _result(arrays: Sequence[Any], each: Any) -> Any:
    """A result of the graph: an output of the model as a tensor or a size, or a constant."""
    if not isinstance(each, tuple):
        return each
    position, is_size = each
    return int(arrays[position]) if is_size else to_tensor(arrays[position])
