"""Models of any number of nodes, each of one structure whose compile time may grow faster than the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

node = helper.make_node
SHAPE = (4, 8)


@dataclass(frozen=True)
class Kind:
    """``make`` gives a model of about so many nodes; ``most`` is the largest that means anything."""

    make: Callable[[int], ModelProto]
    most: int = 100_000


def relu(size: int) -> ModelProto:
    """A chain of Relu."""
    return _model([node("Relu", [_at(n)], [_at(n + 1)]) for n in range(size)], _at(size))


def sin(size: int) -> ModelProto:
    """A chain of `x + sin(x)`: each value is read twice."""
    steps = max(1, size // 2)
    nodes = [
        each
        for n in range(steps)
        for each in (node("Sin", [_at(n)], [f"s{n}"]), node("Add", [_at(n), f"s{n}"], [_at(n + 1)]))
    ]
    return _model(nodes, _at(steps))


def diamond(size: int) -> ModelProto:
    """Fan-outs of four that meet again."""
    rungs, nodes = max(1, size // 7), []
    for n in range(rungs):
        sides = [f"{f}{n}" for f in ("Exp", "Tanh", "Abs", "Neg")]
        nodes += [node(side.rstrip("0123456789"), [_at(n)], [side]) for side in sides]
        nodes += [node("Add", sides[:2], [f"a{n}"]), node("Add", sides[2:], [f"b{n}"])]
        nodes.append(node("Mul", [f"a{n}", f"b{n}"], [_at(n + 1)]))
    return _model(nodes, _at(rungs))


def branch(size: int) -> ModelProto:
    """An If in an If, `size` of them."""
    return _nested(size, lambda deep: [node("Neg", ["v0"], [f"{deep}"])])


def loops(size: int) -> ModelProto:
    """An If in an If, each with work enough to stay a branch."""
    return _nested(size, lambda deep: [node("MatMul", ["v0", "w"], [f"m_{deep}"]), node("Exp", [f"m_{deep}"], [deep])])


def _nested(depth: int, work: Callable[[str], list[NodeProto]]) -> ModelProto:
    def body(level: int, side: str) -> GraphProto:
        out = f"y{level}{side}"
        nodes = work(out) if level == depth or side == "e" else [inner(level + 1, out)]
        return helper.make_graph(nodes, out, [], [_tensor(out, SHAPE)])

    def inner(level: int, out: str) -> NodeProto:
        return node("If", ["c"], [out], f"if{level}", then_branch=body(level, "t"), else_branch=body(level, "e"))

    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    return _model([inner(1, "y")], "y", [condition], {"w": np.ones((SHAPE[1], SHAPE[1]), np.float32) / 8})


def conv(size: int) -> ModelProto:
    """Small convolutions one after the other, of four sizes."""
    weights = {f"w{k}": np.full((4, 4, k, k), 0.01 * k, np.float32) for k in (1, 3)}
    nodes = [
        node("Conv", [_at(n), f"w{k}"], [_at(n + 1)], pads=[k // 2] * 4)
        for n, k in ((n, 1 + 2 * (n % 3 == 0)) for n in range(size))
    ]
    return _model(nodes, _at(size), [], weights, (1, 4, 6, 6))


def mixed(size: int) -> ModelProto:
    """Elementwise operators of nine kinds, each of one or two of the last three values."""
    single = ("Sin", "Tanh", "Abs", "Neg", "Relu", "Sigmoid")
    kinds = [(*single, "Add", "Mul", "Max")[(7 * n + n // 9) % 9] for n in range(size)]
    read = [[_at(n)] if kind in single else [_at(n), _at(max(n - 2, 0))] for n, kind in enumerate(kinds)]
    return _model([node(kind, read[n], [_at(n + 1)]) for n, kind in enumerate(kinds)], _at(size))


def concat(size: int) -> ModelProto:
    """One Concat of very many inputs."""
    return _wide("Concat", size, (SHAPE[0], SHAPE[1] * size), axis=1)


def sums(size: int) -> ModelProto:
    """One Sum of very many inputs."""
    return _wide("Sum", size, SHAPE)


def outputs(size: int) -> ModelProto:
    """Very many outputs, of independent operators."""
    parts = [f"p{n}" for n in range(size)]
    nodes = [node("Mul", [part, "v0"], [f"y{n}"]) for n, part in enumerate(parts)]
    model = _model(nodes, "y0", [_tensor(part, SHAPE) for part in parts])
    model.graph.output.extend(_tensor(f"y{n}", SHAPE) for n in range(1, size))
    return model


def _wide(op: str, size: int, result: Sequence[int], **attributes: int) -> ModelProto:
    parts = ["v0", *(f"p{n}" for n in range(1, size))]
    nodes = [node(op, parts, ["y"], **attributes)]
    return _model(nodes, "y", [_tensor(part, SHAPE) for part in parts[1:]], result=result)


KINDS = {
    "relu": Kind(relu),
    "sin": Kind(sin),
    "mixed": Kind(mixed),
    "diamond": Kind(diamond),
    "if": Kind(branch, 30),
    "work-if": Kind(loops, 30),
    "conv": Kind(conv, 10_000),
    "concat": Kind(concat, 10_000),
    "sum": Kind(sums, 10_000),
    "outputs": Kind(outputs, 10_000),
}


def _at(n: int) -> str:
    return f"v{n}"


def _tensor(name: str, shape: Sequence[int]) -> TensorProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _model(
    nodes: Sequence[NodeProto],
    output: str,
    inputs: Sequence[TensorProto] = (),
    weights: dict[str, np.ndarray] | None = None,
    shape: Sequence[int] = SHAPE,
    result: Sequence[int] | None = None,
) -> ModelProto:
    """The model of these nodes, from `v0` to `output`."""
    constants = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    given, made = [_tensor("v0", shape), *inputs], [_tensor(output, result or shape)]
    graph = helper.make_graph(nodes, "growth", given, made, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
