"""Values within a network as results, and what is added to them as an argument: so gradients are taken by them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.nn.module import Module

Tapped = Callable[[Any, Any], tuple[Any, Any]]
"""``(x, change) → (results, value)``: ``change`` is added to the value, a layer's result; None adds nothing."""


def tapped(network: Any, layer: str, x: Any) -> Tapped:
    """The results of a network and of one of its layers.

    ``network`` and ``layer``: a module of ``mlc.nn`` and the path of a module in it (``features.3``, as names of its
    parameters begin), an ONNX model (or its path) and the name of a value, or a ``torch.nn.Module`` and the name of a
    submodule.

    Raises:
        InputError: no such network, layer or value.
    """
    if isinstance(network, Module):
        return _of_module(network, layer)
    if hasattr(network, "named_modules"):
        return _of_torch(network, layer, x)
    if isinstance(network, str | Path) or hasattr(network, "graph"):
        return _of_onnx(network, layer)
    what = f"A {type(network).__name__} has no layers by name"
    raise InputError(what, hint="Give a module of mlc.nn or torch.nn, or an ONNX model")


def _of_module(network: Module, layer: str) -> Tapped:
    def run(x: Any, change: Any) -> tuple[Any, Any]:
        leaves, structure = trees.flatten(network)
        whole = trees.unflatten(structure, leaves)
        seen: list[Any] = []
        _replace(whole, layer.split("."), lambda inner: Tap(inner, change, seen), layer)
        y = whole(x)
        if len(seen) != 1:
            what = f"The layer {layer} is called {len(seen)} times"
            raise InputError(what, hint="Name a layer that the network calls once")
        return y, seen[0]

    return run


class Tap(Module):
    """A layer that shows its result, after a change is added to it."""

    inner: Any
    change: Any
    seen: Any

    def __init__(self, inner: Any, change: Any, seen: list[Any]) -> None:
        self.inner, self.change, self.seen = inner, change, seen

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The layer's result and the change."""
        y = self.inner(*args, **kwargs)
        self.seen.append(y)
        return y if self.change is None else y + self.change


def _replace(parent: Any, path: list[str], make: Callable[[Any], Any], layer: str) -> None:
    """Put ``make(module)`` in the place of the module at a path, within the module, lists and dictionaries.

    Names leave out fields that are inlined, such as the layers of ``Sequential``.
    """
    head, *rest = path
    inlined = [f.name for f in getattr(parent, "__dataclass_fields__", {}).values() if f.metadata.get("inlined")]
    if isinstance(parent, Module) and not hasattr(parent, head) and inlined:
        held = getattr(parent, inlined[0])
        fresh = list(held) if isinstance(held, list | tuple) else dict(held)
        _replace(fresh, path, make, layer)
        setattr(parent, inlined[0], tuple(fresh) if isinstance(held, tuple) else fresh)
        return
    try:
        key: Any = int(head) if isinstance(parent, list) else head
        child = getattr(parent, head) if isinstance(parent, Module) else parent[key]
    except (AttributeError, LookupError, ValueError):
        raise InputError(f"There is no layer '{layer}'", hint="Name it as its parameters: 'features.3'") from None
    if rest:
        _replace(child, rest, make, layer)
    elif isinstance(parent, Module):
        setattr(parent, head, make(child))
    else:
        parent[key] = make(child)


def _of_onnx(network: Any, value: str) -> Tapped:
    """The nodes that read the value read its sum with an input of its own."""
    from onnx import helper, shape_inference

    from mlc.frontends.onnx import read_whole
    from mlc.tracing.function import function

    model = copy.deepcopy(read_whole(network))
    inferred = shape_inference.infer_shapes(model).graph
    types = {x.name: x.type.tensor_type for x in [*inferred.value_info, *inferred.output, *inferred.input]}
    producers = [n for n, node in enumerate(model.graph.node) if value in node.output]
    if not producers or value not in types:
        names = ", ".join(node.output[0] for node in model.graph.node[-4:])
        raise InputError(f"The model computes no value '{value}'", hint=f"Its last values are {names}")
    changed, change = f"{value}.changed", f"{value}.change"
    for node in model.graph.node:
        node.input[:] = [changed if name == value else name for name in node.input]
    model.graph.node.insert(producers[0] + 1, helper.make_node("Add", [value, change], [changed]))
    kind = types[value]
    dims = [d.dim_value or d.dim_param or None for d in kind.shape.dim]
    model.graph.input.append(helper.make_tensor_value_info(change, kind.elem_type, dims))
    model.graph.output.append(helper.make_tensor_value_info(value, kind.elem_type, dims))
    f = function(model)
    plain = _values(read_whole(network), value)

    def run(x: Any, change: Any) -> tuple[Any, Any]:
        return plain(x) if change is None else f(x, change)

    return run


def _values(model: Any, value: str) -> Callable[[Any], Any]:
    from onnx import helper

    from mlc.tracing.function import function

    whole = copy.deepcopy(model)
    whole.graph.output.append(helper.make_empty_tensor_value_info(value))
    f = function(whole)

    def run(x: Any) -> Any:
        y, *_, seen = f(x)
        return y, seen

    return run


def _of_torch(network: Any, layer: str, x: Any) -> Tapped:
    """An exported program of the network, a hook of whose layer adds an argument."""
    import numpy as np
    import torch

    from mlc.tracing.function import function

    layers = dict(network.named_modules())
    if layer not in layers:
        hint = f"Its layers: {', '.join(name for name in list(layers)[1:9])}"
        raise InputError(f"The network has no layer '{layer}'", hint=hint)

    class Whole(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, x: Any, change: Any) -> Any:
            seen = []

            def hook(module: Any, args: Any, y: Any) -> Any:
                seen.append(y)
                return y + change

            handle = layers[layer].register_forward_hook(hook)
            try:
                return self.network(x), seen[0]
            finally:
                handle.remove()

    example = torch.from_numpy(np.array(as_array(x)))
    shapes: list[Any] = []
    handle = layers[layer].register_forward_hook(lambda m, a, y: shapes.append(y))
    with torch.no_grad():
        network(example)
    handle.remove()
    f = function(torch.export.export(Whole().eval(), (example, torch.zeros_like(shapes[0]))))
    zero = np.zeros(tuple(shapes[0].shape), np.float32)
    return lambda x, change: f(x, zero if change is None else change)
