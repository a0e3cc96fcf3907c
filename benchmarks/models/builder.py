"""A small builder of ONNX graphs: named nodes, seeded random weights, static or symbolic dimensions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Dim = int | str
OPSET = 17  # the first with LayerNormalization, and the default of PyTorch's exporter for years
IR_VERSION = 8


class Builder:
    """Collects the nodes, inputs, outputs and initializers of one ONNX graph.

    A dimension is an int, or a str that names a symbolic dimension. Weights are drawn from a generator seeded with
    `seed`, unless `weights` holds the name.
    """

    def __init__(self, name: str, seed: int = 0, weights: Mapping[str, np.ndarray] | None = None) -> None:
        self.name = name
        self._random = np.random.default_rng(seed)
        self._given = weights
        self._scope: list[str] = []
        self._counts: Counter[str] = Counter()
        self._nodes: list[onnx.NodeProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._initializers: dict[str, onnx.TensorProto] = {}
        self._symbols: dict[str, tuple[str, int]] = {}
        self._renamed: dict[str, str] = {}

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Prefix the names of the nodes and weights made inside, as modules do in PyTorch."""
        self._scope.append(name)
        yield
        self._scope.pop()

    def input(self, name: str, shape: Sequence[Dim], dtype: int = TensorProto.FLOAT) -> str:
        """Declare a graph input; the first axis that a symbol names is where its value is read from."""
        self._inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        for axis, dim in enumerate(shape):
            if isinstance(dim, str):
                self._symbols.setdefault(dim, (name, axis))
        return name

    def output(self, value: str, name: str, shape: Sequence[Dim], dtype: int = TensorProto.FLOAT) -> None:
        """Declare `value` a graph output; it is renamed to `name`."""
        self._renamed[value] = name
        self._outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def ops(self, op_type: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        """Append a node and return the names of its outputs; an empty input name is an absent optional input."""
        path = "/".join(["", *self._scope, op_type])
        count = self._counts[path]
        self._counts[path] += 1
        name = f"{path}_{count}" if count else path
        results = [f"{name}_output_{i}" for i in range(outputs)]
        self._nodes.append(helper.make_node(op_type, inputs, results, name=name, **attributes))
        return results

    def op(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        """Append a node with one output and return its name."""
        return self.ops(op_type, *inputs, **attributes)[0]

    def weight(
        self, name: str, shape: Sequence[int], std: float, mean: float = 0.0, centered: bool = False
    ) -> str:
        """A float32 initializer `scope.name`: the given array, or normal values with that deviation and mean.

        `centered` takes from each row (all axes but the first) its mean.
        """
        full = ".".join([*self._scope, name])
        if full not in self._initializers:
            shape = tuple(shape)
            values = self._normal(shape, std, mean, centered) if self._given is None else self._checked(full, shape)
            self._initializers[full] = numpy_helper.from_array(values, full)
        return full

    def _normal(self, shape: tuple[int, ...], std: float, mean: float, centered: bool) -> np.ndarray:
        values = self._random.standard_normal(shape, dtype=np.float32)
        if centered:
            values -= values.mean(axis=tuple(range(1, len(shape))), keepdims=True)
        values *= std
        values += mean
        return values

    def _checked(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        assert self._given is not None
        if self._given[name].shape != shape:
            raise ValueError(f"weight {name} has shape {self._given[name].shape}, the graph needs {shape}")
        return np.ascontiguousarray(self._given[name], dtype=np.float32)

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """A small constant initializer; equal constants are one."""
        array = np.asarray(value, dtype)
        key = f"const_{array.dtype}_{'x'.join(map(str, array.shape))}_{hash_of(array)}"
        self._initializers.setdefault(key, numpy_helper.from_array(array, key))
        return key

    def integers(self, *values: int) -> str:
        """A 1-D int64 constant."""
        return self.constant(values, np.int64)

    def shape(self, dims: Sequence[Dim]) -> str:
        """A 1-D int64 value that holds `dims`: a constant, or the exporter's Shape-Gather-Unsqueeze-Concat chain."""
        if all(isinstance(dim, int) for dim in dims):
            return self.integers(*dims)  # type: ignore[arg-type]
        parts = [self.integers(dim) if isinstance(dim, int) else self.symbol(dim) for dim in dims]
        return self.op("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]

    def symbol(self, name: str) -> str:
        """The value of a symbolic dimension as an int64 vector of one element."""
        source, axis = self._symbols[name]
        size = self.op("Gather", self.op("Shape", source), self.constant(axis, np.int64), axis=0)
        return self.op("Unsqueeze", size, self.integers(0))

    def reshape(self, x: str, *dims: Dim) -> str:
        """Reshape to static or symbolic dimensions."""
        return self.op("Reshape", x, self.shape(dims))

    def model(self) -> onnx.ModelProto:
        """The finished model."""
        for node in self._nodes:
            node.input[:] = [self._renamed.get(name, name) for name in node.input]
            node.output[:] = [self._renamed.get(name, name) for name in node.output]
        tensors = list(self._initializers.values())
        graph = helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, tensors)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="mlc.benchmarks")


def hash_of(array: np.ndarray) -> str:
    """A short name of the content of a small array."""
    return hashlib.sha256(array.tobytes()).hexdigest()[:12]
