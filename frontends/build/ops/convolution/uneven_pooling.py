"""Maxima over windows at uneven distances, with their positions: adaptive and fractional pooling.

Window n of an axis of d elements begins at an expression of n and has an extent, which may depend on n up to a widest.
Source: torch.nn.AdaptiveMaxPool2d, FractionalMaxPool2d; Graham, "Fractional max-pooling" (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike, floordiv, product
from mlc.dialects.types import is_float
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.scatter import scatter_elements
from mlc.frontends.build.tensors import Tensor


@dataclass(frozen=True)
class Windows:
    """Of one axis: how many, the begin and the end of each as an expression, and how many elements one has at most."""

    count: int
    begin: str
    end: str
    widest: DimLike


def adaptive_windows(extent: DimLike, count: int, name: str) -> Windows:
    """floor(n d / count) to ceil((n + 1) d / count); ``name`` is the iterator n."""
    begin = f"(({name} * ({extent})) // {count})"
    end = f"((({name} + 1) * ({extent}) + {count - 1}) // {count})"
    return Windows(count, begin, end, floordiv(extent + count - 1, count) + 1)


def fractional_windows(extent: DimLike, count: int, kernel: int, name: str, sample: str, element: str) -> Windows:
    """Of ``kernel`` elements, from floor((n + s) a) - floor(s a) on, a = (d - kernel) / (count - 1), s in [0, 1); the
    last one ends where the axis does."""
    last = f"(({extent}) - {kernel})"
    step = f"({element}{last} / {element}({max(count - 1, 1)}))"
    moved = f"i64(({element}({name}) + {sample}) * {step}) - i64({sample} * {step})"
    begin = last if count == 1 else f"where({name} == {count - 1}, {last}, {moved})"
    return Windows(count, f"({begin})", f"(({begin}) + {kernel})", kernel)


def maxima(build: Builder, x: Tensor, windows: Sequence[Windows], extra: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The maximum of each window of the last axes of ``x``, and where (i64) in these axes it is, the first of equals;
    expressions of windows read ``extra`` as x1, …"""
    rank, first = len(windows), x.rank - len(windows)
    shape, sizes = (*x.shape[:first], *(w.count for w in windows)), [w.widest for w in windows]
    at = [f"min({w.begin} + r{n}, {w.end} - 1)" for n, w in enumerate(windows)]
    outer = [f"i{n}" for n in range(first)]
    here = f"x0[{', '.join([*outer, *at])}]"
    y = build.compute(here, [x, *extra], shape, sizes, "max")
    own = f"x{len(extra) + 1}[{', '.join(f'i{n}' for n in range(x.rank))}]"
    same = f"({here} == {own}){f' | ({here} != {here})' if is_float(x.element) else ''}"
    position = "0"
    for n in range(rank):
        position = f"({position}) * ({x.shape[first + n]}) + {at[n]}"
    text = f"where({same}, i64({position}), {product(x.shape[first:])})"
    return y, build.compute(text, [x, *extra, y], shape, sizes, "min")


def at_positions(build: Builder, grad: Tensor, positions: Tensor, shape: Sequence[DimLike], rank: int) -> Tensor:
    """[shape]: the sums of the elements of ``grad`` at their positions in the last ``rank`` axes: the adjoint of
    ``maxima``."""
    outer, inner = product(shape[:-rank]), product(shape[-rank:])
    values, at = (build.reshape(t, (outer, product(t.shape[-rank:]))) for t in (grad, positions))
    zeros = build.broadcast(build.constant(0, grad.element), (outer, inner))
    return build.reshape(scatter_elements(build, zeros, at, values, 1, "add"), tuple(shape))
