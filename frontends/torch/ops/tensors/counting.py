"""Counts of equal elements: unique ones, histograms, modes; elements repeated by counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.array.array import Array
from mlc.frontends.array.compositions import statistics
from mlc.frontends.array.further import histograms
from mlc.frontends.build.ops.indexing import counting, selection
from mlc.frontends.build.ops.shapes.axes import normalize_axis
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.torch.ops.arrays import by_arrays
from mlc.frontends.torch.registry import Call, aten


@aten("_unique2", "_unique")
def unique(
    call: Call, x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> list[Tensor]:
    """(elements in ascending order, which of them each one is, how often each is)."""
    y, _, inverse, counts = selection.unique(call.build, x, None)
    return [y, call.build.reshape(inverse, x.shape), counts]


@aten("unique_dim")
def unique_slices(call: Call, x: Tensor, dim: int, *_: bool) -> list[Tensor]:
    y, _first, inverse, counts = selection.unique(call.build, x, normalize_axis(dim, x.rank))
    return [y, inverse, counts]


@aten("unique_consecutive", "unique_dim_consecutive")
def unique_runs(call: Call, x: Tensor, *given: Any, dim: int | None = None, **_: Any) -> list[Tensor]:
    """``unique_consecutive(x, return_inverse, return_counts, dim)``; of the other one ``dim`` is first."""
    if call.op == "unique_dim_consecutive":
        dim = given[0] if given else dim
    elif len(given) > 2:
        dim = given[2]
    y, inverse, counts = selection.unique_consecutive(call.build, x, None if dim is None else dim % x.rank)
    return [y, call.build.reshape(inverse, x.shape) if dim is None else inverse, counts]


@aten("bincount")
def bincount(call: Call, x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number occurs; the run fails where one is negative."""
    build, wide = call.build, call.build.cast(x, "i64")
    if x.shape[0] == 0:
        return counting.counted(build, wide, minlength, weights)
    build.check(build.scalars.of(build.reduce("min", wide, [0])).item(), "an element of bincount is negative")
    most = build.scalars.of(build.map(f"max(x0 + 1, {minlength})", build.reduce("max", wide, [0]))).item()
    length = build.dim(most, "the number of counts")
    return counting.counted(build, wide, length, None if weights is None else call.tensor(weights))


@aten("histc")
def histc(call: Call, x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    return counting.histogram(call.build, x, bins, min, max)


@aten("histogram.bin_ct", "histogram.bins_tensor")
def histogram(
    call: Call,
    x: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    """(counts, limits of the intervals)."""

    def counted(x: Array, bins: Any, weight: Any) -> Any:
        return statistics.histogram(x, bins, tuple(range) if range else None, weight, density)

    found: list[Tensor] = by_arrays(call.build, counted, x, bins, weight)
    return found


@aten("_histogramdd_bin_edges", "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors")
def histogram_of_points(
    call: Call,
    x: Tensor,
    bins: Sequence[Any],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """Of points [.., d]: the limits along each dimension, or the counts."""
    build, spans = call.build, list(zip(range[::2], range[1::2], strict=True)) if range else None
    points = build.reshape(x, (product(x.shape[:-1]), x.shape[-1]))

    def counted(x: Array, weight: Any, *limits: Array) -> Any:
        return histograms.histogramdd(x, limits or list(bins), spans, weight, density)

    limits = bins if call.op.endswith("tensors") else ()
    counts, edges = by_arrays(build, counted, points, weight, *limits)
    return edges if call.op.endswith("edges") else counts


@aten("mode")
def mode(call: Call, x: Tensor, dim: int = -1, keepdim: bool = False) -> Sequence[Tensor]:
    if not x.rank:
        return x, call.build.constant(0, "i64")
    (axis,) = call.axes(x, dim)
    found = counting.mode(call.build, x, axis)
    shape = [1 if n == axis else d for n, d in enumerate(x.shape)]
    return [call.build.reshape(y, shape) for y in found] if keepdim else found


@aten("repeat_interleave.Tensor")
def repeated(call: Call, times: Tensor, *, output_size: DimLike | None = None) -> Tensor:
    """The positions of ``times``, each so many times; the sum is known at run time."""
    build, wide = call.build, call.build.cast(times, "i64")
    if output_size is None:
        total = build.reduce("add", build.reshape(wide, (product(times.shape),)), [0])
        output_size = build.dim(build.scalars.of(total).item(), "the sum of repetitions")
    return counting.repeated(build, wide, output_size)
