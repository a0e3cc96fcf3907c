"""Resize and Upsample."""

from __future__ import annotations

from typing import cast

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.images.interpolation import Interpolation
from mlc.frontends.build.ops.images.resize import keep_ratio, resize
from mlc.frontends.build.ops.images.runtime_resize import runtime_resize
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Upsample")
def upsample(node: Node) -> Tensor:
    how = Interpolation(node.attr("mode", "nearest"), "asymmetric")
    if node.opset < 9:
        return resize(node.build, node[0], range(node[0].rank), node.attr("scales"), None, None, how)
    return _scaled(node, how)


@onnx_op("Resize", since=10)
def resize_10(node: Node) -> Tensor:
    return _scaled(node, Interpolation(node.attr("mode", "nearest"), "asymmetric"))


def _scaled(node: Node, how: Interpolation) -> Tensor:
    """All dimensions by the scales of input 1."""
    x, build = node[0], node.build
    if node[1].known is None:
        return runtime_resize(build, x, range(x.rank), node[1], None, None, how)
    return resize(build, x, range(x.rank), node.floats(1), None, None, how)


@onnx_op("Resize", since=11)
def resize_11(node: Node) -> Tensor:
    x, build, policy = node[0], node.build, node.attr("keep_aspect_ratio_policy", "stretch")
    axes = [normalize_axis(a, x.rank) for a in node.attr("axes", None) or range(x.rank)]
    how = Interpolation(
        node.attr("mode", "nearest"),
        node.attr("coordinate_transformation_mode", "half_pixel"),
        node.attr("nearest_mode", "round_prefer_floor"),
        node.attr("cubic_coeff_a", -0.75),
        bool(node.attr("exclude_outside", 0)),
        bool(node.attr("antialias", 0)),
        node.attr("extrapolation_value", 0.0),
    )
    if _absent(node, 2) == _absent(node, 3):
        raise NotSupported("exactly one of scales and sizes must be given")
    crops = how.transform == "tf_crop_and_resize"
    given = [None if _absent(node, n) or (n == 1 and not crops) else node[n] for n in (1, 2, 3)]
    open_ratio = policy != "stretch" and given[2] is not None and not _are_known(given[2], x, axes)
    if open_ratio or any(x is not None and x.known is None for x in given):
        return runtime_resize(build, x, axes, given[1], given[2], given[0], how, policy)
    scales = None if _absent(node, 2) else node.floats(2)
    sizes = None if _absent(node, 3) else node.dims(3)
    roi = node.floats(1) if crops else None
    if sizes is not None and policy != "stretch":
        extents = [x.shape[a] for a in axes]  # integers: see _are_known
        scales, sizes = keep_ratio(cast("list[int]", extents), cast("list[int]", sizes), policy)
    return resize(build, x, axes, scales, sizes, roi, how)


def _are_known(sizes: Tensor, x: Tensor, axes: list[int]) -> bool:
    """Whether no symbolic dimension decides the common scale of ``axes``."""
    symbolic = sizes.known is None or sizes.known.dtype == object
    return not symbolic and all(isinstance(x.shape[a], int) for a in axes)


def _absent(node: Node, n: int) -> bool:
    x = node.get(n)
    return x is None or x.shape == (0,)
