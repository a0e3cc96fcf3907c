"""Operators of ONNX's first versions that it never made standard; old converters, such as those of Core ML, write them.

Source: onnxruntime, which defines them in the standard domain (contrib_ops/cpu, core/graph/contrib_ops).
"""

from __future__ import annotations

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops import normalization as norm
from mlc.frontends.build.ops.activations import activation, activation_defaults
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op

HINT = "consumed_inputs"  # which inputs a runtime might have overwritten


@onnx_op("Affine", "ParametricSoftplus", "ScaledTanh")
def scaled_activations(node: Node) -> Tensor:
    """With attributes ``alpha`` and ``beta``."""
    node.only("alpha", "beta", HINT)
    name = node.op.lower()
    parameters = {key: node.attr(key, value) for key, value in activation_defaults(name).items()}
    return node.build.formula(activation(name, **parameters), node[0])


@onnx_op("Scale")
def scale(node: Node) -> Tensor:
    node.only("scale", HINT)
    return node.build.map(f"x0 * {literal(node.attr('scale', 1.0))}", node[0])


@onnx_op("ImageScaler")
def image_scaler(node: Node) -> Tensor:
    """Images [n, c, …] times ``scale`` plus the ``bias`` of their channel."""
    node.only("scale", "bias", HINT)
    build, x = node.build, node[0]
    bias = norm.per_channel(build, build.constant(node.attr("bias"), x.element), x.rank)
    return build.map(f"x0 * {literal(node.attr('scale', 1.0))} + x1", x, bias)


@onnx_op("Crop")
def crop(node: Node) -> Tensor:
    """Images without ``border`` (left, top, right, bottom), or of the size ``scale`` from its left top corner on."""
    node.only("border", "scale", HINT)
    x, border, size = node[0], node.attr("border"), node.attr("scale", None)
    if x.rank != 4 or len(border) != 4:
        raise NotSupported(f"{x} and {len(border)} borders; it takes images [n, c, h, w] and four")
    left, top, right, bottom = border
    height, width = size or (x.shape[2] - top - bottom, x.shape[3] - left - right)
    return node.build.slice(x, [0, 0, top, left], [*x.shape[:2], height, width])


@onnx_op("MeanVarianceNormalization")
def mean_variance_normalization_1(node: Node) -> Tensor:
    """Before opset 9: over the batch and images, and the channels too with ``across_channels``."""
    build, x = node.build, node[0]
    if x.rank != 4:
        raise NotSupported(f"{x}; before opset 9 it takes images [n, c, h, w]")
    axes = [n for n in range(x.rank) if n != 1 or node.attr("across_channels", 0)]
    mean, variance = norm.mean_and_variance(build, build.wide(x), axes)
    formula = "(x0 - x1) / sqrt(x2)" if node.attr("normalize_variance", 1) else "x0 - x1"
    return build.cast(build.formula(formula, build.wide(x), mean, variance), x.element)
