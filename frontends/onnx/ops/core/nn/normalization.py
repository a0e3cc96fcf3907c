"""Normalizations: softmax, batch, layer, instance, group, RMS, LRN, Lp, mean-variance."""

from __future__ import annotations

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops import normalization as norm
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.ops.softmax import hardmax, softmax
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Softmax", "LogSoftmax", "Hardmax", since=13)
def softmax_13(node: Node) -> Tensor:
    return _softmax(node, node[0], normalize_axis(node.attr("axis", -1), node[0].rank))


@onnx_op("Softmax", "LogSoftmax", "Hardmax")
def softmax_1(node: Node) -> Tensor:
    """Before opset 13: over all dimensions from ``axis`` on, as if they were one."""
    x, axis = node[0], normalize_axis(node.attr("axis", 1), node[0].rank)
    if all(d == 1 for d in x.shape[axis + 1 :]):
        return _softmax(node, x, axis)
    flat = node.build.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))
    return node.build.reshape(_softmax(node, flat, 1), x.shape)


def _softmax(node: Node, x: Tensor, axis: int) -> Tensor:
    if node.op == "Hardmax":
        return hardmax(node.build, x, axis)
    return softmax(node.build, x, [axis], log=node.op == "LogSoftmax")


def _epsilon(node: Node) -> float:
    return node.attr("epsilon", 1e-5)


@onnx_op("BatchNormalization")
def batch_normalization(node: Node) -> Tensor | tuple[Tensor, ...]:
    training = node.attr("training_mode", 0) or (node.opset < 7 and not node.attr("is_test", 0) and node.wants(1))
    x, scale, bias, mean, variance = (node[n] for n in range(5))
    if not training and not node.attr("spatial", 1):
        return _elementwise_batch_norm(node)
    if not training:
        return norm.batch_norm(node.build, x, scale, bias, mean, variance, _epsilon(node))
    if node.opset < 14:
        raise NotSupported("training mode before opset 14")
    running, momentum = (mean, variance), node.attr("momentum", 0.9)
    return norm.batch_norm_training(node.build, x, scale, bias, running, _epsilon(node), momentum)


def _elementwise_batch_norm(node: Node) -> Tensor:
    """Before opset 9, ``spatial = 0``: each element of a sample has its own statistics, of the shape of a sample."""
    build, x = node.build, node[0]
    rows = build.reshape(x, (x.shape[0], product(x.shape[1:])))
    scale, bias, mean, variance = (build.reshape(node[n], (product(node[n].shape),)) for n in range(1, 5))
    return build.reshape(norm.batch_norm(build, rows, scale, bias, mean, variance, _epsilon(node)), x.shape)


@onnx_op("LayerNormalization", since=17)
def layer_normalization(node: Node) -> Tensor | tuple[Tensor, ...]:
    x, build, epsilon = node[0], node.build, _epsilon(node)
    y, mean, variance = norm.layer_norm(build, x, _last_axes(node), node[1], node.get(2), epsilon)
    if not (node.wants(1) or node.wants(2)):
        return y
    return y, mean, build.map(f"rsqrt(x0 + {literal(epsilon)})", variance)


@onnx_op("RMSNormalization", since=23)
def rms_normalization(node: Node) -> Tensor:
    return norm.rms_norm(node.build, node[0], _last_axes(node), node[1], _epsilon(node))


def _last_axes(node: Node) -> list[int]:
    """The axes from attribute ``axis`` to the last."""
    return list(range(normalize_axis(node.attr("axis", -1), node[0].rank), node[0].rank))


@onnx_op("InstanceNormalization")
def instance_normalization(node: Node) -> Tensor:
    return norm.instance_norm(node.build, node[0], node[1], node[2], _epsilon(node))


@onnx_op("GroupNormalization", since=18)
def group_normalization(node: Node) -> Tensor:
    """Scale and bias have one element a group; from opset 21 a channel."""
    return norm.group_norm(node.build, node[0], node.attr("num_groups"), node[1], node[2], _epsilon(node))


@onnx_op("MeanVarianceNormalization", since=9)
def mean_variance_normalization(node: Node) -> Tensor:
    build, x = node.build, node[0]
    axes = [normalize_axis(axis, x.rank) for axis in node.attr("axes", [0, 2, 3])]
    mean, variance = norm.mean_and_variance(build, build.wide(x), axes)
    return build.cast(build.map("(x0 - x1) / (sqrt(x2) + 1e-09)", build.wide(x), mean, variance), x.element)


@onnx_op("LRN")
def local_response_normalization(node: Node) -> Tensor:
    alpha, beta, bias = node.attr("alpha", 1e-4), node.attr("beta", 0.75), node.attr("bias", 1.0)
    return norm.local_response_norm(node.build, node[0], node.attr("size"), alpha, beta, bias)


@onnx_op("LpNormalization")
def lp_normalization(node: Node) -> Tensor:
    return norm.lp_norm(node.build, node[0], normalize_axis(node.attr("axis", -1), node[0].rank), node.attr("p", 2))
