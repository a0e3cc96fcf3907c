"""Conv, ConvTranspose, DeformConv."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.contraction import add_channel_bias
from mlc.frontends.build.ops.convolution import deformable_conv, transposed_conv
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.core.nn.windows import counts, window_of


@onnx_op("Conv")
def conv(node: Node) -> Tensor:
    x, w = node[0], node[1]
    window = window_of(node, x.shape[2:], w.shape[2:])
    padded = window.padded(node.build, x, "0")
    y = node.build.conv(padded, w, window.strides, window.dilations, node.attr("group", 1))
    return add_channel_bias(node.build, y, node.get(2))


@onnx_op("DeformConv", since=19)
def deform_conv(node: Node) -> Tensor:
    x, w, offset, bias, mask = node[0], node[1], node[2], node.get(3), node.get(4)
    window, groups = window_of(node, x.shape[2:], w.shape[2:]), (node.attr("group", 1), node.attr("offset_group", 1))
    return deformable_conv.deform_conv(node.build, x, w, offset, bias, mask, window, *groups)


@onnx_op("ConvTranspose")
def conv_transpose(node: Node) -> Tensor:
    x, w, rank, build = node[0], node[1], node[0].rank - 2, node.build
    strides, dilations = counts(node, "strides", rank), counts(node, "dilations", rank)
    low, high = _cut(node, w.shape[2:], strides, dilations)
    y = transposed_conv.conv_transpose(build, x, w, strides, dilations, node.attr("group", 1), low, high)
    return add_channel_bias(build, y, node.get(2))


def _cut(
    node: Node, kernel: Sequence[DimLike], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[list[DimLike], list[DimLike]]:
    """The elements to cut from each end of the full result. Output padding is a negative cut."""
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
