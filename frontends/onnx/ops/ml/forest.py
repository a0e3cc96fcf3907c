"""The attributes of tree ensembles as tables: nodes and leaves of all trees in one numbering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.onnx.node import Node

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
MEMBER, EQUAL = MODES.index("MEMBER"), MODES.index("EQ")
MAX_DEPTH = 4096
MAX_TABLE = 1 << 28  # of weights: of nodes by targets


@dataclass(frozen=True)
class Forest:
    """Columns over nodes (``true`` and ``false`` children; a leaf is its own), and weights of leaves for targets."""

    feature: Array
    value: Array
    true: Array
    false: Array
    mode: Array
    missing: Array  # 1 where a feature that is NaN goes to the true child
    roots: Array
    leaves: Array  # a node, a target and a weight each
    targets: Array
    weight: Array
    count: int  # targets

    @property
    def depth(self) -> int:
        """The levels of the deepest tree.

        Raises:
            NotSupported: children form a cycle.
        """
        at, depth = np.unique(self.roots), 0
        while True:
            at = np.unique(np.concatenate([self.true[at], self.false[at]])[np.tile(self.true[at] != at, 2)])
            if not at.size:
                return depth
            depth += 1
            if depth > min(MAX_DEPTH, len(self.true)):
                raise NotSupported(f"trees of more than {MAX_DEPTH} levels, or whose nodes form a cycle")

    def weights(self, monoid: str) -> Array:
        """[nodes, targets]: the weight of each node; where a leaf has none for a target, the monoid's identity.

        Raises:
            NotSupported: more than fits in a table.
        """
        if not 0 < self.count * len(self.true) <= MAX_TABLE:
            size = f"{len(self.true)} nodes by {self.count} targets"
            raise NotSupported(f"a table of weights of {size}; it has 1 to {MAX_TABLE} elements")
        table = np.full((len(self.true), self.count), {"add": 0.0, "min": np.inf, "max": -np.inf}[monoid])
        if monoid == "add":
            np.add.at(table, (self.leaves, self.targets), self.weight)
        else:
            table[self.leaves, self.targets] = self.weight
        return table


def _column(node: Node, name: str, dtype: Any, default: Sequence[Any] | None = None) -> Array:
    given = node.attr(f"{name}_as_tensor", None)
    given = node.attr(name, default) if given is None else given
    return np.asarray([] if given is None else given, dtype).reshape(-1)


def numbered(node: Node, kind: str, count: int) -> Forest:
    """The tables of a TreeEnsembleRegressor (``kind`` target) or a TreeEnsembleClassifier (class)."""
    trees, ids = _column(node, "nodes_treeids", np.int64), _column(node, "nodes_nodeids", np.int64)
    index = {key: n for n, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    modes = node.attr("nodes_modes")
    unknown = {m for m in modes if m != "LEAF" and m.removeprefix("BRANCH_") not in MODES[:-1]}
    if unknown:
        raise NotSupported(f"nodes_modes {', '.join(sorted(unknown))}")
    leaf = np.array([m == "LEAF" for m in modes])
    true, false = (
        np.array([n if leaf[n] else index[int(trees[n]), int(c)] for n, c in enumerate(node.attr(name))], np.int64)
        for name in ("nodes_truenodeids", "nodes_falsenodeids")
    )
    roots = np.setdiff1d(np.arange(len(ids)), np.concatenate([true[~leaf], false[~leaf]]))
    at = zip(node.attr(f"{kind}_treeids"), node.attr(f"{kind}_nodeids"), strict=True)
    return Forest(
        feature=_column(node, "nodes_featureids", np.int64),
        value=_column(node, "nodes_values", np.float64),
        true=true,
        false=false,
        mode=np.array([0 if m == "LEAF" else MODES.index(m.removeprefix("BRANCH_")) for m in modes], np.int64),
        missing=_column(node, "nodes_missing_value_tracks_true", np.int64, [0] * len(ids)),
        roots=roots,
        leaves=np.array([index[key] for key in at], np.int64),
        targets=_column(node, f"{kind}_ids", np.int64),
        weight=_column(node, f"{kind}_weights", np.float64),
        count=count,
    )


def members_expanded(node: Node) -> Forest:
    """The tables of a TreeEnsemble; a test for members of a set becomes a chain of tests for one each."""
    modes = _column(node, "nodes_modes", np.int64)
    sets, count = _sets(_column(node, "membership_values", np.float64)), int((modes == MEMBER).sum())
    if len(sets) < count or not all(sets):
        sizes = [len(s) for s in sets]
        raise ValueError(f"membership_values has sets of {sizes} members for {count} nodes of mode {MEMBER}")
    given = iter(sets)
    tests = [next(given) if m == MEMBER else [v] for m, v in zip(modes, node.attr("nodes_splits"), strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(t) for t in tests])]).astype(np.int64)
    weight, first = _column(node, "leaf_weights", np.float64), int(starts[-1])
    owner = np.repeat(np.arange(len(tests)), [len(t) for t in tests])  # the node that a test is of
    true, false = (_children(node, side, starts)[owner] for side in ("true", "false"))
    last = np.append(owner[1:] != owner[:-1], True)
    leaves = first + np.arange(len(weight))
    missing = _column(node, "nodes_missing_value_tracks_true", np.int64, [0] * len(tests))
    return Forest(
        feature=_with_leaves(_column(node, "nodes_featureids", np.int64)[owner], 0 * leaves),
        value=_with_leaves(np.array([v for t in tests for v in t], np.float64), np.zeros(len(leaves))),
        true=_with_leaves(true, leaves),
        false=_with_leaves(np.where(last, false, np.arange(1, first + 1)), leaves),
        mode=_with_leaves(np.where(modes == MEMBER, EQUAL, modes)[owner], 0 * leaves),
        missing=_with_leaves(missing[owner], 0 * leaves),
        roots=starts[_column(node, "tree_roots", np.int64)],
        leaves=leaves,
        targets=_column(node, "leaf_targetids", np.int64),
        weight=weight,
        count=node.attr("n_targets"),
    )


def _with_leaves(nodes: Array, leaves: Array) -> Array:
    return np.concatenate([nodes, leaves])


def _children(node: Node, side: str, starts: Array) -> Array:
    """The children of nodes in the new numbering: tests first, leaves after them."""
    child, leaf = _column(node, f"nodes_{side}nodeids", np.int64), _column(node, f"nodes_{side}leafs", np.int64)
    return np.where(leaf != 0, starts[-1] + child, starts[np.where(leaf != 0, 0, child)])


def _sets(values: Array) -> list[list[float]]:
    """The sets before the NaNs that end them; the last may have none."""
    found: list[list[float]] = [[]]
    for value in values.tolist():
        if value == value:
            found[-1].append(value)
        else:
            found.append([])
    return found if found[-1] else found[:-1]
