"""Operators that move elements: reshape, transpose, slice, concat, split, tile, expand, space/depth, triangles."""

from __future__ import annotations

from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import product
from mlc.frontends.build.ops.shapes import rearrange
from mlc.frontends.build.ops.shapes import reshape as shapes
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.ops.shapes.slices import slices, static_slices
from mlc.frontends.build.runtime_scalars import any_runtime
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Reshape")
def reshape(node: Node) -> Tensor:
    wanted = node.attr("shape") if node.opset < 5 else node.runtime_scalars(1)
    return shapes.reshape(node.build, node[0], wanted, zero_copies=not node.attr("allowzero", 0))


@onnx_op("Flatten")
def flatten(node: Node) -> Tensor:
    x, axis = node[0], node.attr("axis", 1)
    axis = axis + x.rank if axis < 0 else axis
    return node.build.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))


@onnx_op("Transpose")
def transpose(node: Node) -> Tensor:
    return node.build.transpose(node[0], node.attr("perm", None) or list(reversed(range(node[0].rank))))


@onnx_op("Expand", since=8)
def expand(node: Node) -> Tensor:
    return shapes.expand(node.build, node[0], node.runtime_scalars(1))


@onnx_op("Tile")
def tile(node: Node) -> Tensor:
    return rearrange.tile(node.build, node[0], node.dims(1))


@onnx_op("Slice")
def slice_1(node: Node) -> Tensor:
    starts, ends = node.attr("starts"), node.attr("ends")
    axes = node.attr("axes", None) or list(range(len(starts)))
    return static_slices(node.build, node[0], starts, ends, axes, [1] * len(starts))


@onnx_op("Slice", since=10)
def slice_10(node: Node) -> Tensor:
    starts, ends = node.runtime_scalars(1), node.runtime_scalars(2)
    axes = node.runtime_scalars(3) if node.has(3) else list(range(len(starts)))
    steps = node.runtime_scalars(4) if node.has(4) else [1] * len(starts)
    if not any_runtime((*starts, *ends, *axes, *steps)):
        axes, steps = node.ints(3) if node.has(3) else axes, node.ints(4) if node.has(4) else steps
    return slices(node.build, node[0], starts, ends, axes, steps)


@onnx_op("Concat")
def concat(node: Node) -> Tensor:
    axis = normalize_axis(node.attr("axis", 1), node[0].rank)
    return node.build.concat(node.tensors(), axis)


@onnx_op("Split")
def split(node: Node) -> tuple[Tensor, ...]:
    x = node[0]
    axis = normalize_axis(node.attr("axis", 0), x.rank)
    extent = x.shape[axis]
    given = node.attr("split", None) if node.opset < 13 else node.dims(1, extent) if node.has(1) else None
    if given and sizes_of(given):
        node.check(f"-abs({extent - sum(given)})", f"the parts {given} are not the {extent} elements of axis {axis}")
    parts = node.attr("num_outputs", node.outputs)
    if not given and parts != node.outputs:
        raise ValueError(f"num_outputs is {parts}, but the node has {node.outputs} outputs")
    return tuple(rearrange.split(node.build, x, axis, given or rearrange.even_sizes(extent, parts)))


@onnx_op("DepthToSpace")
def depth_to_space(node: Node) -> Tensor:
    return rearrange.depth_to_space(node.build, node[0], node.attr("blocksize"), node.attr("mode", "DCR") != "DCR")


@onnx_op("SpaceToDepth")
def space_to_depth(node: Node) -> Tensor:
    return rearrange.space_to_depth(node.build, node[0], node.attr("blocksize"), node.attr("mode", "DCR") != "DCR")


@onnx_op("Trilu", since=14)
def trilu(node: Node) -> Tensor:
    return rearrange.triangle(node.build, node[0], node.runtime_scalar(1), bool(node.attr("upper", 1)))
