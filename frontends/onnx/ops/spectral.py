"""Fourier transforms as products with matrices of cosines and sines: DFT, STFT, MelWeightMatrix."""

from __future__ import annotations

import numpy as np

from mlc.dialects.dims import floordiv
from mlc.dialects.types import is_float, numpy_dtype
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import Array
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.tensors import Tensor, element_of_onnx


@onnx_op("DFT", since=20)
def dft_20(node: Node) -> Tensor:
    return _dft(node, int(node.scalar(2, -2)))


@onnx_op("DFT", since=17)
def dft_17(node: Node) -> Tensor:
    return _dft(node, node.attr("axis", 1))


def _dft(node: Node, axis: int) -> Tensor:
    """Products with matrices of cosines and sines; the last dimension holds real and imaginary parts."""
    x, build = node[0], node.build
    axis = normalise_axis(axis, x.rank)
    extent = x.shape[axis]
    wanted = node.ints(1) if node.has(1) else None
    length = wanted[0] if wanted else extent
    if not isinstance(length, int) or not isinstance(extent, int):
        raise NotSupported("a transform of symbolic length; fix it with dims={name: size}")
    inverse, onesided = node.attr("inverse", 0), node.attr("onesided", 0)
    if inverse and onesided:
        return _real_inverse(build, x, axis, wanted[0] if wanted else 2 * (extent - 1))
    if length != extent:
        x = build.pad(x, [0] * x.rank, [length - extent if n == axis else 0 for n in range(x.rank)])
    spectrum = length // 2 + 1
    real, imaginary = transform(build, x, axis, length, spectrum if onesided else length, bool(inverse))
    return build.concat([build.reshape(p, (*p.shape, 1)) for p in (real, imaginary)], -1)


def _real_inverse(build: Builder, x: Tensor, axis: int, length: int) -> Tensor:
    """The real signal of a one-sided spectrum: every bin but the first (and the middle one) counts twice."""
    bins = length // 2 + 1
    x = build.pad(x, [0] * x.rank, [bins - d if n == axis else 0 for n, d in enumerate(x.shape)])
    twice = np.full(bins, 2.0)
    twice[0] = 1
    if length % 2 == 0:
        twice[-1] = 1
    angle = angles(bins, length, length)
    letters = "abcdefghij"[: x.rank - 1]
    equation = f"{letters},{letters[axis]}z->{letters.replace(letters[axis], 'z')}"
    sums = []
    for n, wave in ((0, np.cos(angle)), (1, -np.sin(angle))):
        part = build.reshape(build.cut(x, -1, n, 1), x.shape[:-1])
        matrix = Tensor.from_known((wave * twice[:, None] / length).astype(x.dtype))
        sums.append(build.contract(equation, part, matrix))
    y = build.map("x0 + x1", *sums)
    return build.reshape(y, (*y.shape, 1))


def transform(build: Builder, x: Tensor, axis: int, length: int, bins: int, inverse: bool) -> tuple[Tensor, Tensor]:
    """Real and imaginary parts of a Fourier transform along ``axis`` of [.., 1 or 2] (real, or real and imaginary)."""
    angle = angles(length, bins, length) * (1 if inverse else -1)
    factor = 1 / length if inverse else 1.0
    cosine, sine = (Tensor.from_known((f(angle) * factor).astype(x.dtype)) for f in (np.cos, np.sin))
    parts = [build.reshape(build.cut(x, -1, n, 1), x.shape[:-1]) for n in range(2 if x.shape[-1] == 2 else 1)]
    letters = "abcdefghij"[: x.rank - 1]
    equation = f"{letters},{letters[axis]}z->{letters.replace(letters[axis], 'z')}"
    real, imaginary = build.contract(equation, parts[0], cosine), build.contract(equation, parts[0], sine)
    if len(parts) == 1:
        return real, imaginary
    crossed = build.contract(equation, parts[1], sine), build.contract(equation, parts[1], cosine)
    return build.map("x0 - x1", real, crossed[0]), build.map("x0 + x1", imaginary, crossed[1])


def angles(rows: int, columns: int, length: int) -> Array:
    """2 pi r c / length of a table of rows and columns; whole turns are dropped in integers, where nothing rounds."""
    return 2 * np.pi * (np.outer(np.arange(rows), np.arange(columns)) % length) / length


@onnx_op("STFT", since=17)
def stft(node: Node) -> Tensor:
    """[batch, frames, bins, 2]: the transforms of windowed frames, each ``frame_step`` behind the one before."""
    x, build, step, window = node[0], node.build, int(node.scalar(1)), node.get(2)
    length = int(node.scalar(3)) if node.has(3) else window.shape[0] if window is not None else None
    if not isinstance(length, int) or step < 1:
        raise NotSupported(f"frames of length {length}, {step} apart; give frame_length or a window of known length")
    if window is not None and window.shape != (length,):
        raise NotSupported(f"a window of shape {window.shape} on frames of length {length}")
    frames = floordiv(x.shape[1] - length, step) + 1
    build.require(x.shape[1], length)
    read, xs = f"x0[i0, i1*{step} + i2, i3]", [x]
    if window is not None:
        read, xs = f"{read} * x1[i2]", [x, build.cast(window, x.element)]
    cut = build.compute(read, xs, (x.shape[0], frames, length, x.shape[2]))
    bins = length // 2 + 1 if node.attr("onesided", 1) else length
    parts = transform(build, cut, 2, length, bins, inverse=False)
    return build.concat([build.reshape(p, (*p.shape, 1)) for p in parts], -1)


@onnx_op("MelWeightMatrix", since=17)
def mel_weight_matrix(node: Node) -> Tensor:
    """[dft_length / 2 + 1, num_mel_bins]: triangles that sum a spectrum into bins equally wide on the mel scale."""
    bins, length, rate = (int(node.scalar(n)) for n in range(3))
    element = element_of_onnx(node.attr("output_datatype", 1))
    edges = _mel_edges(bins, length, rate, node.scalar(3), node.scalar(4))
    table = np.zeros((length // 2 + 1, bins))
    if bins < 1 or not is_float(element) or edges[0] < 0 or edges[-1] >= len(table):
        raise NotSupported(f"{bins} bins of {element} between rows {edges[0]} and {edges[-1]} of {len(table)}")
    for n, (low, centre, high) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        table[low : centre + 1, n] = (np.arange(low, centre + 1) - low) / (centre - low) if centre > low else 1
        table[centre:high, n] = (high - np.arange(centre, high)) / max(high - centre, 1)
    return Tensor.from_known(table.astype(numpy_dtype(element)), element)


def _mel_edges(bins: int, length: int, rate: int, low: float, high: float) -> list[int]:
    """The rows of the spectrum at which the triangles begin, peak and end."""
    mels = [2595 * np.log1p(hertz / 700) / np.log(10) for hertz in (low, high)]
    at = mels[0] + np.arange(bins + 2) * (mels[1] - mels[0]) / (bins + 2)
    hertz = 700 * np.expm1(at / 2595 * np.log(10))
    return [int(v) for v in (length + 1) * hertz // rate]
