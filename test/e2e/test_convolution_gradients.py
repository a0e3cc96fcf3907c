"""Gradients of convolutions on blocked layouts, beside sums over windows in float64."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn

Array = np.ndarray[Any, Any]
# batch, channels, filters, height, width, kernel, stride, padding, groups
CASES = {
    "3x3": (3, 20, 36, 9, 11, 3, 1, 1, 1),
    "3x3 of stride 2": (5, 32, 24, 11, 8, 3, 2, 1, 1),
    "4x4 of stride 3": (3, 20, 33, 13, 10, 4, 3, 2, 1),
    "2x2 of stride 3": (2, 16, 24, 9, 11, 2, 3, 0, 1),
    "5x5 of stride 2": (2, 17, 16, 7, 12, 5, 2, 2, 1),
    "1x1": (4, 24, 40, 7, 5, 1, 1, 0, 1),
    "1x1 of stride 2": (2, 48, 33, 10, 7, 1, 2, 0, 1),
    "groups": (3, 32, 64, 7, 7, 3, 1, 1, 2),
    "3x3 of many images": (16, 20, 36, 19, 14, 3, 1, 1, 1),
    "groups of stride 2": (3, 32, 64, 9, 8, 3, 2, 1, 2),
    "depthwise": (3, 40, 40, 9, 11, 3, 1, 1, 40),
    "depthwise of stride 2": (5, 32, 32, 11, 8, 3, 2, 1, 32),
    "depthwise 5x5": (2, 33, 33, 8, 8, 5, 1, 2, 33),
}


@pytest.mark.parametrize("case", CASES)
def test_against_float64(case: str) -> None:
    batch, channels, filters, height, width, kernel, stride, pad, groups = CASES[case]
    random = np.random.default_rng()
    x = random.normal(size=(batch, channels, height, width)).astype(np.float32)
    u = random.normal(size=(channels, channels, 1, 1)).astype(np.float32)
    w = random.normal(size=(filters, channels // groups, kernel, kernel)).astype(np.float32)

    def loss(x: Any, u: Any, w: Any) -> Any:
        y = nn.conv(nn.conv(x, u), w, strides=stride, padding=pad, groups=groups)
        return mnp.sum(y * y) / 2

    found = mlc.jit(mlc.grad(loss, argnums=(0, 1, 2)))(x, u, w)
    for one, other in zip(found, reference(x, u, w, stride, pad, groups), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=4e-6 * np.abs(other).max())


def test_threads_do_not_change_a_bit() -> None:
    """Of the derivative by filters from fewer products."""
    random = np.random.default_rng()
    x = random.normal(size=(17, 32, 15, 18)).astype(np.float32)
    w = random.normal(size=(64, 32, 3, 3)).astype(np.float32)

    def loss(w: Any, x: Any) -> Any:
        y = nn.conv(x, w, padding=1)
        return mnp.sum(y * y) / 2

    assert "winograd_taps" in mlc.jit(mlc.grad(loss)).ir("layout", w, x)
    first, *others = (np.asarray(mlc.jit(mlc.grad(loss), threads=threads)(w, x)) for threads in (1, 2, 4))
    for other in others:
        np.testing.assert_array_equal(first, other)


def reference(x: Array, u: Array, w: Array, stride: int, pad: int, groups: int) -> tuple[Array, Array, Array]:
    """Gradients of half the squares of a convolution by w, of a 1x1 convolution of x by u, in float64."""
    x, u, w = (each.astype(np.float64) for each in (x, u[:, :, 0, 0], w))
    v = np.pad(np.einsum("dc,nchw->ndhw", u, x), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    size = w.shape[-1]
    windows = np.lib.stride_tricks.sliding_window_view(v, (size, size), (2, 3))[:, :, ::stride, ::stride]
    split = windows.reshape(len(x), groups, -1, *windows.shape[2:])
    filters = w.reshape(groups, -1, *w.shape[1:])
    bar = np.einsum("ngchwkl,gfckl->ngfhw", split, filters, optimize=True)
    of_w = np.einsum("ngchwkl,ngfhw->gfckl", split, bar, optimize=True).reshape(w.shape)
    of_v, rows, columns = np.zeros_like(v), *windows.shape[2:4]
    for k in range(size):
        for m in range(size):
            part = np.einsum("ngfhw,gfc->ngchw", bar, filters[..., k, m], optimize=True).reshape(*v.shape[:2], rows, -1)
            of_v[:, :, k : k + stride * rows : stride, m : m + stride * columns : stride] += part
    of_v = of_v[:, :, pad : pad + x.shape[2], pad : pad + x.shape[3]]
    return np.einsum("dc,ndhw->nchw", u, of_v), np.einsum("ndhw,nchw->dc", of_v, x)[:, :, None, None], of_w


@pytest.mark.parametrize(("case", "taps"), {"3x3 of stride 2": [1, 2, 2, 4], "2x2 of stride 3": [1] * 4,
                                            "depthwise of stride 2": [1, 2, 2, 4],
                                            "1x1 of stride 2": [1]}.items())  # fmt: skip
def test_each_phase_of_a_stride_has_its_own_taps(case: str, taps: list[int]) -> None:
    """The derivative by the image multiplies with no zeros."""
    batch, channels, filters, height, width, kernel, stride, pad, groups = CASES[case]

    def loss(x: Any, w: Any) -> Any:
        y = nn.conv(x, w, strides=stride, padding=pad, groups=groups)
        return mnp.sum(y * y)

    shapes = (batch, channels, height, width), (filters, channels // groups, kernel, kernel)
    specs = [mlc.TensorSpec("float32", shape) for shape in shapes]
    text = mlc.jit(mlc.grad(loss)).ir("graph", *specs)
    _, *found = re.findall(r"graph\.conv\(.*, tensor<(\d+)x(\d+)x(\d+)x(\d+)x", text)
    assert sorted(int(rows) * int(columns) for *_, rows, columns in found) == taps


BLOCKS = {"3x3": "graph.winograd_points", "3x3 of stride 2": "bAcd8a", "1x1": "bAcd8a",
          "1x1 of stride 2": "bAcd8a", "depthwise": "graph.compute"}  # fmt: skip


@pytest.mark.parametrize(("case", "layout"), BLOCKS.items())
def test_filters_read_blocks(case: str, layout: str) -> None:
    """The image and the adjoint are read in the blocks that they have: nothing moves them to the plain layout."""
    batch, channels, filters, height, width, kernel, stride, pad, groups = CASES[case]

    def loss(x: Any, w: Any) -> Any:
        y = nn.conv(mnp.maximum(x, 0), w, strides=stride, padding=pad, groups=groups)
        return mnp.sum(y * y)

    shapes = (batch, channels, height, width), (filters, channels // groups, kernel, kernel)
    specs = [mlc.TensorSpec("float32", shape) for shape in shapes]
    text = mlc.jit(mlc.grad(loss, argnums=1), target="x86-64-v3").ir("layout", *specs)
    assert layout in text
