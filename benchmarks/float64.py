"""A model's values in double precision, by the reference evaluator of the onnx package: what errors are against."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator

from benchmarks.engines import Arrays, Run


def float64(path: Path, threads: int) -> Run:
    """`path` with every f32 made f64; results are rounded to f32 once. NumPy chooses its own `threads`."""
    evaluator = ReferenceEvaluator(widened(onnx.load(path)))
    names = evaluator.output_names

    def run(inputs: Arrays) -> Arrays:
        results = evaluator.run(None, {name: _wide(array) for name, array in inputs.items()})
        return {name: _narrow(np.asarray(r)) for name, r in zip(names, results, strict=True)}

    return run


def widened(model: onnx.ModelProto) -> onnx.ModelProto:
    """`model` with its f32 weights, constants, casts and borders in f64; it is changed in place."""
    graph = model.graph
    for tensor in graph.initializer:
        _widen(tensor)
    for value in [*graph.input, *graph.output]:
        _widen_type(value.type.tensor_type)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                _widen(attribute.t)
            elif (node.op_type, attribute.name, attribute.i) == ("Cast", "to", TensorProto.FLOAT):
                attribute.i = TensorProto.DOUBLE
    del graph.value_info[:]
    return model


def _widen_type(tensor: onnx.TypeProto.Tensor) -> None:
    if tensor.elem_type == TensorProto.FLOAT:
        tensor.elem_type = TensorProto.DOUBLE


def _widen(tensor: onnx.TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(_wide(numpy_helper.to_array(tensor)), tensor.name))


def _wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def _narrow(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype == np.float64 else array
