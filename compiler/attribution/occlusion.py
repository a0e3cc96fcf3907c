"""Occlusion: how the score changes where a window of the input is covered. Source: Zeiler and Fergus, "Visualizing and
understanding convolutional networks", 2013; the mean over windows is that of ``captum.attr.Occlusion``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.attribution.targets import Network, chosen, scores
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.control import scan


def occlusion(
    f: Network,
    x: Any,
    target: Any = None,
    *,
    window: Sequence[int],
    strides: Sequence[int] | int | None = None,
    baseline: Any = 0.0,
) -> Array:
    """For each element the mean of what the score loses under each window that covers it, like ``x`` [n, …].

    Args:
        f, target: as of ``saliency``; ``f`` needs no derivative.
        window: the extents of the window, one for each dimension of an example: (channels, rows, columns).
        strides: how far windows are apart; their extents by default. The last ones end with the example.
        baseline: what is put there; broadcasts to ``x``.

    Raises:
        InputError: a window of another rank, or larger than an example, or strides below 1.
    """
    given, wanted = as_array(x), chosen(f, x, target)
    shape = tuple(int(n) for n in given.shape[1:])  # type: ignore[arg-type]
    steps = tuple(window) if strides is None else (strides,) * len(shape) if isinstance(strides, int) else strides
    if len(window) != len(shape) or len(steps) != len(shape) or min(*steps, 1) < 1 or any(
        not 0 < w <= n for w, n in zip(window, shape, strict=True)
    ):  # fmt: skip
        what = f"A window {tuple(window)} with strides {tuple(steps)} does not fit examples of shape {shape}"
        raise InputError(what, hint="Give one extent and one stride for each dimension of an example")
    corners = itertools.product(*(_starts(*each) for each in zip(shape, window, steps, strict=True)))
    positions = np.array(list(corners), np.int64)
    covered = mnp.broadcast_to(as_array(baseline, given.element).astype(given.dtype), given.shape)
    before = scores(f(given), wanted)

    def add(state: tuple[Array, Array], corner: Array) -> tuple[tuple[Array, Array], None]:
        total, count = state
        inside = _inside(shape, window, corner)
        lost = before - scores(f(mnp.where(inside, covered, given)), wanted)
        wide = mnp.reshape(lost, (-1, *(1,) * len(shape)))
        return (total + mnp.where(inside, wide, 0.0).astype(total.dtype), count + inside), None

    start = (mnp.zeros_like(given), mnp.zeros(shape, dtype=mnp.int64))
    total, count = scan(add, start, positions)[0]
    return total / count.astype(total.dtype)


def _starts(extent: int, window: int, stride: int) -> range:
    """Where windows begin; the last one may go beyond the end, so that all elements are covered."""
    return range(0, extent - window + stride, stride)


def _inside(shape: Sequence[int], window: Sequence[int], corner: Array) -> Array:
    found = mnp.ones(tuple(shape), dtype=bool)
    for axis, (extent, width) in enumerate(zip(shape, window, strict=True)):
        at = mnp.reshape(mnp.arange(extent), tuple(-1 if n == axis else 1 for n in range(len(shape))))
        found = found & (at >= corner[axis]) & (at < corner[axis] + width)
    return found
