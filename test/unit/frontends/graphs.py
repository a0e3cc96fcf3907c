"""Small ONNX models for the tests of the frontend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from mlc.dialects.graph import GraphOp
from mlc.dialects.semantics.interpreter import interpret, main_of
from mlc.dialects.types import shape_of
from mlc.frontends.onnx import Imported, import_model

Array = np.ndarray[Any, Any]


def graph(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Sequence[int | str | None]],
    outputs: Sequence[str],
    weights: Mapping[str, Array] | None = None,
    opset: int = 17,
    types: Mapping[str, int] | None = None,
) -> ModelProto:
    """A model of nodes; inputs are f32 unless ``types`` says otherwise."""
    infos = [
        helper.make_tensor_value_info(n, (types or {}).get(n, TensorProto.FLOAT), shape) for n, shape in inputs.items()
    ]
    results = [onnx.ValueInfoProto(name=n) for n in outputs]
    tensors = [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()]
    proto = helper.make_graph(nodes, "test", infos, results, tensors)
    return helper.make_model(proto, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    """A node; names are separated by spaces, ``_`` is an absent one."""
    names = [["" if n == "_" else n for n in text.split()] for text in (inputs, outputs)]
    return helper.make_node(op, *names, **attributes)


def result_shapes(imported: Imported) -> list[str]:
    """Shapes of the outputs as strings: ``batch,2*seq``."""
    terminator = main_of(imported.module).body.block.last_op
    assert terminator is not None
    return [",".join(map(str, shape_of(o))) for o in terminator.operands]


def op_names(imported: Imported) -> list[str]:
    """The names of the operators in the module, without ``graph.``."""
    return [op.name.removeprefix("graph.") for op in imported.module.walk() if isinstance(op, GraphOp)]


def assert_like_onnxruntime(model: ModelProto, feeds: Mapping[str, Array], rtol: float = 1e-5) -> None:
    """The interpreted module gives what onnxruntime gives."""
    typed = onnx.shape_inference.infer_shapes(model)
    for output in typed.graph.output:  # onnxruntime wants types, which the importer does not read
        output.type.CopyFrom(next((v.type for v in typed.graph.value_info if v.name == output.name), output.type))
    session = onnxruntime.InferenceSession(typed.SerializeToString(), providers=["CPUExecutionProvider"])
    imported = import_model(model)
    imported.module.verify()
    actual = interpret(imported.module, imported.weights, feeds)
    for (name, value), wanted in zip(actual.items(), session.run(None, dict(feeds)), strict=True):
        assert value.dtype == wanted.dtype and value.shape == wanted.shape, name
        np.testing.assert_allclose(value, wanted, rtol=rtol, atol=rtol * float(np.abs(wanted).max(initial=0)))
