"""Distances of rows, and their derivatives. Source: torch.cdist, torch.nn.functional.pdist."""

from __future__ import annotations

import math

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.elementwise import FUNCTIONS, where
from mlc.frontends.array.functions.reductions import max, sum
from mlc.frontends.array.transforms.custom import stop_gradient
from mlc.frontends.build.ops.linalg import norms
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.ops.nn.backward import pullback
from mlc.frontends.torch.registry import Call, aten


@aten("cdist", "_cdist_forward")
def distances(call: Call, a: Tensor, b: Tensor, p: float = 2, _: int | None = None) -> Tensor:
    left, right = call.tensors(a, b)
    return _distance(call, norms.each_with_each(call.build, left, right), p)


@aten("_pdist_forward")
def distances_of_pairs(call: Call, x: Tensor, p: float = 2) -> Tensor:
    return _distance(call, norms.each_with_later(call.build, x), p)


@aten("_cdist_backward")
def distances_backward(call: Call, grad: Tensor, a: Tensor, b: Tensor, p: float, _: Tensor) -> Tensor:
    """The adjoint of ``a``."""
    return pullback(call, lambda a: distances(call, a, b, p), [a], grad)[0]


@aten("_pdist_backward")
def pairs_backward(call: Call, grad: Tensor, x: Tensor, p: float, _: Tensor) -> Tensor:
    return pullback(call, lambda x: distances_of_pairs(call, x, p), [x], grad)[0]


@aten("dist")
def distance(call: Call, a: Tensor, b: Tensor, p: float = 2) -> Tensor:
    apart = call.build.map("x0 - x1", *call.tensors(a, b))
    return norms.norm(call.build, apart, p, list(range(apart.rank)), False)


def _distance(call: Call, apart: Tensor, p: float) -> Tensor:
    """The norm along the last axis."""
    if math.isinf(p) and apart.shape[-1] != 0:
        found: Tensor = by_arrays(call.build, _largest, apart)
        return found
    return norms.norm(call.build, apart, p, [apart.rank - 1])


def _largest(apart: Array) -> Array:
    """The largest absolute value along the last axis; each element that is that large gets all of its adjoint."""
    size = FUNCTIONS["abs"](apart)
    top = stop_gradient(max(size, axis=-1, keepdims=True))
    return top[..., 0] + sum(where(size == top, size - top, 0), axis=-1)
