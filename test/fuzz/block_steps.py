"""Blocks of one kind of layer, each of the shape of its operand and with bounded numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from growing import Graph, Shape
from steps import UNARY

Block = Callable[[Graph, str], str]


def same(g: Graph, op: str, x: str, *others: str, **how: object) -> str:
    """A node whose result has the shape of ``x``."""
    return g.add(op, [x, *others], g.shapes[x], **how)  # type: ignore[arg-type]


def reduced(g: Graph, op: str, x: str, axis: int, keep: bool) -> str:
    shape = tuple(1 if n == axis else d for n, d in enumerate(g.shapes[x]) if keep or n != axis)
    return g.add(op, [x, g.constant([axis])], shape, keepdims=int(keep))


def fits(g: Graph, x: str, y: str) -> bool:
    """Whether ``y`` broadcasts to ``x``."""
    try:
        return np.broadcast_shapes(g.shapes[x], g.shapes[y]) == g.shapes[x]
    except ValueError:
        return False


def product(g: Graph, x: str, columns: int, bias: bool = True) -> str:
    """``x`` times new weights, and a bias."""
    *outer, k = g.shapes[x]
    y = g.add("MatMul", [x, g.new((k, columns))], (*outer, columns))
    y = same(g, "Mul", y, g.constant(np.float32(1 / math.sqrt(k))))
    return same(g, "Add", y, g.new((columns,))) if bias else y


def activation(g: Graph, x: str) -> str:
    return same(g, g.random.choice(UNARY), x)


def chain(g: Graph, x: str) -> str:
    """A long one."""
    for _ in range(g.random.randint(4, 14)):
        x = activation(g, x) if g.random.random() < 0.6 else shifted(g, x)
    return x


def shifted(g: Graph, x: str) -> str:
    """With a value that broadcasts, on either side."""
    shape = tuple(1 if g.random.random() < 0.4 else d for d in g.shapes[x])[g.random.randint(0, len(g.shapes[x])) :]
    pair = [x, g.new(shape)]
    g.random.shuffle(pair)
    return g.add(g.random.choice(["Add", "Sub", "Mul", "Max", "Min"]), pair, g.shapes[x])


def shares(g: Graph, x: str) -> str:
    """Divided by a sum, by its rows or by its columns where extents are equal."""
    total = reduced(g, "ReduceSum", same(g, "Abs", x), g.random.randrange(len(g.shapes[x])), g.random.random() < 0.4)
    total = same(g, "Add", total, g.constant(np.float32(1)))
    return same(g, "Div", x, total) if fits(g, x, total) else activation(g, x)


def normalised(g: Graph, x: str) -> str:
    """Layer or RMS normalization as single nodes, of any axis."""
    axis = g.random.randrange(len(g.shapes[x]))
    centred = x if g.random.random() < 0.4 else same(g, "Sub", x, reduced(g, "ReduceMean", x, axis, True))
    square = same(g, "Mul", centred, centred) if g.random.random() < 0.5 else same(g, "Pow", centred, _float(g, 2))
    deviation = same(g, "Sqrt", same(g, "Add", mean := reduced(g, "ReduceMean", square, axis, True), _float(g, 0.1)))
    assert g.shapes[deviation] == g.shapes[mean]
    y = same(g, "Div", centred, deviation)
    return shifted(g, y) if g.random.random() < 0.5 else y


def softmax(g: Graph, x: str) -> str:
    axis = g.random.randrange(len(g.shapes[x]))
    if g.random.random() < 0.6:
        return same(g, "Softmax", x, **({"axis": axis} if g.random.random() < 0.7 else {}))
    power = same(g, "Exp", same(g, "Sub", x, reduced(g, "ReduceMax", x, axis, True)))
    return same(g, "Div", power, reduced(g, "ReduceSum", power, axis, True))


def padded(g: Graph, x: str) -> str:
    """Padded, and cut again."""
    shape = g.shapes[x]
    low, high = ([g.random.randint(0, 2) for _ in shape] for _ in range(2))
    large = tuple(a + d + b for a, d, b in zip(low, shape, high, strict=True))
    y = g.add("Pad", [x, g.constant(low + high), _float(g, g.random.choice([0, 1, -2]))], large)
    y = activation(g, y)
    starts = low if g.random.random() < 0.5 else [0] * len(shape)
    ends = [s + d for s, d in zip(starts, shape, strict=True)]
    return g.add("Slice", [y, g.constant(starts), g.constant(ends)], shape)


def chosen(g: Graph, x: str) -> str:
    limit = g.new(g.shapes[x])
    y = g.add("Greater", [limit, _float(g, 0.1)], g.shapes[x], "bool", last=True)
    return g.add("Where", [y, *g.random.sample([x, activation(g, x)], 2)], g.shapes[x], "float32")


def _float(g: Graph, value: float) -> str:
    return g.constant(np.float32(value))


def mlp(g: Graph, x: str) -> str:
    y = activation(g, product(g, x, g.random.choice(g.extents), g.random.random() < 0.7))
    return same(g, "Tanh", product(g, y, g.shapes[x][-1]))


def attention(g: Graph, x: str) -> str:
    """One head or several, with or without a mask."""
    *batch, t, d = g.shapes[x]
    heads = g.random.choice([h for h in range(1, d + 1) if d % h == 0])
    q, k, v = (_split(g, product(g, x, d, g.random.random() < 0.5), heads) for _ in range(3))
    *outer, width = g.shapes[q]
    rank = len(outer) + 1
    turned = g.add("Transpose", [k], (*outer[:-1], width, t), perm=[*range(rank - 2), rank - 1, rank - 2])
    scores = g.add("MatMul", [q, turned], (*outer, t))
    scores = same(g, "Mul", scores, _float(g, 1 / math.sqrt(width)))
    scores = same(g, "Add", scores, g.new((t, t))) if g.random.random() < 0.4 else scores
    y = g.add("MatMul", [same(g, "Softmax", scores, axis=-1), v], (*outer, width))
    y = g.add("Transpose", [y], (*batch, t, heads, width), perm=[*range(rank - 3), rank - 2, rank - 3, rank - 1])
    return same(g, "Tanh", product(g, _reshaped(g, y, g.shapes[x]), d))


def _split(g: Graph, x: str, heads: int) -> str:
    *batch, t, d = g.shapes[x]
    y, rank = _reshaped(g, x, (*batch, t, heads, d // heads)), len(batch) + 3
    order = [*range(rank - 3), rank - 2, rank - 3, rank - 1]
    return g.add("Transpose", [y], (*batch, heads, t, d // heads), perm=order)


def _reshaped(g: Graph, x: str, shape: Shape) -> str:
    return g.add("Reshape", [x, g.constant(list(shape))], shape)


def cell(g: Graph, x: str) -> str:
    """A gated recurrent cell, of one step or two."""
    h, d = g.new(g.shapes[x]), g.shapes[x][-1]
    for _ in range(g.random.randint(1, 2)):
        update = same(g, "Sigmoid", same(g, "Add", product(g, x, d), product(g, h, d, False)))
        new = same(g, "Tanh", same(g, "Add", product(g, x, d), same(g, "Mul", update, product(g, h, d, False))))
        kept = same(g, "Mul", same(g, "Sub", new, new if g.random.random() < 0.1 else h), update)
        h = same(g, "Sub", new, kept)
    return h


def graph_convolution(g: Graph, x: str) -> str:
    """D^-1/2 A D^-1/2 x W"""
    t, d = g.shapes[x][-2:]
    a = same(g, "Abs", g.new((t, t)))
    degree = same(g, "Add", reduced(g, "ReduceSum", a, g.random.randint(0, 1), False), _float(g, 1))
    root = same(g, "Pow", degree, _float(g, -0.5)) if g.random.random() < 0.5 else same(
        g, "Reciprocal", same(g, "Sqrt", degree))  # fmt: skip
    column = g.add("Unsqueeze", [root, g.constant([1])], (t, 1))
    factors = [column, root]
    g.random.shuffle(factors)
    for factor in factors:
        a = g.add("Mul", g.random.sample([a, factor], 2), (t, t))
    y = g.add("MatMul", [a, x], g.shapes[x])
    return same(g, g.random.choice(["Tanh", "Relu"]), product(g, y, d))


def convolution(g: Graph, x: str) -> str:
    """Convolution, batch normalization, activation."""
    shape = g.shapes[x]
    c, group, k = shape[1], g.random.choice([1, shape[1]]), g.random.choice([1, 3])
    inputs = [x, g.new((c, c // group, k, k)), g.new((c,))][: g.random.randint(2, 3)]
    pads = {"pads": [k // 2] * 4} if g.random.random() < 0.7 else {"auto_pad": "SAME_UPPER"}
    y = g.add("Conv", inputs, shape, group=group, **pads)
    y = same(g, "Mul", y, _float(g, 1 / math.sqrt(c // group * k * k)))
    if g.random.random() < 0.6:
        variance = g.constant(g.numpy().uniform(0.5, 2, c).astype("f4"))
        y = same(g, "BatchNormalization", y, *(g.fixed((c,)) for _ in range(3)), variance, epsilon=0.1)
    return same(g, g.random.choice(["Relu", "HardSwish", "Sigmoid", "Tanh", "LeakyRelu"]), y)


def pooled(g: Graph, x: str) -> str:
    k = g.random.choice([1, 2, 3])
    pads = [(k - 1) // 2] * 2 + [k // 2] * 2
    return same(g, g.random.choice(["MaxPool", "AveragePool"]), x, kernel_shape=[k, k], strides=[1, 1], pads=pads)


def excited(g: Graph, x: str) -> str:
    """Squeeze and excitation."""
    n, c, *_ = g.shapes[x]
    y = g.add("GlobalAveragePool", [x], (n, c, 1, 1))
    if g.random.random() < 0.5:
        y = same(g, "Sigmoid", g.add("Conv", [y, g.new((c, c, 1, 1))], (n, c, 1, 1)))
    else:
        y = same(g, "Sigmoid", product(g, _reshaped(g, y, (n, c)), c))
        y = _reshaped(g, y, (n, c, 1, 1))
    return same(g, "Mul", x, y)


def shrunk(g: Graph, x: str) -> str:
    """Every second element, and each of these twice."""
    n, c, h, w = shape = g.shapes[x]
    if h % 2 or w % 2:
        return pooled(g, x)
    y = g.add("MaxPool", [x], (n, c, h // 2, w // 2), kernel_shape=[2, 2], strides=[2, 2])
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return g.add("Resize", [y, "", g.constant(np.float32([1, 1, 2, 2]))], shape, **how)


def transposed(g: Graph, x: str) -> str:
    """With itself transposed."""
    rank = len(g.shapes[x])
    y = same(g, "Transpose", x, perm=[*range(rank - 2), rank - 1, rank - 2])
    return g.add(g.random.choice(["Add", "Mul", "Max"]), g.random.sample([x, y], 2), g.shapes[x])


VALUES: tuple[Block, ...] = (activation, chain, shifted, shares, shares, normalised, softmax, padded, chosen)
MATRICES: tuple[Block, ...] = (mlp, attention, graph_convolution)
CELLS: tuple[Block, ...] = (cell, mlp)
IMAGES: tuple[Block, ...] = (convolution, convolution, pooled, excited, shrunk)
SQUARES: tuple[Block, ...] = (transposed, shares)
