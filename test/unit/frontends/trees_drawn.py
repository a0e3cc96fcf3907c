"""Random attributes of TreeEnsemble of any shape, and what they mean, node by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import numpy_helper

TESTS = [
    lambda x, t: x <= t,
    lambda x, t: x < t,
    lambda x, t: x >= t,
    lambda x, t: x > t,
    lambda x, t: x == t,
    lambda x, t: x != t,
]
MEMBER = 6
FEW = [-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0]  # so that features are often equal to bounds


def ensemble(
    rng: np.random.Generator, leaves: Sequence[int], features: int, targets: int, modes: Sequence[int], dtype: str
) -> dict[str, Any]:
    """Attributes of trees with these numbers of leaves; two nodes may share a leaf, and a leaf has one target."""
    how: dict[str, list[Any]] = {f"nodes_{n}": [] for n in ("featureids", "splits", "modes")}
    how |= {f"nodes_{n}": [] for n in ("truenodeids", "falsenodeids", "trueleafs", "falseleafs")}
    how |= {"nodes_missing_value_tracks_true": [], "leaf_weights": [], "leaf_targetids": [], "tree_roots": []}
    members: list[float] = []

    def leaf() -> tuple[int, int]:
        how["leaf_weights"].append(float(rng.standard_normal()))
        how["leaf_targetids"].append(int(rng.integers(targets)))
        return len(how["leaf_weights"]) - 1, 1

    def grow(count: int) -> tuple[int, int]:
        if count == 1:
            return leaf()
        me, mode = len(how["nodes_modes"]), int(rng.choice(modes))
        columns = [int(rng.integers(features)), float(rng.choice(FEW)), mode]
        for name, value in zip(("featureids", "splits", "modes"), columns, strict=True):
            how[f"nodes_{name}"].append(value)
        how["nodes_missing_value_tracks_true"].append(int(rng.integers(2)))
        if mode == MEMBER:
            members.extend([*rng.choice(FEW, rng.integers(1, 6)).tolist(), np.nan])
        for name in ("truenodeids", "falsenodeids", "trueleafs", "falseleafs"):
            how[f"nodes_{name}"].append(0)
        left = int(rng.integers(1, count))
        for side, part in (("true", left), ("false", count - left)):
            how[f"nodes_{side}nodeids"][me], how[f"nodes_{side}leafs"][me] = grow(part)
        return me, 0

    for count in leaves:
        how["tree_roots"].append(len(how["nodes_modes"]))
        grow(count)
    made: dict[str, Any] = dict(how)
    kinds = {"nodes_splits": dtype, "leaf_weights": dtype, "nodes_modes": "u1"}
    made |= {n: numpy_helper.from_array(np.array(how[n], kind), n) for n, kind in kinds.items()}
    if members:
        made["membership_values"] = numpy_helper.from_array(np.array(members, dtype), "membership_values")
    return made | {"n_targets": targets}


def reached(how: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """[N, trees]: the leaves that rows reach, one node after another."""
    columns = {n: numpy_helper.to_array(v) if hasattr(v, "raw_data") else np.array(v) for n, v in how.items()}
    sets: list[list[float]] = [[]]
    for value in columns.get("membership_values", []):
        sets = [*sets, []] if np.isnan(value) else [*sets[:-1], [*sets[-1], value]]
    number = np.cumsum(columns["nodes_modes"] == MEMBER) - 1

    def walk(row: np.ndarray, at: int) -> int:
        while True:
            value, mode, bound = (
                row[columns["nodes_featureids"][at]],
                columns["nodes_modes"][at],
                columns["nodes_splits"][at],
            )
            right = value in sets[number[at]] if mode == MEMBER else TESTS[mode](value, bound)
            if np.isnan(value) and columns["nodes_missing_value_tracks_true"][at]:
                right = True
            side = "true" if right else "false"
            at, leaf = int(columns[f"nodes_{side}nodeids"][at]), columns[f"nodes_{side}leafs"][at]
            if leaf:
                return at

    return np.array([[walk(row, root) for root in how["tree_roots"]] for row in x])
