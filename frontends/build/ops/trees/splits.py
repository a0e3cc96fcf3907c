"""Trees whose nodes all ask ``x <= bound``, of trees whose nodes ask anything else.

    x <  t  →  x <= the number before t              x >  t  →  the children of x <= t, exchanged
    x == t  →  x <= t, and below it x <  t           x in s  →  a binary search among the members, then x == member

A NaN goes to the right child, or to the left one of a node that is ``missing``; exchanging children negates this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.trees.forest import MODES, Forest

LEQ, LT, GTE, GT, EQ, NEQ, MEMBER = range(len(MODES))


@dataclass
class Splits:
    """Columns over nodes: the left child is for rows whose feature is at most the bound; a leaf is its own child."""

    feature: Array
    bound: Array
    missing: Array
    left: Array
    right: Array

    def append(self, feature: Array, bound: Array, missing: Array, left: Array, right: Array) -> None:
        """Append nodes."""
        for name, more in (
            ("feature", feature),
            ("bound", bound),
            ("missing", missing),
            ("left", left),
            ("right", right),
        ):
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.asarray(more, column.dtype)]))


def splits_of(forest: Forest, dtype: np.dtype[Any]) -> Splits:
    """The nodes of a forest, with bounds in the features' ``dtype``. Nodes that a rewrite adds come last."""
    mode, bound, inner = forest.mode.copy(), forest.value.astype(dtype), forest.true != forest.false
    missing, left, right = forest.missing != 0, forest.true.copy(), forest.false.copy()
    unequal = inner & (mode == NEQ)
    left[unequal], right[unequal] = forest.false[unequal], forest.true[unequal]
    missing[unequal] = False  # a NaN differs from everything
    mode[unequal] = EQ
    never = inner & np.isnan(bound) & (mode != MEMBER)
    mode[never] = LEQ
    more = inner & ((mode == GT) | (mode == GTE))
    left[more], right[more] = right[more], left[more]
    missing[more] = ~missing[more]
    before = inner & ((mode == LT) | (mode == GTE))
    bound[before] = _before(bound[before])
    splits = Splits(forest.feature.copy(), bound, missing, left, right)
    _equal(splits, np.flatnonzero(inner & (mode == EQ)))
    _members(splits, np.flatnonzero(inner & (mode == MEMBER)), forest)
    return splits


def _before(bound: Array) -> Array:
    """The next smaller numbers. NaN, below which no number lies, where there is none."""
    return np.where(bound == -np.inf, np.nan, np.nextafter(bound, bound.dtype.type(-np.inf))).astype(bound.dtype)


def _equal(splits: Splits, at: Array) -> None:
    """Turn nodes into tests for equality with their bounds."""
    below = len(splits.left) + np.arange(len(at))
    yes, no = splits.left[at], splits.right[at]
    splits.append(splits.feature[at], _before(splits.bound[at]), np.zeros(len(at), bool), no, yes)
    splits.left[at] = below


def _members(splits: Splits, at: Array, forest: Forest) -> None:
    """Turn nodes into binary searches among the sorted members of their sets, which end in tests for equality."""
    free, equal = len(splits.left), []
    made: list[tuple[int, int, float, int, int]] = []  # a node, the one it is of, its bound and children
    for node in at.tolist():
        yes, no = int(splits.left[node]), int(splits.right[node])
        members = np.unique(forest.sets[int(forest.value[node])].astype(splits.bound.dtype))
        todo = [(node, 0, len(members))]
        while todo:
            here, low, high = todo.pop()
            if high - low > 1:
                middle = (low + high) // 2
                made.append((here, node, members[middle - 1], free, free + 1))
                todo += [(free, low, middle), (free + 1, middle, high)]
                free += 2
            else:
                made.append((here, node, members[low] if len(members) else np.nan, yes, no))
                equal.append(here)
    more = np.zeros(free - len(splits.left), np.int64)
    splits.append(more, more, more, more, more)
    here, of, bound, left, right = (np.array(c) for c in zip(*made, strict=True)) if made else [np.array([], int)] * 5
    splits.feature[here], splits.missing[here] = splits.feature[of], splits.missing[of]
    splits.bound[here], splits.left[here], splits.right[here] = bound, left, right
    _equal(splits, np.array(equal, np.int64))
