"""Momentum, Adagrad, Adam (ai.onnx.preview.training 1)."""

from __future__ import annotations

from collections.abc import Callable

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.training.optimizers import adagrad_step, adam_step, momentum_step
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op

DOMAIN = "ai.onnx.preview.training"
Step = Callable[[list[Tensor]], tuple[Tensor, ...]]


def _each(node: Node, kinds: int, step: Step) -> tuple[Tensor, ...]:
    """``step`` for each optimized tensor. Inputs and outputs come by kind: all tensors, then all gradients, …"""
    xs = node.tensors()[2:]
    count = len(xs) // kinds
    if not count or len(xs) != count * kinds:
        raise NotSupported(f"{len(xs)} inputs after rate and count, where they come in {kinds} for each tensor")
    results = [step(xs[n::count]) for n in range(count)]
    return tuple(r[kind] for kind in range(kinds - 1) for r in results)


def _decay(node: Node) -> float:
    value: float = node.attr("norm_coefficient", 0.0)
    return value


@onnx_op("Momentum", domain=DOMAIN)
def momentum(node: Node) -> tuple[Tensor, ...]:
    build, rate, count = node.build, node[0], node[1]
    alpha, beta, mode = node.attr("alpha"), node.attr("beta"), node.attr("mode")
    if mode not in ("standard", "nesterov"):
        raise NotSupported(f"mode '{mode}'; it is standard or nesterov")

    def step(xs: list[Tensor]) -> tuple[Tensor, ...]:
        x, gradient, velocity = xs
        nesterov = mode == "nesterov"
        return momentum_step(build, x, gradient, velocity, rate, count, alpha, beta, _decay(node), nesterov)

    return _each(node, 3, step)


@onnx_op("Adagrad", domain=DOMAIN)
def adagrad(node: Node) -> tuple[Tensor, ...]:
    build, rate, count = node.build, node[0], node[1]
    rate_decay, epsilon = node.attr("decay_factor", 0.0), node.attr("epsilon", 1e-6)

    def step(xs: list[Tensor]) -> tuple[Tensor, ...]:
        x, gradient, squares = xs
        return adagrad_step(build, x, gradient, squares, rate, count, rate_decay, epsilon, _decay(node))

    return _each(node, 3, step)


@onnx_op("Adam", domain=DOMAIN)
def adam(node: Node) -> tuple[Tensor, ...]:
    build, rate, count = node.build, node[0], node[1]
    betas, epsilon = (node.attr("alpha", 0.9), node.attr("beta", 0.999)), node.attr("epsilon", 1e-6)
    after = node.attr("norm_coefficient_post", 0.0)

    def step(xs: list[Tensor]) -> tuple[Tensor, ...]:
        x, gradient, mean, square = xs
        return adam_step(build, x, gradient, (mean, square), rate, count, betas, epsilon, _decay(node), after)

    return _each(node, 4, step)
