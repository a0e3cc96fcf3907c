"""Error messages for mistakes in a model: why the inputs and attributes of a node do not fit its operator.

Import functions say so themselves, or their Python code fails on what does not fit (a rank of 2 that is unpacked into
three extents). Then ONNX's own shape inference for the operator says what is wrong.
"""

from __future__ import annotations

import dis
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import NodeProto, TypeProto, helper, numpy_helper, shape_inference

from mlc.errors import InputError
from mlc.frontends.build.folding.fold import symbolic
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.reading.types import ELEMENT_OF_ONNX

PACKAGE = Path(__file__).parents[2]  # of mlc's sources
RAISES = {dis.opmap["RAISE_VARARGS"], dis.opmap["RERAISE"]}
ONNX_TYPES = {element: type_ for type_, element in ELEMENT_OF_ONNX.items()}
UNFIT = "attributes, shapes and types do not fit together"


def mistake(node: NodeProto, name: str, domain: str, opset: int, inputs: Sequence[Any], error: Exception) -> InputError:
    """The error of a node whose import failed by ``error``."""
    what = str(error) if _is_said(error) else ""
    what = what or _inferred(node, domain, opset, inputs) or UNFIT
    shapes = ", ".join(str(i) for i in inputs if isinstance(i, Tensor))
    return InputError(f"{what} (inputs: {shapes or 'none'})", node=name, op=node.op_type, stage="import")


def _is_said(error: Exception) -> bool:
    """Whether mlc's own code raised an error, and not Python or a library."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return True
    code = trace.tb_frame.f_code
    return code.co_code[trace.tb_lasti] in RAISES and PACKAGE in Path(code.co_filename).parents


def _inferred(node: NodeProto, domain: str, opset: int, inputs: Sequence[Any]) -> str:
    """The message of ONNX's shape inference about a node, if there is one."""
    given = {name: x for name, x in zip(node.input, inputs, strict=False) if name and isinstance(x, Tensor)}
    known = {
        name: numpy_helper.from_array(x.known, name)
        for name, x in given.items()
        if x.known is not None and not symbolic([x.known]) and x.element in ("i64", "i32", "f32", "i1")
    }
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, domain)
        types = {name: _type(x) for name, x in given.items()}
        opsets = [helper.make_opsetid(domain, opset)]
        shape_inference.infer_node_outputs(schema, node, types, known, opset_imports=opsets)
    except onnx.checker.ValidationError as error:  # types that the operator does not take
        return str(error).splitlines()[0].strip().rstrip(".")
    except (shape_inference.InferenceError, onnx.defs.SchemaError, ValueError, KeyError, RuntimeError) as error:
        text = str(error).splitlines()[0].partition("[ShapeInferenceError]")[2].strip()
        return text.rstrip(".")
    return ""


def _type(x: Tensor) -> TypeProto:
    return helper.make_tensor_type_proto(ONNX_TYPES[x.element], [d if isinstance(d, int) else str(d) for d in x.shape])
