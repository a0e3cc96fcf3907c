"""Cases of operators that ONNX has as well, and of others on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from contrib import Case, Data, Draw, row
from contrib_rows_quantized import window

KINDS = ("f4", "f8", "i4", "i8", "u1", "f2", "?")


def anything(d: Draw, *shape: int, kinds: tuple[str, ...] = KINDS) -> Data:
    kind = d.one(*kinds)
    return d.integers(0, 2 if kind == "?" else 9, *shape, kind=kind)


@row("GridSample")
def grid_sample(d: Draw) -> Case:
    n = d.open("batch", 1, 3)
    image = d.normal(n, d.int(1, 3), d.open("height", 2, 6), d.open("width", 2, 6))
    grid = d.uniform(-1.3, 1.3, n, d.int(1, 5), d.open("columns", 1, 5), 2)
    how = {"mode": d.one("bilinear", "nearest", "bicubic"), "padding_mode": d.one("zeros", "border", "reflection")}
    how = {k: v for k, v in how.items() if d.flip(0.8)} | {"align_corners": d.int(0, 1)}
    return Case("GridSample", [image, grid], how)


@row("Pad")
def pad(d: Draw) -> Case:
    mode, rank = d.one("constant", "reflect", "edge"), d.int(1, 3)
    shape = [d.open(f"n{n}", 4, 7) for n in range(rank)]
    amounts = [d.int(-1 if mode != "reflect" else 0, 3) for _ in range(2 * rank)]
    pads = d.given([amounts] if d.flip(0.3) else amounts, "i8", constant=d.flip(0.8))
    value = d.given(d.one(1.5, [2.5]), "f4", constant=d.flip()) if mode == "constant" and d.flip() else None
    return Case("Pad", [d.normal(*shape), pads, value], {} if mode == "constant" and d.flip() else {"mode": mode})


@row("Range")
def range_(d: Draw) -> Case:
    kind, shape = d.one("i4", "i8", "f4", "f8", "i2"), d.one((), (1,))
    low, delta = d.int(-5, 5), d.one(1, 2, -1, -3)
    delta = 1 if (absent := d.flip(0.4)) else delta
    high, constant = low + delta * d.int(-2, 6) + d.int(0, 1), d.flip()
    ends = [d.given(np.full(shape, v), kind, constant) for v in (low, high, delta)]
    return Case("Range", ends[:2] if absent else ends)


@row("Trilu")
def trilu(d: Draw) -> Case:
    x = d.normal(*[d.open("batch", 1, 3)] * d.int(0, 1), d.open("n", 1, 6), d.open("m", 1, 6), kind=d.one("f4", "f8"))
    k = d.given(d.one(d.int(-4, 4), [d.int(-4, 4)]), "i8", constant=d.flip()) if d.flip(0.8) else None
    return Case("Trilu", [x, k], {} if d.flip(0.3) else {"upper": d.int(0, 1)})


@row("Unique")
def unique(d: Draw) -> Case:
    return Case("Unique", [d.integers(0, 9, d.open("n", 1, 30, empty=0.2), kind="f4")], outputs=(True,) * 3)


@row("ExpandDims")
def expand_dims(d: Draw) -> Case:
    rank = d.int(0, 3)
    axis = d.int(-rank - 1, rank)
    x = anything(d, *[d.open(f"n{n}", 1, 4, empty=0.1) for n in range(rank)])
    return Case("ExpandDims", [x, d.given(d.one(axis, [axis]), "i4")])


@row("GatherND")
def gather_nd(d: Draw) -> Case:
    shape = [d.open(f"n{n}", 2, 5) for n in range(d.int(1, 3))]
    depth = d.int(1, len(shape))
    indices = d.integers(-2, 2, *d.one((), (3,), (2, 2)), depth, kind=d.one("i4", "i8"))
    return Case("GatherND", [anything(d, *shape), indices])


@row("SampleOp")
def sample(d: Draw) -> Case:
    return Case("SampleOp", [d.normal(d.open("n", 1, 5), 3)])


@row("ConvTransposeWithDynamicPads")
def conv_transpose_with_dynamic_pads(d: Draw) -> Case:
    groups, rank = d.int(1, 2), d.int(1, 2)
    channels, filters, kernel = groups * d.int(1, 3), d.int(1, 3), [d.int(1, 4) for _ in range(rank)]
    how: dict[str, Any] = {"group": groups, "strides": [d.int(1, 3) for _ in kernel]}
    how |= {"dilations": [d.int(1, 2) for _ in kernel]} if d.flip(0.3) else {}
    how |= {"output_padding": [d.int(0, s - 1) for s in how["strides"]]} if d.flip(0.3) else {}
    how |= {"kernel_shape": kernel} if d.flip() else {}
    space = [d.open(f"space{n}", 4, 7) for n in range(rank)]
    image, weight = d.normal(d.open("batch", 1, 3), channels, *space), d.normal(channels, filters, *kernel)
    inputs: list[Data | None] = [image, weight]
    inputs += [d.given([d.int(0, 1) for _ in range(2 * rank)], "i8", constant=d.flip())]
    inputs += [d.normal(filters * groups) if d.flip() else None]
    return Case("ConvTransposeWithDynamicPads", inputs, how)


@row("MaxpoolWithMask")
def maxpool_with_mask(d: Draw) -> Case:
    kernel = [d.int(1, 3) for _ in range(d.int(1, 3))]
    n, c, space = d.int(1, 3), d.int(1, 3), [d.int(5, 8) for _ in kernel]
    mask = d.data((d.numbers.random((*d.one((1, 1), (n, c), (1, c)), *space)) < 0.8).astype("i4"), ())
    mask = Data(mask.array, ("",) * mask.array.ndim)
    how = {"kernel_shape": kernel, **window(d, kernel, dilations=False, ceil=False)}
    return Case("MaxpoolWithMask", [d.normal(n, c, *space), mask], how)


@row("Inverse")
def inverse(d: Draw) -> Case:
    n, kind = d.int(1, 7), d.one("f4", "f8", "f2")
    outer = d.one((), (d.open("batch", 1, 4),), (2, 3))
    x = d.normal(*outer, n, n)
    away = d.data((x.array + 3 * np.eye(n)).astype(kind), (*outer, n, n))
    return Case("Inverse", [away], rtol=2e-2 if kind == "f2" else 1e-3)


@row("CDist")
def cdist(d: Draw) -> Case:
    k, kind = d.int(1, 9), d.one("f4", "f8")
    inputs = [d.normal(d.open(n, 1, 7), k, kind=kind) for n in "mn"]
    return Case("CDist", inputs, {"metric": d.one("sqeuclidean", "euclidean")} if d.flip(0.8) else {}, rtol=1e-3)


@row("UnfoldTensor")
def unfold_tensor(d: Draw) -> Case:
    rank = d.int(1, 3)
    x = anything(d, *[d.open(f"n{n}", 4, 8) for n in range(rank)], kinds=("f4", "f8", "i4", "i8"))
    how = {"size": d.int(1, 4), "step": d.int(1, 3), "dim": d.int(-rank, rank - 1)}
    return Case("UnfoldTensor", [x], {k: v for k, v in how.items() if k == "size" or d.flip(0.8)})


@row("CropAndResize")
def crop_and_resize(d: Draw) -> Case:
    n, boxes = d.int(1, 3), d.open("boxes", 1, 5)
    image = d.normal(n, d.int(1, 3), d.open("height", 2, 9), d.open("width", 2, 9))
    size = d.given([d.int(1, 5), d.int(1, 5)], "i4", constant=d.flip())
    inputs = [image, d.uniform(-0.1, 1.1, boxes, 4), d.integers(0, n, boxes), size]
    how = {"mode": d.one("bilinear", "nearest"), "extrapolation_value": d.one(0.0, -2.5)}
    return Case("CropAndResize", inputs, {k: v for k, v in how.items() if d.flip(0.8)})


@row("WordConvEmbedding")
def word_conv_embedding(d: Draw) -> Case:
    """Without words that begin with 0, for which onnxruntime leaves its output as memory was."""
    width, size, filters, length = d.int(1, 3), d.int(1, 5), d.int(1, 5), d.int(3, 7)
    words = d.integers(1, 9, d.open("words", 1, 5), length)
    ends = d.numbers.integers(1, length + 1, (len(words.array), 1))
    filled = np.where(np.arange(length) < ends, words.array, 0).astype("i4")
    weight, bias = d.normal(filters, 1, width, size), d.normal(filters)
    how = {"embedding_size": filters, "conv_window_size": width, "char_embedding_size": size}
    inputs = [Data(filled, words.names), weight, bias, d.normal(9, size)]
    return Case("WordConvEmbedding", inputs, {k: v for k, v in how.items() if d.flip()})


@row("DynamicTimeWarping")
def dynamic_time_warping(d: Draw) -> Case:
    shape = (*d.one((), (1,)), d.open("rows", 1, 9), d.open("columns", 1, 9))
    return Case("DynamicTimeWarping", [d.normal(*shape) if d.flip(0.7) else d.integers(0, 3, *shape, kind="f4")])
