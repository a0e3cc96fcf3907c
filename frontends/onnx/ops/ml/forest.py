"""The attributes of tree ensembles as tables: nodes and leaves of all trees in one numbering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import Array
from mlc.frontends.onnx.node import Node

MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
MEMBER, EQUAL = MODES.index("MEMBER"), MODES.index("EQ")
MAX_DEPTH = 4096


@dataclass(frozen=True)
class Forest:
    """Columns over nodes (``true`` and ``false`` children; a leaf is its own), and what leaves weigh for targets."""

    feature: Array
    value: Array
    true: Array
    false: Array
    mode: Array
    missing: Array  # 1 where a feature that is no number goes to the true child
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
        """[nodes, targets]: what each node adds; where a leaf says nothing of a target, the monoid's identity."""
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
    place = {key: n for n, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    modes = node.attr("nodes_modes")
    unknown = {m for m in modes if m != "LEAF" and m.removeprefix("BRANCH_") not in MODES[:-1]}
    if unknown:
        raise NotSupported(f"nodes_modes {', '.join(sorted(unknown))}")
    leaf = np.array([m == "LEAF" for m in modes])
    children = [
        np.array([n if leaf[n] else place[int(trees[n]), int(c)] for n, c in enumerate(node.attr(name))], np.int64)
        for name in ("nodes_truenodeids", "nodes_falsenodeids")
    ]
    first = np.setdiff1d(np.arange(len(ids)), np.concatenate([c[~leaf] for c in children]))
    at = zip(node.attr(f"{kind}_treeids"), node.attr(f"{kind}_nodeids"), strict=True)
    return Forest(
        _column(node, "nodes_featureids", np.int64), _column(node, "nodes_values", np.float64), *children,
        np.array([0 if m == "LEAF" else MODES.index(m.removeprefix("BRANCH_")) for m in modes], np.int64),
        _column(node, "nodes_missing_value_tracks_true", np.int64, [0] * len(ids)), first,
        np.array([place[key] for key in at], np.int64), _column(node, f"{kind}_ids", np.int64),
        _column(node, f"{kind}_weights", np.float64), count,
    )  # fmt: skip


def members_expanded(node: Node, element: str) -> Forest:
    """The tables of a TreeEnsemble; a test for members of a set becomes a chain of tests for one each."""
    rows: list[list[Any]] = []
    splits, modes = np.asarray(node.attr("nodes_splits"), np.float64), np.asarray(node.attr("nodes_modes"))
    sets = iter(_sets(np.asarray(node.attr("membership_values", np.zeros(0)), np.float64)))
    tests = [next(sets) if m == MEMBER else [v] for m, v in zip(modes, splits, strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(t) for t in tests])]).astype(int)
    leaves = np.asarray(node.attr("leaf_weights"), np.float64)
    missing = node.attr("nodes_missing_value_tracks_true", None) or [0] * len(tests)
    for n, values in enumerate(tests):
        true, false = (_child(node, n, side, starts) for side in ("true", "false"))
        mode = EQUAL if modes[n] == MEMBER else int(modes[n])
        for k, value in enumerate(values):
            behind = false if k == len(values) - 1 else int(starts[n]) + k + 1
            rows.append([node.attr("nodes_featureids")[n], value, true, behind, mode, missing[n]])
    rows += [[0, 0.0, starts[-1] + n, starts[-1] + n, 0, 0] for n in range(len(leaves))]
    kinds = (np.int64, np.float64, np.int64, np.int64, np.int64, np.int64)
    columns = [np.array(c, kind) for c, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    ids = np.asarray(node.attr("leaf_targetids"), np.int64)
    roots = starts[np.asarray(node.attr("tree_roots"))].astype(np.int64)
    return Forest(*columns, roots, starts[-1] + np.arange(len(leaves)), ids, leaves, node.attr("n_targets"))


def _child(node: Node, n: int, side: str, starts: Array) -> int:
    """A child of node ``n`` in the new numbering: nodes first, leaves behind them."""
    child = node.attr(f"nodes_{side}nodeids")[n]
    return int(starts[-1]) + child if node.attr(f"nodes_{side}leafs")[n] else int(starts[child])


def _sets(values: Array) -> list[list[float]]:
    """The sets between the NaNs that end them."""
    found: list[list[float]] = [[]]
    for value in values.tolist():
        if value == value:
            found[-1].append(value)
        else:
            found.append([])
    return found
