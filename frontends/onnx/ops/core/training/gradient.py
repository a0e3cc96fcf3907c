"""Gradient (ai.onnx.preview.training 1)."""

from __future__ import annotations

from mlc.dialects.autodiff import DIFFERENTIABLE
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.training.gradient import gradients_of, leaf
from mlc.frontends.build.tensors import Tensor, Value
from mlc.frontends.onnx.node import Node, onnx_op


@onnx_op("Gradient", domain="ai.onnx.preview.training")
def gradient(node: Node) -> tuple[Tensor | None, ...]:
    """The derivatives of ``y`` with respect to ``xs``, each in the shape of its input; zeros where there is no path.

    ``xs``, ``zs`` and ``y`` name tensors of the graph, and so a function; the inputs are where it is evaluated. Of a
    ``y`` of several elements it is the derivative of their sum. A ``y`` may be the result of another Gradient.

    Raises:
        NotSupported: an x or y is no tensor of floats, or an operator between them has no derivative.
    """
    xs, zs, y = node.attr("xs"), node.attr("zs", []), node.attr("y")
    given, build = node.tensors(), node.build
    if len(given) != len(xs) + len(zs) or len({*xs, *zs}) != len(given):
        raise NotSupported(f"{len(given)} inputs for xs {xs} and zs {zs}; it takes one for each, of different names")
    for name, x in zip(xs, given, strict=False):
        _check(name, x)
    leaves = [leaf(build, x) for x in given[: len(xs)]]
    result = _check(y, node.reimport(y, dict(zip([*xs, *zs], [*leaves, *given[len(xs) :]], strict=True))))
    found = gradients_of(build, result, leaves)
    return tuple(x if node.wants(n) else None for n, x in enumerate(found))


def _check(name: str, x: Value) -> Tensor:
    if not isinstance(x, Tensor) or x.element not in DIFFERENTIABLE:
        what = str(x) if isinstance(x, Tensor) else "no tensor, or not supported"
        raise NotSupported(f"'{name}' is {what}; gradients are of tensors of {', '.join(DIFFERENTIABLE)}")
    return x
