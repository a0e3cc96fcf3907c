"""The branch of a condition on sizes that most sizes take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlc.dialects.semantics.dims import DimLike, evaluate, symbols_of
from mlc.frontends.onnx.graphs.alternative import Alternative

SAMPLED = (*range(1, 65), *(7 << n for n in range(4, 14)))  # sizes of which most decide


def likely(both: Sequence[Alternative], guard: DimLike) -> Alternative:
    """The branch that most sizes take, of those that can be computed for most of the sizes that take them.

    The first one runs where ``guard`` is at least 0.
    """
    kept = []
    for each, runs in zip(both, (guard, -1 - guard), strict=True):
        symbols = sorted(symbols_of([runs, *each.side.guards]))
        sizes = [{s: n + 7 * k for k, s in enumerate(symbols)} for n in SAMPLED]
        taken = [dims for dims in sizes if _holds(runs, dims)]
        fit = sum(all(_holds(g, dims) for g in each.side.guards) for dims in taken)
        kept.append((2 * fit >= len(taken), fit))
    return both[kept[1] > kept[0]]


def _holds(guard: DimLike, dims: Mapping[str, DimLike]) -> bool:
    value = evaluate(guard, dims)
    return isinstance(value, int) and value >= 0
