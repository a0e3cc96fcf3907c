"""Steps of other types: whole numbers, predicates, floats of 16 and 64 bits, quantized values.

What could jump with the last bit of a float (a comparison, a rounding, an order) reads inputs and constants alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from growing import MOST, Graph

WHOLE = ("int32", "int64")
NARROW = ("int8", "uint8", "int16", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64", "float16")
CASTS = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11}


def start(g: Graph) -> None:
    """A value of another type, on which the others can work."""
    g.new(g.shape(g.random.randint(1, 3)), g.random.choice([*WHOLE, "bool", "float64", "float16", *NARROW]))


def _pair(g: Graph, kinds: tuple[str, ...]) -> tuple[str, str] | None:
    if (name := g.value(0, kinds)) is None:
        return None
    shape = tuple(1 if g.random.random() < 0.3 else d for d in g.shapes[name])
    return name, g.new(shape, g.types[name])


def whole(g: Graph) -> None:
    """Sums wrap around, quotients truncate."""
    if pair := _pair(g, WHOLE):
        g.add(g.random.choice(["Add", "Sub", "Mul", "Max", "Min"]), pair, g.shapes[pair[0]])


def divided(g: Graph) -> None:
    if name := g.value(0, WHOLE):
        kind, shape = g.types[name], g.shapes[name]
        by = g.add("Add", [g.add("Abs", [g.new(shape, kind)], shape), g.constant(np.ones((), kind))], shape)
        op = g.random.choice(["Div", "Mod"])
        g.add(op, [name, by], shape, **({"fmod": g.random.randint(0, 1)} if op == "Mod" else {}))


def bits(g: Graph) -> None:
    if pair := _pair(g, (*WHOLE, "uint8", "int8")):
        g.add(g.random.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor"]), pair, g.shapes[pair[0]])


def compare(g: Graph) -> None:
    kind = g.random.choice([*WHOLE, "float32", "float64"])
    shape = g.shape(g.random.randint(0, 3))
    op = g.random.choice(["Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"])
    g.add(op, [g.new(shape, kind), g.new(shape, kind)], shape, "bool")


def logic(g: Graph) -> None:
    if pair := _pair(g, ("bool",)):
        y = g.add(g.random.choice(["And", "Or", "Xor"]), pair, g.shapes[pair[0]])
        g.add("Not", [y], g.shapes[y])


def choose(g: Graph) -> None:
    if name := g.value(0, ("bool",)):
        shape, kind = g.shapes[name], g.random.choice([*WHOLE, *FLOATS, "uint8"])
        g.add("Where", [name, g.new(shape, kind), g.new(shape, kind)], shape, kind)


def cast(g: Graph) -> None:
    """From whole numbers and predicates to anything, from inputs that are floats to whole numbers."""
    to = g.random.choice(list(CASTS))
    name = g.value(0, (*WHOLE, "bool", "uint8", "int8"))
    if name is None or g.random.random() < 0.3:
        name, to = g.new(g.shape(), g.random.choice(FLOATS)), g.random.choice(["int32", "int64", "bool", *FLOATS])
    g.add("Cast", [name], g.shapes[name], to, to=CASTS[to])


def wide(g: Graph) -> None:
    """Floats of 64 bits."""
    if name := g.value(0, ("float64",)):
        shape = g.shapes[name]
        op = g.random.choice(["Tanh", "Sigmoid", "Neg", "Abs", "Softplus", "Sin", "Atan", "Erf", "Cos"])
        y = g.add(op, [name], shape)
        g.add(g.random.choice(["Add", "Mul", "Sub"]), [y, g.new(shape, "float64")], shape)


def half(g: Graph) -> None:
    """Floats of 16 bits: a product and sum; what reads them is compared as such."""
    if name := g.value(0, ("float16",)):
        shape = g.shapes[name]
        y = g.add(g.random.choice(["Add", "Mul", "Sub", "Max"]), [name, g.new(shape, "float16")], shape)
        g.add(g.random.choice(["Tanh", "Sigmoid", "Relu"]), [y], shape)


def reduce(g: Graph) -> None:
    if (name := g.value(1, (*WHOLE, "float64"))) is None:
        return
    shape, keep = g.shapes[name], g.random.randint(0, 1)
    axes = sorted(g.random.sample(range(len(shape)), g.random.randint(1, len(shape))))
    result = tuple(1 if n in axes else d for n, d in enumerate(shape) if keep or n not in axes)
    ops = ["ReduceSum", "ReduceMax", "ReduceMin"] + ["ReduceMean"] * (g.types[name] == "float64")
    g.add(g.random.choice(ops), [name, g.constant(axes)], result, keepdims=keep)


def extreme(g: Graph) -> None:
    """Where the extreme of inputs stands."""
    name = g.new(g.shape(g.random.randint(1, 3)), g.random.choice(["float32", "int32"]))
    shape, keep = g.shapes[name], g.random.randint(0, 1)
    axis = g.random.randrange(len(shape))
    result = tuple(1 if n == axis else d for n, d in enumerate(shape) if keep or n != axis)
    op, last = g.random.choice(["ArgMax", "ArgMin"]), g.random.randint(0, 1)
    g.add(op, [name], result, "int64", axis=axis, keepdims=keep, select_last_index=last)


def cumulate(g: Graph) -> None:
    if name := g.value(1, (*WHOLE, "float64")):
        shape = g.shapes[name]
        axis = g.constant(g.random.randrange(len(shape)))
        flags = {"exclusive": g.random.randint(0, 1), "reverse": g.random.randint(0, 1)}
        g.add("CumSum", [name, axis], shape, **flags)


def move(g: Graph) -> None:
    """Values of any type are moved."""
    if (name := g.value(2, (*WHOLE, *NARROW, "bool", "float16", "float64"))) is None:
        return
    shape = g.shapes[name]
    order = g.random.sample(range(len(shape)), len(shape))
    y = g.add("Transpose", [name], tuple(shape[n] for n in order), perm=order)
    repeats = [g.random.choice([1, 1, 2, 3]) for _ in order]
    result = tuple(d * r for d, r in zip(g.shapes[y], repeats, strict=True))
    if math.prod(result) <= MOST:
        g.add("Tile", [y, g.constant(repeats)], result)


def quantize(g: Graph) -> None:
    """An input as bytes, and back."""
    shape, kind = g.shape(g.random.randint(1, 3)), g.random.choice(["uint8", "int8"])
    scale, zero = np.float32(g.random.choice([0.25, 0.013, 1.0])), np.array(g.random.randint(0, 20), kind)
    rest = [g.constant(scale), g.constant(zero)]
    y = g.add("QuantizeLinear", [g.new(shape), *rest], shape, kind)
    g.add("DequantizeLinear", [y, *rest], shape, "float32")


def whole_product(g: Graph) -> None:
    """A product of bytes with zero points, and one of whole numbers."""
    m, k, n = (g.random.randint(1, 20) for _ in range(3))
    if g.random.random() < 0.5:
        left, right = (g.new(shape, g.random.choice(["uint8", "int8"])) for shape in ((m, k), (k, n)))
        zeros = [g.new((), g.types[left]), g.new((), g.types[right])][: g.random.randint(0, 2)]
        g.add("MatMulInteger", [left, right, *zeros], (m, n), "int32")
    else:
        kind = g.random.choice([*WHOLE, "float64"])
        g.add("MatMul", [g.new((m, k), kind), g.new((k, n), kind)], (m, n), kind)


TYPED: tuple[Callable[[Graph], None], ...] = (
    start, start, start, whole, whole, divided, bits, compare, logic, choose, cast, cast, wide, wide, half, reduce,
    reduce, extreme, cumulate, move, move, quantize, whole_product,
)  # fmt: skip
