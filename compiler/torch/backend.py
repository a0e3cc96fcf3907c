"""The backend ``mlc`` of torch.compile: graphs of dynamo as compiled programs, their gradients too.

Where no gradient is wanted, parameters and buffers are constants of the program, and their versions are compared in
each call: after ``load_state_dict`` or a step of an optimizer it is compiled anew. What the graph itself changes is an
argument. Where gradients are wanted, AOTAutograd makes a graph forward and one backward; both are compiled, with
parameters as arguments. An operator that mlc refuses runs in eager torch between parts that are compiled, and a warning
names it; with ``options={"fallback": False}`` that is an error.
"""

from __future__ import annotations

import contextlib
import functools
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule
from torch.nn.attention import SDPBackend, sdpa_kernel

from mlc.errors import MlcError
from mlc.frontends.torch.errors import UnsupportedError
from mlc.frontends.torch.ops import load_all
from mlc.frontends.torch.registry import translation_of
from mlc.torch.graph_program import Function, Program, Settings
from mlc.torch.parts import in_parts


def backend(graph: GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None) -> Function:
    """Compile a graph of dynamo; the function that it becomes.

    Raises:
        InputError: an option is unknown, or without ``fallback`` the graph cannot be compiled.
    """
    settings = Settings.of(options or {})
    names = [_name_of(node) for node in graph.graph.nodes if node.op == "placeholder"]

    def inference(lowered: GraphModule, given: Sequence[Any]) -> Function:
        return _compiled(lowered, _constants(names, example_inputs, len(given)), example_inputs, settings)

    def training(lowered: GraphModule, _: Sequence[Any]) -> Function:
        return _compiled(lowered, {}, (), settings)

    compiler = aot_autograd(
        fw_compiler=training, bw_compiler=training, inference_compiler=inference,
        partition_fn=min_cut_rematerialization_partition, decompositions=_decompositions(),
    )  # fmt: skip
    with _differentiable_operators(example_inputs):
        return compiler(graph, example_inputs)


def _compiled(
    lowered: GraphModule, constants: Mapping[int, str], example_inputs: Sequence[Any], settings: Settings
) -> Function:
    """A graph of ATen operators, called with one list of arguments: compiled or, with ``fallback``, but for operators
    that mlc refuses."""
    try:
        program = Program(lowered, constants, settings)
        with unset_fake_temporarily():  # the parameters' elements are read
            program.prepare(example_inputs)
        return program.boxed()
    except MlcError as error:
        if not settings.fallback:
            raise
        refused = error if isinstance(error, UnsupportedError) and error.nodes else None
        if refused is None:
            warnings.warn(f"mlc: this graph runs eagerly. {error}", stacklevel=2)
            return make_boxed_func(lowered.forward)
    for each in refused.found:
        warnings.warn(f"mlc: {each.op} at {each.where} runs in eager torch: {each.why}", stacklevel=2)
    part = functools.partial(_compiled, settings=settings)
    return make_boxed_func(in_parts(lowered, refused.nodes, constants, example_inputs, part))


def _constants(names: Sequence[str], inputs: Sequence[Any], count: int) -> dict[int, str]:
    """Which of a graph's inputs are parameters or buffers that it does not change, and their names in the module."""
    if count != len(inputs):  # torch has merged some, or added sizes
        return {}
    metadata = TracingContext.get().fw_metadata
    changed = set(metadata.mutated_inp_runtime_indices) if metadata is not None else set()
    pairs = enumerate(zip(names, inputs, strict=True))
    return {n: name for n, (name, x) in pairs if _is_state(x) and n not in changed}


def _is_state(x: Any) -> bool:
    """Whether an input of a graph is a parameter or buffer, which dynamo marks."""
    return isinstance(x, torch.nn.Parameter) or hasattr(x, "_dynamo_static_input_type")


def _name_of(placeholder: torch.fx.Node) -> str:
    """``layers.0.weight`` of the placeholder L_self_modules_layers_modules_0_parameters_weight_."""
    source = getattr(placeholder.meta.get("grapharg"), "source", None)
    name = getattr(source, "name", placeholder.name)
    words = re.findall(r"\w+", name() if callable(name) else name)
    return ".".join(w for w in words if w not in ("L", "self", "_modules", "_parameters", "_buffers")) or "weight"


@contextlib.contextmanager
def _differentiable_operators(inputs: Sequence[Any]) -> Iterator[None]:
    """Where gradients are wanted, torch decomposes attention to products and softmax, and the layers of an LSTM to
    products and gates: those of fused operators are differentiated one by one."""
    if not torch.is_grad_enabled() or not any(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs):
        yield
        return
    onednn = torch.backends.mkldnn.enabled
    torch._C._set_mkldnn_enabled(False)  # which torch.backends refuses to set once torch's testing tools are imported
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch._C._set_mkldnn_enabled(onednn)


def _decompositions() -> dict[Any, Function]:
    """Torch's decompositions into core ATen of the operators that have no translation."""
    load_all()
    table = torch._decomp.core_aten_decompositions()
    return {op: function for op, function in table.items() if translation_of(op) is None}
