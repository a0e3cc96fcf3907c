"""Random graphs of products in 8, 16 and 32 bits, of the extents of tiles of GPUs and others beside them.

A graph has one element type, of which all values are that steps read and give; products of bytes are of quantized
inputs. Steps keep numbers bounded. The first dimension of values is the batch, which may be open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from growing import Graph, Shape
from onnx import ModelProto, helper
from unsized_steps import ROWS

TYPES = ("float16", "float16", "bfloat16", "bfloat16", "float32")
EXTENTS = (1, 3, 8, 16, 31, 32, 64, 72, 96, 128, 130)
TILES = (64, 72, 128, 136, 200, 256)  # strides of 16 bytes: what warpgroups and bulk copies take
CHANNELS = (3, 8, 16, 24, 32, 64)
UNARY = ("Relu", "Tanh", "Sigmoid", "Erf", "Neg", "Abs", "HardSwish")
MOST = 60_000  # elements of a value
OPSET = 22


def products(
    seed: int,
    size: int = 6,
    extents: Sequence[int] = EXTENTS,
    ranks: Sequence[int] = (2, 2, 3, 3, 4, 4),
    types: Sequence[str] = TYPES,
    others: Sequence[Step] | None = None,
) -> ModelProto:
    """A model of about ``size`` steps; the same for the same seed. ``others``: steps between products, else all."""
    g = Graph(Random(seed), opset=OPSET, extents=tuple(extents))
    kind = g.random.choice(types)
    rank = g.random.choice(ranks)
    for _ in range(g.random.randint(1, 2)):
        x = given(g, _first(g, rank), kind)
    if g.random.random() < 0.3:
        g.open |= set(g.inputs)
    for _ in range(size):
        x = g.random.choice([x, x, x, g.random.choice(list(_values(g)))])
        x = g.random.choice(_fitting(g, x, ANY if others is None else others))(g, x) or x
    if not g.nodes:  # no step had room
        unary(g, x)
    return g.model()


def _first(g: Graph, rank: int) -> Shape:
    batch = ROWS if rank > 2 and g.random.random() < 0.2 else g.random.choice(g.extents if rank == 2 else (1, 2, 3))
    if rank == 4:
        return (batch, g.random.choice(CHANNELS), g.random.randint(3, 14), g.random.randint(3, 14))
    return (batch, *(g.random.choice(g.extents) for _ in range(rank - 1)))


def _values(g: Graph) -> list[str]:
    return [name for name in g.shapes if name not in g.last and len(g.shapes[name]) >= 2]


def _fitting(g: Graph, x: str, others: Sequence[Step]) -> Sequence[Step]:
    rank = len(g.shapes[x])
    return (*others, *{2: MATRICES, 3: SEQUENCES, 4: IMAGES}[rank])


def given(g: Graph, shape: Shape, kind: str) -> str:
    """An input."""
    name = f"v{len(g.shapes)}"
    g.shapes[name], g.types[name], g.inputs[name] = shape, kind, shape
    return name


def fixed(g: Graph, x: str, *shape: int, scale: float = 1) -> str:
    """A constant of the type of ``x``."""
    name = g.constant((g.numpy().standard_normal(shape) * scale).astype(np.dtype(g.types[x])))
    g.types[name] = g.types[x]
    return name


def made(g: Graph, op: str, inputs: Sequence[str], shape: Shape, **how: object) -> str:
    y = g.add(op, inputs, shape, **how)  # type: ignore[arg-type]
    g.types[y] = g.types[inputs[0]]
    return y


def same(g: Graph, op: str, x: str, *others: str, **how: object) -> str:
    return made(g, op, [x, *others], g.shapes[x], **how)


def unary(g: Graph, x: str) -> str:
    return same(g, g.random.choice(UNARY), x)


def binary(g: Graph, x: str) -> str:
    """With itself, a constant, or another value of the same shape."""
    shape = g.shapes[x]
    other = g.random.choice([name for name in _values(g) if g.shapes[name] == shape])
    if g.random.random() < 0.5:
        other = fixed(g, x, *(1 if g.random.random() < 0.3 else d for d in shape[1:]))
    return same(g, "Tanh", same(g, g.random.choice(["Add", "Sub", "Mul", "Max"]), x, other))


def rows(g: Graph, x: str) -> str:
    d = g.shapes[x][-1]
    how = g.random.choice(["softmax", "layer", "rms"])
    if how == "softmax":
        return same(g, "Softmax", x, axis=-1)
    if how == "layer":
        return same(g, "Tanh", same(g, "LayerNormalization", x, fixed(g, x, d), fixed(g, x, d), epsilon=0.1))
    square = same(g, "Mul", x, x)
    mean = made(g, "ReduceMean", [square, g.constant([-1])], (*g.shapes[x][:-1], 1), keepdims=1)
    root = same(g, "Sqrt", same(g, "Add", mean, number(g, x, 0.1)))
    return same(g, "Div", x, root)


def number(g: Graph, x: str, value: float) -> str:
    return g.constant(np.array(value, g.types[x]))


def recast(g: Graph, x: str) -> str:
    """Through f32."""
    y = g.add("Cast", [x], g.shapes[x], "float32", to=1, last=True)
    y = same(g, "Sin", y, last=True)
    to = helper.np_dtype_to_tensor_dtype(np.dtype(g.types[x]))
    return g.add("Cast", [y], g.shapes[x], g.types[x], to=to)


def reduced(g: Graph, x: str) -> None:
    shape, axis = g.shapes[x], g.random.randrange(0, len(g.shapes[x]))
    op = g.random.choice(["ReduceMean", "ReduceMax", "ReduceL2"])
    made(g, op, [x, g.constant([axis])], (*shape[:axis], *shape[axis + 1 :]), keepdims=0, last=True)


def linear(g: Graph, x: str) -> str:
    """Times weights, as they are or transposed."""
    *outer, k = g.shapes[x]
    n, scale = g.random.choice([n for n in g.extents if n * math.prod(outer) <= MOST] or [1]), 1 / math.sqrt(k)
    if g.random.random() < 0.5:
        w = fixed(g, x, k, n, scale=scale)
    else:
        w = made(g, "Transpose", [fixed(g, x, n, k, scale=scale)], (k, n), perm=[1, 0])
        g.last.add(w)
    y = made(g, "MatMul", [x, w], (*outer, n))
    y = same(g, "Add", y, fixed(g, x, n)) if g.random.random() < 0.6 else y
    return same(g, g.random.choice(UNARY), y) if g.random.random() < 0.6 else y


def gated(g: Graph, x: str) -> str:
    a, b = linear(g, x), linear(g, x)
    return same(g, "Mul", same(g, "Sigmoid", a), b) if g.shapes[a] == g.shapes[b] else a


def of_bytes(g: Graph, x: str) -> str | None:
    """An input, quantized while the model runs, times bytes."""
    if x not in g.inputs:  # the next whole number of a value that is computed may be another one
        return None
    *outer, k = shape = g.shapes[x]
    n = g.random.choice([n for n in g.extents if n * math.prod(outer) <= MOST] or [1])
    wide = g.add("Cast", [x], shape, "float32", to=1, last=True)
    y = g.add("DynamicQuantizeLinear", [wide], shape, "uint8", last=True)
    scale, zero = g.more((), "float32", last=True), g.more((), "uint8", last=True)
    w = g.constant(g.numpy().integers(-20, 20, (k, n)).astype("int8"))
    y = g.add("MatMulInteger", [y, w, zero], (*outer, n), "int32", last=True)
    y = g.add("Cast", [y], (*outer, n), "float32", to=1, last=True)
    for factor in (scale, g.constant(np.float32(0.05 / math.sqrt(k)))):
        y = same(g, "Mul", y, factor, last=True)
    to = helper.np_dtype_to_tensor_dtype(np.dtype(g.types[x]))
    return g.add("Cast", [same(g, "Tanh", y, last=True)], (*outer, n), g.types[x], to=to)


def gram(g: Graph, x: str) -> str | None:
    """With itself transposed, on either side."""
    *outer, m, k = shape = g.shapes[x]
    if max(m, k) ** 2 * math.prod(outer) > MOST or g.open and len(shape) == 2:
        return None
    order = [*range(len(outer)), len(outer) + 1, len(outer)]
    turned = made(g, "Transpose", [x], (*outer, k, m), perm=order)
    pair, d, n = ([x, turned], m, k) if g.random.random() < 0.5 else ([turned, x], k, m)
    y = made(g, "MatMul", pair, (*outer, d, d))
    return same(g, "Tanh", same(g, "Mul", y, number(g, x, 1 / n)))


def attention(g: Graph, x: str) -> str | None:
    """Heads of 8 to 64 elements; some share keys; a causal mask, one of numbers, or none."""
    b, t, d = g.shapes[x]
    width, heads = g.random.choice([8, 16, 32, 64]), g.random.choice([1, 2, 4])
    groups = heads if g.random.random() < 0.6 else 1
    if b * heads * t * max(t, width) > MOST:
        return None
    q = _heads(g, x, heads, width)
    k, v = (_heads(g, x, groups, width) for _ in "kv")
    order = [0, 1, 3, 2]
    turned = made(g, "Transpose", [k], (b, groups, width, t), perm=order)
    scores = made(g, "MatMul", [q, turned], (b, heads, t, t))
    scores = same(g, "Mul", scores, number(g, x, 1 / math.sqrt(width)))
    scores = _masked(g, scores)
    y = made(g, "MatMul", [same(g, "Softmax", scores, axis=-1), v], (b, heads, t, width))
    y = made(g, "Transpose", [y], (b, t, heads, width), perm=[0, 2, 1, 3])
    return made(g, "Reshape", [y, g.constant([0, 0, -1])], (b, t, heads * width))


def _heads(g: Graph, x: str, heads: int, width: int) -> str:
    b, t, d = g.shapes[x]
    y = made(g, "MatMul", [x, fixed(g, x, d, heads * width, scale=1 / math.sqrt(d))], (b, t, heads * width))
    y = made(g, "Reshape", [y, g.constant([0, 0, heads, width])], (b, t, heads, width))
    return made(g, "Transpose", [y], (b, heads, t, width), perm=[0, 2, 1, 3])


def _masked(g: Graph, scores: str) -> str:
    t = g.shapes[scores][-1]
    how = g.random.choice(["none", "causal", "window", "where", "numbers"])
    diagonal = np.arange(t)[:, None] - np.arange(t)
    window = g.random.randint(1, t)
    inside = (diagonal >= 0) & (diagonal < (window if how == "window" else t))
    if how in ("causal", "window"):
        low = g.random.choice([-np.inf, -1e4])
        return same(g, "Add", scores, g.constant(np.where(inside, 0, low).astype(g.types[scores])))
    if how == "where":
        return g.add("Where", [g.constant(inside), scores, number(g, scores, -1e4)], g.shapes[scores], g.types[scores])
    return same(g, "Add", scores, fixed(g, scores, t, t)) if how == "numbers" else scores


def convolution(g: Graph, x: str) -> str | None:
    """Of every stride and number of groups, with a bias, a residual and an activation."""
    n, c, h, w = g.shapes[x]
    kernel = g.random.choice([k for k in (1, 3, 3, 5) if k <= min(h, w) + 2])
    stride, group = g.random.choice([1, 1, 2]), g.random.choice([1, 1, 1, c, 2 if c % 2 == 0 else 1])
    f = c if group == c else g.random.choice([f for f in CHANNELS if f % group == 0])
    pad = g.random.choice([0, kernel // 2, kernel // 2])
    size = [(d + 2 * pad - kernel) // stride + 1 for d in (h, w)]
    if min(size) < 1:
        return None
    scale = 1 / math.sqrt(c // group * kernel * kernel)
    inputs = [x, fixed(g, x, f, c // group, kernel, kernel, scale=scale), fixed(g, x, f)][: g.random.randint(2, 3)]
    how = {"strides": [stride] * 2, "pads": [pad] * 4, "group": group}
    y = made(g, "Conv", inputs, (n, f, *size), **how)
    y = same(g, "Add", y, x) if g.shapes[y] == g.shapes[x] and g.random.random() < 0.4 else y
    return same(g, g.random.choice(["Relu", "HardSwish", "Sigmoid"]), y) if g.random.random() < 0.7 else y


def pooled(g: Graph, x: str) -> str | None:
    n, c, h, w = g.shapes[x]
    if min(h, w) < 3:
        return None
    op, stride = g.random.choice(["MaxPool", "AveragePool"]), g.random.choice([1, 2])
    size = tuple((d - 2) // stride + 1 for d in (h, w))
    return made(g, op, [x], (n, c, *size), kernel_shape=[2, 2], strides=[stride] * 2)


def excited(g: Graph, x: str) -> str:
    n, c, *_ = g.shapes[x]
    y = made(g, "GlobalAveragePool", [x], (n, c, 1, 1))
    y = made(g, "Conv", [y, fixed(g, x, c, c, 1, 1, scale=1 / math.sqrt(c))], (n, c, 1, 1))
    return same(g, "Mul", x, same(g, "Sigmoid", y))


def flattened(g: Graph, x: str) -> str:
    n, *rest = g.shapes[x]
    return made(g, "Reshape", [x, g.constant([0, -1])], (n, math.prod(rest)))


def pixels(g: Graph, x: str) -> str:
    """An image as a sequence of its pixels."""
    n, c, h, w = g.shapes[x]
    y = made(g, "Reshape", [x, g.constant([0, c, -1])], (n, c, h * w))
    return made(g, "Transpose", [y], (n, h * w, c), perm=[0, 2, 1])


def joined(g: Graph, x: str) -> str:
    """With itself, changed, along the second dimension; or the first half of it."""
    n, d, *rest = g.shapes[x]
    if g.random.random() < 0.5 and d > 1:
        begin, end = d // 4, d - d // 3
        limits = [g.constant([v]) for v in (begin, end, 1)]
        return made(g, "Slice", [x, *limits], (n, end - begin, *rest))
    return made(g, "Concat", [x, same(g, "Tanh", x)], (n, 2 * d, *rest), axis=1)


def turned(g: Graph, x: str) -> str:
    n, t, d = g.shapes[x]
    return made(g, "Transpose", [x], (n, d, t), perm=[0, 2, 1])


Step = Callable[[Graph, str], str | None]
ANY: tuple[Step, ...] = (unary, binary, rows, recast, reduced, joined)
MATRICES: tuple[Step, ...] = (linear, linear, linear, gated, of_bytes, of_bytes, gram)
SEQUENCES: tuple[Step, ...] = (
    linear, linear, gated, attention, attention, attention, of_bytes, gram, turned, flattened,
)  # fmt: skip
IMAGES: tuple[Step, ...] = (convolution, convolution, convolution, convolution, pooled, excited, flattened, pixels)
