"""Steps of opset 9, where axes, paddings and limits are attributes, and operators that came to an end."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from growing import MOST, Graph

OPSET = 9


def cut(g: Graph) -> None:
    if name := g.value(1):
        shape = g.shapes[name]
        axis = g.random.randrange(len(shape))
        start = g.random.randrange(shape[axis])
        how = {"axes": [axis], "starts": [start - shape[axis] * g.random.randint(0, 1)], "ends": [1 << 40]}
        g.add("Slice", [name], (*shape[:axis], shape[axis] - start, *shape[axis + 1 :]), **how)


def pad(g: Graph) -> None:
    if name := g.value(1):
        shape = g.shapes[name]
        low, high = ([g.random.randint(0, 2) for _ in shape] for _ in "lh")
        result = tuple(a + d + b for a, d, b in zip(low, shape, high, strict=True))
        if math.prod(result) <= MOST:
            g.add("Pad", [name], result, pads=low + high, value=0.5)


def reduce(g: Graph) -> None:
    if name := g.value(1):
        shape, keep = g.shapes[name], g.random.randint(0, 1)
        axis = g.random.randint(-len(shape), -1)
        result = tuple(1 if n == axis else d for n, d in enumerate(shape, -len(shape)) if keep or n != axis)
        op = g.random.choice(["ReduceSum", "ReduceMax", "ReduceMean", "ReduceMin"])
        axis = axis + len(shape)  # negative axes came with opset 11
        g.add("Softsign", [g.add(op, [name], result, axes=[axis], keepdims=keep)], result)


def extend(g: Graph) -> None:
    if name := g.value(0):
        shape, at = g.shapes[name], g.random.randint(0, len(g.shapes[name]))
        y = g.add("Unsqueeze", [name], (*shape[:at], 1, *shape[at:]), axes=[at])
        if g.random.random() < 0.5:
            g.add("Squeeze", [y], shape, axes=[at])


def limit(g: Graph) -> None:
    if name := g.value():
        g.add("Clip", [name], g.shapes[name], **g.random.choice([{"min": -0.5, "max": 0.75}, {"min": 0.1}, {}]))


def rows(g: Graph) -> None:
    """All dimensions from the axis on are one."""
    if name := g.value(1):
        axis = g.random.randrange(len(g.shapes[name]))
        g.add(g.random.choice(["Softmax", "LogSoftmax"]), [name], g.shapes[name], axis=axis)
        g.add("Tanh", [g.nodes[-1].output[0]], g.shapes[name])


def split(g: Graph) -> None:
    if (name := g.value(1)) and (extent := g.shapes[name][0]) > 1:
        first, rest = g.random.randint(1, extent - 1), g.shapes[name][1:]
        g.add("Split", [name], (first, *rest), axis=0, split=[first, extent - first])
        g.more((extent - first, *rest), "float32")


def dropout(g: Graph) -> None:
    if name := g.value():
        g.add("Dropout", [name], g.shapes[name], ratio=0.3)


def scatter(g: Graph) -> None:
    """What became ScatterElements."""
    if name := g.value(1):
        shape = g.shapes[name]
        axis, random = g.random.randrange(len(shape)), g.numpy()
        part = tuple(1 if n == axis else d for n, d in enumerate(shape))
        at = g.constant(random.integers(0, shape[axis], part))
        g.add("Scatter", [name, at, g.new(part)], shape, axis=axis)


def enlarge(g: Graph) -> None:
    """What became Resize."""
    x = g.new(g.shape(4))
    factors = [1, 1, g.random.choice([1, 2, 3]), 2]
    result = tuple(int(d * f) for d, f in zip(g.shapes[x], factors, strict=True))
    if math.prod(result) <= MOST:
        mode = g.random.choice(["nearest", "linear"])
        g.add("Upsample", [x, g.constant(np.float32(factors))], result, mode=mode)


def combine(g: Graph) -> None:
    if name := g.value():
        op = g.random.choice(["Add", "Mul", "Sub", "Tanh", "Sigmoid", "Relu"])
        others = [g.new(g.shapes[name])] if op in ("Add", "Mul", "Sub") else []
        g.add(op, [name, *others], g.shapes[name])


OLD: tuple[Callable[[Graph], None], ...] = (
    cut, pad, reduce, extend, limit, rows, split, dropout, scatter, enlarge, combine, combine,
)  # fmt: skip
