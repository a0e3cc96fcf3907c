"""A graph that grows by a node at a time: values with shapes, inputs, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

OPSET = 18
LARGEST = 12  # elements of a dimension
MOST = 20_000  # elements of a value
Shape = tuple[int, ...]


@dataclass
class Graph:
    """A growing graph: the shapes of its values by name, those that nothing reads yet, and what it is made of."""

    random: Random
    shapes: dict[str, Shape] = field(default_factory=dict)
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    inputs: dict[str, Shape] = field(default_factory=dict)

    def shape(self, rank: int | None = None) -> Shape:
        """A random shape, with dimensions of 1 more often than others."""
        rank = self.random.randint(0, 4) if rank is None else rank
        return tuple(self.random.choice([1, self.random.randint(1, LARGEST)]) for _ in range(rank))

    def value(self, rank: int = 0) -> str | None:
        """A value of at least ``rank`` dimensions, mostly one of the last; None where there is none."""
        names = [name for name, shape in self.shapes.items() if len(shape) >= rank]
        return self.random.choice(names[-4:] + [self.random.choice(names)]) if names else None

    def new(self, shape: Shape) -> str:
        """An input or a constant of a shape."""
        name = f"v{len(self.shapes)}"
        self.shapes[name] = shape
        if self.random.random() < 0.5:
            self.inputs[name] = shape
        else:
            self.constant(np.random.default_rng(self.random.getrandbits(32)).uniform(-2, 2, shape).astype("f4"), name)
        return name

    def constant(self, array: Any, name: str = "") -> str:
        """The name of a constant: an array, or a list of integers."""
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op: str, inputs: Sequence[str], shape: Shape, **attributes: Any) -> str:
        """A node with one result of this shape."""
        name = f"v{len(self.shapes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], f"{op}_{name}", **attributes))
        self.shapes[name] = shape
        return name

    def model(self) -> ModelProto:
        """The model whose outputs are all values that no node reads."""
        read = {i for node in self.nodes for i in node.input}
        made = [o for node in self.nodes for o in node.output if o not in read]
        outputs = [_info(name, self.shapes[name]) for name in made]
        inputs = [_info(name, shape) for name, shape in self.inputs.items()]
        graph = helper.make_graph(self.nodes, "grown", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


def _info(name: str, shape: Shape) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
