"""Reverse-mode automatic differentiation: gradients of a tensor by others, over the graph operators between them."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.autodiff import NoDerivative, gradients
from mlc.dialects.graph import ReshapeOp
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

WAY_OUT = (
    "sums, products, convolutions, elementwise operators, reductions, pooling and data movement have one; "
    "name in xs a tensor after this node, or export the model without it"
)


def leaf(build: Builder, x: Tensor) -> Tensor:
    """``x`` as a value of its own to differentiate by: two may be the same tensor, and one may be known."""
    return build.emit(ReshapeOp(build.value(x), x.shape))


def gradients_of(build: Builder, y: Tensor, xs: Sequence[Tensor]) -> list[Tensor]:
    """The derivatives of the sum of ``y`` by each of ``xs``, in its shape; zeros where ``y`` does not depend on it.

    Raises:
        NotSupported: an operator between them has no derivative.
    """

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
