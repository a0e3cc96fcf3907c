"""Ensembles of decision trees as columns: nodes and leaves of all trees in one numbering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
MAX_DEPTH = 4096
MAX_TABLE = 1 << 28  # of weights: of nodes by targets


@dataclass(frozen=True)
class Forest:
    """Columns over nodes (``true`` and ``false`` children; a leaf is its own), and weights of leaves for targets."""

    feature: Array
    value: Array
    true: Array
    false: Array
    mode: Array  # an index of MODES; a MEMBER's value is an index of ``sets``
    missing: Array  # 1 where a feature that is NaN goes to the true child
    roots: Array
    leaves: Array  # a node, a target and a weight each
    targets: Array
    weight: Array
    count: int  # targets
    sets: tuple[Array, ...] = ()  # the members that a node asks for

    @property
    def most_features(self) -> int:
        """One more than the greatest feature that a node asks for."""
        inner = self.true != self.false
        if (self.feature[inner] < 0).any():
            raise NotSupported("a test of a negative feature")
        return int(self.feature[inner].max(initial=-1)) + 1

    def check(self) -> None:
        """Raises NotSupported where children form a cycle, or the weights need too large a table."""
        if not 0 < self.count * len(self.true) <= MAX_TABLE:
            size = f"{len(self.true)} nodes by {self.count} targets"
            raise NotSupported(f"a table of weights of {size}; it has 1 to {MAX_TABLE} elements")
        at, depth = np.unique(self.roots), 0
        while at.size:
            at, depth = self._children(at[self.true[at] != at]), depth + 1
            if depth > min(MAX_DEPTH, len(self.true)) + 1:
                raise NotSupported(f"trees of more than {MAX_DEPTH} levels, or whose nodes form a cycle")

    def _children(self, at: Array) -> Array:
        """The children of nodes. Duplicates are dropped where they would outnumber the nodes."""
        children = np.concatenate([self.true[at], self.false[at]])
        return children if children.size <= len(self.true) else np.unique(children)

    def presence(self) -> tuple[Array, Array]:
        """For each target: (whether some leaf has a weight for it, whether each leaf of some tree has one)."""
        tree, at = np.full(len(self.true), -1), self.roots
        tree[at] = np.arange(len(at))
        while (at := at[self.true[at] != self.false[at]]).size:
            tree[self.true[at]] = tree[self.false[at]] = tree[at]
            at = self._children(at)
        ends = tree[(self.true == self.false) & (tree >= 0)]
        weighted = np.zeros(len(self.true) * self.count, bool)
        weighted[self.leaves * self.count + self.targets] = True
        leaf, target = np.divmod(np.flatnonzero(weighted), self.count)
        used = tree[leaf] >= 0
        cells = tree[leaf[used]] * self.count + target[used]
        covered = np.bincount(cells, minlength=len(self.roots) * self.count).reshape(-1, self.count)
        whole = covered == np.bincount(ends, minlength=len(self.roots))[:, np.newaxis]
        return np.any(covered, axis=0), np.any(whole, axis=0)
