"""Steps of one operator in any type that ONNX allows it.

Types that a model cannot take from NumPy (bfloat16, 8 bits and fewer) are cast from float32 before and to it after.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import ml_dtypes  # noqa: F401  NumPy knows the narrow types by name
import numpy as np
from growing import Graph
from map_steps import RANGES
from onnx import TensorProto, defs, helper

UNARY = (
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Clip", "Cos", "Cosh",
    "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN", "LeakyRelu", "Log",
    "Mish",
    "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus",
    "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu",
)  # fmt: skip
BINARY = (
    "Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "Pow", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
    "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "PRelu",
)  # fmt: skip
TESTS = ("IsInf", "IsNaN", "Not", "And", "Or", "Xor", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
OVER = (
    "ReduceMax",
    "ReduceMin",
    "ReduceSum",
    "ReduceProd",
    "ReduceL1",
    "ReduceSumSquare",
    "CumSum",
    "ArgMax",
    "ArgMin",
)
SINGLE = ("float32", "float64", "float16")
WITHOUT = ("e8m0", "float6_", "complex", "object", "str", "e2m1")  # no sign, or nobody has it; the last rounds to NaN


@cache
def kinds(op: str, opset: int) -> tuple[str, ...]:
    """NumPy's names of the types of the first input; empty where the opset lacks the operator."""
    try:
        strings = defs.get_schema(op, opset).inputs[0].types
    except defs.SchemaError:
        return ()
    numbers = [getattr(TensorProto, t.removeprefix("tensor(").removesuffix(")").upper(), 0) for t in strings]
    names = [np.dtype(helper.tensor_dtype_to_np_dtype(n)).name for n in numbers if n not in (0, TensorProto.STRING)]
    return tuple(sorted({n for n in names if not any(part in n for part in WITHOUT)}))


def _native(kind: str) -> bool:
    return kind == "bool" or np.dtype(kind).kind in "iuf" and kind not in ("int4", "uint4", "int2", "uint2")


def source(g: Graph, shape: tuple[int, ...], kind: str, low: float = -2, high: float = 2) -> str:
    """Numbers of a type between limits; whole ones from 1 on where ``low`` is positive."""
    if kind in SINGLE:
        return g.ranged(low, high, shape, kind)
    if not _native(kind):
        x = g.ranged(low, high, shape)
        if np.dtype(kind).kind != "f" and "int" in kind:
            x = g.add("Abs", [g.add("Round", [x], shape)], shape)
        return g.add("Cast", [x], shape, kind, to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)), last=True)
    x = g.new(shape, kind)
    if low <= 0 or kind == "bool":
        return x
    top = g.constant(np.array(5, kind))
    return g.add("Clip", [x, g.constant(np.array(1, kind)), top], shape)


def put_back(g: Graph, y: str, kind: str) -> None:
    """Make a result one that NumPy can have."""
    g.last.add(y)
    if kind == "float16" or not _native(kind):
        g.add("Cast", [y], g.shapes[y], "float32", to=1, rough=True)


def _chosen(g: Graph, ops: tuple[str, ...]) -> tuple[str, str] | None:
    op = g.random.choice(ops)
    names = kinds(op, g.opset)
    return (op, g.random.choice(names)) if names else None


def one(g: Graph) -> None:
    """A function of an element."""
    if (found := _chosen(g, UNARY)) is None:
        return
    op, kind = found
    shape = g.shape()
    x = source(g, shape, kind, *(RANGES.get(op, (-2, 2))))
    put_back(g, g.add(op, [x], shape, "bool" if op in TESTS else ""), "bool" if op in TESTS else kind)


def two(g: Graph) -> None:
    """A function of two."""
    if (found := _chosen(g, BINARY)) is None:
        return
    op, kind = found
    shape = g.shape()
    x = source(g, shape, kind, 0.5 if op in ("Pow", "Mod") else -2)
    y = source(
        g, shape[g.random.choice([0, len(shape) // 2]) :], kind, *((0.5, 2) if op in ("Div", "Mod", "Pow") else (-2, 2))
    )
    how = {"fmod": 1} if op == "Mod" and np.dtype(kind).kind not in "iu" else {}
    put_back(g, g.add(op, [x, y], shape, "bool" if op in TESTS else "", **how), "bool" if op in TESTS else kind)


def over(g: Graph) -> None:
    """A reduction of one dimension."""
    if (found := _chosen(g, OVER)) is None:
        return
    op, kind = found
    shape = g.shape(g.random.randint(1, 4))
    axis = g.random.randrange(len(shape))
    rest = (*shape[:axis], 1, *shape[axis + 1 :])
    if np.dtype(kind).itemsize < 4 and np.dtype(kind).kind not in "iub" and op not in ("ReduceMax", "ReduceMin"):
        return  # others sum with the few bits of the type
    x = source(g, shape, kind, *((0.8, 1.25) if op == "ReduceProd" else (-2, 2)))
    if op == "CumSum":
        put_back(g, g.add(op, [x, g.constant(axis)], shape), kind)
    elif op.startswith("Arg"):
        g.add(op, [x], rest, "int64", axis=axis, last=True)
    else:
        put_back(g, g.add(op, [x, g.constant([axis])], rest), kind)


def _moves(g: Graph, x: str) -> dict[str, tuple[list[str], tuple[int, ...], dict[str, Any]]]:
    """What moves the elements of a value of three dimensions: inputs, shape of the result, attributes."""
    a, b, c = shape = g.shapes[x]
    random, kind = g.numpy(), g.types[x]
    at, some = g.constant(random.integers(-a, a, 3)), g.constant(random.integers(0, a, shape))
    positions = g.constant(random.integers(0, a, (1, 1)))
    lengths = g.constant(random.integers(1, a + 1, b))
    flags = g.constant(random.random(b) < 2)
    other = x if not _native(kind) else g.new(shape, kind)
    one_row = source(g, (1, b, c), kind)
    put_back(g, one_row, kind)
    moves: dict[str, tuple[list[str], tuple[int, ...], dict[str, Any]]] = {
        "Identity": ([x], shape, {}),
        "Transpose": ([x], (c, a, b), {"perm": [2, 0, 1]}),
        "Reshape": ([x, g.constant([c, -1])], (c, a * b), {}),
        "Flatten": ([x], (a, b * c), {}),
        "Unsqueeze": ([x, g.constant([1])], (a, 1, b, c), {}),
        "Slice": ([x, g.constant([a]), g.constant([-a - 1]), g.constant([0]), g.constant([-1])], shape, {}),
        "Concat": ([x, other], (a, b, 2 * c), {"axis": 2}),
        "Gather": ([x, at], (3, b, c), {}),
        "GatherElements": ([x, some], shape, {}),
        "GatherND": ([x, positions], (1, b, c), {}),
        "Expand": ([x, g.constant([2, a, b, c])], (2, a, b, c), {}),
        "Tile": ([x, g.constant([1, 2, 1])], (a, 2 * b, c), {}),
        "Pad": ([x, g.constant([0, 1, 0, 0, 0, 2])], (a, b + 1, c + 2), {}),
        "ScatterElements": ([x, g.constant(np.broadcast_to(random.permutation(a)[:1, None, None], (1, b, c))), one_row],
                            shape, {}),
        "ScatterND": ([x, positions, one_row], shape, {}),
        "Trilu": ([x], shape, {"upper": g.random.randint(0, 1)}),
        "ReverseSequence": ([x, lengths], shape, {"time_axis": 0, "batch_axis": 1}),
        "Compress": ([x, flags], shape, {"axis": 1}),
        "Dropout": ([x], shape, {}),
        "Where": ([g.new((b, 1), "bool"), x, other], shape, {}),
    }  # fmt: skip
    return moves


def moved(g: Graph) -> None:
    """Data movement of elements of any type."""
    kind = g.random.choice(kinds("Identity", g.opset))
    x = source(g, tuple(g.random.randint(1, 6) for _ in range(3)), kind)
    moves = _moves(g, x)
    op = g.random.choice([op for op in moves if kind in kinds(op, g.opset) or op == "Where"])
    inputs, shape, how = moves[op]
    if op == "Compress":
        g.add(op, inputs, shape, kind, last=True, **how)
        put_back(g, g.nodes[-1].output[0], kind)
    elif op != "Where" or kind in kinds("Tile", g.opset):
        put_back(g, g.add(op, inputs, shape, kind, **how), kind)


def measured(g: Graph) -> None:
    """The shape of a value of any type."""
    kind = g.random.choice(kinds("Shape", g.opset))
    x = source(g, shape := g.shape(g.random.randint(1, 3)), kind)
    if g.random.random() < 0.5:
        g.add("Size", [x], (), "int64", last=True)
    else:
        g.add("Shape", [x], (len(shape),), "int64", last=True)
    put_back(g, x, kind)


def recast(g: Graph) -> None:
    """Between any two types."""
    names = kinds("Cast", g.opset)
    first, second = g.random.choice(names), g.random.choice(names)
    if np.dtype(second).kind in "ui" or second in ("int4", "uint4", "int2", "uint2"):
        first = g.random.choice([n for n in names if "float" not in n])
    shape = g.shape(g.random.randint(1, 3))
    y = g.add("Cast", [source(g, shape, first)], shape, second, to=helper.np_dtype_to_tensor_dtype(np.dtype(second)))
    put_back(g, y, second)


def product(g: Graph) -> None:
    """A matrix product of any type of numbers."""
    kind = g.random.choice(kinds("MatMul", g.opset))
    m, k, n = (g.random.randint(1, 6) for _ in range(3))
    put_back(g, g.add("MatMul", [source(g, (m, k), kind), source(g, (k, n), kind)], (m, n)), kind)


def normalised(g: Graph) -> None:
    """Rows and channels of other floats."""
    op, kind = g.random.choice(["Softmax", "LogSoftmax", "Hardmax", "TopK"]), g.random.choice(SINGLE)
    shape = tuple(g.random.randint(1, 6) for _ in range(3))
    x = source(g, shape, kind)
    if op == "TopK":
        y = g.add(op, [x, g.constant([1])], (*shape[:2], 1))
        g.more((*shape[:2], 1), "int64", last=True)
    else:
        y = g.add(op, [x], shape)
    if math.prod(shape):
        put_back(g, y, kind)


ANY: tuple[Callable[[Graph], None], ...] = (
    one, one, one, one, two, two, two, over, moved, moved, moved, moved, measured, recast, recast, product, normalised,
)  # fmt: skip
