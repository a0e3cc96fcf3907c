"""Writes and reductions at the positions of an index tensor."""

from __future__ import annotations

from mlc.dialects.semantics.dims import product
from mlc.dialects.semantics.statement import MONOIDS
from mlc.dialects.types import numpy_dtype
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.indexing import scatter as writes
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.tensors.indexing import index_put
from mlc.frontends.torch.registry import Call, Operand, aten

COMBINES = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min", "mean": "add", "add": "add", "multiply": "mul"}


@aten("scatter", "scatter_add", "scatter_reduce", "scatter_reduce.two")
def scatter(
    call: Call,
    x: Tensor,
    dim: int,
    index: Tensor,
    source: Operand,
    reduce: str | None = None,
    *,
    include_self: bool = True,
) -> Tensor:
    """``x`` with elements of ``source`` at the positions of ``index``, whose extents may be smaller."""
    build, axis = call.build, normalize_axis(dim, x.rank)
    if reduce not in (None, *COMBINES):
        raise NotSupported(f"reduction {reduce!r}")
    how = "add" if call.op == "scatter_add" else COMBINES[reduce] if reduce else "none"
    updates = build.broadcast(call.tensor(source), index.shape) if not isinstance(source, Tensor) else source
    updates = call.tensor(build.slice(updates, [0] * updates.rank, index.shape))
    start = x if include_self or how == "none" else _without_self(call, x, index, axis, how)
    y = writes.scatter_elements(build, start, index, updates, axis, how)
    return _mean(call, y, index, axis, include_self) if reduce == "mean" else y


@aten("index_reduce")
def index_reduce(
    call: Call, x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    axis = normalize_axis(dim, x.rank)
    shape = [product(index.shape) if n == axis else 1 for n in range(source.rank)]
    positions = call.build.broadcast(call.build.reshape(index, shape), source.shape)
    return scatter(call, x, axis, positions, source, reduce, include_self=include_self)


@aten("put")
def put(call: Call, x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``x`` with elements replaced, or increased, that are counted in row-major order."""
    flat = [call.build.reshape(t, (product(t.shape),)) for t in (x, index, source)]
    return call.build.reshape(index_put(call, flat[0], [flat[1]], flat[2], accumulate), x.shape)


def _without_self(call: Call, x: Tensor, index: Tensor, axis: int, how: str) -> Tensor:
    """``x`` with the identity of the reduction at the positions of ``index``."""
    build = call.build
    identity = build.constant(MONOIDS[how].identity(numpy_dtype(x.element)), x.element)
    return writes.scatter_elements(build, x, index, build.broadcast(identity, index.shape), axis)


def _mean(call: Call, sums: Tensor, index: Tensor, axis: int, include_self: bool) -> Tensor:
    """Sums divided by how many terms each has; of whole numbers rounded down, as torch does."""
    build = call.build
    zeros, ones = (build.broadcast(build.constant(n, sums.element), s) for n, s in ((0, sums.shape), (1, index.shape)))
    counts = writes.scatter_elements(build, zeros, index, ones, axis, "add")
    divide = "x0 / {}" if call.is_real() else "floordiv(x0, {})"
    return build.map(divide.format("(x1 + 1)" if include_self else "max(x1, 1)"), sums, counts)
