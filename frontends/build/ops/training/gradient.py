"""Automatic differentiation, in reverse and forward: over the graph operators between some tensors and others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mlc.dialects.autodiff import NoDerivative, pullback, pushforward
from mlc.dialects.graph import ReshapeOp
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

Walk = Callable[..., list[Any]]
WAY_OUT = (
    "sums, products, convolutions, elementwise operators, reductions, pooling and data movement have one; "
    "differentiate by a tensor after this node, or leave the node out"
)


def leaf(build: Builder, x: Tensor) -> Tensor:
    """A fresh value equal to ``x`` to differentiate by. Two operands may be one tensor, and one may be a constant."""
    return build.emit(ReshapeOp(build.value(x), x.shape))


def gradients_of(build: Builder, y: Tensor, xs: Sequence[Tensor]) -> list[Tensor]:
    """The derivatives of the sum of ``y`` by each of ``xs``, in its shape; zeros where ``y`` does not depend on it.

    Raises:
        NotSupported: an operator between them has no derivative.
    """
    if y.known is not None:
        return [_zeros(build, x) for x in xs]
    return pulled_back(build, [y], xs, [build.compute(f"{y.element}(1)", [], y.shape)])


def pulled_back(
    build: Builder, ys: Sequence[Tensor], xs: Sequence[Tensor], cotangents: Sequence[Tensor]
) -> list[Tensor]:
    """The derivatives of the sum of all ``y · cotangent`` by each of ``xs``, as ``gradients_of``."""
    given = [build.value(build.cast(bar, y.element)) for y, bar in zip(ys, cotangents, strict=True)]
    return _derived(build, pullback, ys, xs, given, xs)


def tangents_of(build: Builder, ys: Sequence[Tensor], xs: Sequence[Tensor], tangents: Sequence[Tensor]) -> list[Tensor]:
    """The derivatives of ``ys`` along ``tangents`` of ``xs``; zeros where one does not depend on them.

    Raises:
        NotSupported: an operator between them has no derivative.
    """
    return _derived(build, pushforward, ys, xs, build.values(*tangents), ys)


def _derived(
    build: Builder, walk: Walk, ys: Sequence[Tensor], xs: Sequence[Tensor], given: list[Any], like: Sequence[Tensor]
) -> list[Tensor]:
    build.derivatives = True
    try:
        found = walk(build.values(*ys), build.values(*xs), given, lambda op: build.value(build.emit(op)))
    except NoDerivative as e:
        raise NotSupported(f"{e}; {WAY_OUT}") from e
    return [_zeros(build, x) if each is None else Tensor.of(each) for x, each in zip(like, found, strict=True)]


def _zeros(build: Builder, x: Tensor) -> Tensor:
    return build.compute(f"{x.element}(0)", [], x.shape)
