"""The nine "light" models of the onnx package: real architectures whose weights are ConstantOfShape nodes.

All weights of such a model are equal, so that channels are indistinguishable; `load(name, seed)` sets random ones.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from benchmarks.models.cache import cached
from benchmarks.models.layers import RELU_GAIN

DIRECTORY = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
CLASSES = 1000
RESIDUAL_GAIN = 0.2  # with more, every block of a deep network multiplies rounding errors
LOGIT_GAIN = 0.02  # activations grow where normalizations do not normalize; a saturated Softmax would hide errors


def names() -> list[str]:
    """The names of the models, such as `light_resnet50`."""
    return sorted(file.stem for file in DIRECTORY.glob("light_*.onnx"))


def load(name: str, seed: int | None = None) -> onnx.ModelProto:
    """The model as it is shipped, or with random initializers in the place of its ConstantOfShape nodes."""
    model = onnx.load(DIRECTORY / f"{name}.onnx")
    return model if seed is None else _randomize(model, np.random.default_rng(seed))


def path(name: str, seed: int | None = None) -> Path:
    """The file of `load(name, seed)`: the package's own, or one in the user's cache."""
    return DIRECTORY / f"{name}.onnx" if seed is None else cached(name, seed, lambda: load(name, seed))


def _randomize(model: onnx.ModelProto, random: np.random.Generator) -> onnx.ModelProto:
    model.ir_version = 4  # from which on an initializer need not be an input too
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    fills = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in fills:
        shape = tuple(numpy_helper.to_array(constants[node.input[0]]))
        values = _values(random, shape, _role(graph, node.output[0])) * _damping(graph, node.output[0])
        graph.initializer.append(numpy_helper.from_array(values, node.output[0]))
        graph.node.remove(node)
    for value in [value for value in graph.input if value.name in constants]:
        graph.input.remove(value)
    for name in {node.input[0] for node in fills}:
        graph.initializer.remove(constants[name])
    return model


def _role(graph: onnx.GraphProto, name: str) -> tuple[str, int]:
    """The operator, and the number of its operand, that uses a weight; a change of shape is looked through."""
    user = next(node for node in graph.node if name in node.input)
    if user.op_type in ("Unsqueeze", "Reshape"):
        return _role(graph, user.output[0])
    return user.op_type, list(user.input).index(name)


def _damping(graph: onnx.GraphProto, name: str) -> np.float32:
    """What scales a normalization whose result is added to a shortcut: as if trained, a branch changes little."""
    users = [node for node in graph.node if name in node.input]
    added = [node for user in users for node in graph.node if user.output[0] in node.input and node.op_type == "Sum"]
    scale = users[0].op_type == "BatchNormalization" and users[0].input[1] == name
    return np.float32(RESIDUAL_GAIN if scale and added else 1)


def _values(random: np.random.Generator, shape: tuple[int, ...], role: tuple[str, int]) -> np.ndarray:
    values = random.standard_normal(shape, np.float32)
    if role in (("Conv", 1), ("Gemm", 1)):
        values -= values.mean(axis=tuple(range(1, len(shape))), keepdims=True)
        last = role[0] == "Gemm" and CLASSES in shape
        fan_in = math.prod(shape) // (CLASSES if last else shape[0])
        return values * np.float32((LOGIT_GAIN if last else RELU_GAIN) / math.sqrt(fan_in))
    if role in (("BatchNormalization", 1), ("Mul", 1)):
        return 1 + values / 10
    if role == ("BatchNormalization", 4):
        return 1 + np.abs(values) / 2
    return values / 10
