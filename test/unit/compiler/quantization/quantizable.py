"""Small models with every kind of layer, and how a quantized one is checked: by onnxruntime and by mlc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import mlc
from benchmarks.exact_sessions import exact_options

Array = np.ndarray[Any, Any]
node = helper.make_node


def drawn(random: np.random.Generator, *shape: int) -> Array:
    return (random.standard_normal(shape) * 0.3).astype(np.float32)


def made(
    nodes: Sequence[NodeProto], weights: Mapping[str, Array], shape: Sequence[int | str], opset: int = 17, y: str = "y"
) -> ModelProto:
    """A model of the input ``x`` with an output whose shape is open."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    result = helper.make_tensor_value_info(y, TensorProto.FLOAT, None)
    constants = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "net", [x], [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def convolutions(random: np.random.Generator) -> ModelProto:
    """A residual block with a grouped convolution, batch normalization, a transposed convolution, and a classifier."""
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["a"], "first", pads=[1] * 4),
        node("Relu", ["a"], ["r"]),
        node("Conv", ["r", "w2"], ["b"], "grouped", pads=[1] * 4, group=4),
        node("BatchNormalization", ["b", "scale", "shift", "mean", "variance"], ["n"]),
        node("Add", ["n", "r"], ["s"]),
        node("Relu", ["s"], ["t"]),
        node("MaxPool", ["t"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("ConvTranspose", ["p", "w3", "b3"], ["u"], "transposed", strides=[2, 2], group=2),
        node("GlobalAveragePool", ["u"], ["g"]),
        node("Flatten", ["g"], ["f"]),
        node("Gemm", ["f", "w4", "b4"], ["y"], "classifier", transB=1),
    ]
    shapes = {"w1": (8, 3, 3, 3), "b1": (8,), "w2": (8, 2, 3, 3), "scale": (8,), "shift": (8,), "mean": (8,)}
    shapes |= {"w3": (8, 3, 2, 2), "b3": (6,), "w4": (10, 6), "b4": (10,)}
    weights = {name: drawn(random, *shape) for name, shape in shapes.items()}
    return made(nodes, weights | {"variance": np.abs(drawn(random, 8)) + 0.5}, ["batch", 3, 12, 12])


def products(random: np.random.Generator) -> ModelProto:
    """A perceptron on sequences, and a constant left factor."""
    nodes = [
        node("MatMul", ["x", "w"], ["a"], "up"),
        node("Add", ["a", "b"], ["c"]),
        node("Tanh", ["c"], ["d"]),
        node("MatMul", ["d", "w2"], ["e"], "down"),
        node("Add", ["e", "x"], ["s"]),
        node("MatMul", ["left", "s"], ["y"], "mix"),
    ]
    shapes = {"w": (24, 48), "b": (48,), "w2": (48, 24), "left": (5, 7)}
    return made(nodes, {name: drawn(random, *shape) for name, shape in shapes.items()}, ["batch", 7, 24])


def samples(random: np.random.Generator, model: ModelProto, count: int) -> dict[str, Array]:
    """Inputs, as many as ``count`` where the first extent is open."""
    dims = model.graph.input[0].type.tensor_type.shape.dim
    return {"x": random.standard_normal([d.dim_value or count for d in dims]).astype(np.float32)}


def by_onnxruntime(model: ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    options = exact_options(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found: list[Array] = session.run(None, dict(inputs))
    return found


def sqnr(expected: Array, found: Array) -> float:
    """Decibels, at most 200."""
    noise = float(np.square(found.astype(np.float64) - expected).sum())
    return 200.0 if not noise else min(200.0, 10 * np.log10(np.square(expected.astype(np.float64)).sum() / noise))


def checked(made: mlc.quantization.Quantized, inputs: Mapping[str, Array], apart: float = 60.0) -> Array:
    """The first of ``checked_outputs``."""
    return checked_outputs(made, inputs, apart)[0]


def checked_outputs(made: mlc.quantization.Quantized, inputs: Mapping[str, Array], apart: float = 60.0) -> list[Array]:
    """The outputs by onnxruntime, of a model that mlc computes alike: ``apart`` decibels at least."""
    expected = by_onnxruntime(made.model, inputs)
    found = list(mlc.compile(made.model, tuned=False).run(dict(inputs)).values())
    for ours, theirs in zip(found, expected, strict=True):
        assert sqnr(theirs, ours) > apart
    return expected
