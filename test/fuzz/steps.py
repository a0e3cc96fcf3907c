"""The operators of random graphs. A step adds a node on values that fit, with random attributes; or does nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

from growing import MOST, Graph
from onnx import helper

UNARY = [
    "Relu", "Sigmoid", "Tanh", "Erf", "Sin", "Cos", "Atan", "Softplus", "Softsign", "Neg", "Abs", "HardSigmoid",
    "HardSwish", "LeakyRelu", "Elu", "Selu", "Mish", "Identity", "Celu",
]  # fmt: skip
JUMPS = ["Floor", "Ceil", "Round", "Sign", "ThresholdedRelu"]  # of inputs: a rounding error before would become a whole
BINARY = ["Add", "Sub", "Mul", "Max", "Min"]
REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"]


def unary(g: Graph) -> None:
    if name := g.value():
        g.add(g.random.choice(UNARY), [name], g.shapes[name])


def jump(g: Graph) -> None:
    shape = g.shape()
    g.add(g.random.choice(JUMPS), [g.new(shape)], shape)


def binary(g: Graph) -> None:
    """With a value that broadcasts: some of its dimensions are 1, or missing in front."""
    if (name := g.value()) is None:
        return
    shape = g.shapes[name]
    other = tuple(1 if g.random.random() < 0.3 else d for d in shape)[g.random.choice([0, 0, len(shape) // 2]) :]
    pair = [name, g.new(other)]
    g.random.shuffle(pair)
    g.add(g.random.choice(BINARY), pair, shape)


def quotient(g: Graph) -> None:
    """By a number over 1."""
    if name := g.value():
        positive = g.add("Exp", [g.add("Abs", [g.new(g.shapes[name])], g.shapes[name])], g.shapes[name])
        g.add("Div", [name, positive], g.shapes[name])


def where(g: Graph) -> None:
    if name := g.value():
        shape = g.shapes[name]
        condition = f"b{len(g.shapes)}"
        g.nodes.append(helper.make_node("Greater", [g.new(shape), g.new(shape)], [condition], f"Greater_{condition}"))
        g.add("Where", [condition, name, g.new(shape)], shape)


def matmul(g: Graph) -> None:
    """Batches on the left, on both sides, or a vector on the right."""
    if (name := g.value(2)) is None:
        return
    *batch, m, k = g.shapes[name]
    n, kind = g.random.randint(1, 40), g.random.choice(["plain", "batch", "vector"])
    other = {"plain": (k, n), "batch": (*batch, k, n), "vector": (k,)}[kind]
    result = (*batch, m) if kind == "vector" else (*batch, m, n)
    g.add("Tanh", [g.add("MatMul", [name, g.new(other)], result)], result)


def gemm(g: Graph) -> None:
    if (name := g.value(2)) is None or len(shape := g.shapes[name]) != 2:
        return
    left, right, n = g.random.randint(0, 1), g.random.randint(0, 1), g.random.randint(1, 40)
    m, k = reversed(shape) if left else shape
    inputs = [name, g.new((n, k) if right else (k, n)), g.new(g.random.choice([(n,), (m, n), (1,), ()]))]
    g.add("Sigmoid", [g.add("Gemm", inputs, (m, n), transA=left, transB=right, alpha=0.5)], (m, n))


def conv(g: Graph) -> None:
    """One or two dimensions; groups, strides, dilations and borders."""
    if (name := g.value(3)) is None:
        return
    batch, channels, *extents = g.shapes[name]
    group = g.random.choice([d for d in range(1, channels + 1) if channels % d == 0])
    filters, kernel = group * g.random.randint(1, 20), [g.random.randint(1, min(3, e)) for e in extents]
    strides, pads = [g.random.randint(1, 2) for _ in extents], [g.random.randint(0, 1) for _ in 2 * extents]
    out = _slid(extents, kernel, strides, pads)
    inputs = [name, g.new((filters, channels // group, *kernel)), g.new((filters,))][: g.random.randint(2, 3)]
    result = (batch, filters, *out)
    if math.prod(result) <= MOST:
        y = g.add("Conv", inputs, result, group=group, strides=strides, pads=pads, kernel_shape=kernel)
        g.add("Tanh", [y], result)


def pool(g: Graph) -> None:
    if (name := g.value(3)) is None:
        return
    *outer, extents = *g.shapes[name][:2], list(g.shapes[name][2:])
    kernel = [g.random.randint(1, min(3, e)) for e in extents]
    strides, pads = [g.random.randint(1, 2) for _ in extents], [g.random.randint(0, k - 1) for k in 2 * kernel]
    result = (*outer, *_slid(extents, kernel, strides, pads))
    op = g.random.choice(["MaxPool", "AveragePool"])
    counts = {"count_include_pad": g.random.randint(0, 1)} if op == "AveragePool" else {}
    g.add(op, [name], result, kernel_shape=kernel, strides=strides, pads=pads, **counts)


def _slid(extents: list[int], kernel: list[int], strides: list[int], pads: list[int]) -> list[int]:
    rank = len(extents)
    return [(extents[n] + pads[n] + pads[rank + n] - kernel[n]) // strides[n] + 1 for n in range(rank)]


def reduce(g: Graph) -> None:
    if (name := g.value(1)) is None:
        return
    shape, keep = g.shapes[name], g.random.randint(0, 1)
    axes = sorted(g.random.sample(range(len(shape)), g.random.randint(1, len(shape))))
    result = tuple(1 if n in axes else d for n, d in enumerate(shape) if keep or n not in axes)
    y = g.add(g.random.choice(REDUCE), [name, g.constant(axes)], result, keepdims=keep)
    g.add("Softsign", [y], result)


def softmax(g: Graph) -> None:
    if name := g.value(1):
        shape = g.shapes[name]
        g.add("Softmax", [name], shape, axis=g.random.randint(-len(shape), len(shape) - 1))


def normalization(g: Graph) -> None:
    if name := g.value(1):
        shape = g.shapes[name]
        axis = g.random.randint(0, len(shape) - 1)
        inputs = [name, g.new(shape[axis:]), g.new(shape[axis:])][: g.random.randint(2, 3)]
        g.add("LayerNormalization", inputs, shape, axis=axis, epsilon=0.1)


def transpose(g: Graph) -> None:
    if name := g.value(2):
        order = g.random.sample(range(len(g.shapes[name])), len(g.shapes[name]))
        g.add("Transpose", [name], tuple(g.shapes[name][n] for n in order), perm=order)


def reshape(g: Graph) -> None:
    """Two neighbours become one, or one becomes two."""
    if (name := g.value(1)) is None:
        return
    shape = g.shapes[name]
    at = g.random.randrange(len(shape))
    divisor = g.random.choice([d for d in range(1, shape[at] + 1) if shape[at] % d == 0])
    split = (*shape[:at], divisor, shape[at] // divisor, *shape[at + 1 :])
    joined = (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]) if at + 1 < len(shape) else shape
    result = g.random.choice([split, joined] if len(shape) < 4 else [joined])
    g.add("Reshape", [name, g.constant(list(result))], result)


def cut(g: Graph) -> None:
    """A slice, forwards or backwards, with a step."""
    if (name := g.value(1)) is None:
        return
    shape = g.shapes[name]
    axis = g.random.randrange(len(shape))
    start, step = g.random.randrange(shape[axis]), g.random.choice([1, 2, -1, -2])
    count = len(range(start, shape[axis], step) if step > 0 else range(start, -1, step))
    end = shape[axis] if step > 0 else -shape[axis] - 1
    inputs = [name, *(g.constant([v]) for v in (start, end, axis, step))]
    g.add("Slice", inputs, (*shape[:axis], count, *shape[axis + 1 :]))


def concat(g: Graph) -> None:
    if (name := g.value(1)) is None:
        return
    shape = g.shapes[name]
    axis, extent = g.random.randrange(len(shape)), g.random.randint(1, 5)
    parts = [name, g.new((*shape[:axis], extent, *shape[axis + 1 :])), name][: g.random.randint(2, 3)]
    total = sum(g.shapes[p][axis] for p in parts)
    g.add("Concat", parts, (*shape[:axis], total, *shape[axis + 1 :]), axis=axis)


def pad(g: Graph) -> None:
    if name := g.value(1):
        shape = g.shapes[name]
        low, high = ([g.random.randint(0, 2) for _ in shape] for _ in range(2))
        result = tuple(a + d + b for a, d, b in zip(low, shape, high, strict=True))
        if math.prod(result) <= MOST:
            g.add("Pad", [name, g.constant(low + high)], result)


def gather(g: Graph) -> None:
    if (name := g.value(1)) is None:
        return
    shape = g.shapes[name]
    axis, count = g.random.randrange(len(shape)), g.random.randint(1, 6)
    indices = [g.random.randint(-shape[axis], shape[axis] - 1) for _ in range(count)]
    g.add("Gather", [name, g.constant(indices)], (*shape[:axis], count, *shape[axis + 1 :]), axis=axis)


def expand(g: Graph) -> None:
    if name := g.value(1):
        result = tuple(g.random.randint(1, 5) if d == 1 else d for d in g.shapes[name])
        if math.prod(result) <= MOST:
            g.add("Expand", [name, g.constant(list(result))], result)


STEPS: tuple[Callable[[Graph], None], ...] = (
    unary, unary, unary, jump, binary, binary, quotient, where, matmul, matmul, gemm, conv, conv, pool, reduce, reduce,
    softmax, normalization, transpose, reshape, cut, concat, pad, gather, expand,
)  # fmt: skip
