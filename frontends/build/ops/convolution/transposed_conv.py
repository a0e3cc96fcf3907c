"""Transposed convolution, as convolutions: one a phase of the output where there are strides, else one with flipped
weights."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.types import Shape
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor

FILLED = 16  # filters from which on they fill vectors by themselves


def conv_transpose(
    build: Builder,
    x: Tensor,
    w: Tensor,
    strides: Sequence[int],
    dilations: Sequence[int],
    groups: int,
    low: Sequence[DimLike],
    high: Sequence[DimLike],
) -> Tensor:
    """``low`` and ``high``: how many elements are cut from each end of the full result (negative ones are added)."""
    rank = x.rank - 2
    if any(s > 1 for s in strides) and all(d == 1 for d in dilations):
        if groups == 1 and (rows := _whole_rows(x, w, strides, low, high)):
            return _at_once(build, x, w, strides, _constants(low), rows)
        return _by_phases(build, x, w, groups, strides, low, high)
    reach = [d * (k - 1) for d, k in zip(dilations, w.shape[2:], strict=True)]
    before, after = ([0, 0, *[r - p for r, p in zip(reach, cut, strict=True)]] for cut in (low, high))
    spread = build.pad(x, before, after, interior=[0, 0, *[s - 1 for s in strides]])
    return build.conv(spread, _transposed_weight(build, w, groups), [1] * rank, dilations, groups)


def _whole_rows(
    x: Tensor, w: Tensor, strides: Sequence[int], low: Sequence[DimLike], high: Sequence[DimLike]
) -> list[int]:
    """The extents of the result divided by the strides, where all strides divide: ``graph.conv_transpose`` can
    serve.
    """
    constant = (w.store is not None or w.known is not None) and x.element in ("f32", "f64")
    constant = constant and isinstance(w.shape[1], int) and w.shape[1] >= FILLED
    sizes = zip(_full(x, w, strides), low, high, strict=True)
    extents = [f - a - b for f, a, b in sizes] if constant else []
    whole = all(isinstance(e, int) and e % s == 0 for e, s in zip(extents, strides, strict=False))
    cut = all(isinstance(a, int) and a >= 0 for a in low)
    return [e // s for e, s in zip(_constants(extents), strides, strict=False)] if whole and cut else []


def _full(x: Tensor, w: Tensor, strides: Sequence[int]) -> list[DimLike]:
    """The extents of the whole result, before it is cut."""
    return [s * (d - 1) + k for s, d, k in zip(strides, x.shape[2:], w.shape[2:], strict=True)]


def _filled(build: Builder, w: Tensor, strides: Sequence[int]) -> tuple[Tensor, list[DimLike]]:
    """The weight with zeros after it, such that each phase has equally many taps, and that number of taps."""
    taps = [-(-k // s) for k, s in zip(w.shape[2:], strides, strict=True)]
    fill = [t * s - k for t, s, k in zip(taps, strides, w.shape[2:], strict=True)]
    return build.pad(w, [0] * w.rank, [0, 0, *fill]), taps


def _constants(sizes: Sequence[DimLike]) -> list[int]:
    return [size for size in sizes if isinstance(size, int)]


def _at_once(
    build: Builder, x: Tensor, w: Tensor, strides: Sequence[int], low: Sequence[int], rows: Sequence[int]
) -> Tensor:
    """All phases of the output by one operator, each from its own taps."""
    whole, count = _filled(build, w, strides)  # [C, F, T·s…]
    taps = _constants(count)
    reach = [t - 1 for t in taps]
    needed = [r + (s - 1 + a) // s + t for r, s, a, t in zip(rows, strides, low, reach, strict=True)]
    after = [n - d - t for n, d, t in zip(needed, x.shape[2:], reach, strict=True)]
    padded = build.pad(x, [0, 0, *reach], [0, 0, *after])
    for n, (s, a, t) in enumerate(zip(strides, low, taps, strict=True)):
        whole = _phases_first(build, whole, 2 + 2 * n, s, a, t)
    axes = range(len(strides))
    phases = build.transpose(whole, [*(2 + 2 * n for n in axes), 1, 0, *(3 + 2 * n for n in axes)])
    return build.conv_transpose(padded, phases, strides, low)


def _phases_first(build: Builder, w: Tensor, axis: int, stride: int, low: int, taps: int) -> Tensor:
    """An axis of T·s taps as [s, T]: phase p has the taps (p + low) % s + s·t, the last one first."""
    before, after = w.shape[:axis], w.shape[axis + 1 :]
    split = build.reshape(w, (*before, taps, stride, *after))
    phase_major = build.transpose(split, [*range(axis), axis + 1, axis, *range(axis + 2, split.rank)])
    starts, steps = [0] * phase_major.rank, [1] * phase_major.rank
    starts[axis + 1], steps[axis + 1] = taps - 1, -1
    flipped = build.slice(phase_major, starts, phase_major.shape, steps)
    first = low % stride
    if not first:
        return flipped
    parts = [(first, stride - first), (0, first)]
    cut = [build.slice(flipped, *_range(flipped.shape, axis, start, size)) for start, size in parts]
    return build.concat(cut, axis)


def _range(shape: Shape, axis: int, start: int, size: int) -> tuple[list[int], Shape, list[int]]:
    """Starts, sizes and steps of a part of one axis."""
    return [start * (n == axis) for n in range(len(shape))], (*shape[:axis], size, *shape[axis + 1 :]), [1] * len(shape)


def _by_phases(
    build: Builder,
    x: Tensor,
    w: Tensor,
    groups: int,
    strides: Sequence[int],
    low: Sequence[DimLike],
    high: Sequence[DimLike],
) -> Tensor:
    """Output s·j + p is a convolution of its own for each phase p: all phases as channels of one, then interleaved.

    Spreading the input with zeros instead would multiply with them.
    """
    rank, filters = len(strides), w.shape[1]
    whole, count = _filled(build, w, strides)
    split = build.reshape(whole, (w.shape[0], filters, *[n for pair in zip(count, strides, strict=True) for n in pair]))
    phases = [3 + 2 * n for n in range(rank)]
    moved = build.transpose(split, [0, 1, *phases, *[p - 1 for p in phases]])
    kernel = _transposed_weight(build, build.reshape(moved, (w.shape[0], filters * product(strides), *count)), groups)
    reach = [0, 0, *[a - 1 for a in count]]
    y = build.conv(build.pad(x, reach, reach), kernel, [1] * rank, [1] * rank, groups)
    return _cropped(build, _interleaved(build, y, strides), x, w, strides, low, high)


def _interleaved(build: Builder, y: Tensor, strides: Sequence[int]) -> Tensor:
    """[N, F·s1·s2, J1, J2] as [N, F, J1·s1, J2·s2]."""
    rank, channels = len(strides), y.shape[1] // product(strides)
    split = build.reshape(y, (y.shape[0], channels, *strides, *y.shape[2:]))
    moved = build.transpose(split, [0, 1, *[n for k in range(rank) for n in (2 + rank + k, 2 + k)]])
    return build.reshape(moved, (y.shape[0], channels, *[j * s for j, s in zip(y.shape[2:], strides, strict=True)]))


def _cropped(
    build: Builder,
    y: Tensor,
    x: Tensor,
    w: Tensor,
    strides: Sequence[int],
    low: Sequence[DimLike],
    high: Sequence[DimLike],
) -> Tensor:
    after = [f - h - j for f, h, j in zip(_full(x, w, strides), high, y.shape[2:], strict=True)]
    return build.pad(y, [0, 0, *[-p for p in low]], [0, 0, *after])


def _transposed_weight(build: Builder, w: Tensor, groups: int) -> Tensor:
    """[C, F/groups, K…] as [F, C/groups, K…], flipped in space."""
    spatial = w.shape[2:]
    starts, steps = [0, 0, *[k - 1 for k in spatial]], [1, 1, *[-1] * len(spatial)]
    flipped = build.slice(w, starts, w.shape, steps) if any(k != 1 for k in spatial) else w
    split = build.reshape(flipped, (groups, w.shape[0] // groups, w.shape[1], *spatial))
    swapped = build.transpose(split, [0, 2, 1, *range(3, 3 + len(spatial))])
    return build.reshape(swapped, (groups * w.shape[1], w.shape[0] // groups, *spatial))
