"""Tensors that are made: of a value, and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.ops.shapes.arange import arange
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.registry import Call, Operand, aten


@aten("full")
def full(call: Call, size: Sequence[DimLike], value: Operand, **_: Any) -> Tensor:
    return call.build.broadcast(call.tensor(value), call.extents(size))


@aten("full_like", "new_full")
def full_like(call: Call, x: Tensor, *given: Any, **_: Any) -> Tensor:
    size, value = (x.shape, given[0]) if call.op == "full_like" else given[:2]
    return full(call, size, value)


@aten("zeros", "ones", "empty")
def filled(call: Call, size: Sequence[DimLike], **_: Any) -> Tensor:
    """A filled tensor. Memory that torch leaves undefined is 0."""
    return full(call, size, int(call.op == "ones"))


@aten("empty_strided", "new_empty_strided")
def empty_strided(call: Call, *given: Any, **_: Any) -> Tensor:
    return full(call, given[0] if call.op == "empty_strided" else given[1], 0)


@aten("zeros_like", "ones_like", "empty_like", "new_zeros", "new_ones", "new_empty")
def filled_like(call: Call, x: Tensor, size: Sequence[DimLike] | None = None, **_: Any) -> Tensor:
    return full(call, x.shape if size is None else size, int("ones" in call.op))


@aten("scalar_tensor")
def scalar_tensor(call: Call, value: Operand, **_: Any) -> Tensor:
    return call.tensor(value)


@aten("arange")
def range_(call: Call, *ends: Operand, **_: Any) -> Tensor:
    """arange(end), arange(start, end) or arange(start, end, step)."""
    start, end, step = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
    counted = call.element if call.is_real() and not all(isinstance(e, int) for e in ends) else "i64"
    made = arange(call.build, *(call.tensor(each, counted) for each in (start, end, step)))
    return call.tensor(made)


@aten("prims::iota")
def iota(call: Call, length: DimLike, *, start: DimLike, step: int, **_: Any) -> Tensor:
    return call.tensor(call.build.compute(f"i64({start}) + i0 * {step}", [], (length,)))
