"""Limits of the results of operators: ranks that NumPy has, extents that memory holds."""

from __future__ import annotations

import math

from xdsl.ir import Operation

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.errors import NeedsConstant, NotSupported
from mlc.frontends.build.runtime_scalars import values_of
from mlc.frontends.build.tensors import Tensor

MAX_RANK = 64  # of NumPy's arrays, through which tensors come and go
MAX_ELEMENTS = 1 << 43  # of 16 bytes: the addresses of a process, 2^47


def check_result(op: Operation, result: Tensor) -> None:
    """Check that a machine can hold the result of an operator.

    Raises:
        NotSupported: an extent is below 0, or the result has too many dimensions or elements.
        NeedsConstant: an extent is a run-time scalar, which is no dimension yet.
    """
    if any(isinstance(d, int) and d < 0 for d in result.shape):
        raise NotSupported(f"sizes below 0 in {op.name} to {result}")
    if result.rank > MAX_RANK or math.prod(map(_size, result.shape)) > MAX_ELEMENTS:
        raise NotSupported(_too_large(op, result))
    if values_of(result.shape):
        raise NeedsConstant("a size that is computed at run time")


def _size(extent: DimLike) -> int:
    """An extent. For an open one: its largest factor, which is about its value where all symbols are 1."""
    return extent if isinstance(extent, int) else max(1, *(factor for _, factor in extent.terms))


def _too_large(op: Operation, result: Tensor) -> str:
    """The message that says why no machine can hold a result."""
    given = ", ".join(str(Tensor.of(v)) for v in op.operands) or "nothing"
    if result.rank > MAX_RANK:
        return f"a tensor of rank {result.rank} (from {given}); the most is {MAX_RANK}: reshape it to fewer"
    what = f"{result} (from {given}), which has more elements than any memory holds"
    return f"a tensor {what}; make sizes, pads or repeats smaller"
