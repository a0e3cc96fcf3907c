"""Random tree ensembles of ai.onnx.ml."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import numpy_helper


def forest(rng: np.random.Generator, kind: str, trees: int, features: int, targets: int, mode: str) -> dict[str, Any]:
    """Random trees of up to 5 levels, as attributes."""
    rows: dict[str, list[Any]] = {
        f"{group}_{n}": []
        for group, names in (
            ("nodes", "treeids nodeids featureids values modes truenodeids falsenodeids missing_value_tracks_true"),
            (kind, "treeids nodeids ids weights"),
        )
        for n in names.split()
    }

    def grow(tree: int, ids: list[int], depth: int) -> int:
        me = len(ids)
        ids.append(me)
        at = len(rows["nodes_nodeids"])
        leaf = depth == 5 or (depth > 1 and rng.random() < 0.3)
        entry = (tree, me, 0 if leaf else int(rng.integers(features)), 0.0 if leaf else float(rng.standard_normal()))
        chosen = mode if mode != "MIXED" else f"BRANCH_{rng.choice(['LEQ', 'GT', 'LT', 'NEQ'])}"
        entry += ("LEAF" if leaf else chosen, 0, 0, int(rng.integers(2)))
        for column, value in zip([n for n in rows if n.startswith("nodes")], entry, strict=True):
            rows[column].append(value)
        if leaf:
            for t in range(targets):
                for name, value in zip(("treeids", "nodeids", "ids", "weights"), (tree, me, t, 0.0), strict=True):
                    rows[f"{kind}_{name}"].append(float(rng.standard_normal()) if name == "weights" else value)
        else:
            rows["nodes_truenodeids"][at] = grow(tree, ids, depth + 1)
            rows["nodes_falsenodeids"][at] = grow(tree, ids, depth + 1)
        return me

    for tree in range(trees):
        grow(tree, [], 0)
    return rows


def merged(rows: dict[str, Any], targets: int) -> dict[str, Any]:
    """The attributes of a TreeEnsemble of those of a TreeEnsembleRegressor, whose children are in its own numbers."""
    keys = list(zip(rows["nodes_treeids"], rows["nodes_nodeids"], strict=True))
    inner = {k: n for n, k in enumerate(k for k, m in zip(keys, rows["nodes_modes"], strict=True) if m != "LEAF")}
    ends = zip(rows["target_treeids"], rows["target_nodeids"], strict=True)
    leaves = {key: n for n, key in enumerate(ends)}
    kept = [n for n, key in enumerate(keys) if key in inner]
    how: dict[str, Any] = {"n_targets": targets, "tree_roots": [inner[t, 0] for t in dict(keys)]}
    for side in ("true", "false"):
        children = [(keys[n][0], rows[f"nodes_{side}nodeids"][n]) for n in kept]
        how[f"nodes_{side}leafs"] = [int(c in leaves) for c in children]
        how[f"nodes_{side}nodeids"] = [leaves[c] if c in leaves else inner[c] for c in children]
    how["nodes_featureids"] = [rows["nodes_featureids"][n] for n in kept]
    tensors = {
        "nodes_splits": np.array([rows["nodes_values"][n] for n in kept], "f4"),
        "nodes_modes": np.array([{"BRANCH_LEQ": 0, "BRANCH_GT": 3}[rows["nodes_modes"][n]] for n in kept], "u1"),
        "leaf_weights": np.array(rows["target_weights"], "f4"),
    }
    how |= {name: numpy_helper.from_array(a, name) for name, a in tensors.items()}
    return how | {"leaf_targetids": [key[0] % targets for key in leaves]}
