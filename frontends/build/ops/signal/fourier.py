"""Fourier transforms (DFT, STFT) as products with matrices of cosines and sines. Source: ONNX DFT 20, STFT 17."""

from __future__ import annotations

import math

import numpy as np

from mlc.dialects.semantics.dims import DimLike, floordiv
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.shapes.axes import around_axis, normalize_axis, select_at
from mlc.frontends.build.ops.shapes.pad import resize_axis
from mlc.frontends.build.runtime_scalars import is_runtime
from mlc.frontends.build.tensors import Tensor


def dft(
    build: Builder,
    x: Tensor,
    axis: DimLike,
    length: DimLike | None = None,
    inverse: bool = False,
    onesided: bool = False,
) -> Tensor:
    """[.., 2] (real and imaginary parts) along ``axis`` of [.., 1 or 2], cropped or padded to ``length``; it may be a
    run-time scalar. ``onesided``: of real signals, whose bins are conjugates of each other."""
    if isinstance(axis, int):
        return _dft(build, x, axis, length, inverse, onesided)
    last = x.rank - 1  # the axis counts it, from the end
    positive = build.scalars.from_expr(f"where({axis} < 0, {axis} + 1, {axis})")
    before, along, after = around_axis(build, x.shape[:-1], positive)
    y = _dft(build, build.reshape(x, (before, along, after, x.shape[-1])), 1, length, inverse, onesided)
    new = select_at(positive, last, range(last))
    shape = [f"where({new} == {n}, {y.shape[1]}, {d})" for n, d in enumerate(x.shape[:-1])]
    return build.reshape(y, [*(build.dim(d, "an extent") for d in shape), y.shape[-1]])


def _dft(build: Builder, x: Tensor, axis: int, length: DimLike | None, inverse: bool, onesided: bool) -> Tensor:
    axis = normalize_axis(axis, x.rank)
    extent = x.shape[axis]
    if inverse and onesided:
        return _real_inverse(build, x, axis, 2 * (extent - 1) if length is None else length)
    length = extent if length is None else length
    bins = length // 2 + 1 if onesided else length
    build.require_elements(extent, bins)
    build.require_elements(length, bins)
    x = resize_axis(build, x, axis, length)
    real, imaginary = transform(build, x, axis, length, bins, inverse)
    return build.concat([build.reshape(p, (*p.shape, 1)) for p in (real, imaginary)], -1)


def _real_inverse(build: Builder, x: Tensor, axis: int, length: DimLike) -> Tensor:
    """The real signal of a one-sided spectrum: every bin but the first (and the middle one) counts twice."""
    bins = length // 2 + 1
    x = resize_axis(build, x, axis, bins)
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
    """The weight of each bin of a one-sided spectrum: 2 where a bin stands for its conjugate too, else 1."""
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
    """2 pi r c / length of a table of rows and columns; multiples of 2 pi are dropped in integers, which are exact."""
    return 2 * np.pi * (np.outer(np.arange(rows), np.arange(columns)) % length) / length


def stft(
    build: Builder, x: Tensor, step: DimLike, length: DimLike, window: Tensor | None = None, onesided: bool = True
) -> Tensor:
    """[batch, frames, bins, 2]: the transforms of frames of ``length`` times ``window``, ``step`` elements apart.

    ``x`` [batch, n, 1 or 2]; ``step`` may be a run-time scalar.
    """
    frames = floordiv(x.shape[1] - length, step) + 1
    if is_runtime(step):
        text = f"where({step} < 1, -1, (({x.shape[1]}) - ({length})) // max({step}, 1) + 1)"
        frames = build.dim(text, "the number of frames")
    build.require(x.shape[1], length)
    window = None if window is None else build.reshape(window, (length,))
    read, xs = f"x0[i0, i1*{step} + i2, i3]", [x]
    if window is not None:
        read, xs = f"{read} * x1[i2]", [x, build.cast(window, x.element)]
    cut = build.compute(read, xs, (x.shape[0], frames, length, x.shape[2]))
    parts = transform(build, cut, 2, length, length // 2 + 1 if onesided else length, inverse=False)
    return build.concat([build.reshape(p, (*p.shape, 1)) for p in parts], -1)
