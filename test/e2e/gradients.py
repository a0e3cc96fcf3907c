"""Models with ONNX's Gradient: interpreted and compiled, against central differences of ``y`` in float64."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from central import central_differences
from onnx import ModelProto, NodeProto, helper, numpy_helper

import mlc
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.onnx import import_model

Array = np.ndarray[Any, Any]
Nodes = list[NodeProto]
TRAINING = "ai.onnx.preview.training"
STEP = 1e-5


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    return helper.make_node(op, ["" if n == "_" else n for n in inputs.split()], outputs.split(), **attributes)


def gradient(inputs: str, outputs: str, xs: str, y: str, zs: str = "") -> NodeProto:
    more = {"zs": zs.split()} if zs else {}
    return node("Gradient", inputs, outputs, domain=TRAINING, xs=xs.split(), y=y, **more)


def model(
    nodes: Nodes, feeds: Mapping[str, Array], outputs: Sequence[str], weights: Mapping[str, Array], opset: int,
    shapes: Mapping[str, Sequence[int | str]] | None = None,
) -> ModelProto:  # fmt: skip
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), (shapes or {}).get(n, a.shape))
        for n, a in feeds.items()
    ]
    tensors = [numpy_helper.from_array(a, n) for n, a in weights.items()]
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=n) for n in outputs], tensors)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid(TRAINING, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def ways(made: ModelProto, feeds: Mapping[str, Array]) -> list[dict[str, Array]]:
    imported = import_model(made)
    return [interpret(imported.module, imported.weights, feeds), mlc.compile(made).run(feeds)]


def differences(nodes: Nodes, feeds: Mapping[str, Array], x: str, y: str, weights: Mapping[str, Array], opset: int
                ) -> Array:  # fmt: skip
    """The derivative of the sum of ``y`` with respect to ``x``, an input or weight."""
    values = {n: a.astype("f8") if a.dtype == np.float32 else a for n, a in {**feeds, **weights}.items()}
    known = {n: values.pop(n) for n in weights if n != x}
    forward = import_model(model(nodes, values, [y], known, opset))

    def total(moved: Array) -> float:
        return float(interpret(forward.module, forward.weights, {**values, x: moved})[y].sum())

    return central_differences(total, values[x], STEP)


def check(nodes: Nodes, feeds: Mapping[str, Array], xs: str, opset: int = 22, y: str = "y", *,
          weights: Mapping[str, Array] | None = None, shapes: Mapping[str, Sequence[int | str]] | None = None,
          rtol: float = 3e-5) -> None:  # fmt: skip
    """Gradients of ``y`` with respect to the inputs or weights ``xs`` where they are, both ways."""
    outputs = [f"d_{x}" for x in xs.split()]
    made = model([*nodes, gradient(xs, " ".join(outputs), xs, y)], feeds, outputs, weights or {}, opset, shapes)
    right = {f"d_{x}": differences(nodes, feeds, x, y, weights or {}, opset) for x in xs.split()}
    for found in ways(made, feeds):
        for name, wanted in right.items():
            assert (found[name].dtype, found[name].shape) == (np.float32, wanted.shape)
            np.testing.assert_allclose(found[name], wanted, rtol=rtol, atol=rtol * max(1, np.abs(wanted).max()))


def normal(*shape: int, seed: int = 5) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype("f4")


def numbers(*values: int) -> Array:
    return np.array(values, "i8")
