"""Normalisations: softmax, batch, layer, instance, group, RMS, LRN, Lp, mean-variance."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.dims import product
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, normalise_axis, onnx_op
from mlc.frontends.onnx.ops.reduce import mean_over
from mlc.frontends.onnx.tensors import Tensor


def softmax_over(build: Builder, x: Tensor, axes: Sequence[int], log: bool = False) -> Tensor:
    """exp(x - max) / sum, in at least f32: times the reciprocal of the sum, of which there is one a row."""
    wide = build.wide(x)
    shifted = build.map("x0 - x1", wide, build.reduce("max", wide, axes, keepdims=True))
    exponent = build.map("exp(x0)", shifted)
    total = build.reduce("add", exponent, axes, keepdims=True)
    if log:
        return build.cast(build.map("x0 - log(x1)", shifted, total), x.element)
    return build.cast(build.map("x0 * x1", exponent, build.map("1 / x0", total)), x.element)


@onnx_op("Softmax", "LogSoftmax", "Hardmax", since=13)
def softmax_13(node: Node) -> Tensor:
    return _softmax(node, node[0], [normalise_axis(node.attr("axis", -1), node[0].rank)])


@onnx_op("Softmax", "LogSoftmax", "Hardmax")
def softmax_1(node: Node) -> Tensor:
    """Before opset 13: over all dimensions from ``axis`` on, as if they were one."""
    x, axis = node[0], normalise_axis(node.attr("axis", 1), node[0].rank)
    if all(d == 1 for d in x.shape[axis + 1 :]):
        return _softmax(node, x, [axis])
    flat = node.build.reshape(x, (product(x.shape[:axis]), product(x.shape[axis:])))
    return node.build.reshape(_softmax(node, flat, [1]), x.shape)


def _softmax(node: Node, x: Tensor, axes: list[int]) -> Tensor:
    if node.op == "Hardmax":
        return _hardmax(node.build, x, axes[0])
    return softmax_over(node.build, x, axes, log=node.op == "LogSoftmax")


def _hardmax(build: Builder, x: Tensor, axis: int) -> Tensor:
    """1 at the first maximum, else 0."""
    top = build.reduce("max", x, [axis], keepdims=True)
    names = [f"i{n}" for n in range(x.rank)]
    there, best = (
        ["r0" if n == axis else a for n, a in enumerate(names)],
        ["0" if n == axis else a for n, a in enumerate(names)],
    )
    text = f"where(x0[{', '.join(there)}] == x1[{', '.join(best)}], r0, {x.shape[axis]})"
    first = build.compute(text, [x, top], top.shape, [x.shape[axis]], "min")
    return build.compute(f"{x.element}(x0[{', '.join(best)}] == {names[axis]})", [first], x.shape)


def _channels(build: Builder, x: Tensor, rank: int) -> Tensor:
    """[C] as it broadcasts to [N, C, …]."""
    return build.reshape(x, (*x.shape, *[1] * (rank - 2)))


@onnx_op("BatchNormalization")
def batch_normalization(node: Node) -> Tensor:
    """(x - mean) / sqrt(var + eps) * scale + bias with the statistics of training; one multiply-add a channel."""
    x, build = node[0], node.build
    if node.attr("training_mode", 0) or (node.opset < 7 and not node.attr("is_test", 0) and node.wants(1)):
        return _batch_normalization_training(node)  # type: ignore[return-value]
    scale, bias, mean, variance = (build.cast(build.wide(node[n]), build.wide(x).element) for n in range(1, 5))
    factor = build.map(f"x0 / sqrt(x1 + {literal(node.attr('epsilon', 1e-5))})", scale, variance)
    offset = build.map("x0 - x1 * x2", bias, mean, factor)
    rank = x.rank
    y = build.map("x0 * x1 + x2", build.wide(x), _channels(build, factor, rank), _channels(build, offset, rank))
    return build.cast(y, x.element)


def _batch_normalization_training(node: Node) -> tuple[Tensor, ...]:
    """Normalise with the statistics of the batch; the running ones move towards them."""
    x, build = node[0], node.build
    if node.opset < 14:
        raise NotSupported("training mode before opset 14")
    axes, momentum = [0, *range(2, x.rank)], node.attr("momentum", 0.9)
    mean, variance = mean_and_variance(build, build.wide(x), axes)
    y = _normalised(node, x, mean, variance, _channels(build, node[1], x.rank), _channels(build, node[2], x.rank))
    blend = f"{literal(momentum)} * x0 + {literal(1 - momentum)} * x1"
    running = [
        build.map(blend, node[n], build.cast(build.reshape(s, node[n].shape), node[n].element))
        for n, s in ((3, mean), (4, variance))
    ]
    return (y, *running)


def mean_and_variance(build: Builder, x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    mean = mean_over(build, x, axes, keepdims=True)
    return mean, mean_over(build, build.map("square(x0 - x1)", x, mean), axes, keepdims=True)


def _normalised(
    node: Node, x: Tensor, mean: Tensor, variance: Tensor, scale: Tensor | None, bias: Tensor | None
) -> Tensor:
    build = node.build
    epsilon = literal(node.attr("epsilon", 1e-5))
    y = build.map(f"(x0 - x1) * rsqrt(x2 + {epsilon})", build.wide(x), mean, variance)
    y = y if scale is None else build.map("x0 * x1", y, build.cast(scale, y.element))
    y = y if bias is None else build.map("x0 + x1", y, build.cast(bias, y.element))
    return build.cast(y, x.element)


@onnx_op("LayerNormalization", since=17)
def layer_normalization(node: Node) -> Tensor | tuple[Tensor, ...]:
    x, build = node[0], node.build
    axes = list(range(normalise_axis(node.attr("axis", -1), x.rank), x.rank))
    mean, variance = mean_and_variance(build, build.wide(x), axes)
    y = _normalised(node, x, mean, variance, node[1], node.get(2))
    if not (node.wants(1) or node.wants(2)):
        return y
    deviation = build.map(f"rsqrt(x0 + {literal(node.attr('epsilon', 1e-5))})", variance)
    return y, mean, deviation


@onnx_op("RMSNormalization", since=23)
def rms_normalization(node: Node) -> Tensor:
    x, build = node[0], node.build
    axes = list(range(normalise_axis(node.attr("axis", -1), x.rank), x.rank))
    wide = build.wide(x)
    square = mean_over(build, build.map("x0 * x0", wide), axes, keepdims=True)
    y = build.map(f"x0 * rsqrt(x1 + {literal(node.attr('epsilon', 1e-5))})", wide, square)
    return build.map("x0 * x1", build.cast(y, node[1].element), node[1])


@onnx_op("InstanceNormalization")
def instance_normalization(node: Node) -> Tensor:
    x, build = node[0], node.build
    mean, variance = mean_and_variance(build, build.wide(x), range(2, x.rank))
    return _normalised(node, x, mean, variance, _channels(build, node[1], x.rank), _channels(build, node[2], x.rank))


@onnx_op("GroupNormalization", since=18)
def group_normalization(node: Node) -> Tensor:
    """Statistics over each group of channels; scale and bias a group (opset 18) or a channel (from 21)."""
    x, build, groups = node[0], node.build, node.attr("num_groups")
    split = build.reshape(x, (x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    mean, variance = mean_and_variance(build, build.wide(split), range(2, split.rank))
    scale, bias = (_grouped(node, node[n], groups, x.rank) for n in (1, 2))
    return build.reshape(_normalised(node, split, mean, variance, scale, bias), x.shape)


def _grouped(node: Node, x: Tensor, groups: int, rank: int) -> Tensor:
    return node.build.reshape(x, (groups, 1 if node.opset < 21 else x.shape[0] // groups, *[1] * (rank - 2)))


@onnx_op("MeanVarianceNormalization")
def mean_variance_normalization(node: Node) -> Tensor:
    axes, build, x = node.attr("axes", [0, 2, 3]), node.build, node[0]
    mean, variance = mean_and_variance(build, build.wide(x), axes)
    return build.cast(build.map("(x0 - x1) / (sqrt(x2) + 1e-09)", build.wide(x), mean, variance), x.element)


@onnx_op("LRN")
def local_response_normalization(node: Node) -> Tensor:
    """x / (bias + alpha/size * sum of squares over ``size`` neighbouring channels) ** beta."""
    x, build, size = node[0], node.build, node.attr("size")
    alpha, beta, bias = node.attr("alpha", 1e-4), node.attr("beta", 0.75), node.attr("bias", 1.0)
    low = [0, (size - 1) // 2, *[0] * (x.rank - 2)]
    high = [0, size - 1 - (size - 1) // 2, *[0] * (x.rank - 2)]
    squares = build.pad(build.map("x0 * x0", build.wide(x)), low, high)
    names = [f"i{n}" for n in range(x.rank)]
    text = f"x0[{', '.join(f'{a} + r0' if n == 1 else a for n, a in enumerate(names))}]"
    total = build.compute(text, [squares], x.shape, [size], "add")
    y = build.map(f"x0 / ({literal(bias)} + {literal(alpha / size)} * x1) ** {literal(beta)}", build.wide(x), total)
    return build.cast(y, x.element)


@onnx_op("LpNormalization")
def lp_normalization(node: Node) -> Tensor:
    x, build = node[0], node.build
    axes, wide = [normalise_axis(node.attr("axis", -1), x.rank)], build.wide(x)
    first = node.attr("p", 2) == 1
    total = build.reduce("add", build.map("abs(x0)" if first else "x0 * x0", wide), axes, keepdims=True)
    norm = total if first else build.map("sqrt(x0)", total)
    return build.cast(build.map("where(x1 == 0, x1, x0 / x1)", wide, norm), x.element)
