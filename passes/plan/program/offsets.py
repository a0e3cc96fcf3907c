"""Offsets in one arena for buffers with known live ranges (dynamic storage allocation, NP-hard).

The algorithm is greedy by size (Pisarchyk and Lee, arXiv 2001.03288): large buffers are placed first, each in the
smallest gap where it overlaps no buffer alive at the same time. If that needs more than the bytes alive at one time,
the buffers at the top of the arena move forward in the order, and all are placed again (squeaky wheel optimization,
Joslin and Clements, 1999).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

Range = tuple[int, int]  # the first and the last step at which a buffer is alive; bytes, without the last
ENOUGH = 1.02  # a plan of this many times the lower bound ends the search
VISITS = 2_000_000  # pairs of buffers to visit, which limits the search to about a second
STALE = 40  # rounds without a better plan after which the search ends


def place(ranges: Sequence[Range], sizes: Sequence[int]) -> list[int]:
    """Return an offset for each buffer."""
    return list(_place(tuple(ranges), tuple(sizes)))


@lru_cache(maxsize=4)
def _place(ranges: Sequence[Range], sizes: Sequence[int]) -> tuple[int, ...]:
    """Compute ``place``. Cached, because a budget of memory requests the plan of one program twice."""
    meets = _meetings(ranges)
    enough = ENOUGH * live_bytes(ranges, sizes)
    starts = (
        lambda n: (-sizes[n], ranges[n]),
        lambda n: (-sizes[n] * (ranges[n][1] - ranges[n][0]), ranges[n]),
        lambda n: (ranges[n][0] - ranges[n][1], -sizes[n], ranges[n]),
    )
    plans = []
    for key in starts:
        plans.append(_improved(sorted(range(len(sizes)), key=key), sizes, meets, enough))
        if plans[-1][0] <= enough:
            break
    return tuple(min(plans)[1])


def live_bytes(ranges: Sequence[Range], sizes: Sequence[int]) -> int:
    """Return the most bytes alive at one step, a lower bound of every plan."""
    events = sorted(
        event for (first, last), size in zip(ranges, sizes, strict=True) for event in ((first, size), (last + 1, -size))
    )
    most = now = 0
    for _, change in events:  # at equal steps the ends, which are negative, come first
        now += change
        most = max(most, now)
    return most


def _meetings(ranges: Sequence[Range]) -> list[list[int]]:
    """Return, for each buffer, the buffers that are alive at the same time."""
    order = sorted(range(len(ranges)), key=ranges.__getitem__)
    meets: list[list[int]] = [[] for _ in ranges]
    alive: list[int] = []
    for n in order:
        alive = [k for k in alive if ranges[k][1] >= ranges[n][0]]
        for k in alive:
            meets[k].append(n)
            meets[n].append(k)
        alive.append(n)
    return meets


def _improved(
    order: list[int], sizes: Sequence[int], meets: Sequence[Sequence[int]], enough: float
) -> tuple[int, list[int]]:
    """Return (arena, offsets), the best of repeated placements; each placement moves the buffers at the top of the last
    one forward in the order."""
    spans: list[Range] = [(-1, -1)] * len(sizes)
    rank = _ranks(order)
    anew = set(order)
    best: tuple[int, list[int]] | None = None
    stale = 0
    for _ in range(1 + VISITS // (1 + sum(map(len, meets)))):
        _greedy(order, rank, sizes, meets, spans, anew)
        top = max((end for _, end in spans), default=0)
        stale += 1
        if best is None or top < best[0]:
            best, stale = (top, [start for start, _ in spans]), 0
        if best[0] <= enough or stale > STALE:
            break
        blamed = {n for n in order if spans[n][1] == top}
        before, order = order, _blamed_first(order, blamed)
        if order == before:
            break  # the same plan again
        was, rank = rank, _ranks(order)
        anew = blamed | {k for n in blamed for k in meets[n] if was[k] < was[n] and rank[k] > rank[n]}
    assert best is not None
    return best


def _ranks(order: Sequence[int]) -> list[int]:
    """Return the position of each buffer in the order."""
    ranks = [0] * len(order)
    for position, n in enumerate(order):
        ranks[n] = position
    return ranks


def _blamed_first(order: Sequence[int], blamed: set[int]) -> list[int]:
    """Return the order with ``blamed`` buffers moved to half their position."""
    rank = {n: float(k) for k, n in enumerate(order)}
    for n in blamed:
        rank[n] = rank[n] / 2 - 0.75
    return sorted(order, key=lambda n: rank[n])


def _greedy(
    order: Sequence[int],
    rank: Sequence[int],
    sizes: Sequence[int],
    meets: Sequence[Sequence[int]],
    spans: list[Range],
    anew: set[int],
) -> None:
    """Place each buffer next to those before it in the order. Only the buffers ``anew``, and those that meet a buffer
    that moves, are computed; all others keep their ``spans`` (bytes of the arena) from the last order."""
    for n in order:
        if n in anew:
            busy = sorted([spans[k] for k in meets[n] if rank[k] < rank[n]])
            start = _gap(busy, sizes[n])
            if spans[n] != (start, start + sizes[n]):
                spans[n] = start, start + sizes[n]
                anew.update(meets[n])


def _gap(busy: Sequence[tuple[int, int]], size: int) -> int:
    """Return the start of the smallest gap between occupied intervals that is large enough; if there is none, the end
    of the last interval."""
    end, best, least = 0, -1, math.inf
    for start, stop in busy:
        if size <= start - end < least:
            best, least = end, start - end
        if stop > end:
            end = stop
    return end if best < 0 else best
