"""Steps of bytes and narrower types: quantization of blocks and channels, products, convolutions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from growing import Graph
from ml_dtypes import bfloat16, float8_e4m3fn, float8_e5m2, int4, uint4

BYTES = ("uint8", "int8")
NARROW = {bfloat16: 16, float8_e4m3fn: 17, float8_e5m2: 19, uint4: 21, int4: 22}


def _scale(g: Graph, count: int | None = None) -> str:
    return g.constant(np.float32(g.numpy().choice([0.25, 0.013, 0.04, 0.1], count)))


def _zero(g: Graph, kind: str, count: int | None = None) -> str:
    return g.constant(g.numpy().integers(*((100, 140) if kind == "uint8" else (-20, 20)), count).astype(kind))


def through(g: Graph) -> None:
    """An input in a narrow type and back."""
    shape, target = g.shape(g.random.randint(1, 3)), g.random.choice(list(NARROW))
    if target in (int4, uint4) and g.opset < 21:
        return
    if target in (float8_e4m3fn, float8_e5m2) and g.opset < 19:
        return
    kind, x = np.dtype(target).name, g.new(shape)
    if target in (int4, uint4):  # onnxruntime rounds where others truncate
        x = g.add("Round", [x], shape, last=True)
    y = g.add("Cast", [x], shape, kind, to=NARROW[target], last=True)
    g.add("Cast", [y], shape, "float32", to=1)


def channels(g: Graph) -> None:
    """A scale a channel."""
    shape, kind = g.shape(g.random.randint(1, 4)), g.random.choice(BYTES)
    axis = g.random.randrange(len(shape))
    rest = [_scale(g, shape[axis]), _zero(g, kind, shape[axis])]
    y = g.add("QuantizeLinear", [g.new(shape), *rest], shape, kind, axis=axis, rounded=True)
    if g.random.random() < 0.5:
        y = g.new(shape, kind)
    g.add("DequantizeLinear", [y, *rest], shape, "float32", axis=axis, last=y.startswith("r"))


def stored(g: Graph) -> None:
    """Weights of four or eight bits in blocks, whose product with a value follows."""
    if (name := g.value(2)) is None or g.opset < 21:
        return
    *outer, k = g.shapes[name]
    n, kind = g.random.randint(1, 20), g.random.choice([int4, uint4, np.dtype("int8"), np.dtype("uint8")])
    block = g.random.choice([d for d in range(1, k + 1) if k % d == 0])
    low = 0 if np.dtype(kind).name.startswith("u") else -8
    weights = [g.constant(g.numpy().integers(low, low + 16, s).astype(kind)) for s in ((k, n), (k // block, n))]
    scale = g.constant(np.float32(g.numpy().choice([0.25, 0.013, 0.04], (k // block, n))))
    inputs = [weights[0], scale, weights[1]][: g.random.randint(2, 3)]
    w = g.add("DequantizeLinear", inputs, (k, n), "float32", axis=0, block_size=block)
    g.add("Tanh", [g.add("MatMul", [name, w], (*outer, n))], (*outer, n))


def dynamic(g: Graph) -> None:
    """With the scale of the values that are there."""
    shape = g.shape(g.random.randint(1, 3))
    y = g.add("DynamicQuantizeLinear", [g.new(shape)], shape, "uint8", rounded=True)
    g.more((), "float32", last=True)
    g.more((), "uint8", last=True)
    assert y in g.last


def between(g: Graph) -> None:
    """A convolution or product between bytes, written with quantization around floats."""
    n, c, h, filters = g.random.randint(1, 2), g.random.randint(1, 9), g.random.randint(3, 9), g.random.randint(1, 20)
    convolution = g.random.random() < 0.5
    shapes = [(n, c, h, h), (filters, c, 3, 3)] if convolution else [(n, h, c), (c, filters)]
    parts = []
    for shape, kind in zip(shapes, ("uint8", "int8"), strict=True):
        parts.append(g.add("DequantizeLinear", [g.new(shape, kind), _scale(g), _zero(g, kind)], shape, "float32"))
    result = (n, filters, h - 2, h - 2) if convolution else (n, h, filters)
    y = g.add("Conv" if convolution else "MatMul", parts, result)
    g.add("QuantizeLinear", [y, g.constant(np.float32(0.5)), g.constant(np.uint8(128))], result, "uint8", rounded=True)


def products(g: Graph) -> None:
    """The operators on bytes themselves."""
    m, k, n = (g.random.randint(1, 20) for _ in range(3))
    left, right = (g.random.choice(BYTES) for _ in "ab")
    if left == "int8" and right == "uint8":
        right = "int8"
    ends = [_scale(g), _zero(g, left)]
    op = g.random.choice(["QLinearMatMul", "QLinearConv", "ConvInteger"])
    if op == "QLinearMatMul":
        inputs = [g.new((m, k), left), _scale(g), _zero(g, left), g.new((k, n), right), _scale(g), _zero(g, right)]
        g.add(op, [*inputs, *ends], (m, n), left, rounded=True)
    elif op == "ConvInteger":
        right = "uint8" if left == "uint8" and g.random.random() < 0.5 else "int8"
        inputs = [g.new((1, 3, m + 2, 5), "uint8"), g.new((n, 3, 3, 3), right), _zero(g, "uint8"), _zero(g, right)]
        g.add(op, inputs[: g.random.choice([2, 4])], (1, n, m, 3), "int32", last=True)
    else:
        x, w, count = g.new((1, 3, m + 2, 5), left), g.new((n, 3, 3, 3), right), g.random.choice([None, n])
        zero = _zero(g, right) if count is None else g.constant(np.zeros(n, right))
        inputs = [x, _scale(g), _zero(g, left), w, _scale(g, count), zero, *ends]
        bias = [g.constant(g.numpy().integers(-500, 500, n).astype("i4"))]
        g.add(op, inputs + bias * g.random.randint(0, 1), (1, n, m, 3), left, rounded=True)


QUANTIZED: tuple[Callable[[Graph], None], ...] = (
    through, channels, stored, stored, dynamic, between, between, products, products, products,
)  # fmt: skip
