"""Gradient (ai.onnx.preview.training 1): derivatives of a tensor of the graph, by reverse mode over graph operators."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.derivative import DIFFERENTIABLE, NoDerivative, gradients
from mlc.dialects.graph import ReshapeOp
from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.tensors import Tensor, Value

WAY_OUT = (
    "sums, products, convolutions, elementwise operators, reductions, pooling and what moves elements have one; "
    "name in xs a tensor behind this node, or export the model without it"
)


@onnx_op("Gradient", domain="ai.onnx.preview.training")
def gradient(node: Node) -> tuple[Tensor | None, ...]:
    """The derivatives of ``y`` with respect to ``xs``, each in the shape of its input; zeros where it depends not.

    ``xs``, ``zs`` and ``y`` name tensors of the graph, and so a function; the inputs are where it is evaluated. Of a
    ``y`` of several elements it is the derivative of their sum. A ``y`` may be what another Gradient gives.

    Raises:
        NotSupported: an x or y is no tensor of floats, or an operator between them has no derivative.
    """
    xs, zs, y = node.attr("xs"), node.attr("zs", []), node.attr("y")
    given, build = node.tensors(), node.build
    if len(given) != len(xs) + len(zs) or len({*xs, *zs}) != len(given):
        raise NotSupported(f"{len(given)} inputs for xs {xs} and zs {zs}; it takes one for each, of different names")
    for name, x in zip(xs, given, strict=False):
        _check(name, x)
    leaves = [_leaf(build, x) for x in given[: len(xs)]]
    result = _check(y, node.again(y, dict(zip([*xs, *zs], [*leaves, *given[len(xs) :]], strict=True))))
    found = _gradients(build, result, leaves)
    return tuple(x if node.wants(n) else None for n, x in enumerate(found))


def _check(name: str, x: Value) -> Tensor:
    if not isinstance(x, Tensor) or x.element not in DIFFERENTIABLE:
        what = str(x) if isinstance(x, Tensor) else "no tensor, or not supported"
        raise NotSupported(f"'{name}' is {what}; gradients are of tensors of {', '.join(DIFFERENTIABLE)}")
    return x


def _leaf(build: Builder, x: Tensor) -> Tensor:
    """``x`` as a value of its own: two inputs may be the same tensor, and one may be known."""
    return build.emit(ReshapeOp(build.value(x), x.shape))


def _gradients(build: Builder, y: Tensor, xs: Sequence[Tensor]) -> list[Tensor]:
    def zeros(x: Tensor) -> Tensor:
        return build.compute(f"{x.element}(0)", [], x.shape)

    if y.known is not None:
        return [zeros(x) for x in xs]
    seed = build.value(build.compute(f"{y.element}(1)", [], y.shape))
    try:
        found = gradients(build.value(y), build.values(*xs), seed, lambda op: build.value(build.emit(op)))
    except NoDerivative as e:
        raise NotSupported(f"{e}; {WAY_OUT}") from e
    return [zeros(x) if bar is None else Tensor.of(bar) for x, bar in zip(xs, found, strict=True)]
