"""Fourier transforms as products with matrices of cosines and sines: DFT, STFT, MelWeightMatrix."""

from __future__ import annotations

import math

import numpy as np

from mlc.dialects.dims import DimLike, floordiv
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.types import is_float, numpy_dtype
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import Array, at_least
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.numbers import is_open
from mlc.frontends.onnx.ops.at_run_time import around, chosen_of, padded
from mlc.frontends.onnx.tensors import Tensor, element_of_onnx


@onnx_op("DFT", since=20)
def dft_20(node: Node) -> Tensor:
    axis = node.number(2, -2)
    if isinstance(axis, int):
        return _dft(node, node[0], axis)
    x, build = node[0], node.build  # as [before, along, behind, parts]
    place = build.numbers.number(f"where({axis} < 0, {axis} + 1, {axis})")
    before, along, behind = around(node, x.shape[:-1], place)
    y = _dft(node, build.reshape(x, (before, along, behind, x.shape[-1])), 1)
    new = chosen_of(place, x.rank - 1, range(x.rank - 1))
    shape = [f"where({new} == {n}, {y.shape[1]}, {d})" for n, d in enumerate(x.shape[:-1])]
    return build.reshape(y, [*(node.size(d, "an extent") for d in shape), y.shape[-1]])


@onnx_op("DFT", since=17)
def dft_17(node: Node) -> Tensor:
    return _dft(node, node[0], node.attr("axis", 1))


def _dft(node: Node, x: Tensor, axis: int) -> Tensor:
    """Products with matrices of cosines and sines; the last dimension holds real and imaginary parts."""
    build = node.build
    axis = normalise_axis(axis, x.rank)
    extent = x.shape[axis]
    wanted = node.dims(1) if node.has(1) else None
    length = wanted[0] if wanted else extent
    inverse, onesided = node.attr("inverse", 0), node.attr("onesided", 0)
    if inverse and onesided:
        return _real_inverse(node, x, axis, wanted[0] if wanted else 2 * (extent - 1))
    x = _of_length(node, x, axis, length)
    spectrum = length // 2 + 1
    real, imaginary = transform(build, x, axis, length, spectrum if onesided else length, bool(inverse))
    return build.concat([build.reshape(p, (*p.shape, 1)) for p in (real, imaginary)], -1)


def _of_length(node: Node, x: Tensor, axis: int, length: DimLike) -> Tensor:
    """``x`` with ``length`` elements along an axis: cut, or with zeros behind it."""
    more, build = length - x.shape[axis], node.build
    none, high = [0] * x.rank, [more if n == axis else 0 for n in range(x.rank)]
    if isinstance(more, int):
        return build.pad(x, none, high)
    return padded(node, x, none, high, build.constant(0, x.element))


def _real_inverse(node: Node, x: Tensor, axis: int, length: DimLike) -> Tensor:
    """The real signal of a one-sided spectrum: every bin but the first (and the middle one) counts twice."""
    build, bins = node.build, length // 2 + 1
    x = _of_length(node, x, axis, bins)
    letters = "abcdefghij"[: x.rank - 1]
    equation = f"{letters},{letters[axis]}z->{letters.replace(letters[axis], 'z')}"
    sums = []
    for n, wave in ((0, "cos"), (1, "sin")):
        part = build.reshape(build.cut(x, -1, n, 1), x.shape[:-1])
        matrix = _waves(build, wave, (bins, length), length, "bins", x)
        sums.append(build.contract(equation, part, matrix))
    y = build.map("x0 - x1", *sums)
    return build.reshape(y, (*y.shape, 1))


def _waves(
    build: Builder, wave: str, shape: tuple[DimLike, DimLike], length: DimLike, factor: str, like: Tensor
) -> Tensor:
    """[rows, columns] of ``cos`` or ``sin`` at 2 pi row column / length, times a factor; constant if all is known."""
    rows, columns = shape
    if isinstance(rows, int) and isinstance(columns, int) and isinstance(length, int):
        table = {"cos": np.cos, "sin": np.sin}[wave](angles(rows, columns, length))
        factors = {"1": 1.0, "1 / n": 1 / length, "bins": _counts(rows, length)[:, None] / length}
        return Tensor.from_known((table * factors[factor]).astype(like.dtype))
    angle = f"{2 * math.pi!r} * f64(i0*i1 % ({length})) / f64({length})"
    bins = f"where((i0 == 0) | (2*i0 == {length}), 1.0, 2.0) / f64({length})"
    factors = {"1": "1.0", "1 / n": f"1.0 / f64({length})", "bins": bins}
    return build.cast(build.compute(f"{wave}({angle}) * ({factors[factor]})", [], shape), like.element)


def _counts(bins: int, length: int) -> Array:
    """How often the bins of a one-sided spectrum count."""
    twice = np.full(bins, 2.0)
    twice[0] = 1
    if length % 2 == 0:
        twice[-1] = 1
    return twice


def transform(
    build: Builder, x: Tensor, axis: int, length: DimLike, bins: DimLike, inverse: bool
) -> tuple[Tensor, Tensor]:
    """Real and imaginary parts of a Fourier transform along ``axis`` of [.., 1 or 2] (real, or real and imaginary)."""
    factor = "1 / n" if inverse else "1"
    cosine, sine = (_waves(build, wave, (length, bins), length, factor, x) for wave in ("cos", "sin"))
    sine = sine if inverse else build.map("-x0", sine)
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
    x, build, step, window = node[0], node.build, node.number(1), node.get(2)
    length = node.dims(3)[0] if node.has(3) else window.shape[0] if window is not None else None
    if length is None or at_least(0, step):
        raise NotSupported(f"frames of length {length}, {step} apart; give frame_length or a window")
    if window is not None and window.shape != (length,) and not sizes_of([length]):
        raise NotSupported(f"a window of shape {window.shape} on frames of length {length}")
    frames = floordiv(x.shape[1] - length, step) + 1
    if is_open(step):
        text = f"where({step} < 1, -1, (({x.shape[1]}) - ({length})) // max({step}, 1) + 1)"
        frames = node.size(text, "the number of frames")
    build.require(x.shape[1], length)
    window = None if window is None else build.reshape(window, (length,))
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
    element = element_of_onnx(node.attr("output_datatype", 1))
    if any(node[n].known is None for n in range(5)):
        return node.build.cast(_open_mel(node), element)
    bins, length, rate = (int(node.scalar(n)) for n in range(3))
    edges = _mel_edges(bins, length, rate, node.scalar(3), node.scalar(4))
    table = np.zeros((length // 2 + 1, bins))
    if bins < 1 or not is_float(element) or edges[0] < 0 or edges[-1] >= len(table):
        raise NotSupported(f"{bins} bins of {element} between rows {edges[0]} and {edges[-1]} of {len(table)}")
    for n, (low, centre, high) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        table[low : centre + 1, n] = (np.arange(low, centre + 1) - low) / (centre - low) if centre > low else 1
        table[centre:high, n] = (high - np.arange(centre, high)) / max(high - centre, 1)
    return Tensor.from_known(table.astype(numpy_dtype(element)), element)


def _open_mel(node: Node) -> Tensor:
    """The same table where its parameters are computed at run time, in f64."""
    build = node.build
    bins, length = (node.size(node.number(n), f"input {n}") for n in range(2))
    rows = length // 2 + 1
    given = [build.cast(build.reshape(node[n], ()), "f64") for n in (2, 3, 4)]
    low, high = (f"2595 * log1p(x{n}[()] / 700) / {math.log(10)!r}" for n in (1, 2))
    mel = f"({low}) + f64(i0) * (({high}) - ({low})) / f64({bins} + 2)"
    hertz = f"700 * expm1(({mel}) / 2595 * {math.log(10)!r})"
    edges = build.compute(f"i64(floor(f64({length} + 1) * ({hertz}) / x0[()]))", given, (bins + 2,))
    ends = [build.numbers.of(build.reduce(fn, edges, [0])).item() for fn in ("min", "max")]
    node.check(f"where(({ends[0]} >= 0) & ({ends[1]} < {rows}), 0, -1)", "a bin reaches over the spectrum")
    first, peak, last = (f"x0[i1 + {n}]" for n in range(3))
    rising = f"where(i0 < {peak}, f64(i0 - {first}) / f64(max({peak} - {first}, 1)), 1.0)"
    falling = f"f64({last} - i0) / f64(max({last} - {peak}, 1))"
    text = f"where((i0 >= {peak}) & (i0 < {last}), {falling}, where((i0 >= {first}) & (i0 <= {peak}), {rising}, 0.0))"
    return build.compute(text, [edges], (rows, bins))


def _mel_edges(bins: int, length: int, rate: int, low: float, high: float) -> list[int]:
    """The rows of the spectrum at which the triangles begin, peak and end."""
    mels = [2595 * np.log1p(hertz / 700) / np.log(10) for hertz in (low, high)]
    at = mels[0] + np.arange(bins + 2) * (mels[1] - mels[0]) / (bins + 2)
    hertz = 700 * np.expm1(at / 2595 * np.log(10))
    return [int(v) for v in (length + 1) * hertz // rate]
