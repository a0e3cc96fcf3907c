"""ONNX models made by someone who wishes mlc ill: wrong in structure, where `mutate.py` changes single fields.

Each function of ``ATTACKS`` changes a valid model, or writes files beside it; ``model`` applies one or two of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from hostile_bombs import BOMBS
from mutate import damaged, mutant
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper

ENDS = [0, -1, 2, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63)]
NAMES = [
    "\x1b[2J\x1b]0;owned\x07", "a\0b", "../../escape", "/etc/passwd", "\u202eright", "n" * 100_000, "", " ", "\n",
    "exists", "mod", "floor", "NaN", "int", "main", "restrict", "*/ int x; /*", "%s%n", '"', "\\", "\u00e9\u4e2d",
    "x]->{", "__proto__", "self", "None", "x.y:0", "${HOME}", "`id`", "a,b", "true", "infinity", "-1", "n+1", "1//0",
]  # fmt: skip


def base(random: Random) -> ModelProto:
    """A small valid model with weights, an open dimension, a branch and a function."""
    weight = numpy_helper.from_array(np.ones((3, 4), np.float32), "w")
    shape = numpy_helper.from_array(np.array([-1, 4], np.int64), "shape")
    branches = [
        helper.make_graph(
            [helper.make_node(op, ["h"], ["b"], f"{op}_1")], name, [], [helper.make_tensor_value_info("b", 1, ["n", 4])]
        )
        for name, op in (("yes", "Relu"), ("no", "Neg"))
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], "product"),
        helper.make_node("If", ["c"], ["k"], "choice", then_branch=branches[0], else_branch=branches[1]),
        helper.make_node("Twice", ["k"], ["t"], "call", domain="local"),
        helper.make_node("Reshape", ["t", "shape"], ["y"], "form"),
    ]
    add = [helper.make_node("Add", ["a", "a"], ["r"])]
    opset = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    inputs = [helper.make_tensor_value_info("x", 1, ["n", 3]), helper.make_tensor_value_info("c", 9, [])]
    outputs = [helper.make_tensor_value_info("y", 1, ["n", 4])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [weight, shape])
    function = helper.make_function("local", "Twice", ["a"], ["r"], add, opset[:1])
    return helper.make_model(graph, opset_imports=opset, functions=[function], ir_version=9)


def _dims(random: Random, model: ModelProto, folder: Path) -> None:
    tensor = random.choice(model.graph.initializer)
    if random.random() < 0.5:
        tensor.dims[random.randrange(len(tensor.dims))] = random.choice(ENDS)
    else:
        del tensor.dims[:]
        tensor.dims.extend(random.choice([[2**32, 2**32], [1] * 5000, [0, 2**63 - 1], [-3, -4], [2**62, 4]]))


def _extent(random: Random, model: ModelProto, folder: Path) -> None:
    info = random.choice([*model.graph.input, *model.graph.output])
    shape = info.type.tensor_type.shape
    (shape.dim[0] if len(shape.dim) else shape.dim.add()).dim_value = random.choice(ENDS)


def _renamed(random: Random, model: ModelProto, folder: Path) -> None:
    """One name becomes a hostile one wherever it stands, so that the model stays valid."""
    old = random.choice(["x", "y", "h", "w", "n", "g", "product", "Twice", "local", "MatMul", "t"])
    new = random.choice(NAMES)
    _replaced(model, old, new)


def _replaced(message: Any, old: str, new: str) -> None:
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for each in value if field.is_repeated else [value]:
                _replaced(each, old, new)
        elif field.type == field.TYPE_STRING and field.is_repeated:
            for n, each in enumerate(value):
                value[n] = new if each == old else each
        elif field.type == field.TYPE_STRING and value == old:
            setattr(message, field.name, new)


def _duplicate(random: Random, model: ModelProto, folder: Path) -> None:
    graph, functions = model.graph, model.functions
    kinds: list[Any] = [graph.node, graph.input, graph.output, graph.initializer, functions, model.opset_import]
    values = random.choice(kinds)
    values.add().CopyFrom(random.choice(values))


def _cycle(random: Random, model: ModelProto, folder: Path) -> None:
    if random.random() < 0.5:
        node = random.choice(model.graph.node)
        node.input.append(random.choice([*node.output, model.graph.node[-1].output[0]]))
    else:
        model.functions[0].node.add().CopyFrom(helper.make_node("Twice", ["r"], ["r2"], domain="local"))


def _ring(random: Random, model: ModelProto, folder: Path) -> None:
    """Functions that call each other in a ring, or each the next one twice."""
    count, is_ring = random.choice([2, 40, 400]), random.random() < 0.5
    opsets = model.opset_import
    for n in range(count):
        after = f"f{(n + 1) % count}" if is_ring or n + 1 < count else ""
        calls = (
            [helper.make_node(after, [a], [b], domain="local") for a, b in (("a", "m"), ("m", "r"))] if after else []
        )
        calls = calls or [helper.make_node("Neg", ["a"], ["r"])]
        model.functions.append(helper.make_function("local", f"f{n}", ["a"], ["r"], calls, opsets))
    model.graph.node[2].op_type = "f0"


def _external(random: Random, model: ModelProto, folder: Path) -> None:
    """Data in the model's own file, a device, a pipe, a loop of links, outside of the folder, beyond the end."""
    if not (folder / "pipe").exists():
        os.mkfifo(folder / "pipe")
        os.symlink(folder / "loop", folder / "loop")
        (folder / "data").write_bytes(bytes(48))
    locations = [
        "model.onnx",
        "/dev/zero",
        "/dev/stdin",
        "pipe",
        "loop",
        "..",
        ".",
        "",
        "data",
        "data",
        "a\0b",
        "x" * 5000,
    ]
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entries = {"location": random.choice(locations)}
    numbers = ["0", "-1", "48", str(2**63), str(2**64), "9" * 5000, "1e3", "", "0x10", "\u0661"]
    entries |= {key: random.choice(numbers) for key in ("offset", "length") if random.random() < 0.6}
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


def _deep(random: Random, model: ModelProto, folder: Path) -> None:
    """Branches within branches, or types within types."""
    depth = random.choice([20, 90, 300])
    if random.random() < 0.5:
        inner = model.graph.input[0].type
        for _ in range(depth):
            inner = inner.sequence_type.elem_type
        inner.tensor_type.elem_type = 1
        return
    graph = GraphProto(name="leaf", node=[helper.make_node("Relu", ["h"], ["b"])])
    graph.output.add().CopyFrom(helper.make_tensor_value_info("b", 1, ["n", 4]))
    for n in range(depth):
        node = helper.make_node(
            "If", ["c"], ["b"], f"if{n}", then_branch=graph, else_branch=graph if n < 3 else GraphProto()
        )
        graph = helper.make_graph([node], f"level{n}", [], list(graph.output))
        if graph.ByteSize() > 1 << 20:
            break
    model.graph.node[1].attribute[0].g.CopyFrom(graph)


def _type(random: Random, model: ModelProto, folder: Path) -> None:
    holder = random.choice([*model.graph.input, *model.graph.output])
    kind = random.choice([0, 2, 8, 15, 16, 17, 23, 99, -1, 2**31 - 1])
    if random.random() < 0.5:
        random.choice(model.graph.initializer).data_type = kind
    else:
        holder.type.tensor_type.elem_type = kind


def _data(random: Random, model: ModelProto, folder: Path) -> None:
    tensor = model.graph.initializer[0]
    tensor.raw_data = random.choice([b"", b"\0", bytes(47), bytes(49), bytes(4096)])
    if random.random() < 0.3:
        tensor.float_data.extend([1.0] * random.choice([1, 12, 13]))


def _attribute(random: Random, model: ModelProto, folder: Path) -> None:
    """Attributes of operators that read them as sizes: extreme, NaN, of another type, twice, nameless."""
    values: list[Any] = [*ENDS, float("nan"), float("inf"), "text", b"\xff", [], [2**62] * 4, [float("nan")], [0] * 9]
    names = [
        "axis",
        "perm",
        "kernel_shape",
        "pads",
        "strides",
        "to",
        "keepdims",
        "alpha",
        "group",
        "axes",
        "dilations",
        "",
    ]
    ops = ["Concat", "Transpose", "MaxPool", "Cast", "ReduceSum", "Flatten", "LRN", "Softmax", "Conv", "Split", "TopK"]
    made = {random.choice(names): random.choice(values) for _ in range(2)}
    attributes = [helper.make_attribute(k, v, attr_type=None if v != [] else 7) for k, v in made.items()]
    node = helper.make_node(random.choice(ops), ["t", *random.choice([[], ["w"], ["shape"], ["", ""]])], ["t2"])
    node.attribute.extend(attributes * random.choice([1, 1, 2]))
    model.graph.node.append(node)


def _versions(random: Random, model: ModelProto, folder: Path) -> None:
    number = random.choice([0, -1, 1, 999, 2**63 - 1, -(2**63)])
    if random.random() < 0.3:
        model.ir_version = number
    elif random.random() < 0.3:
        del model.opset_import[:]
    else:
        random.choice(model.opset_import).version = number


def _sparse(random: Random, model: ModelProto, folder: Path) -> None:
    """The weight as a sparse tensor with bad indices."""
    indices = random.choice(
        [[0, 5], [-1, 3], [0, 12], [5, 0], [3, 3], [0, 2**62], [0], [], [[0, 0], [9, 9]], [[0], [1]]]
    )
    values = numpy_helper.from_array(np.ones(2, np.float32), "w")
    positions = numpy_helper.from_array(np.array(indices, np.int64), "i")
    dims = random.choice([[3, 4], [3, 4], [2**40, 4], [-3, 4], [], [2**32, 2**32], [0, 4]])
    del model.graph.initializer[0]
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, positions, dims))


def _empty(random: Random, model: ModelProto, folder: Path) -> None:
    parts: list[str] = ["node", "input", "output", "initializer", "name"]
    for part in random.choice([parts, parts[:1], parts[1:2], parts[2:3], parts[3:4], parts[:3]]):
        model.graph.ClearField(part)


def _bomb(random: Random, model: ModelProto, folder: Path) -> None:
    """Nodes that ask for more elements, steps or nodes than any machine has."""
    for node in random.choice(BOMBS)(random):
        model.graph.node.append(node)
    model.graph.output.add().name = model.graph.node[-1].output[0]
    if not any(opset.domain == "ai.onnx.ml" for opset in model.opset_import):
        model.opset_import.add(domain="ai.onnx.ml", version=3)


ATTACKS: tuple[Callable[[Random, ModelProto, Path], None], ...] = (
    *(_dims, _extent, _renamed, _renamed, _renamed, _duplicate, _cycle, _ring, _external, _external, _deep, _type),
    *(_data, _attribute, _attribute, _versions, _sparse, _empty, _bomb, _bomb, _bomb),
)


def write(random: Random, folder: Path) -> Path:
    """A hostile model as ``folder/model.onnx``."""
    made, path = base(random), folder / "model.onnx"
    for attack in random.sample(ATTACKS, random.choice([1, 1, 1, 2])):
        try:
            attack(random, made, folder)
        except (IndexError, ValueError, TypeError, DecodeError):  # nothing left to change, or protobuf refuses it
            continue
    data = made.SerializeToString()
    if random.random() < 0.2:
        try:
            data = mutant([data], random.getrandbits(31))
        except DecodeError:  # nested too deeply for protobuf
            data = damaged(random, data, data)
    path.write_bytes(data)
    return path
