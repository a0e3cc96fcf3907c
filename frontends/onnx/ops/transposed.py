"""Transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.dims import DimLike, product
from mlc.dialects.types import Shape
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.contract import biased
from mlc.frontends.onnx.ops.windows import counts
from mlc.frontends.onnx.tensors import Tensor

FILLED = 16  # filters from which on they fill vectors without the phases beside them


@onnx_op("ConvTranspose")
def conv_transpose(node: Node) -> Tensor:
    """As convolutions: one a phase of the output where there are strides, else one with flipped weights."""
    x, w, rank, build = node[0], node[1], node[0].rank - 2, node.build
    groups = node.attr("group", 1)
    strides, dilations = counts(node, "strides", rank), counts(node, "dilations", rank)
    low, high = _transposed_pads(node, w.shape[2:], strides, dilations)
    if any(s > 1 for s in strides) and all(d == 1 for d in dilations):
        if groups == 1 and (rows := _whole_rows(x, w, strides, low, high)):
            return biased(build, _at_once(build, x, w, strides, _numbers(low), rows), node.get(2))
        return biased(build, _by_phases(build, x, w, groups, strides, low, high), node.get(2))
    reach = [d * (k - 1) for d, k in zip(dilations, w.shape[2:], strict=True)]
    before, behind = ([0, 0, *[r - p for r, p in zip(reach, cut, strict=True)]] for cut in (low, high))
    spread = build.pad(x, before, behind, interior=[0, 0, *[s - 1 for s in strides]])
    y = build.conv(spread, _transposed_weight(build, w, groups), [1] * rank, dilations, groups)
    return biased(build, y, node.get(2))


def _whole_rows(
    x: Tensor, w: Tensor, strides: Sequence[int], low: Sequence[DimLike], high: Sequence[DimLike]
) -> list[int]:
    """The extents of the result over the strides, where ``graph.conv_transpose`` serves: constant ones that divide."""
    constant = (w.store is not None or w.known is not None) and x.element in ("f32", "f64")
    constant = constant and isinstance(w.shape[1], int) and w.shape[1] >= FILLED
    sizes = zip(_full(x, w, strides), low, high, strict=True)
    extents = [f - a - b for f, a, b in sizes] if constant else []
    whole = all(isinstance(e, int) and e % s == 0 for e, s in zip(extents, strides, strict=False))
    cut = all(isinstance(a, int) and a >= 0 for a in low)
    return [e // s for e, s in zip(_numbers(extents), strides, strict=False)] if whole and cut else []


def _full(x: Tensor, w: Tensor, strides: Sequence[int]) -> list[DimLike]:
    """The extents of the whole result, before it is cut."""
    return [s * (d - 1) + k for s, d, k in zip(strides, x.shape[2:], w.shape[2:], strict=True)]


def _filled(build: Builder, w: Tensor, strides: Sequence[int]) -> tuple[Tensor, list[DimLike]]:
    """The weight with zeros behind, so that each phase has as many taps, and their number."""
    taps = [-(-k // s) for k, s in zip(w.shape[2:], strides, strict=True)]
    fill = [t * s - k for t, s, k in zip(taps, strides, w.shape[2:], strict=True)]
    return build.pad(w, [0] * w.rank, [0, 0, *fill]), taps


def _numbers(sizes: Sequence[DimLike]) -> list[int]:
    return [size for size in sizes if isinstance(size, int)]


def _at_once(
    build: Builder, x: Tensor, w: Tensor, strides: Sequence[int], low: Sequence[int], rows: Sequence[int]
) -> Tensor:
    """All phases of the output by one operator, each from the taps that meet in it."""
    whole, count = _filled(build, w, strides)  # [C, F, T·s…]
    taps = _numbers(count)
    reach = [t - 1 for t in taps]
    needed = [r + (s - 1 + a) // s + t for r, s, a, t in zip(rows, strides, low, reach, strict=True)]
    behind = [n - d - t for n, d, t in zip(needed, x.shape[2:], reach, strict=True)]
    padded = build.pad(x, [0, 0, *reach], [0, 0, *behind])
    for n, (s, a, t) in enumerate(zip(strides, low, taps, strict=True)):
        whole = _phases_first(build, whole, 2 + 2 * n, s, a, t)
    axes = range(len(strides))
    phases = build.transpose(whole, [*(2 + 2 * n for n in axes), 1, 0, *(3 + 2 * n for n in axes)])
    return build.conv_transpose(padded, phases, strides, low)


def _phases_first(build: Builder, w: Tensor, axis: int, stride: int, low: int, taps: int) -> Tensor:
    """An axis of T·s taps as [s, T]: phase p has the taps (p + low) % s + s·t, the last one first."""
    before, behind = w.shape[:axis], w.shape[axis + 1 :]
    split = build.reshape(w, (*before, taps, stride, *behind))
    turned = build.transpose(split, [*range(axis), axis + 1, axis, *range(axis + 2, split.rank)])
    starts, steps = [0] * turned.rank, [1] * turned.rank
    starts[axis + 1], steps[axis + 1] = taps - 1, -1
    flipped = build.slice(turned, starts, turned.shape, steps)
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
    behind = [f - h - j for f, h, j in zip(_full(x, w, strides), high, y.shape[2:], strict=True)]
    return build.pad(y, [0, 0, *[-p for p in low]], [0, 0, *behind])


def _transposed_weight(build: Builder, w: Tensor, groups: int) -> Tensor:
    """[C, F/groups, K…] as [F, C/groups, K…], flipped in space."""
    spatial = w.shape[2:]
    starts, steps = [0, 0, *[k - 1 for k in spatial]], [1, 1, *[-1] * len(spatial)]
    flipped = build.slice(w, starts, w.shape, steps) if any(k != 1 for k in spatial) else w
    split = build.reshape(flipped, (groups, w.shape[0] // groups, w.shape[1], *spatial))
    swapped = build.transpose(split, [0, 2, 1, *range(3, 3 + len(spatial))])
    return build.reshape(swapped, (groups * w.shape[1], w.shape[0] // groups, *spatial))


def _transposed_pads(
    node: Node, kernel: Sequence[DimLike], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[list[DimLike], list[DimLike]]:
    """How much of the full result is cut at each end (output padding is a negative cut)."""
    rank, x = len(strides), node[0]
    extra = node.attr("output_padding", [0] * rank)
    full = [
        s * (d - 1) + e + (k - 1) * by + 1
        for s, d, e, k, by in zip(strides, x.shape[2:], extra, kernel, dilations, strict=True)
    ]
    wanted, auto = node.attr("output_shape", None), node.attr("auto_pad", "NOTSET")
    if wanted is None and auto.startswith("SAME"):
        wanted = [s * d for s, d in zip(strides, x.shape[2:], strict=True)]
    if wanted is None:
        pads = node.attr("pads", None) or [0] * (2 * rank)
        return pads[:rank], [p - e for p, e in zip(pads[rank:], extra, strict=True)]
    total = [f - w for f, w in zip(full, wanted[-rank:], strict=True)]
    if any(not isinstance(t, int) for t in total):
        raise NotSupported("output_shape with symbolic dimensions")
    small, big = [t // 2 if t >= 0 else t for t in total], [t - t // 2 if t >= 0 else 0 for t in total]
    low, high = (small, big) if auto == "SAME_UPPER" else (big, small)
    return low, [h - e for h, e in zip(high, extra, strict=True)]
