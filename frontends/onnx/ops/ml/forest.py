"""The attributes of tree ensembles as tables: nodes and leaves of all trees in one numbering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.trees.forest import MODES, Forest
from mlc.frontends.onnx.node import Node

MEMBER = MODES.index("MEMBER")
LEAF = -1
_NODE_COLUMNS = {
    "treeids": np.int64,
    "nodeids": np.int64,
    "featureids": np.int64,
    "values": np.float64,
    "truenodeids": np.int64,
    "falsenodeids": np.int64,
    "missing_value_tracks_true": np.int64,
}
_LEAF_COLUMNS = {"ids": np.int64, "treeids": np.int64, "nodeids": np.int64, "weights": np.float64}
_OPTIONAL = {"missing_value_tracks_true"}
_TESTS = {name: n for n, name in enumerate(MODES[:-1])}
_MODE_OF = {"LEAF": LEAF, **_TESTS, **{f"BRANCH_{name}": n for name, n in _TESTS.items()}}


def _column(node: Node, name: str, dtype: Any, default: Sequence[Any] | None = None) -> Array:
    given = node.attr(f"{name}_as_tensor", None)
    given = node.attr(name, default) if given is None else given
    return np.asarray([] if given is None else given, dtype).reshape(-1)


def numbered(node: Node, kind: str, count: int) -> Forest:
    """The tables of a TreeEnsembleRegressor (``kind`` target) or a TreeEnsembleClassifier (class)."""
    nodes = _columns(node, "nodes_", _NODE_COLUMNS)
    leaves = _columns(node, f"{kind}_", _LEAF_COLUMNS)
    numbering, mode = _Numbering(nodes["treeids"], nodes["nodeids"]), _modes(node.attr("nodes_modes"))
    inner, itself = mode != LEAF, np.arange(len(mode))
    true, false = itself.copy(), itself.copy()
    for child, ids in ((true, nodes["truenodeids"]), (false, nodes["falsenodeids"])):
        child[inner] = numbering.of(nodes["treeids"][inner], ids[inner])
    at = numbering.of(leaves["treeids"], leaves["nodeids"])
    read = _read_of(at, count)
    return Forest(
        feature=nodes["featureids"],
        value=nodes["values"],
        true=true,
        false=false,
        mode=np.maximum(mode, 0),
        missing=nodes["missing_value_tracks_true"],
        roots=_no_children(true[inner], false[inner], len(mode)),
        leaves=at[read],
        targets=leaves["ids"][read],
        weight=leaves["weights"][read],
        count=count,
    )


def _read_of(leaves: Array, count: int) -> Array:
    """The weights that count: all of them. With a single target or class: the first of each leaf, as in onnxruntime."""
    return np.sort(np.unique(leaves, return_index=True)[1]) if count == 1 else np.arange(len(leaves))


def _no_children(true: Array, false: Array, count: int) -> Array:
    """The roots: those of ``count`` nodes that are no node's child."""
    is_root = np.ones(count, bool)
    is_root[true] = is_root[false] = False
    return np.flatnonzero(is_root)


def _columns(node: Node, prefix: str, dtypes: Mapping[str, Any]) -> dict[str, Array]:
    """The attributes that begin with ``prefix``; the optional ones are zeros where the node has none.

    Raises ValueError where a column has another number of elements than the first.
    """
    found = {name: _column(node, prefix + name, dtype) for name, dtype in dtypes.items()}
    first = next(iter(found))
    count = len(found[first])
    for name in _OPTIONAL & found.keys():
        found[name] = found[name] if found[name].size else np.zeros(count, found[name].dtype)
    for name, column in found.items():
        if len(column) != count:
            raise ValueError(f"{prefix}{name} has {len(column)} elements for {count} of {prefix}{first}")
    return found


class _Numbering:
    """Finds nodes by the number of their tree and their number in it; of two with the same numbers, the last one."""

    def __init__(self, trees: Array, ids: Array):
        self.trees, self.ids = np.unique(trees), np.unique(ids)
        keys = self._keys(trees, ids)
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def of(self, trees: Array, ids: Array) -> Array:
        """The nodes of these numbers. Raises ValueError where a tree has no such node."""
        keys = self._keys(trees, ids)
        at = np.searchsorted(self.keys, keys, "right") - 1
        known = (at >= 0) & (self.keys[at] == keys) if len(self.keys) else np.zeros(len(keys), bool)
        if not known.all():
            first = int(np.argmin(known))
            raise ValueError(f"tree {trees[first]} has no node {ids[first]}")
        return self.order[at]

    def _keys(self, trees: Array, ids: Array) -> Array:
        """One number for a pair of numbers that some tree and some node have, -1 for others."""
        tree, tree_known = _positions(self.trees, trees)
        number, number_known = _positions(self.ids, ids)
        return np.where(tree_known & number_known, tree * len(self.ids) + number, -1)


def _positions(values: Array, wanted: Array) -> tuple[Array, Array]:
    """The position of each wanted number in sorted ``values``, and whether it is there."""
    if not len(values):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return at, values[at] == wanted


def _modes(names: Sequence[str]) -> Array:
    """The index in MODES of each node's test, LEAF for a leaf."""
    unknown = set(names) - _MODE_OF.keys()
    if unknown:
        raise NotSupported(f"nodes_modes {', '.join(sorted(unknown))}")
    return np.fromiter((_MODE_OF[name] for name in names), np.int64, len(names))


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
