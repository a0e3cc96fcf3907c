"""Axes, sizes and lengths computed at run time, of reductions, Resize, Fourier transforms and mel weights: against
onnxruntime or NumPy, at several values of one artifact."""

from __future__ import annotations

import numpy as np
import pytest
from control import FLOAT, INT64, Array, agree, ints, model, node, scalar

import mlc

RNG = np.random.default_rng(91)
X = RNG.standard_normal((4, 6)).astype(np.float32)


@pytest.mark.parametrize("op", ["ReduceL2", "ReduceMax", "ReduceMean"])
def test_a_reduction_needs_no_more_than_its_operand(op: str) -> None:
    """Along any axes: no room is needed."""
    proto = model([node(op, "x axes", "y")], {"x": (FLOAT, [1, 4, 1, 6]), "axes": (INT64, [2])}, {"y": (FLOAT, None)},
                  opset=18)  # fmt: skip
    agree(proto, *({"x": X[None, :, None], "axes": ints(*a)} for a in ((0, 1), (-1, 2), (3, 1))))
    assert mlc.compile(proto).signature["dims"] == []


@pytest.mark.parametrize("op", ["ReduceLogSumExp", "ReduceMean", "ReduceL2"])
def test_a_reduction_of_much_fits_into_memory(op: str) -> None:
    """A million elements; the square of that would not."""
    x = RNG.standard_normal((1024, 1, 1024)).astype(np.float32)
    proto = model([node(op, "x axes", "y", keepdims=0)], {"x": (FLOAT, x.shape), "axes": (INT64, [1])},
                  {"y": (FLOAT, None)}, opset=18)  # fmt: skip
    agree(proto, {"x": x, "axes": ints(0)}, {"x": x, "axes": ints(-1)}, {"x": x, "axes": ints(1)})


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize(mode: str) -> None:
    transform = {"nearest": "half_pixel", "linear": "align_corners", "cubic": "half_pixel_symmetric"}[mode]
    nodes = [
        node("Resize", "x _ _ sizes", "y", mode=mode, axes=[3], coordinate_transformation_mode=transform),
        node("Resize", "x _ scales", "z", mode=mode, axes=[2], coordinate_transformation_mode="asymmetric"),
    ]
    inputs = {"x": (FLOAT, [1, 2, 5, "w"]), "sizes": (INT64, [1]), "scales": (FLOAT, [1])}
    proto = model(nodes, inputs, dict.fromkeys("yz", (FLOAT, None)), opset=19)
    agree(proto, *(
        {"x": RNG.standard_normal((1, 2, 5, w)).astype(np.float32), "sizes": ints(s),
         "scales": np.float32([f])}
        for w, s, f in ((7, 9, 0.6), (4, 3, 1.75))
    ), rtol=2e-5)  # fmt: skip


@pytest.mark.parametrize(("inverse", "onesided"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_fourier_transforms(inverse: int, onesided: int) -> None:
    """Along a run-time axis, and with a run-time length, against NumPy."""
    how = {"inverse": inverse, "onesided": onesided}
    parts = 1 if onesided and not inverse else 2
    nodes = [node("DFT", "x _ axis", "y", **how), node("DFT", "x n", "z", **how)]
    inputs = {"x": (FLOAT, [3, 8, "w", parts]), "axis": (INT64, []), "n": (INT64, [])}
    proto = model(nodes, inputs, {"y": (FLOAT, None), "z": (FLOAT, None)}, opset=20)
    feeds, wanted = [], []
    for w, axis, n in ((5, 1, 7), (6, -2, 3), (9, 0, 9), (4, -3, 12)):
        x = RNG.standard_normal((3, 8, w, parts)).astype(np.float32)
        feeds.append({"x": x, "axis": scalar(axis), "n": scalar(n)})
        wanted.append([_fourier(x, axis if axis >= 0 else axis + 1, None, **how), _fourier(x, 2, n, **how)])
    agree(proto, *feeds, wanted=wanted, rtol=1e-4)


def test_mel_weights() -> None:
    """As the table that is made at import."""
    names = ("bins", "length", "rate", "low", "high")
    kinds = dict(zip(names, (INT64, INT64, INT64, FLOAT, FLOAT), strict=True))
    nodes = [node("MelWeightMatrix", " ".join(names), "y")]
    proto = model(nodes, {n: (kind, []) for n, kind in kinds.items()}, {"y": (FLOAT, None)})
    feeds, wanted = [], []
    for values in ((8, 16, 8192, 0, 4096), (20, 512, 16000, 20, 7600), (4, 65, 8000, 100, 3000)):
        typed = (np.float32 if kind == FLOAT else np.int64 for kind in kinds.values())
        feeds.append({n: scalar(v, t) for n, v, t in zip(names, values, typed, strict=True)})
        wanted.append([mlc.compile(model(nodes, {}, {"y": (FLOAT, None)}, feeds[-1])).run({})["y"]])
    agree(proto, *feeds, wanted=wanted, rtol=1e-6)


def _fourier(x: Array, axis: int, n: int | None, inverse: int, onesided: int) -> Array:
    wide = x.astype(np.float64)
    values = wide[..., 0] + (1j * wide[..., 1] if x.shape[-1] == 2 else 0)
    if inverse and onesided:
        return np.fft.irfft(values, n, axis)[..., None].astype(np.float32)
    y = np.fft.ifft(values, n, axis) if inverse else np.fft.fft(values, n, axis)
    y = np.take(y, range(y.shape[axis] // 2 + 1), axis) if onesided else y
    return np.stack([y.real, y.imag], -1).astype(np.float32)
