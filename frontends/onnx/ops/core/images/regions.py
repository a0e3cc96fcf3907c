"""RoiAlign, MaxRoiPool, NonMaxSuppression, GridSample, ImageDecoder."""

from __future__ import annotations

import numpy as np

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.folding.comparisons import smaller
from mlc.frontends.build.ops.images import decode
from mlc.frontends.build.ops.images import grid_sample as grids
from mlc.frontends.build.ops.images import non_max_suppression as nms
from mlc.frontends.build.ops.images import roi_align as align
from mlc.frontends.build.ops.images import roi_pool as pool
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("RoiAlign", since=10)
def roi_align(node: Node) -> Tensor:
    """From opset 16 on pixels are centred at halves, unless an attribute says otherwise."""
    half = node.opset >= 16 and node.attr("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    bins = node.attr("output_height", 1), node.attr("output_width", 1)
    samples, scale, mode = node.attr("sampling_ratio", 0), node.attr("spatial_scale", 1.0), node.attr("mode", "avg")
    return align.roi_align(node.build, node[0], node[1], node[2], bins, samples, scale, half, mode)


@onnx_op("MaxRoiPool")
def max_roi_pool(node: Node) -> Tensor:
    """ONNX 1, 22."""
    height, width = node.attr("pooled_shape")
    return pool.max_roi_pool(node.build, node[0], node[1], (height, width), node.attr("spatial_scale", 1.0))


@onnx_op("GridSample", since=16)
def grid_sample(node: Node) -> Tensor:
    mode, padding = node.attr("mode", "linear").removeprefix("bi"), node.attr("padding_mode", "zeros")
    return grids.grid_sample(node.build, node[0], node[1], mode, padding, node.flag("align_corners", 0))


@onnx_op("NonMaxSuppression", since=10)
def non_max_suppression(node: Node) -> Tensor:
    """ONNX opset 10, 11. Without a number of boxes none is selected; a run-time one is bounded by all boxes."""
    most = node.get(2)
    bound: DimLike = node[1].shape[-1]
    if most is None or most.known is not None:
        bound = smaller(bound, max(node.scalar(2, 0), 0))
    most = Tensor.from_known(np.asarray(0)) if most is None else most
    centers = node.flag("center_point_box", 0)
    return nms.non_max_suppression(node.build, node[0], node[1], most, node.get(3), node.get(4), bound, centers)


@onnx_op("ImageDecoder", since=20)
def image_decoder(node: Node) -> Tensor:
    extent = decode.EXTENT
    too_large = f"node '{node.name}': an image larger than {extent} x {extent} pixels, for which memory is planned"
    return decode.decode_image(node.build, node[0], node.attr("pixel_format", "RGB"), too_large)
