"""One step of an optimizer (ai.onnx.preview.training): Momentum, Adagrad, Adam. All of it is elementwise."""

from __future__ import annotations

from collections.abc import Callable

from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.tensors import Tensor

DOMAIN = "ai.onnx.preview.training"
Step = Callable[[list[Tensor]], tuple[Tensor, ...]]


def _stepped(node: Node, kinds: int, step: Step) -> tuple[Tensor, ...]:
    """``step`` for each optimized tensor. Inputs and outputs come by kind: all tensors, then all gradients, …"""
    xs = node.tensors()[2:]
    count = len(xs) // kinds
    if not count or len(xs) != count * kinds:
        raise NotSupported(f"{len(xs)} inputs behind rate and count, where they come in {kinds} for each tensor")
    results = [step(xs[n::count]) for n in range(count)]
    return tuple(r[kind] for kind in range(kinds - 1) for r in results)


def _regularized(node: Node, x: Tensor, gradient: Tensor) -> Tensor:
    """The gradient with that of half the squared norm of ``x``."""
    return node.build.map(f"x1 + {literal(node.attr('norm_coefficient', 0.0))} * x0", x, gradient)


@onnx_op("Momentum", domain=DOMAIN)
def momentum(node: Node) -> tuple[Tensor, ...]:
    """Gradient descent with momentum (ONNX Momentum 1), standard or Nesterov's."""
    build, rate, count = node.build, node[0], node[1]
    alpha, beta, mode = literal(node.attr("alpha")), literal(node.attr("beta")), node.attr("mode")
    if mode not in ("standard", "nesterov"):
        raise NotSupported(f"mode '{mode}'; it is standard or nesterov")

    def step(xs: list[Tensor]) -> tuple[Tensor, ...]:
        x, gradient, velocity = xs
        slope = _regularized(node, x, gradient)
        blend = f"{alpha} * x0 + where(x2 > 0, {x.element}({beta}), {x.element}(1)) * x1"
        new = build.map(blend, velocity, slope, build.reshape(count, ()))
        along = build.map(f"x0 + {alpha} * x1", slope, new) if mode == "nesterov" else new
        return build.map("x0 - x1 * x2", x, _rate(node, rate, x), along), new

    return _stepped(node, 3, step)


def _rate(node: Node, rate: Tensor, x: Tensor) -> Tensor:
    return node.build.cast(node.build.reshape(rate, ()), x.element)


@onnx_op("Adagrad", domain=DOMAIN)
def adagrad(node: Node) -> tuple[Tensor, ...]:
    """ADAGRAD (ONNX Adagrad 1; Duchi et al., 2011)."""
    build, count = node.build, node.build.reshape(node[1], ())
    decay, epsilon = literal(node.attr("decay_factor", 0.0)), literal(node.attr("epsilon", 1e-6))

    def step(xs: list[Tensor]) -> tuple[Tensor, ...]:
        x, gradient, squares = xs
        slope = _regularized(node, x, gradient)
        new = build.map("x0 + x1 * x1", squares, slope)
        rate = build.map(f"x0 / (1 + {x.element}(x1) * {decay})", _rate(node, node[0], x), count)
        return build.map(f"x0 - x1 * x2 / (sqrt(x3) + {epsilon})", x, rate, slope, new), new

    return _stepped(node, 3, step)


@onnx_op("Adam", domain=DOMAIN)
def adam(node: Node) -> tuple[Tensor, ...]:
    """Adam (ONNX Adam 1; Kingma and Ba, 2015)."""
    build, alpha, beta = node.build, node.attr("alpha", 0.9), node.attr("beta", 0.999)
    epsilon, shrink = literal(node.attr("epsilon", 1e-6)), literal(1 - node.attr("norm_coefficient_post", 0.0))

    def step(xs: list[Tensor]) -> tuple[Tensor, ...]:
        x, gradient, mean, square = xs
        slope = _regularized(node, x, gradient)
        mean = build.map(f"{literal(alpha)} * x0 + {literal(1 - alpha)} * x1", mean, slope)
        square = build.map(f"{literal(beta)} * x0 + {literal(1 - beta)} * x1 * x1", square, slope)
        rate = _adam_rate(node, _rate(node, node[0], x), alpha, beta)
        new = build.map(f"{shrink} * (x0 - x1 * x2 / (sqrt(x3) + {epsilon}))", x, rate, mean, square)
        return new, mean, square

    return _stepped(node, 4, step)


def _adam_rate(node: Node, rate: Tensor, alpha: float, beta: float) -> Tensor:
    """The learning rate that undoes how averages that start at zero lag behind."""
    build = node.build
    count = build.map(f"{rate.element}(x0)", build.reshape(node[1], ()))
    corrected = f"x0 * sqrt(1 - {literal(beta)} ** x1) / (1 - {literal(alpha)} ** x1)"
    return build.map(f"where(x1 > 0, {corrected}, x0)", rate, count)
