"""Sorting and prefix sums: argsort of rows, top-k, cumulative sums and products. Source: ONNX TopK 11, CumSum 14."""

from __future__ import annotations

from mlc.dialects.graph import ArgsortOp, ScanOp
from mlc.dialects.graph.library import COMPUTED
from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def computable(build: Builder, x: Tensor) -> Tensor:
    """``x`` converted to a type that runtime library functions compute with."""
    if x.element in COMPUTED:
        return x
    floating = x.element in ("f16", "bf16")
    return build.cast(x, "f32" if floating else "i64" if x.element == "ui32" else "i32")


def argsort(build: Builder, x: Tensor, count: DimLike, descending: bool = False) -> Tensor:
    """[rows, count] of i64: the indices of the first elements of each row of ``x`` [rows, size, width] in order."""
    rows, size, _ = x.shape
    found = build.emit(ArgsortOp(build.value(computable(build, x)), count, descending))
    indices = build.slice(found, [0, 0], [rows, count])
    indices.range = (0, size - 1)
    return indices


def top_k(build: Builder, x: Tensor, axis: int, k: DimLike, largest: bool) -> tuple[Tensor, Tensor]:
    """The ``k`` greatest (or least) elements along an axis in order, and their indices; of equal ones the first comes
    first."""
    size = x.shape[axis]
    last = [*(n for n in range(x.rank) if n != axis), axis]
    moved = build.transpose(x, last)
    rows = build.reshape(moved, (product(moved.shape[:-1]), size, 1))
    indices = argsort(build, rows, k, largest)
    values = build.compute("x0[i0, x1[i0, i1], 0]", [rows, indices], indices.shape)
    back = [last.index(n) for n in range(x.rank)]
    shape = (*moved.shape[:-1], k)
    return tuple(build.transpose(build.reshape(y, shape), back) for y in (values, indices))  # type: ignore[return-value]


def cumulative(build: Builder, fn: str, x: Tensor, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Sums (``add``) or products (``mul``) of the elements of ``x`` [rows, size, width] up to each one of a row."""
    return build.emit(ScanOp(fn, build.value(computable(build, x)), exclusive, reverse))


def prefix_sum(build: Builder, x: Tensor) -> Tensor:
    """[.., n]: the sum of the elements of ``x`` [.., n] up to each one."""
    rows = build.reshape(x, (product(x.shape[:-1]), x.shape[-1], 1))
    return build.reshape(cumulative(build, "add", rows), x.shape)
