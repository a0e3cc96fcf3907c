"""Operators that read at positions computed from data: GridSample, MaxRoiPool, MaxUnpool, Col2Im."""

from __future__ import annotations

from mlc.dialects.dims import DimLike, product
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.scatter import scattered
from mlc.frontends.onnx.ops.windows import counts
from mlc.frontends.onnx.tensors import Tensor

CUBIC = -0.75


@onnx_op("GridSample", since=16)
def grid_sample(node: Node) -> Tensor:
    """y[n, c, o…] = sum over taps of x[n, c, tap] * weight, around the position that grid[n, o…] names."""
    x, grid, build = node[0], node[1], node.build
    rank, mode = x.rank - 2, node.attr("mode", "linear").removeprefix("bi")
    padding, corners = node.attr("padding_mode", "zeros"), node.flag("align_corners", 0)
    taps = {"nearest": 1, "linear": 2, "cubic": 4}[mode]
    wide, grid = build.cast(x, "f32"), build.cast(grid, "f32")
    names = [f"i{n}" for n in range(grid.rank - 1)]
    positions = [_position(build, grid, rank - 1 - d, x.shape[2 + d], corners, padding, mode) for d in range(rank)]
    out = (x.shape[0], x.shape[1], *grid.shape[1:-1])
    here = ", ".join(["i0", *[f"i{n + 1}" for n in range(1, len(names))]])
    reads, weights = [], []
    for d in range(rank):
        at = f"x{d + 1}[{here}]"
        tap, weight = _tap(at, f"r{d}", mode)
        inside, weight = _inside(tap, weight, x.shape[2 + d], padding, corners)
        reads.append(f"i64({inside})")
        weights.append(weight)
    text = f"x0[i0, i1, {', '.join(reads)}] * " + " * ".join(f"({w})" for w in weights)
    y = build.compute(text, [wide, *positions], out, [taps] * rank, "add")
    return build.cast(y, x.element)


def _position(build: Builder, grid: Tensor, n: int, extent: DimLike, corners: int, padding: str, mode: str) -> Tensor:
    """Coordinate ``n`` of the grid, from [-1, 1] to elements; reflected or clamped for the modes that pad so."""
    part = build.reshape(build.cut(grid, -1, n, 1), grid.shape[:-1])
    size = f"f32({extent})"
    at = build.map(f"(x0 + 1) * 0.5 * ({size} - 1)" if corners else f"((x0 + 1) * {size} - 1) * 0.5", part)
    if mode == "nearest":
        at = build.map("round(x0)", at)
    if mode == "cubic" or padding == "zeros":
        return at
    if padding == "reflection":
        at = build.map(_reflected("x0", extent, corners), at)
    return build.map(f"min(max(x0, 0), {size} - 1)", at)


def _reflected(at: str, extent: DimLike, corners: int) -> str:
    """``at`` mirrored at the outer elements (corners) or at their outer edges until it lies inside."""
    low, span = ("0", f"f32(max({extent} - 1, 1))") if corners else ("-0.5", f"f32({extent})")
    return f"{low} + {span} - abs(({at} - ({low})) % (2 * {span}) - {span})"


def _tap(at: str, r: str, mode: str) -> tuple[str, str]:
    """(position, weight) of tap ``r`` of an interpolation at ``at``."""
    if mode == "nearest":
        return at, "f32(1)"
    tap = f"(floor({at}) + f32({r}{' - 1' if mode == 'cubic' else ''}))"
    distance = f"abs({at} - {tap})"
    if mode == "linear":
        return tap, f"1 - {distance}"
    a = CUBIC
    near = f"(({a + 2} * {distance} - {a + 3}) * {distance} * {distance} + 1)"
    far = f"((({a} * {distance} - {5 * a}) * {distance} + {8 * a}) * {distance} - {4 * a})"
    return tap, f"where({distance} <= 1, {near}, {far})"


def _inside(tap: str, weight: str, extent: DimLike, padding: str, corners: int) -> tuple[str, str]:
    """The tap moved inside; with zero padding its weight vanishes outside."""
    last = f"f32({extent}) - 1"
    if padding == "zeros":
        return f"min(max({tap}, 0), {last})", f"where(({tap} >= 0) & ({tap} <= {last}), {weight}, 0)"
    if padding == "reflection":
        tap = _reflected(tap, extent, corners)
    return f"min(max({tap}, 0), {last})", weight


@onnx_op("MaxUnpool", since=9)
def max_unpool(node: Node) -> Tensor:
    """Each element goes to the place that its maximum came from. ONNX opset 9, 11, 22."""
    x, positions, build = node[0], node[1], node.build
    kernel = counts(node, "kernel_shape")
    rank = len(kernel)
    strides, pads = counts(node, "strides", rank), node.attr("pads", None) or [0] * (2 * rank)
    sizes = [
        (d - 1) * s + k - pads[n] - pads[n + rank]
        for n, (d, s, k) in enumerate(zip(x.shape[2:], strides, kernel, strict=True))
    ]
    out = node.dims(2) if node.has(2) else [*x.shape[:2], *sizes]
    inner = (*x.shape[:2], *sizes)  # the positions count in this shape
    zeros = build.broadcast(build.constant(0, x.element), inner)
    y = scattered(build, zeros, build.reshape(build.cast(positions, "i64"), (product(x.shape),)), x, 1)
    return build.pad(y, [0] * y.rank, [o - i for o, i in zip(out, inner, strict=True)])


@onnx_op("Col2Im", since=18)
def col2im(node: Node) -> Tensor:
    """[N, C·k, L] columns added up where they overlap: each pixel sums the kernel offsets that reach it."""
    x, image, kernel = node[0], node.dims(1), node.dims(2)
    rank, build = len(kernel), node.build
    strides, dilations = counts(node, "strides", rank), counts(node, "dilations", rank)
    pads = node.attr("pads", None) or [0] * (2 * rank)
    windows = [
        (d + pads[n] + pads[n + rank] - dilations[n] * (kernel[n] - 1) - 1) // strides[n] + 1
        for n, d in enumerate(image)
    ]
    channels = x.shape[1] // product(kernel)
    columns = build.reshape(x, (x.shape[0], channels, *kernel, *windows))
    offset = [f"(i{n + 2} + {pads[n]} - r{n} * {dilations[n]})" for n in range(rank)]
    at = [f"min(max({o} // {s}, 0), {w - 1})" for o, s, w in zip(offset, strides, windows, strict=True)]
    valid = " & ".join(
        f"({o} >= 0) & ({o} % {s} == 0) & ({o} // {s} < {w})" for o, s, w in zip(offset, strides, windows, strict=True)
    )
    read = ", ".join(["i0", "i1", *[f"r{n}" for n in range(rank)], *at])
    return build.compute(f"where({valid}, x0[{read}], 0)", [columns], (x.shape[0], channels, *image), kernel, "add")


@onnx_op("MaxRoiPool")
def max_roi_pool(node: Node) -> Tensor:
    """Maxima over the bins of a grid in each region (Girshick, Fast R-CNN, 2015); 0 where a bin is empty. ONNX 1, 22.

    Over the rows of a bin first, then over its columns.
    """
    build, x, element = node.build, node[0], node[0].element
    rois, (height, width) = build.cast(node[1], "f32"), node.attr("pooled_shape")
    scale, least = literal(node.attr("spatial_scale", 1.0)), "f32(-inf)"
    rows = _bin_ends(build, rois, 1, height, x.shape[2], scale)
    columns = _bin_ends(build, rois, 0, width, x.shape[3], scale)
    inside = "(r0 >= x1[i0, {n}, 0]) & (r0 < x1[i0, {n}, 1])"
    image = "f32(x0[i64(x2[i0, 0]), i1, r0, i3])"
    text = f"where({inside.format(n='i2')}, {image}, {least})"
    tall = build.compute(text, [x, rows, rois], (rois.shape[0], x.shape[1], height, x.shape[3]), [x.shape[2]], "max")
    text = f"where({inside.format(n='i3')}, x0[i0, i1, i2, r0], {least})"
    y = build.compute(text, [tall, columns], (*tall.shape[:3], width), [x.shape[3]], "max")
    return build.cast(build.map(f"where(x0 == {least}, 0, x0)", y), element)


def _bin_ends(build: Builder, rois: Tensor, n: int, bins: int, extent: DimLike, scale: str) -> Tensor:
    """[regions, bins, 2]: first pixel of each bin along an axis, and the one behind its last; ``n`` is 1 for rows."""
    start, end = (f"floor(x0[i0, {c}] * {scale} + 0.5)" for c in (n + 1, n + 3))
    size = f"max({end} - {start} + 1, 1) / {float(bins)}"
    first, behind = f"floor(f32(i1) * ({size}))", f"ceil((f32(i1) + 1) * ({size}))"
    text = f"min(max(where(i2 == 0, {first}, {behind}) + {start}, 0), f32({extent}))"
    return build.cast(build.compute(text, [rois], (rois.shape[0], bins, 2)), "i64")
