"""Pooling operators."""

from __future__ import annotations

from mlc.dialects.dims import product
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.reduce import lowest, mean_over
from mlc.frontends.onnx.ops.windows import Window, counts
from mlc.frontends.onnx.tensors import Tensor


def _window(node: Node) -> Window:
    x, kernel = node[0], counts(node, "kernel_shape")
    if len(kernel) != x.rank - 2:
        raise NotSupported(f"a window of {len(kernel)} dimensions over a tensor of rank {x.rank}")
    return Window.of(node, x.shape[2:], kernel)


@onnx_op("MaxPool")
def max_pool(node: Node) -> Tensor | tuple[Tensor, Tensor]:
    window = _window(node)
    padded = window.padded(node.build, node[0], lowest(node[0].element))
    y = node.build.pool("max", padded, window.kernel, window.strides, window.dilations)
    return (y, _max_positions(node, window, padded, y)) if node.wants(1) else y


def _max_positions(node: Node, window: Window, padded: Tensor, y: Tensor) -> Tensor:
    """Where in the flattened input each maximum stands (the first of equals)."""
    x, rank = node[0], len(window.kernel)
    inside = [
        f"(i{n + 2}*{s} + r{n}*{d} - ({p}))"
        for n, (s, d, p) in enumerate(zip(window.strides, window.dilations, window.low, strict=True))
    ]
    at = ["i0", "i1", *[f"{t} + ({p})" for t, p in zip(inside, window.low, strict=True)]]
    order = range(rank) if node.flag("storage_order", 0) == 0 else reversed(range(rank))
    flat, total = f"i0*({x.shape[1]}) + i1", product(x.shape)
    for n in order:
        flat = f"({flat})*({x.shape[2 + n]}) + {inside[n]}"
    valid = " & ".join(f"({t} >= 0) & ({t} < {d})" for t, d in zip(inside, x.shape[2:], strict=True))
    here = ", ".join(f"i{n}" for n in range(x.rank))
    text = f"where((x0[{', '.join(at)}] == x1[{here}]) & {valid}, {flat}, {total})"
    return node.build.compute(text, [padded, y], y.shape, window.kernel, "min")


@onnx_op("AveragePool")
def average_pool(node: Node) -> Tensor:
    window, build = _window(node), node.build
    padded = window.padded(build, build.wide(node[0]), "0")
    total = build.pool("add", padded, window.kernel, window.strides, window.dilations)
    return build.cast(_averaged(node, window, total), node[0].element)


def _averaged(node: Node, window: Window, total: Tensor) -> Tensor:
    include = node.flag("count_include_pad", 0)
    uneven = [e for e in window.extra if e != 0] or (
        [p for p in (*window.low, *window.high) if p != 0] if not include else []
    )
    if not uneven:
        return node.build.map(f"x0 * {literal(1 / product(window.kernel))}", total)  # type: ignore[operator]
    for n in range(len(window.kernel)):
        shares = _shares(node, window, n, total, include)
        total = node.build.map(
            "x0 * x1", total, node.build.reshape(shares, (*shares.shape, *[1] * (len(window.kernel) - n - 1)))
        )
    return total


def _shares(node: Node, window: Window, n: int, total: Tensor, include: int) -> Tensor:
    """One by how many elements a window covers along spatial dimension ``n``, as products take less than divisions."""
    extent, k, d = node[0].shape[2 + n], window.kernel[n], window.dilations[n]
    first, behind = (-window.low[n], extent + window.high[n]) if include else (0, extent)
    start = f"(i0*{window.strides[n]} - ({window.low[n]}))"
    skipped = f"max(0, -(({start} - ({first})) // {d}))"
    end = f"min({k}, -(({start} - ({behind})) // {d}))"
    return node.build.compute(f"1 / {total.element}({end} - {skipped})", [], (total.shape[2 + n],))


@onnx_op("LpPool")
def lp_pool(node: Node) -> Tensor:
    window, build, p = _window(node), node.build, node.attr("p", 2)
    powers = build.map("x0 * x0" if p == 2 else f"abs(x0) ** {float(p)!r}", build.wide(node[0]))
    total = build.pool("add", window.padded(build, powers, "0"), window.kernel, window.strides, window.dilations)
    return build.cast(_root(build, total, p), node[0].element)


def _root(build: Builder, total: Tensor, p: float) -> Tensor:
    return build.map("sqrt(x0)" if p == 2 else f"x0 ** {1 / p!r}", total)


def _spatial(x: Tensor) -> list[int]:
    return list(range(2, x.rank))


@onnx_op("GlobalAveragePool")
def global_average_pool(node: Node) -> Tensor:
    return mean_over(node.build, node[0], _spatial(node[0]), keepdims=True)


@onnx_op("GlobalMaxPool")
def global_max_pool(node: Node) -> Tensor:
    return node.build.reduce("max", node[0], _spatial(node[0]), keepdims=True)


@onnx_op("GlobalLpPool")
def global_lp_pool(node: Node) -> Tensor:
    build, p = node.build, node.attr("p", 2)
    powers = build.map("x0 * x0" if p == 2 else f"abs(x0) ** {float(p)!r}", build.wide(node[0]))
    return build.cast(_root(build, build.reduce("add", powers, _spatial(powers), keepdims=True), p), node[0].element)
