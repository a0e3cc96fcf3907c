"""Steps of windows, normalisations, sampling and signals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from growing import MOST, Graph

REAL = ("float32", "float32", "float64")


def _image(g: Graph, rank: int | None = None) -> str:
    """A value of images: one that is there, or a new one."""
    if rank is None and g.random.random() < 0.6 and (name := g.value(3)):
        return name
    return g.new(g.shape(rank or g.random.randint(3, 4)))


def whole_window(g: Graph) -> None:
    x = _image(g)
    shape = g.shapes[x]
    op = g.random.choice(["GlobalAveragePool", "GlobalMaxPool"] + ["GlobalLpPool"] * (g.opset < 22))
    g.add(op, [x], (*shape[:2], *[1] * (len(shape) - 2)), **({"p": 2} if op == "GlobalLpPool" else {}))


def norm_pool(g: Graph) -> None:
    """The norm of a window, or of a stretched one."""
    x = g.new(tuple(d + 2 for d in g.shape(4)))
    *outer, h, w = g.shapes[x]
    kernel, strides = [g.random.randint(1, 3) for _ in "hw"], [g.random.randint(1, 2) for _ in "hw"]
    pads = [g.random.randint(0, k - 1) for k in kernel * 2]
    out = [(d + pads[n] + pads[n + 2] - kernel[n]) // strides[n] + 1 for n, d in enumerate((h, w))]
    how = {"kernel_shape": kernel, "strides": strides, "pads": pads, "p": g.random.randint(1, 3)}
    g.add("LpPool", [x], (*outer, *out), last=True, **how)


def unpooled(g: Graph) -> None:
    """The largest of windows, put back."""
    n, c, h, w = g.shape(4)
    x = g.new((n, c, 2 * h, 2 * w))
    y = g.add("MaxPool", [x], (n, c, h, w), kernel_shape=[2, 2], strides=[2, 2])
    positions = g.more((n, c, h, w), "int64")
    g.add("MaxUnpool", [y, positions], (n, c, 2 * h, 2 * w), kernel_shape=[2, 2], strides=[2, 2])


def stretched(g: Graph) -> None:
    """Windows with holes, and with borders that the operator chooses."""
    x = g.new(tuple(d + 4 for d in g.shape(4)))
    n, c, h, w = g.shapes[x]
    auto = g.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    op, k = g.random.choice(["Conv", "MaxPool", "AveragePool"]), g.random.randint(1, 3)
    dilation = g.random.randint(1, 2) if auto == "VALID" and op != "AveragePool" else 1
    stride, filters = g.random.randint(1, min(2, k)), g.random.randint(1, 9) if op == "Conv" else c
    out = [-(-d // stride) if auto[0] == "S" else (d - dilation * (k - 1) - 1) // stride + 1 for d in (h, w)]
    inputs = [x, g.new((filters, c, k, k))] if op == "Conv" else [x]
    how = {"kernel_shape": [k, k], "strides": [stride] * 2, "auto_pad": auto}
    how |= {"dilations": [dilation] * 2} if dilation > 1 else {}
    y = g.add(op, inputs, (n, filters, *out), **how)
    g.add("Tanh", [y], (n, filters, *out))


def normalised(g: Graph) -> None:
    """Over channels, images, groups or neighbours."""
    x = _image(g)
    shape = g.shapes[x]
    c, ops = shape[1], ["InstanceNormalization", "BatchNormalization", "LRN", "LpNormalization"]
    op = g.random.choice(ops + ["GroupNormalization"] * (g.opset >= 21) + ["RMSNormalization"] * (g.opset >= 23))
    if op == "BatchNormalization":
        positive = g.add("Exp", [g.new((c,))], (c,))
        g.add(op, [x, *(g.new((c,)) for _ in range(3)), positive], shape, epsilon=0.1)
    elif op == "InstanceNormalization":
        g.add(op, [x, g.new((c,)), g.new((c,))], shape, epsilon=0.1)
    elif op == "GroupNormalization":
        groups = g.random.choice([d for d in range(1, c + 1) if c % d == 0])
        g.add(op, [x, g.new((c,)), g.new((c,))], shape, epsilon=0.1, num_groups=groups)
    elif op == "RMSNormalization":
        axis = g.random.randint(-len(shape), -1)
        g.add(op, [x, g.new(shape[axis:])], shape, axis=axis, epsilon=0.1)
    elif op == "LRN":
        g.add(op, [g.new(g.shape(4))], g.shapes[next(reversed(g.shapes))], size=g.random.choice([1, 3, 5]), alpha=0.1)
    else:
        g.add(op, [g.ranged(0.5, 2, shape)], shape, axis=g.random.randint(0, len(shape) - 1), p=g.random.randint(1, 2))


def mean_variance(g: Graph) -> None:
    x = g.new(tuple(d + 1 for d in g.shape(4)))
    g.add("MeanVarianceNormalization", [x], g.shapes[x], axes=[0, 2, 3])


def grid(g: Graph) -> None:
    """Samples of an image at computed indices."""
    if g.opset < 20:
        return
    n, c, h, w, oh, ow = (g.random.randint(1, 6) for _ in range(6))
    mode, border = g.random.choice(["linear", "nearest", "cubic"]), g.random.choice(["zeros", "border", "reflection"])
    at = g.ranged(-1.2, 1.2, (n, oh, ow, 2))
    how = {"mode": mode, "padding_mode": border, "align_corners": g.random.randint(0, 1)}
    g.add("GridSample", [g.new((n, c, h, w)), at], (n, c, oh, ow), last=mode == "nearest", **how)


def regions(g: Graph) -> None:
    if g.opset >= 22:  # where onnxruntime has none
        return
    n, c, h, w, count = *(g.random.randint(1, 4) for _ in range(2)), *(g.random.randint(3, 9) for _ in range(3))
    corner = g.numpy().uniform(0, 4, (count, 2))
    boxes = np.concatenate([corner, corner + g.numpy().uniform(0.5, 5, (count, 2))], 1).astype("f4")
    batch = g.constant(g.numpy().integers(0, n, count))
    mode, ratio = g.random.choice([("avg", 0), ("avg", 1), ("avg", 2), ("max", 1)])
    out = [g.random.randint(1, 3) for _ in "hw"]
    how = {"mode": mode, "sampling_ratio": ratio, "output_height": out[0], "output_width": out[1]}
    g.add("RoiAlign", [g.new((n, c, h, w)), g.constant(boxes), batch], (count, c, *out), **how)


def largest_of_regions(g: Graph) -> None:
    if g.opset >= 22:  # where onnxruntime has none
        return
    n, c, h, w, count = *(g.random.randint(1, 4) for _ in range(2)), *(g.random.randint(3, 9) for _ in range(3))
    corner = g.numpy().integers(0, 3, (count, 2))
    boxes = [g.numpy().integers(0, n, (count, 1)), corner, corner + g.numpy().integers(0, 5, (count, 2))]
    out = [g.random.randint(1, 3) for _ in "hw"]
    inputs = [g.new((n, c, h, w)), g.constant(np.concatenate(boxes, 1).astype("f4"))]
    g.add("MaxRoiPool", inputs, (count, c, *out), pooled_shape=out, spatial_scale=g.random.choice([1.0, 0.5]))


def deformed(g: Graph) -> None:
    if g.opset < 19:
        return
    n, c, h, w, filters, k = 1, g.random.randint(1, 4), 5, 6, g.random.randint(1, 5), 2
    out = (h - k + 1, w - k + 1)
    offsets = g.ranged(-1, 1, (n, 2 * k * k, *out))
    y = g.add("DeformConv", [g.new((n, c, h, w)), g.new((filters, c, k, k)), offsets], (n, filters, *out))
    g.add("Tanh", [y], (n, filters, *out))


def columns(g: Graph) -> None:
    """Images of blocks that overlap."""
    n, c, h, w = (g.random.randint(1, 4) for _ in range(4))
    blocks = g.new((n, c * 4, h * w))
    inputs = [blocks, g.constant([h + 1, w + 1]), g.constant([2, 2])]
    g.add("Col2Im", inputs, (n, c, h + 1, w + 1))


def determinant(g: Graph) -> None:
    size, outer = g.random.randint(1, 4), g.shape(g.random.randint(0, 2))
    g.add("Det", [g.new((*outer, size, size))], outer, last=True)


def transform(g: Graph) -> None:
    """Fourier's, of whole rows or of windows."""
    n, length, parts = g.random.randint(1, 3), g.random.randint(2, 12), g.random.randint(1, 2)
    if g.random.random() < 0.5 and g.opset >= 20:
        inverse = g.random.randint(0, 1)
        one = 1 - inverse if parts == 1 else 0
        out = length // 2 + 1 if one else length
        if parts == 2 or not inverse:
            inputs = [g.new((n, length, parts)), "", g.constant(1)]
            g.add("DFT", inputs, (n, out, 2), inverse=inverse, onesided=one, last=True)
    else:
        step, size = g.random.randint(1, 4), g.random.choice([4, 8])
        x = g.new((n, length + size, 1))
        shape = (n, length // step + 1, size // 2 + 1, 2)
        g.add("STFT", [x, g.constant(step), g.new((size,))], shape, onesided=1, last=True)


def windowed(g: Graph) -> None:
    op, size = g.random.choice(["HannWindow", "HammingWindow", "BlackmanWindow"]), g.random.randint(2, 12)
    g.add(op, [g.constant(size)], (size,), "float32", periodic=g.random.randint(0, 1), last=True)


def mel(g: Graph) -> None:
    values = [g.constant(np.int64(8)), g.constant(np.int64(16)), g.constant(np.int64(8000))]
    limits = [g.constant(np.float32(100)), g.constant(np.float32(3000))]
    g.add("MelWeightMatrix", values + limits, (9, 8), "float32", last=True)


def reversed_rows(g: Graph) -> None:
    x = g.new(g.shape(g.random.randint(2, 3)))
    steps, batch = g.shapes[x][:2]
    lengths = g.constant(g.numpy().integers(1, steps + 1, batch))
    g.add("ReverseSequence", [x, lengths], g.shapes[x], time_axis=0, batch_axis=1)


def upsampled(g: Graph) -> None:
    """By factors, of two dimensions or by the nearest of all."""
    x = g.new(g.shape(4))
    factors, mode = (
        [1, 1, g.random.choice([1.5, 2, 3]), g.random.choice([0.75, 2])],
        g.random.choice(["nearest", "linear"]),
    )
    result = tuple(math.floor(d * f) for d, f in zip(g.shapes[x], factors, strict=True))
    if 0 < math.prod(result) <= MOST:
        how = {"coordinate_transformation_mode": g.random.choice(["half_pixel", "asymmetric"]), "mode": mode}
        g.add("Resize", [x, "", g.constant(np.float32(factors))], result, last=mode == "nearest", **how)


def boxes(g: Graph) -> None:
    """Boxes that overlap little; as many as there are."""
    count, classes = g.random.randint(1, 9), g.random.randint(1, 3)
    corner = g.numpy().uniform(0, 4, (1, count, 2))
    positions = np.concatenate([corner, corner + g.numpy().uniform(0.5, 3, (1, count, 2))], 2).astype("f4")
    scores = g.new((1, classes, count))
    limits = [g.constant(np.int64(3)), g.constant(np.float32(0.4)), g.constant(np.float32(0.1))]
    g.add("NonMaxSuppression", [g.constant(positions), scores, *limits], (None, 3), "int64", last=True)  # type: ignore


def written(g: Graph) -> None:
    """A cache with new rows in it."""
    if g.opset >= 24:
        n, h, rows, size, new = (g.random.randint(1, 5) for _ in range(5))
        cache, at = g.new((n, h, rows + new, size)), g.constant(g.numpy().integers(0, rows + 1, n))
        g.add("TensorScatter", [cache, g.new((n, h, new, size)), at], g.shapes[cache], axis=2)


def grams(g: Graph) -> None:
    how = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": g.random.randint(0, 2)}
    how |= {"ngram_counts": [0, 3], "pool_int64s": [1, 2, 3, 1, 2, 2, 3], "ngram_indexes": [3, 0, 2, 1, 4]}
    x = g.constant(g.numpy().integers(0, 4, (g.random.randint(1, 3), 9)))
    g.add("TfIdfVectorizer", [x], (g.constants[-1].dims[0], 5), "float32", mode=g.random.choice(["TF", "IDF"]), **how)


def recurrent(g: Graph) -> None:
    """In both directions, with biases and initial states."""
    steps, batch, inputs, hidden = (g.random.randint(1, 4) for _ in range(4))
    op, gates = g.random.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    way = g.random.choice(["forward", "reverse", "bidirectional"])
    ways = 1 + (way == "bidirectional")
    weights = [g.new((ways, gates * hidden, inputs)), g.new((ways, gates * hidden, hidden))]
    rest = [g.new((ways, 2 * gates * hidden)), "", g.new((ways, batch, hidden))][: g.random.choice([0, 1, 3])]
    how = {"hidden_size": hidden, "direction": way} | ({"linear_before_reset": 1} if op == "GRU" else {})
    g.add(op, [g.new((steps, batch, inputs)), *weights, *rest], (steps, ways, batch, hidden), **how)
    g.more((ways, batch, hidden), "float32")


WINDOWS: tuple[Callable[[Graph], None], ...] = (
    whole_window, norm_pool, unpooled, stretched, stretched, normalised, normalised, normalised, mean_variance, grid,
    grid, regions, largest_of_regions, deformed, columns, determinant, transform, windowed, mel, reversed_rows,
    upsampled, upsampled, boxes, written, grams, recurrent, recurrent,
)  # fmt: skip
