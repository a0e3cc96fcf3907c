"""A graph that grows by a node at a time: values with shapes, inputs, constants."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

OPSETS = (18, 19, 20, 21, 22, 23, 24, 26)
VERSIONS = {"com.microsoft": 1, "ai.onnx.ml": 3, "ai.onnx.preview.training": 1}
FORESTS = 24  # the opset from which on ai.onnx.ml is 5, where TreeEnsemble came in place of others
ROUNDED, ROUGH = "r", "h"  # how the names of values begin that may be off by one, or are of 16 bits
WORDS = ("a", "b", "ab", "b a", "Ab", "aba")  # onnxruntime splits none into no pieces, all others into one
WRONG_DEFAULTS = {"STFT", "MeanVarianceNormalization"}  # onnx's checker refuses these without onesided, or axes
NEAREST = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")  # how Resize rounds
LARGEST = 12  # elements of a dimension
MOST = 20_000  # elements of a value
Shape = tuple[int, ...]


@dataclass
class Graph:
    """A growing graph: the shapes of its values by name, those that nothing reads yet, and what it is made of."""

    random: Random
    shapes: dict[str, Shape] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)  # NumPy's names
    last: set[str] = field(default_factory=set)  # values that no further node reads
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    inputs: dict[str, Shape] = field(default_factory=dict)
    opset: int = 18
    open: set[str] = field(default_factory=set)  # values whose first dimension is not known
    choices: dict[str, Any] = field(default_factory=dict)  # inputs that are one of some arrays
    extents: Shape = ()  # of new dimensions, if they are a few only

    def shape(self, rank: int | None = None) -> Shape:
        """A random shape, with dimensions of 1 more often than others."""
        rank = self.random.randint(0, 4) if rank is None else rank
        if self.extents:
            return tuple(self.random.choice(self.extents) for _ in range(rank))
        return tuple(self.random.choice([1, self.random.randint(1, LARGEST)]) for _ in range(rank))

    def value(self, rank: int = 0, kinds: Sequence[str] = ("float32",)) -> str | None:
        """A value of at least ``rank`` dimensions and such a type, mostly one of the last; None where there is none.

        It has elements.
        """
        fits = (name for name, shape in self.shapes.items() if len(shape) >= rank and self.types[name] in kinds)
        names = [name for name in fits if name not in self.last and 0 not in self.shapes[name]]
        return self.random.choice(names[-4:] + [self.random.choice(names)]) if names else None

    def new(self, shape: Shape, kind: str = "float32") -> str:
        """An input or a constant of a shape and type."""
        name = f"v{len(self.shapes)}"
        self.shapes[name], self.types[name] = shape, kind
        if self.random.random() < 0.5:
            self.inputs[name] = shape
        else:
            self.constant(drawn(np.random.default_rng(self.random.getrandbits(32)), shape, kind), name)
        return name

    def given(self, choices: Any) -> str:
        """An input that is one of the rows of an array, which nothing else reads."""
        name = f"v{len(self.shapes)}"
        self.shapes[name] = self.inputs[name] = choices.shape[1:]
        self.types[name], self.choices[name] = choices.dtype.name, choices
        self.last.add(name)
        return name

    def fixed(self, shape: Shape) -> str:
        """A constant."""
        return self.constant(drawn(self.numpy(), shape, "float32"))

    def constant(self, array: Any, name: str = "") -> str:
        """The name of a constant: an array, or a list of integers."""
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def numpy(self) -> np.random.Generator:
        """Another source of random numbers, for arrays."""
        return np.random.default_rng(self.random.getrandbits(32))

    def add(
        self,
        op: str,
        inputs: Sequence[str],
        shape: Shape | None,
        /,
        kind: str = "",
        last: bool = False,
        rounded: bool = False,
        rough: bool = False,
        **attributes: Any,
    ) -> str:
        """A node with one result of this shape, of the type of its first input unless ``kind`` says another.

        ``last``: nothing reads the result. ``rounded``: neither, and it may be off by one. ``rough``: neither, and it
        comes from numbers of 16 bits.
        """
        name = f"{ROUNDED if rounded else ROUGH if rough else 'v'}{len(self.shapes)}"
        last = last or rounded or rough
        self.step(op, inputs, [name], **attributes)
        self.shapes[name] = shape  # type: ignore[assignment]
        self.types[name] = kind or self.types.get(inputs[0], "float32")
        self.last |= {name} if last or shape is None else set()
        return name

    def step(self, op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> None:
        """A node whose results are named already, and may be no tensors; attributes that are as by default may be
        absent."""
        domain = str(attributes.get("domain", ""))
        absent = {name for name, value in attributes.items() if value == _default(op, domain, self.opset, name)}
        if absent and self.random.random() < 0.5:
            attributes = {name: value for name, value in attributes.items() if name not in absent}
        self.nodes.append(helper.make_node(op, list(inputs), list(outputs), f"{op}_{outputs[0]}", **attributes))

    def more(self, shape: Shape | None, kind: str, last: bool = False) -> str:
        """Another result of the last node."""
        name = f"v{len(self.shapes)}"
        self.nodes[-1].output.append(name)
        self.shapes[name], self.types[name] = shape, kind  # type: ignore[assignment]
        self.last |= {name} if last or shape is None else set()
        return name

    def ranged(self, low: float, high: float, shape: Shape | None = None, kind: str = "float32") -> str:
        """A value of numbers between two limits, of a new input or constant."""
        shape = self.shape() if shape is None else shape
        factor, offset = np.array((high - low) / 4, kind), np.array((high + low) / 2, kind)
        y = self.add("Mul", [self.new(shape, kind), self.constant(factor)], shape)
        return self.add("Add", [y, self.constant(offset)], shape)

    def model(self) -> ModelProto:
        """The model whose outputs are all values that no node reads."""
        read = {i for node in self.nodes for i in node.input}
        made = [o for node in self.nodes for o in node.output if o not in read and o in self.types]
        outputs = [tensor_info(name, self._result(name), self.types[name]) for name in made]
        inputs = [
            tensor_info(name, self._declared(name), self.types[name], self._choices(name)) for name in self.inputs
        ]
        graph = helper.make_graph(self.nodes, "grown", inputs, outputs, self.constants)
        versions = VERSIONS | ({"ai.onnx.ml": 5} if self.opset >= FORESTS else {})
        domains = {"": self.opset} | {n.domain: versions[n.domain] for n in self.nodes if n.domain}
        opsets = [helper.make_opsetid(*item) for item in domains.items()]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _declared(self, name: str) -> tuple[int | str, ...]:
        shape = self.shapes[name]
        return ("n", *shape[1:]) if name in self.open else shape

    def _choices(self, name: str) -> str:
        return json.dumps(self.choices[name].tolist()) if name in self.choices else ""

    def _result(self, name: str) -> Sequence[int | None] | None:
        return [None] * len(self.shapes[name]) if self.open else self.shapes[name]


@cache
def _default(op: str, domain: str, opset: int, name: str) -> Any:
    """What the operator's schema says that an attribute is by default; None of a required one, and of other domains."""
    if domain or op in WRONG_DEFAULTS or not onnx.defs.has(op, opset):
        return None
    attribute = onnx.defs.get_schema(op, opset).attributes.get(name)
    value = attribute.default_value if attribute is not None else None
    found = helper.get_attribute_value(value) if value is not None and value.type else None
    return found.decode() if isinstance(found, bytes) else found


def opsets(model: ModelProto) -> dict[str, int]:
    """The versions of the domains that a model uses."""
    return {o.domain: o.version for o in model.opset_import}


def drawn(random: np.random.Generator, shape: Shape, kind: str) -> Any:
    """Numbers up to 2, whole ones up to 9, those with a sign from -9 on; strings. One of eight arrays of floats has
    halves only, of which many are equal and a rounding has ties."""
    if kind == "object":
        return random.choice(np.array(WORDS, object), shape)
    if kind.startswith(("float", "bfloat")):
        values = random.uniform(-2, 2, shape)
        return (np.round(values * 2) / 2 if random.random() < 0.125 else values).astype(kind)
    return random.integers(0 if kind[0] in "ub" else -9, 2 if kind == "bool" else 10, shape).astype(kind)


def feeds(model: ModelProto, seed: int, size: int = 0) -> dict[str, Any]:
    """Random inputs of a model, open dimensions of such a size; one of those that its description lists."""
    random, found = np.random.default_rng((seed, size)), {}
    for info in model.graph.input:
        type_ = info.type.tensor_type
        shape = tuple(d.dim_value if d.HasField("dim_value") else size for d in type_.shape.dim)
        kind = helper.tensor_dtype_to_np_dtype(type_.elem_type).name
        choices = np.array(json.loads(info.doc_string or "[]"), kind)
        found[info.name] = np.asarray(random.choice(choices) if len(choices) else drawn(random, shape, kind))
    return found


def prefixed(model: ModelProto, prefix: str) -> ModelProto:
    """The model with other names. (onnx's own function forgets what bodies read from outside.)"""
    _prefix(model.graph, prefix)
    return model


def _prefix(graph: GraphProto, prefix: str) -> None:
    for node in graph.node:
        node.name = node.name and prefix + node.name
        for names in (node.input, node.output):
            names[:] = [name and prefix + name for name in names]
        for attribute in node.attribute:
            _prefix(attribute.g, prefix)
    for value in (*graph.input, *graph.output, *graph.initializer):
        value.name = prefix + value.name
    for dim in (d for value in graph.input for d in value.type.tensor_type.shape.dim if d.dim_param):
        dim.dim_param = re.sub(r"[A-Za-z_]\w*", lambda name: prefix + name.group(), dim.dim_param)


def joined(models: Sequence[ModelProto]) -> ModelProto:
    """One model of several that share no names."""
    result = ModelProto()
    result.CopyFrom(models[0])
    versions = opsets(result)
    for model in models[1:]:
        for repeated in ("node", "input", "output", "initializer"):
            getattr(result.graph, repeated).extend(getattr(model.graph, repeated))
        result.opset_import.extend(o for o in model.opset_import if o.domain not in versions)
        versions |= opsets(model)
    return result


def cone(model: ModelProto, output: str) -> ModelProto:
    """The part of a model that one of its outputs needs."""
    part, needed = ModelProto(), {output}
    part.CopyFrom(model)
    for node in reversed(model.graph.node):
        needed |= set() if needed.isdisjoint(node.output) else reads(node)
    for values, names in ((part.graph.input, needed), (part.graph.initializer, needed), (part.graph.output, {output})):
        kept = [value for value in values if value.name in names]
        del values[:]
        values.extend(kept)
    nodes = [node for node in model.graph.node if not needed.isdisjoint(node.output)]
    del part.graph.node[:]
    part.graph.node.extend(nodes)
    return part


def reads(node: NodeProto) -> set[str]:
    """The names that a node and its bodies read, those of the bodies among them."""
    return set(node.input).union(*(reads(inner) for a in node.attribute for inner in a.g.node))


def tensor_info(name: str, shape: Sequence[int | str | None] | None, kind: str, description: str = "") -> Any:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape, description)
