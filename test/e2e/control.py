"""Models with loops and branches, and how they are compared: interpreted and compiled, on one, two and four threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

import mlc
from mlc.dialects.semantics.interpreter import interpret
from mlc.frontends.onnx import import_model

Array = np.ndarray[Any, Any]
FLOAT, INT64, BOOL, INT32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.INT32
Infos = Mapping[str, tuple[int, Sequence[int | str] | None]]


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    """A node; names are separated by spaces, ``_`` is an absent one."""
    names = [["" if n == "_" else n for n in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, name=f"{op}.{outputs.split()[0] if outputs else ''}", **attributes)


def body(
    nodes: Sequence[NodeProto], inputs: Infos, outputs: Infos, weights: Mapping[str, Array] | None = None
) -> GraphProto:
    """A graph; inputs and outputs are (type, shape) by name."""
    infos = [[helper.make_tensor_value_info(n, *i) for n, i in side.items()] for side in (inputs, outputs)]
    tensors = [numpy_helper.from_array(np.asarray(a), n) for n, a in (weights or {}).items()]
    return helper.make_graph(nodes, "body", *infos, tensors)


def model(
    nodes: Sequence[NodeProto],
    inputs: Infos,
    outputs: Infos,
    weights: Mapping[str, Array] | None = None,
    opset: int = 17,
) -> ModelProto:
    """A model of a graph."""
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(body(nodes, inputs, outputs, weights), opset_imports=opsets, ir_version=8)


def kinds(proto: ModelProto) -> list[str]:
    """The operators of control flow in the imported module."""
    names = [op.name for op in import_model(proto).module.walk()]
    return [name for name in names if name in ("graph.loop", "graph.if")]


def agree(
    proto: ModelProto,
    *feeds: Mapping[str, Array],
    wanted: Sequence[Sequence[Array]] | None = None,
    rtol: float = 1e-5,
    **options: Any,
) -> None:
    """Each of ``feeds`` gives what onnxruntime gives (or ``wanted``): interpreted, and compiled for several threads,
    bit for bit the same on all."""
    session = None if wanted else onnxruntime.InferenceSession(proto.SerializeToString())
    results = wanted or [session.run(None, dict(f)) for f in feeds]  # type: ignore[union-attr]
    imported = import_model(proto)
    for feed, expected in zip(feeds, results, strict=True):
        _close(interpret(imported.module, imported.weights, feed), expected, rtol)
    first: list[Mapping[str, Array]] = []
    for threads in (1, 2, 4):
        compiled = mlc.compile(proto, threads=threads, **options)
        actual = [compiled.run(feed) for feed in feeds]
        for each, expected in zip(actual, results, strict=True):
            _close(each, expected, rtol)
        first = first or actual
        for one, other in zip(first, actual, strict=True):
            assert all(one[name].tobytes() == other[name].tobytes() for name in one)


def _close(actual: Mapping[str, Array], expected: Sequence[Array], rtol: float) -> None:
    for (name, value), want in zip(actual.items(), expected, strict=True):
        want = np.asarray(want)
        assert (value.dtype, value.shape) == (want.dtype, want.shape), (name, value.shape, want.shape)
        scale = rtol * float(np.abs(want).max(initial=0)) if want.dtype.kind == "f" else 0
        np.testing.assert_allclose(value, want, rtol=rtol, atol=scale, err_msg=name)


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


def scalar(value: float, dtype: type = np.int64) -> Array:
    return np.array(value, dtype)
