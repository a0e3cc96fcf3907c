"""Layer-wise relevance propagation: the score is passed back, layer by layer, to what each result is a sum of.

Source: Bach et al., "On pixel-wise explanations for non-linear classifier decisions by layer-wise relevance
propagation", 2015: the ε-rule, ``R_i = x_i Σ_j w_ij R_j / (z_j + ε sign z_j)``, with ``z = w x + b``. For a layer f it
is ``x · vjp(f)(R / z)``, so it needs no rule for each kind of layer. Elementwise activations pass relevance on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.attribution.targets import scores
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.derivatives.linear_maps import vjp
from mlc.nn.layers import activations, basic

PASSED = frozenset(
    ("Relu", "LeakyRelu", "PRelu", "Sigmoid", "Tanh", "Elu", "Celu", "Selu", "Gelu", "Softplus", "Softsign", "Mish")
    + ("HardSwish", "HardSigmoid", "Clip", "Identity", "Dropout", "Cast")
)
"""Operators of ONNX that are elementwise."""
SUMS = frozenset(
    ("Gemm", "MatMul", "Conv", "ConvTranspose", "BatchNormalization", "Add", "Sub", "Sum", "Concat", "Pad", "Reshape")
    + ("Flatten", "Transpose", "Squeeze", "Unsqueeze", "Slice", "Expand", "ReduceMean", "ReduceSum", "AveragePool")
    + ("GlobalAveragePool", "MaxPool", "GlobalMaxPool", "Upsample", "Resize", "Mul", "Div")
)
"""Operators whose results are sums of their inputs; products and quotients by a constant."""


def layer_relevance(network: Any, x: Any, target: Any = None, *, epsilon: float = 1e-9) -> Array:
    """What each element of ``x`` [n, …] adds to the score of a class, like ``x``.

    Args:
        network: ``mlc.nn.Sequential`` of layers (in the mode of inference), an ONNX model or its path, or a
            ``torch.nn.Module``, which is exported; with residual connections as well but for ``Sequential``.
        x, target: as of ``saliency``.
        epsilon: added to each result that relevance is divided by.

    Raises:
        InputError: a network that is none of these, or has an operator that is neither a sum nor elementwise.
    """
    given = as_array(x)
    if isinstance(network, basic.Sequential):
        return _through_layers(network, given, target, epsilon)
    if hasattr(network, "named_modules"):
        return _through_nodes(_exported(network, given), given, target, epsilon)
    if isinstance(network, str | Path) or hasattr(network, "graph"):
        from mlc.frontends.onnx import read_whole

        return _through_nodes(read_whole(network), given, target, epsilon)
    what = f"Relevance is not propagated through a {type(network).__name__}"
    raise InputError(what, hint="Give nn.Sequential, an ONNX model (mlc.export_onnx writes one), or a torch.nn.Module")


def passed_back(f: Callable[..., Any], xs: Sequence[Array], relevance: Array, epsilon: float) -> list[Array]:
    """The relevance of each of ``xs`` from that of the result of ``f``, which is a sum of them."""
    z, pullback = vjp(lambda xs: as_array(f(*xs)), list(xs))
    stable = z + epsilon * mnp.where(z >= 0, 1.0, -1.0).astype(z.dtype)
    return [x * slope for x, slope in zip(xs, pullback(relevance / stable)[0], strict=True)]


def _first(y: Array, target: Any) -> Array:
    """The relevance of results [n, classes]: the score of the class, else 0."""
    wanted = mnp.argmax(y, axis=1) if target is None and y.ndim > 1 else target
    chosen = vjp(lambda y: scores(y, wanted), y)[1](mnp.ones_like(y[..., 0] if y.ndim > 1 else y))[0]
    return chosen * y


def _through_layers(network: basic.Sequential, x: Array, target: Any, epsilon: float) -> Array:
    layers = list(_flat(network))
    values = [x]
    for layer in layers:
        values.append(as_array(layer(values[-1])))
    relevance = _first(values[-1], target)
    for layer, before in zip(reversed(layers), reversed(values[:-1]), strict=True):
        if type(layer).__module__ != activations.__name__:
            (relevance,) = passed_back(layer, [before], relevance, epsilon)
    return relevance


def _flat(network: basic.Sequential) -> Any:
    for layer in network:
        if isinstance(layer, basic.Sequential):
            yield from _flat(layer)
        else:
            yield layer


def _exported(network: Any, x: Array) -> Any:
    import torch

    from mlc.export import export_onnx

    example = torch.from_numpy(np.array(x))
    return export_onnx(torch.export.export(network.eval(), (example,)))


def _through_nodes(model: Any, x: Array, target: Any, epsilon: float) -> Array:
    constants = {t.name for t in model.graph.initializer}
    inputs = [each.name for each in model.graph.input if each.name not in constants]
    if len(inputs) != 1:
        raise InputError(f"Relevance is passed back to one input, and the model has {len(inputs)}", hint="Fix others")
    values, steps = {inputs[0]: x}, []
    for node in model.graph.node:
        read = [name for name in node.input if name in values]
        f = _node_function(model, node, {name: values[name] for name in read})
        if not read:
            constants.add(node.output[0])
            model = _with_constant(model, node, f)
            continue
        values[node.output[0]] = as_array(f(*(values[name] for name in read)))
        steps.append((node, read, f))
    return _back(steps, values, model.graph.output[0].name, target, epsilon)[inputs[0]]


def _back(steps: Any, values: dict[str, Array], output: str, target: Any, epsilon: float) -> dict[str, Array]:
    found = {output: _first(values[output], target)}
    for node, read, f in reversed(steps):
        relevance = found.get(node.output[0])
        if relevance is None:
            continue
        kind = node.op_type
        if kind not in PASSED and (kind not in SUMS or (kind in ("Mul", "Div") and len(read) > 1)):
            what = f"Relevance is not passed through {kind} ({node.output[0]})"
            raise InputError(what, hint="Give the part of the model before it, such as the scores before a softmax")
        parts = [relevance] if kind in PASSED else passed_back(f, [values[n] for n in read], relevance, epsilon)
        for name, part in zip(read, parts, strict=False):
            found[name] = found[name] + part if name in found else part
    return found


def _node_function(model: Any, node: Any, read: dict[str, Array]) -> Callable[..., Any]:
    """A node as a function of what depends on the input."""
    from onnx import helper

    from mlc.tracing.function import function

    kept = [t for t in model.graph.initializer if t.name in node.input]
    types = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), [int(n) for n in x.shape])  # type: ignore[arg-type]
        for name, x in read.items()
    ]
    outputs = [helper.make_empty_tensor_value_info(node.output[0])]
    graph = helper.make_graph([node], node.op_type, types, outputs, kept)
    return function(helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version))


def _with_constant(model: Any, node: Any, f: Callable[..., Any]) -> Any:
    """The model with the value of a node that reads constants alone as an initializer."""
    from onnx import numpy_helper

    made = type(model)()
    made.CopyFrom(model)
    made.graph.initializer.append(numpy_helper.from_array(np.asarray(f()), node.output[0]))
    return made


