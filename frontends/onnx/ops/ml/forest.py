"""The attributes of tree ensembles as tables: nodes and leaves of all trees in one numbering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.trees.forest import MODES, Forest
from mlc.frontends.onnx.node import Node

MEMBER = MODES.index("MEMBER")


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


def merged(node: Node) -> Forest:
    """The tables of a TreeEnsemble, whose leaves come after the nodes in the one numbering."""
    modes, value = _column(node, "nodes_modes", np.int64), _column(node, "nodes_splits", np.float64)
    sets, member = _sets(_column(node, "membership_values", np.float64)), modes == MEMBER
    if len(sets) < member.sum() or not all(sets):
        sizes = [len(s) for s in sets]
        raise ValueError(f"membership_values has sets of {sizes} members for {member.sum()} nodes of mode {MEMBER}")
    value = np.where(member, np.cumsum(member) - 1, value)
    weight, first = _column(node, "leaf_weights", np.float64), len(modes)
    leaves = first + np.arange(len(weight))
    missing = _column(node, "nodes_missing_value_tracks_true", np.int64, [0] * first)
    return Forest(
        feature=_with_leaves(_column(node, "nodes_featureids", np.int64), 0 * leaves),
        value=_with_leaves(value, np.zeros(len(leaves))),
        true=_with_leaves(_children(node, "true", first), leaves),
        false=_with_leaves(_children(node, "false", first), leaves),
        mode=_with_leaves(modes, 0 * leaves),
        missing=_with_leaves(missing, 0 * leaves),
        roots=_column(node, "tree_roots", np.int64),
        leaves=leaves,
        targets=_column(node, "leaf_targetids", np.int64),
        weight=weight,
        count=node.attr("n_targets"),
        sets=tuple(np.array(s) for s in sets),
    )


def _with_leaves(nodes: Array, leaves: Array) -> Array:
    return np.concatenate([nodes, leaves])


def _children(node: Node, side: str, first: int) -> Array:
    """The children of nodes in the one numbering."""
    child, leaf = _column(node, f"nodes_{side}nodeids", np.int64), _column(node, f"nodes_{side}leafs", np.int64)
    return np.where(leaf != 0, first + child, child)


def _sets(values: Array) -> list[list[float]]:
    """The sets before the NaNs that end them; the last may have none."""
    found: list[list[float]] = [[]]
    for value in values.tolist():
        if value == value:
            found[-1].append(value)
        else:
            found.append([])
    return found if found[-1] else found[:-1]
