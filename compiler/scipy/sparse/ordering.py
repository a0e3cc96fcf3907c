"""An order of unknowns in which neighbours of a sparse matrix are near each other, so that its band is narrow.

Source: Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices", 1969; George, 1971 (its reverse);
George and Liu, "An implementation of a pseudoperipheral node finder", 1979.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Known = np.ndarray[Any, Any]


def narrow_order(rows: Known, columns: Known, n: int) -> Known:
    """The unknowns [n] in the reverse order of Cuthill and McKee, or as they are where that is no wider."""
    natural = np.arange(n)
    found = _reverse_cuthill_mckee(_neighbours(rows, columns, n), n)
    given, made = (sum(bandwidths(order, rows, columns)) for order in (natural, found))
    return natural if given <= made else found


def bandwidths(order: Known, rows: Known, columns: Known) -> tuple[int, int]:
    """How many diagonals below and above the main one have values once unknown ``order[k]`` is number k."""
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    distance = number[rows] - number[columns]
    return int(max(distance.max(initial=0), 0)), int(max(-distance.min(initial=0), 0))


def _neighbours(rows: Known, columns: Known, n: int) -> list[Known]:
    """Of each unknown those that share an equation with it, by their number of neighbours."""
    both = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    apart = both[0] != both[1]
    pairs = np.unique(both[0][apart] * n + both[1][apart])
    first, second = np.divmod(pairs, max(n, 1))
    counts = np.bincount(first, minlength=n)
    second = second[np.lexsort((counts[second], first))]
    return np.split(second, np.cumsum(counts)[:-1]) if n else []


def _reverse_cuthill_mckee(neighbours: list[Known], n: int) -> Known:
    seen = np.zeros(n, bool)
    order: list[int] = []
    for start in np.argsort([len(each) for each in neighbours], kind="stable"):
        if not seen[start]:
            levels = list(_levels(_at_an_end(int(start), neighbours), neighbours, seen))
            order += [node for level in levels for node in level]
    return np.asarray(order[::-1], np.int64)


def _levels(start: int, neighbours: list[Known], seen: Known) -> Iterator[list[int]]:
    """Unknowns by their distance from one; marks them in ``seen``."""
    level = [start]
    seen[start] = True
    while level:
        yield level
        following = []
        for node in level:
            near = neighbours[node]
            new = near[~seen[near]]
            seen[new] = True
            following += new.tolist()
        level = following


def _at_an_end(start: int, neighbours: list[Known]) -> int:
    """An unknown far from another: from it there are more levels, of fewer unknowns each."""
    depth = -1
    while True:
        levels = list(_levels(start, neighbours, np.zeros(len(neighbours), bool)))
        if len(levels) <= depth:
            return start
        depth, start = len(levels), min(levels[-1], key=lambda node: len(neighbours[node]))
