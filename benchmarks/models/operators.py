"""Models of one operator, for sweeps over shapes: `gemm_256x256x256`, `conv_3x3_s2_…`; weights are constants."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from benchmarks.models.builder import Builder
from benchmarks.models.layers import matmul

Shape = Sequence[int]


def gemm(rows: int, terms: int, columns: int, name: str = "gemm") -> onnx.ModelProto:
    """x [rows, terms] @ weight [terms, columns]."""
    b = Builder(name)
    b.output(matmul(b, b.input("x", [rows, terms]), terms, columns, "fc"), "y", [rows, columns])
    return b.model()


def product(batch: int, rows: int, terms: int, columns: int, name: str = "product") -> onnx.ModelProto:
    """`batch` products of two inputs."""
    b = Builder(name)
    y = b.op("MatMul", b.input("x", [batch, rows, terms]), b.input("w", [batch, terms, columns]))
    b.output(y, "y", [batch, rows, columns])
    return b.model()


def convolution(
    image: Shape, n_in: int, n_out: int, kernel: int, *, stride: int = 1, groups: int = 1, dilation: int = 1,
    name: str = "convolution",
) -> onnx.ModelProto:  # fmt: skip
    """A convolution with bias over an image of one to three dimensions, padded so that stride 1 keeps its size."""
    b, rank = Builder(name), len(image)
    weight = b.weight("weight", (n_out, n_in // groups, *[kernel] * rank), 1 / math.sqrt(n_in // groups * kernel**rank))
    pad = dilation * (kernel - 1) // 2
    y = b.op(
        "Conv", b.input("x", [1, n_in, *image]), weight, b.weight("bias", (n_out,), 0.1), group=groups,
        kernel_shape=[kernel] * rank, strides=[stride] * rank, pads=[pad] * 2 * rank, dilations=[dilation] * rank,
    )  # fmt: skip
    size = [(side + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for side in image]
    b.output(y, "y", [1, n_out, *size])
    return b.model()


def transposed(side: int, n_in: int, n_out: int, kernel: int, name: str = "transposed") -> onnx.ModelProto:
    """A transposed convolution of stride 2 that doubles the sides of an image."""
    b = Builder(name)
    weight = b.weight("weight", (n_in, n_out, kernel, kernel), 2 / math.sqrt(n_in * kernel**2))
    window = {"kernel_shape": [kernel] * 2, "strides": [2, 2], "pads": [(kernel - 2) // 2] * 4}
    y = b.op("ConvTranspose", b.input("x", [1, n_in, side, side]), weight, b.weight("bias", (n_out,), 0.1), **window)
    b.output(y, "y", [1, n_out, 2 * side, 2 * side])
    return b.model()


def attention(heads: int, queries: int, keys: int, size: int, name: str = "attention") -> onnx.ModelProto:
    """softmax(q kᵀ / √size) v, of inputs."""
    b = Builder(name)
    q, k, v = (b.input(x, [1, heads, n, size]) for x, n in (("q", queries), ("k", keys), ("v", keys)))
    scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2]))
    weights = b.op("Softmax", b.op("Mul", scores, b.constant(1 / math.sqrt(size))), axis=-1)
    b.output(b.op("MatMul", weights, v), "y", [1, heads, queries, size])
    return b.model()


def norm(rows: int, size: int, name: str = "norm") -> onnx.ModelProto:
    """LayerNormalization of the rows of x."""
    b = Builder(name)
    scale, bias = b.weight("weight", (size,), 0.1, mean=1.0), b.weight("bias", (size,), 0.1)
    b.output(b.op("LayerNormalization", b.input("x", [rows, size]), scale, bias, axis=-1), "y", [rows, size])
    return b.model()


def gather(rows: int, size: int, count: int, name: str = "gather") -> onnx.ModelProto:
    """Some rows of a table."""
    b = Builder(name)
    ids = b.input("ids", [count], TensorProto.INT64)
    b.output(b.op("Gather", b.weight("table", (rows, size), 1.0), ids), "y", [count, size])
    return b.model()


def resize(channels: int, side: int, mode: str, name: str = "resize") -> onnx.ModelProto:
    """An image at twice its height and width."""
    b, scales = Builder(name), np.array([1, 1, 2, 2])
    how = {"mode": mode, "coordinate_transformation_mode": "half_pixel"}
    how |= {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"} if mode == "nearest" else {}
    y = b.op("Resize", b.input("x", [1, channels, side, side]), "", b.constant(scales), **how)
    b.output(y, "y", [1, channels, 2 * side, 2 * side])
    return b.model()


def unary(op_type: str, shape: Shape, result: Shape, name: str = "unary", **attributes: object) -> onnx.ModelProto:
    """Any operator of one input."""
    b = Builder(name)
    kind = TensorProto.INT64 if op_type == "ArgMax" else TensorProto.FLOAT
    b.output(b.op(op_type, b.input("x", shape), **attributes), "y", result, kind)
    return b.model()


def top_k(shape: Shape, count: int, name: str = "top_k") -> onnx.ModelProto:
    """The greatest elements of each row, and where they are."""
    b = Builder(name)
    values, positions = b.ops("TopK", b.input("x", shape), b.integers(count), outputs=2)
    b.output(values, "values", [*shape[:-1], count])
    b.output(positions, "positions", [*shape[:-1], count], TensorProto.INT64)
    return b.model()


def running_sum(shape: Shape, axis: int, name: str = "running_sum") -> onnx.ModelProto:
    """Sums of the elements up to each one."""
    b = Builder(name)
    b.output(b.op("CumSum", b.input("x", shape), b.constant(axis, np.int64)), "y", shape)
    return b.model()


def suppression(boxes: int, classes: int, most: int, name: str = "suppression") -> onnx.ModelProto:
    """Boxes that overlap no better one, of random corners: NonMaxSuppression."""
    b = Builder(name)
    limits = [b.integers(most), b.constant([0.5]), b.constant([0.0])]
    corners, scores = b.input("boxes", [1, boxes, 4]), b.input("scores", [1, classes, boxes])
    b.output(b.op("NonMaxSuppression", corners, scores, *limits), "picks", ["count", 3], TensorProto.INT64)
    return b.model()


def unique(count: int, name: str = "unique") -> onnx.ModelProto:
    """Different numbers in order, and how often each comes; floats of two digits."""
    b = Builder(name)
    coarse = b.op("Round", b.op("Mul", b.input("x", [count]), b.constant(100.0)))
    values, _, inverse, counts = b.ops("Unique", coarse, outputs=4)
    b.output(values, "values", ["different"])
    b.output(inverse, "inverse", [count], TensorProto.INT64)
    b.output(counts, "counts", ["different"], TensorProto.INT64)
    return b.model()


def non_zero(shape: Shape, name: str = "non_zero") -> onnx.ModelProto:
    """The indices of what is greater than 0."""
    b = Builder(name)
    mask = b.op("Greater", b.input("x", shape), b.constant(0.0))
    b.output(b.op("NonZero", mask), "positions", [len(shape), "count"], TensorProto.INT64)
    return b.model()


def iterations(steps: int, rows: int, size: int, name: str = "iterations") -> onnx.ModelProto:
    """A Loop that multiplies its state by a matrix, adds the step's input, and collects what becomes of it."""
    b = Builder(name)
    x, first = b.input("x", [steps, rows, size]), b.input("first", [rows, size])
    weight = b.weight("weight", (size, size), 1 / math.sqrt(size))
    nodes = [
        helper.make_node("Gather", [x, "iteration"], ["element"]),
        helper.make_node("MatMul", ["state", weight], ["product"]),
        helper.make_node("Add", ["product", "element"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["next"]),
        helper.make_node("Identity", ["go"], ["on"]),
        helper.make_node("Identity", ["next"], ["collected"]),
    ]
    info = helper.make_tensor_value_info
    given = [
        info("iteration", TensorProto.INT64, []),
        info("go", TensorProto.BOOL, []),
        info("state", TensorProto.FLOAT, [rows, size]),
    ]
    made = [
        info("on", TensorProto.BOOL, []),
        *(info(n, TensorProto.FLOAT, [rows, size]) for n in ("next", "collected")),
    ]
    body = helper.make_graph(nodes, "body", given, made)
    last, states = b.ops("Loop", b.constant(steps, np.int64), "", first, outputs=2, body=body)
    b.output(last, "last", [rows, size])
    b.output(states, "states", [steps, rows, size])
    return b.model()
