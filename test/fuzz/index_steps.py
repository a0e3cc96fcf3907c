"""Steps that read and write at computed indices, resize, and find out sizes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from growing import MOST, NEAREST, Graph

ANY = ("float32", "int32", "int64", "uint8", "float64", "bool")


def _positions(g: Graph, extent: int, shape: tuple[int, ...]) -> str:
    """Indices into an extent, of either sign, as a constant or computed from an input (then of 0 and 1 at most)."""
    low = -extent if g.random.random() < 0.5 else 0
    random = np.random.default_rng(g.random.getrandbits(32))
    if g.random.random() < 0.5:
        return g.constant(random.integers(low, extent, shape).astype(g.random.choice(["int32", "int64"])))
    return g.add("Mod", [g.new(shape, "int64"), g.constant(np.int64(extent))], shape)


def gather(g: Graph) -> None:
    if (name := g.value(1, ANY)) is None:
        return
    shape = g.shapes[name]
    axis, extents = g.random.randrange(len(shape)), tuple(g.random.randint(1, 4) for _ in range(g.random.randint(0, 2)))
    at = _positions(g, shape[axis], extents)
    g.add("Gather", [name, at], (*shape[:axis], *extents, *shape[axis + 1 :]), g.types[name], axis=axis)


def gather_elements(g: Graph) -> None:
    if name := g.value(1, ANY):
        shape = g.shapes[name]
        axis = g.random.randrange(len(shape))
        result = tuple(g.random.randint(1, 5) if n == axis else g.random.randint(1, d) for n, d in enumerate(shape))
        g.add("GatherElements", [name, _positions(g, shape[axis], result)], result, g.types[name], axis=axis)


def gather_nd(g: Graph) -> None:
    if name := g.value(1, ANY):
        shape = g.shapes[name]
        depth, rows = g.random.randint(1, len(shape)), g.random.randint(1, 6)
        random = np.random.default_rng(g.random.getrandbits(32))
        at = np.stack([random.integers(-d, d, rows) for d in shape[:depth]], -1)
        g.add("GatherND", [name, g.constant(at)], (rows, *shape[depth:]), g.types[name])


def scatter(g: Graph) -> None:
    """Elements at positions that differ, or added up where they do not."""
    if (name := g.value(1, ("float32", "int64", "float64"))) is None:
        return
    shape, random = g.shapes[name], np.random.default_rng(g.random.getrandbits(32))
    axis = g.random.randrange(len(shape))
    count = g.random.randint(1, shape[axis])
    part = tuple(count if n == axis else g.random.randint(1, d) for n, d in enumerate(shape))
    at = np.stack([random.permutation(shape[axis])[:count] for _ in range(math.prod(part) // count)])
    others = [d for n, d in enumerate(part) if n != axis]
    at = np.moveaxis(at.reshape(*others, count), -1, axis)
    rule = g.random.choice(["none", "add", "mul"] + ["max", "min"] * (g.types[name] != "int64"))
    inputs = [name, g.constant(at), g.new(part, g.types[name])]
    g.add("ScatterElements", inputs, shape, axis=axis, reduction=rule)


def scatter_nd(g: Graph) -> None:
    if name := g.value(1, ("float32", "int32", "float64")):
        shape, random = g.shapes[name], np.random.default_rng(g.random.getrandbits(32))
        depth = g.random.randint(1, len(shape))
        rows = g.random.randint(1, min(6, math.prod(shape[:depth])))
        flat = random.permutation(math.prod(shape[:depth]))[:rows]
        at = np.stack(np.unravel_index(flat, shape[:depth]), -1)
        g.add("ScatterND", [name, g.constant(at), g.new((rows, *shape[depth:]), g.types[name])], shape)


def one_hot(g: Graph) -> None:
    shape, depth = g.shape(g.random.randint(1, 2)), g.random.randint(1, 6)
    axis = g.random.randint(0, len(shape))
    result = (*shape[:axis], depth, *shape[axis:])
    at = g.constant(g.numpy().integers(-depth, depth, shape))  # of int32 onnxruntime has none
    inputs = [at, g.constant(depth), g.constant(np.float32([0, 2]))]
    g.add("OneHot", inputs, result, "float32", axis=axis)


def top_k(g: Graph) -> None:
    """Of inputs, which are rarely equal."""
    name = g.new(g.shape(g.random.randint(1, 3)))
    shape = g.shapes[name]
    axis = g.random.randrange(len(shape))
    k = g.random.randint(1, shape[axis])
    flags = {"axis": axis, "largest": g.random.randint(0, 1)}
    result = (*shape[:axis], k, *shape[axis + 1 :])
    g.add("TopK", [name, g.constant([k])], result, **flags)
    g.more(result, "int64")


def resize(g: Graph) -> None:
    """The last two dimensions, by nearest or linear or cubic interpolation."""
    name = g.new(g.shape(4))
    shape = g.shapes[name]
    sizes = [*shape[:2], *(g.random.randint(1, 12) for _ in range(2))]
    mode = g.random.choice(["nearest", "linear", "cubic"])
    where = g.random.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    rounding = {"nearest_mode": g.random.choice(NEAREST)} if mode == "nearest" else {}
    inputs = [name, "", "", g.constant(sizes)]
    g.add("Resize", inputs, tuple(sizes), mode=mode, coordinate_transformation_mode=where, **rounding)


def pad(g: Graph) -> None:
    """By the border, its mirror image, or a constant that crops on the other side."""
    if (name := g.value(1, ("float32", "int32", "int64", "float64"))) is None:
        return
    shape, mode = g.shapes[name], g.random.choice(["edge", "reflect", "constant", "wrap"])
    most = [2 if mode in ("edge", "constant") else min(2, d - 1) for d in shape]
    low, high = ([g.random.randint(0, m) for m in most] for _ in range(2))
    result = tuple(a + d + b for a, d, b in zip(low, shape, high, strict=True))
    if math.prod(result) <= MOST:
        g.add("Pad", [name, g.constant(low + high)], result, mode="constant" if mode == "wrap" else mode)


def einsum(g: Graph) -> None:
    i, j, k, b = (g.random.randint(1, 8) for _ in range(4))
    text, left, right, result = g.random.choice([
        ("bij,bjk->bik", (b, i, j), (b, j, k), (b, i, k)), ("ij,jk->ki", (i, j), (j, k), (k, i)),
        ("ij,ij->i", (i, j), (i, j), (i,)), ("i,j->ij", (i,), (j,), (i, j)),
        ("bij,kj->bik", (b, i, j), (k, j), (b, i, k)),
    ])  # fmt: skip
    kind = g.random.choice(["float32", "float64"])
    y = g.add("Einsum", [g.new(left, kind), g.new(right, kind)], result, equation=text)
    g.add("Tanh", [y], result)


def split(g: Graph) -> None:
    if name := g.value(1, ANY):
        shape = g.shapes[name]
        axis = g.random.randrange(len(shape))
        if shape[axis] > 1:
            at = g.random.randint(1, shape[axis] - 1)
            parts = [(*shape[:axis], n, *shape[axis + 1 :]) for n in (at, shape[axis] - at)]
            g.add("Split", [name, g.constant([at, shape[axis] - at])], parts[0], axis=axis)
            g.more(parts[1], g.types[name])


def blocks(g: Graph) -> None:
    n, c, h, w = g.shape(4)
    if g.random.random() < 0.5:
        g.add("SpaceToDepth", [g.new((n, c, 2 * h, 2 * w))], (n, 4 * c, h, w), blocksize=2)
    else:
        mode = g.random.choice(["DCR", "CRD"])
        g.add("DepthToSpace", [g.new((n, 4 * c, h, w))], (n, c, 2 * h, 2 * w), blocksize=2, mode=mode)


def triangle(g: Graph) -> None:
    if name := g.value(2, ("float32", "int64", "float64")):
        upper = g.random.randint(0, 1)
        g.add("Trilu", [name, g.constant(g.random.randint(-3, 3))], g.shapes[name], upper=upper)


def transposed(g: Graph) -> None:
    """A transposed convolution."""
    n, c, w = g.random.randint(1, 2), g.random.randint(1, 6), g.random.randint(1, 9)
    filters, kernel, stride = g.random.randint(1, 20), g.random.randint(1, 4), g.random.randint(1, 3)
    result = (n, filters, (w - 1) * stride + kernel)
    y = g.add("ConvTranspose", [g.new((n, c, w)), g.new((c, filters, kernel))], result, strides=[stride])
    g.add("Tanh", [y], result)


def found(g: Graph) -> None:
    """Elements that inputs choose, as many as there are; nothing reads them."""
    name, op = g.new(g.shape(g.random.randint(1, 3)), "int32"), g.random.choice(["NonZero", "Compress", "Unique"])
    shape: tuple[int | None, ...] = (None,)
    inputs, kind = [name], g.types[name]
    if op == "NonZero":
        shape, kind = (len(g.shapes[name]), None), "int64"
    if op == "Compress":
        inputs.append(g.new((math.prod(g.shapes[name]),), "bool"))
    if op == "Unique":
        inputs = [g.add("Cast", inputs, g.shapes[name], "float32", to=1)]
        kind = "float32"
    g.add(op, inputs, shape, kind, last=True)  # type: ignore[arg-type]


def recurrent(g: Graph) -> None:
    steps, batch, inputs, hidden = g.random.randint(1, 4), g.random.randint(1, 3), g.random.randint(1, 5), 4
    op, gates = g.random.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    weights = [g.new((1, gates * hidden, inputs)), g.new((1, gates * hidden, hidden))]
    g.add(op, [g.new((steps, batch, inputs)), *weights], (steps, 1, batch, hidden), hidden_size=hidden)


INDEXED: tuple[Callable[[Graph], None], ...] = (
    gather, gather, gather_elements, gather_nd, scatter, scatter, scatter_nd, one_hot, top_k, resize, resize, pad, pad,
    einsum, split, blocks, triangle, transposed, found, found, recurrent,
)  # fmt: skip
