"""The time of a collective along one mesh axis: alpha and beta of each level that the axis crosses.

An ``all_reduce`` over hosts is a ``reduce_scatter`` within each, an ``all_reduce`` of the part between them, and an
``all_gather`` within. So slow links carry a part of the bytes (hierarchical collectives; NCCL, BlueConnect).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlc.comm.link import Link

Links = Sequence[tuple[int, Link]]


def seconds(kind: str, size: float, links: Links) -> float:
    """Return the seconds of a collective on a tensor of ``size`` bytes: the whole that ranks have afterwards (gather),
    before (reductions), or in all parts together (exchange, ``permute``: what a rank sends)."""
    match kind:
        case "all_reduce":
            return 2 * _scatter(size, links)
        case "reduce_scatter" | "all_gather":
            return _scatter(size, links)
        case "all_to_all":
            ranks = prod(count for count, _ in links)
            return sum(link.seconds(1, 0) + link.beta * size / ranks * (count - 1) / count for count, link in links)
        case "permute":
            return links[-1][1].alpha + links[-1][1].beta * size if links else 0.0
    raise ValueError(f"{kind} is no collective")


def _scatter(size: float, links: Links) -> float:
    """Return the seconds of a reduction to parts, from the inner level; a gather is its reverse."""
    total = 0.0
    for count, link in links:
        total += link.alpha + link.beta * size * (count - 1) / count
        size /= count
    return total


def sent(kind: str, size: float, ranks: int) -> float:
    """Return the bytes that a rank sends, however many levels there are."""
    share = (ranks - 1) / ranks
    match kind:
        case "all_reduce":
            return 2 * share * size
        case "all_to_all":
            return share * size / ranks
        case "permute":
            return size
    return share * size
