"""com.microsoft: operators that ONNX has as well, or had later, with attributes of their own.

GridSample, Pad, Range, Trilu, Unique, ExpandDims, GatherND, SampleOp, ConvTransposeWithDynamicPads, MaxpoolWithMask.
"""

from __future__ import annotations

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.contraction import add_channel_bias
from mlc.frontends.build.ops.convolution.masked_pooling import max_pool_until
from mlc.frontends.build.ops.convolution.transposed_conv import conv_transpose
from mlc.frontends.build.ops.images import grid_sample as grids
from mlc.frontends.build.ops.indexing import selection
from mlc.frontends.build.ops.indexing.gather import gather_nd
from mlc.frontends.build.ops.shapes.arange import arange
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.ops.shapes.pad import pad_constant, pad_with_elements
from mlc.frontends.build.ops.shapes.rearrange import triangle
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.pool import pooling_window
from mlc.frontends.onnx.ops.core.nn.windows import counts
from mlc.frontends.onnx.ops.microsoft import DOMAIN


@onnx_op("GridSample", domain=DOMAIN)
def grid_sample(node: Node) -> Tensor:
    """Interpolation of images at the positions of a grid."""
    node.only("mode", "padding_mode", "align_corners")
    mode, padding = node.attr("mode", "bilinear"), node.attr("padding_mode", "zeros")
    if mode not in ("bilinear", "nearest", "bicubic") or padding not in ("zeros", "border", "reflection"):
        raise NotSupported(f"mode '{mode}' and padding_mode '{padding}'; bilinear, nearest or bicubic, and zeros, …")
    corners = node.flag("align_corners", 0)
    return grids.grid_sample(node.build, node[0], node[1], mode.removeprefix("bi"), padding, corners)


@onnx_op("Pad", domain=DOMAIN)
def pad(node: Node) -> Tensor:
    """Pads of each dimension's beginnings, then of their ends, [2 rank] or [1, 2 rank]."""
    node.only("mode")
    x, mode, amounts = node[0], node.attr("mode", "constant"), node.runtime_scalars(1)
    if len(amounts) != 2 * x.rank or mode not in ("constant", "reflect", "edge"):
        raise NotSupported(f"{len(amounts)} pads of {x}, mode '{mode}'; two a dimension, constant, reflect or edge")
    low, high = amounts[: x.rank], amounts[x.rank :]
    if mode != "constant":
        return pad_with_elements(node.build, x, low, high, mode)
    value = node.build.reshape(node[2], ()) if node.has(2) and node[2].known is None else node.scalar(2, 0)
    return pad_constant(node.build, x, low, high, value)


@onnx_op("Range", domain=DOMAIN)
def range_(node: Node) -> Tensor:
    """From a start by steps of 1, unless a third input says otherwise."""
    node.only()
    start, limit, delta = node[0], node[1], node.get(2)
    one = node.build.constant(1, start.element) if delta is None else delta
    return arange(node.build, *(node.build.reshape(x, ()) for x in (start, limit, one)))


@onnx_op("Trilu", domain=DOMAIN)
def trilu(node: Node) -> Tensor:
    """The triangle above, or below, a diagonal."""
    node.only("upper")
    return triangle(node.build, node[0], node.runtime_scalar(1), bool(node.attr("upper", 1)))


@onnx_op("Unique", domain=DOMAIN)
def unique(node: Node) -> tuple[Tensor, Tensor, Tensor]:
    """(the elements of a vector in the order of their first occurrence; which of them each is; how often each is)."""
    node.only()
    if node[0].rank != 1:
        raise NotSupported(f"{node[0]}; it takes a vector")
    y, _, inverse, times = selection.unique(node.build, node[0], None, False)
    return y, inverse, times


@onnx_op("ExpandDims", domain=DOMAIN)
def expand_dims(node: Node) -> Tensor:
    """A new dimension of 1."""
    node.only()
    x, at = node[0], node.ints(1)
    if len(at) != 1:
        raise NotSupported(f"axes {at}; one is inserted")
    axis = normalize_axis(at[0], x.rank + 1)
    return node.build.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


@onnx_op("GatherND", domain=DOMAIN)
def gather_nd_(node: Node) -> Tensor:
    """Slices at index tuples, the last dimension of the indices."""
    node.only()
    return gather_nd(node.build, node[0], node[1], 0)


@onnx_op("SampleOp", domain=DOMAIN)
def sample(node: Node) -> Tensor:
    """The operand itself: an example of how operators are added to onnxruntime."""
    node.only()
    return node[0]


@onnx_op("ConvTransposeWithDynamicPads", domain=DOMAIN)
def conv_transpose_with_dynamic_pads(node: Node) -> Tensor:
    """A transposed convolution of which an input says how many elements are cut from each end."""
    node.only("auto_pad", "dilations", "group", "kernel_shape", "output_padding", "strides")
    build, x, w, rank = node.build, node[0], node[1], node[0].rank - 2
    if not node.has(2):
        raise NotSupported("input 2, the pads, is missing")
    pads, extra = node.dims(2), node.attr("output_padding", None) or [0] * rank
    if len(pads) != 2 * rank:
        raise NotSupported(f"{len(pads)} pads of {x}; two a spatial dimension")
    strides, dilations = counts(node, "strides", rank), counts(node, "dilations", rank)
    whole = conv_transpose(build, x, w, strides, dilations, node.attr("group", 1), [0] * rank, [-e for e in extra])
    sizes = [d - low - high for d, low, high in zip(whole.shape[2:], pads[:rank], pads[rank:], strict=True)]
    for size in sizes:
        build.require(size, 0)
    y = build.slice(whole, [0, 0, *pads[:rank]], [*whole.shape[:2], *sizes])
    return add_channel_bias(build, y, node.get(3))


@onnx_op("MaxpoolWithMask", domain=DOMAIN)
def maxpool_with_mask(node: Node) -> Tensor:
    """The maximum of each window, whose rows (along the last dimension) end before the first 0 of a mask.

    As in onnxruntime, the element 0 of an image of several dimensions is never masked, and channel c of the images
    begins at element c · size mod channels of the mask, so that masks of one channel are those of all.
    """
    node.only("auto_pad", "kernel_shape", "pads", "storage_order", "strides")
    x, mask, build = node[0], node[1], node.build
    if mask.rank != x.rank or mask.shape[2:] != x.shape[2:]:
        raise NotSupported(f"a mask {mask} of {x}; its spatial dimensions are those of the images")
    window = pooling_window(node, x)
    channels, size = product(x.shape[:2]), product(x.shape[2:])
    flat = build.reshape(mask, (product(mask.shape),))
    one = mask.shape[0] == 1 and mask.shape[1] == 1
    begin = "0" if one else f"(i0 * ({size})) % ({product(mask.shape[:2])})"
    stops = build.compute(f"i64(x0[{begin} + i1] == 0)", [flat], (1 if one else channels, size))
    first = "(i1 >= 0)" if x.rank == 3 else "(i1 > 0)"
    stops = build.compute(f"where({first}, x0[i0, i1], 0)", [stops], stops.shape)
    return max_pool_until(build, x, build.reshape(stops, (stops.shape[0], *x.shape[2:])), window)
