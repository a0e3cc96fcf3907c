"""Steps of functions of one element, of several values, and of reductions, that ``steps`` does not have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from growing import Graph
from onnx import helper

# Functions with the range of their inputs in which they are smooth.
RANGES = {
    "Acos": (-0.9, 0.9), "Asin": (-0.9, 0.9), "Atanh": (-0.9, 0.9), "Acosh": (1.1, 4), "Asinh": (-3, 3),
    "Cosh": (-2, 2), "Sinh": (-2, 2), "Tan": (-1, 1), "Log": (0.2, 4), "Sqrt": (0.1, 4), "Reciprocal": (0.3, 3),
    "Exp": (-3, 2), "Shrink": (-2, 2), "LogSoftmax": (-2, 2),
}  # fmt: skip
REAL = ("float32", "float64", "float16")
SHIFTED = ("uint8", "uint16", "uint32", "uint64")


def smooth(g: Graph) -> None:
    """A function of numbers where it is smooth, in any float."""
    op = g.random.choice(list(RANGES))
    shape = g.shape(g.random.randint(op == "LogSoftmax", 4))
    x = g.ranged(*RANGES[op], shape, g.random.choice([*REAL, "float32", "float32"]))
    how = {"bias": 0.25, "lambd": 0.75} if op == "Shrink" else {}
    g.add(op, [x], shape, **how)


def newer(g: Graph) -> None:
    """Activations of later opsets."""
    if (name := g.value()) and g.opset >= 20:
        op = "Swish" if g.opset >= 24 and g.random.random() < 0.1 else "Gelu"  # onnxruntime has no Swish
        how = {"alpha": 1.5} if op == "Swish" else {"approximate": g.random.choice(["none", "tanh"])}
        g.add(op, [name], g.shapes[name], **how)


def clip(g: Graph) -> None:
    if name := g.value(0, (*REAL, "int32", "int64", "uint8", "int8")):
        kind = g.types[name]
        low, high = (2, 7) if "int" in kind else (-0.5, 0.75)
        inputs = [name, g.constant(np.array(low, kind)), g.constant(np.array(high, kind))]
        inputs[1:] = g.random.choice([inputs[1:], inputs[1:2], ["", inputs[2]], []])
        g.add("Clip", inputs, g.shapes[name])


def slope(g: Graph) -> None:
    if name := g.value(1):
        shape = g.shapes[name]
        g.add("PRelu", [name, g.new(g.random.choice([shape, shape[-1:], (1,)]))], shape)


def power(g: Graph) -> None:
    kind = g.random.choice(REAL)
    x, exponent = g.ranged(0.5, 2, None, kind), g.random.choice([2, 3, 0.5, -1, 1.7, "int32", "float32"])
    if isinstance(exponent, str):
        y = g.new(g.shapes[x], exponent) if exponent != "int32" else g.constant(np.int32(g.random.randint(-2, 3)))
    else:
        y = g.constant(np.array(exponent, kind))
    g.add("Pow", [x, y], g.shapes[x])


def several(g: Graph) -> None:
    """Of one to four values."""
    if name := g.value(0, REAL):
        shape, kind = g.shapes[name], g.types[name]
        others = [g.new(shape[g.random.randint(0, len(shape)) :], kind) for _ in range(g.random.randint(0, 3))]
        ops = ["Sum", "Max", "Min"] + ["Mean"] * (kind == "float32")  # of others onnxruntime has none
        g.add(g.random.choice(ops), [name, *others], shape)


def special(g: Graph) -> None:
    """Of numbers that are none, or infinite."""
    shape, kind = g.shape(g.random.randint(1, 3)), g.random.choice(["float32", "float64"])
    strange = g.numpy().choice([1.0, np.nan, np.inf, -np.inf, -0.0], shape).astype(kind)
    x = g.add("Mul", [g.new(shape, kind), g.constant(strange)], shape)
    op = g.random.choice(["IsNaN", "IsInf", "Relu", "Abs", "Floor", "Max", "Sigmoid", "Tanh", "Exp", "ReduceMax"])
    if op == "IsInf":
        g.add(op, [x], shape, "bool", detect_positive=g.random.randint(0, 1))
    elif op == "Max":
        g.add(op, [x, g.new(shape, kind)], shape, last=True)
    elif op == "ReduceMax":
        g.add(op, [x], (), keepdims=0, last=True)
    else:
        g.add(op, [x], shape, "bool" if op == "IsNaN" else "", last=op != "IsNaN")


def shifted(g: Graph) -> None:
    """Bits that move, or flip."""
    kind = g.random.choice(SHIFTED)
    shape = g.shape()
    if g.random.random() < 0.5:
        positions = g.constant(g.numpy().integers(0, 8, shape).astype(kind))
        g.add("BitShift", [g.new(shape, kind), positions], shape, direction=g.random.choice(["LEFT", "RIGHT"]))
    else:
        g.add("BitwiseNot", [g.new(shape, g.random.choice([kind, "int32", "int64", "int8"]))], shape)


def alike(g: Graph) -> None:
    """A cast to the type of another value."""
    kind = g.random.choice([*REAL, "int32", "uint8"])
    shape = g.shape()
    g.add("CastLike", [g.new(shape, g.random.choice(["int32", "int64", "bool"])), g.new((1,), kind)], shape, kind)


def dropout(g: Graph) -> None:
    if name := g.value(0, REAL):
        g.add("Dropout", [name], g.shapes[name])
        if g.random.random() < 0.5:
            g.more(g.shapes[name], "bool")


def largest(g: Graph) -> None:
    x = g.new(g.shape(g.random.randint(1, 4)))
    g.add("Hardmax", [x], g.shapes[x], axis=g.random.randrange(-len(g.shapes[x]), len(g.shapes[x])))


def reduce(g: Graph) -> None:
    """Reductions that ``steps`` lacks, of other floats too, and of all dimensions or none where no axes are given."""
    op = g.random.choice(["ReduceL1", "ReduceProd", "ReduceLogSum", "ReduceL2", "ReduceMean", "ReduceLogSumExp"])
    shape, kind = g.shape(g.random.randint(1, 4)), g.random.choice(["float32", "float64", "float32"])
    x = g.ranged(0.8, 1.25, shape, kind)
    axes = sorted(g.random.sample(range(len(shape)), g.random.randint(0, len(shape))))
    keep, none = g.random.randint(0, 1), g.random.randint(0, 1)
    over = axes or ([] if none else list(range(len(shape))))
    result = tuple(1 if n in over else d for n, d in enumerate(shape) if keep or n not in over)
    inputs = [x, g.constant(np.array(axes, np.int64))] if axes or g.random.random() < 0.5 else [x]
    g.add(op, inputs, result, keepdims=keep, noop_with_empty_axes=none, last=op == "ReduceProd")


def empty(g: Graph) -> None:
    """Values without elements: what reads them has none either, or what is neutral."""
    shape = (*g.shape(g.random.randint(0, 2)), 0, *g.shape(g.random.randint(0, 1)))
    at, x = shape.index(0), g.new(shape, g.random.choice(["float32", "int64", "float64"]))
    kind = g.types[x]
    op = g.random.choice(["Abs", "Add", "Concat", "ReduceSum", "ReduceProd", "Transpose", "Flatten", "MatMul", "Cast"])
    if op == "Concat":
        g.add(
            op,
            [x, g.new(tuple(3 if n == at else d for n, d in enumerate(shape)), kind), x],
            _put(shape, at, 3),
            axis=at,
        )
    elif op.startswith("Reduce"):
        g.add(op, [x, g.constant([at])], _put(shape, at, 1))
    elif op == "Transpose":
        g.add(op, [x], shape[::-1], last=True)
    elif op == "MatMul":
        g.add(op, [g.new((3, 0), kind), g.new((0, 4), kind)], (3, 4))
    elif op == "Flatten":
        g.add(op, [x], (int(np.prod(shape[:at])), 0), axis=at, last=True)
    else:
        y = g.add("Cast", [x], shape, "int32", to=6, last=True) if op == "Cast" else x
        g.add("Abs" if op == "Cast" else op, [y] * (1 + (op == "Add")), shape, last=True)
    g.last.add(x)


def _put(shape: tuple[int, ...], at: int, extent: int) -> tuple[int, ...]:
    return (*shape[:at], extent, *shape[at + 1 :])


def product(g: Graph) -> None:
    """Products along an axis; of opset 26."""
    if g.opset >= 26 and (x := g.ranged(0.8, 1.25, g.shape(2))):
        flags = {"exclusive": g.random.randint(0, 1), "reverse": g.random.randint(0, 1)}
        g.add("CumProd", [x, g.constant(g.random.randint(0, 1))], g.shapes[x], **flags)


def reinterpreted(g: Graph) -> None:
    """The same bits in another type; of opset 26."""
    if g.opset >= 26:
        first, second = g.random.choice([("float32", "int32"), ("int64", "uint64"), ("uint8", "int8")])
        shape = g.shape()
        to = helper.np_dtype_to_tensor_dtype(np.dtype(second))
        g.add("BitCast", [g.new(shape, first)], shape, second, to=to, last=True)


MAPS: tuple[Callable[[Graph], None], ...] = (
    smooth, smooth, smooth, newer, clip, slope, power, several, several, special, shifted, alike, dropout, largest,
    reduce, reduce, empty, product, reinterpreted, reinterpreted,
)  # fmt: skip
