"""The order of nodes in the table of ``graph.forest``: by tree and level, the children of a node beside each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.trees.splits import Splits


@dataclass(frozen=True)
class Slots:
    """Columns over slots. A node that is a child of two others has two slots, and its children one pair of them."""

    node: Array
    pair: Array  # the slot of the left child; of a leaf -1
    roots: Array  # a slot a tree
    is_tree: bool  # no node is a child of two others

    @property
    def inner(self) -> Array:
        return self.pair >= 0

    def levels(self) -> list[Array]:
        """The inner slots of all trees, level by level. The graphs must be trees."""
        at, found = self.roots, []
        while (at := at[self.pair[at] >= 0]).size:
            found.append(at)
            at = np.concatenate([self.pair[at], self.pair[at] + 1])
        return found

    def leaves(self) -> tuple[Array, Array]:
        """(first, count) per slot: the number of the first leaf below it, and how many there are.

        Leaves are numbered tree by tree from left to right; in graphs that are no trees, in the order of slots.
        """
        leaf, count = np.cumsum(~self.inner) - 1, np.ones(len(self.node), np.int64)
        if not self.is_tree:
            return leaf, count
        levels = self.levels()
        for at in reversed(levels):
            count[at] = count[self.pair[at]] + count[self.pair[at] + 1]
        totals = count[self.roots]
        leaf[self.roots] = np.cumsum(totals) - totals
        for at in levels:
            left = self.pair[at]
            leaf[left], leaf[left + 1] = leaf[at], leaf[at] + count[left]
        return leaf, count


def slots_of(splits: Splits, roots: Array) -> Slots:
    """The slots of all trees; each level holds the slots of all trees at that depth."""
    node, tree, total, shared = roots, np.arange(len(roots)), len(roots), False
    pair_of, nodes, trees = np.full(len(splits.left), -1), [node], [tree]
    while node.size:
        inner = splits.left[node] != splits.right[node]
        node, tree = node[inner], tree[inner]
        first = np.sort(np.unique(node, return_index=True)[1])
        first = first[pair_of[node[first]] < 0]
        shared |= len(first) < len(node)
        node, tree = node[first], np.repeat(tree[first], 2)
        pair_of[node] = total + 2 * np.arange(len(node))
        node = np.stack([splits.left[node], splits.right[node]], 1).reshape(-1)
        nodes.append(node)
        trees.append(tree)
        total += len(node)
    node = np.concatenate(nodes)
    order = np.argsort(np.concatenate(trees), kind="stable")
    place = np.empty(total, np.int64)
    place[order] = np.arange(total)
    pair = np.append(place, -1)[pair_of[node]][order]  # -1 is the last one
    return Slots(node[order], pair, place[: len(roots)], not shared)
