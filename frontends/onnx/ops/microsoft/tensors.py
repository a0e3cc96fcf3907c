"""com.microsoft: Inverse, CDist, UnfoldTensor, CropAndResize, WordConvEmbedding, DynamicTimeWarping."""

from __future__ import annotations

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.ops.functions import ROOT
from mlc.frontends.build.ops.images.crop_and_resize import crop_and_resize
from mlc.frontends.build.ops.linalg import elimination
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.ops.signal.alignment import time_warping
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN


@onnx_op("Inverse", domain=DOMAIN)
def inverse(node: Node) -> Tensor:
    """The inverses of matrices [.., n, n]."""
    node.only()
    return elimination.inverse(node.build, node[0])


@onnx_op("CDist", domain=DOMAIN)
def cdist(node: Node) -> Tensor:
    """[M, K]: the distances of the rows of two matrices [M, N] and [K, N], or their squares."""
    node.only("metric")
    a, b, build, metric = node[0], node[1], node.build, node.attr("metric", "sqeuclidean")
    if metric not in ("sqeuclidean", "euclidean") or a.rank != 2 or b.rank != 2:
        raise NotSupported(f"metric '{metric}' of {a} and {b}; euclidean or sqeuclidean of matrices")
    difference = "(x0[i0, r0] - x1[i1, r0])"
    y = build.compute(f"{difference} * {difference}", [a, b], (a.shape[0], b.shape[0]), [a.shape[1]], "add")
    return build.map(ROOT, y) if metric == "euclidean" else y


@onnx_op("UnfoldTensor", domain=DOMAIN)
def unfold_tensor(node: Node) -> Tensor:
    """All slices of a size along a dimension, every ``step`` elements; a new last dimension holds their elements."""
    node.only("dim", "size", "step")
    x, build, size, step = node[0], node.build, node.attr("size"), node.attr("step", 1)
    axis = normalize_axis(node.attr("dim", -1), x.rank)
    if size < 1 or step < 1 or at_least(size, x.shape[axis] + 1):
        raise NotSupported(f"slices of {size} elements, every {step}, of dimension {axis} of {x}")
    build.require(x.shape[axis], size)
    reads = [f"i{n} * {step} + i{x.rank}" if n == axis else f"i{n}" for n in range(x.rank)]
    many = [(d - size) // step + 1 if n == axis else d for n, d in enumerate(x.shape)]
    return build.compute(f"x0[{', '.join(reads)}]", [x], (*many, size))


@onnx_op("CropAndResize", domain=DOMAIN)
def crop_and_resize_(node: Node) -> Tensor:
    """Boxes [R, 4] of images, resized to one size."""
    node.only("mode", "extrapolation_value")
    mode, size = node.attr("mode", "bilinear"), node.dims(3)
    if mode not in ("bilinear", "nearest") or len(size) != 2 or node[0].rank != 4:
        raise NotSupported(f"mode '{mode}', {len(size)} sizes of {node[0]}; bilinear or nearest, two of [N, C, H, W]")
    outside = node.attr("extrapolation_value", 0.0)
    return crop_and_resize(node.build, node[0], node[1], node[2], size, mode == "bilinear", outside)


@onnx_op("WordConvEmbedding", domain=DOMAIN)
def word_conv_embedding(node: Node) -> Tensor:
    """[words, filters] of characters [words, length]: a convolution over their embeddings, tanh, and its maximum.

    Characters are over 0; what fills a word up is 0, and a word that begins with it is empty: zeros.
    """
    node.only("char_embedding_size", "conv_window_size", "embedding_size")
    words, weight, bias, table, build = node[0], node[1], node[2], node[3], node.build
    filters, _, width, size = weight.shape
    given = [node.attr(a, -1) for a in ("embedding_size", "conv_window_size", "char_embedding_size")]
    if any(g not in (-1, d) for g, d in zip(given, (filters, width, size), strict=True)):
        raise NotSupported(f"sizes {given} of a convolution by {weight}")
    count = build.reduce("add", build.map("i64(x0 > 0)", words), [1])
    length = build.compute("where(x0[i0, 0] > 0, x1[i0], 0)", [words, count], count.shape)
    positions = words.shape[1] - width + 1
    build.require(positions, 1)
    char = f"where(i1 + i2 < max(x2[i0], {width}), x1[x0[i0, i1 + i2], i3], 0)"
    taps = build.compute(char, [words, table, length], (words.shape[0], positions, width, size))
    kernel = build.reshape(weight, (filters, width, size))
    y = build.contract("npwe,fwe->npf", taps, kernel)
    y = build.map("tanh(x0 + x1)", y, bias)
    value = f"where(r0 <= max(x1[i0], {width}) - {width}, x0[i0, r0, i1], -1)"
    most = build.compute(value, [y, length], (words.shape[0], filters), [positions], "max")
    return build.compute("where(x1[i0] > 0, x0[i0, i1], 0)", [most, length], most.shape)


@onnx_op("DynamicTimeWarping", domain=DOMAIN)
def dynamic_time_warping(node: Node) -> Tensor:
    """[2, L]: the rows and columns of the cheapest path through costs [M, N], or [1, M, N]."""
    node.only()
    x = node[0]
    if x.rank not in (2, 3) or (x.rank == 3 and x.shape[0] != 1):
        raise NotSupported(f"{x}; it takes [M, N] or [1, M, N]")
    return node.build.cast(time_warping(node.build, node.build.reshape(x, x.shape[-2:])), "i32")
