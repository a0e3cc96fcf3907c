"""Scores and labels of tree ensembles: all forms of classes, targets, base values, transforms, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forests import forest
from single import ML, agrees

TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]
IDS = {"every": None, "first": 0, "second": 1, "a tree each": -1}


def drawn(
    rng: np.random.Generator, kind: str, count: int, ids: int | None, base: str, positive: bool
) -> dict[str, Any]:
    """Attributes of trees whose leaves have weights of all classes, of one, or of one a tree."""
    how = forest(rng, kind, 4, 4, count if ids is None else 1, "MIXED")
    if ids is not None:
        trees = np.array(how[f"{kind}_treeids"])
        how[f"{kind}_ids"] = (trees % count if ids < 0 else np.full(len(trees), ids)).tolist()
    if positive:
        how[f"{kind}_weights"] = [abs(w) / 5 for w in how[f"{kind}_weights"]]
    if base != "none":
        how["base_values"] = rng.uniform(0, 0.2, 1 if base == "one" else count).tolist()
    return how


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize(("count", "base"), [(2, "none"), (2, "one"), (2, "all"), (3, "none"), (3, "all")])
def test_classifier(rng: np.random.Generator, count: int, base: str, ids: str, transform: str) -> None:
    """Of two classes with weights of both, onnxruntime's labels are 1 and 0 whatever they are called."""
    labels = [0, 1] if count == 2 else [7, -3, 4]
    for positive in (False, True):
        how = drawn(rng, "class", count, IDS[ids], base, positive)
        x = rng.standard_normal((11, 4)).astype("f4")
        agrees(
            "TreeEnsembleClassifier", {"x": x}, 2, domain=ML, version=3, compiled=False,
            classlabels_int64s=labels, post_transform=transform, **how,
        )  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize(("count", "base"), [(1, "none"), (1, "one"), (3, "none"), (3, "all")])
def test_regressor(rng: np.random.Generator, count: int, base: str, aggregate: str, transform: str) -> None:
    for ids in IDS.values():
        how = drawn(rng, "target", count, 0 if count == 1 else ids, base, False)
        how |= {"n_targets": count, "aggregate_function": aggregate, "post_transform": transform}
        x = rng.standard_normal((11, 4)).astype("f4")
        agrees("TreeEnsembleRegressor", {"x": x}, domain=ML, version=3, compiled=False, **how)


def test_two_weights_of_a_leaf_for_one_target(rng: np.random.Generator) -> None:
    for aggregate in ("SUM", "MIN", "MAX"):
        how = forest(rng, "target", 4, 4, 3, "MIXED")
        how["target_ids"] = [n % 2 for n in how["target_ids"]]
        how |= {"n_targets": 2, "aggregate_function": aggregate}
        agrees("TreeEnsembleRegressor", {"x": rng.standard_normal((9, 4)).astype("f4")}, domain=ML, version=3, **how)


@pytest.mark.parametrize("transform", [*TRANSFORMS, "PROBIT"])
@pytest.mark.parametrize("weights", [1, 2, 3])
def test_several_weights_of_a_leaf_for_the_only_target(rng: np.random.Generator, weights: int, transform: str) -> None:
    """onnxruntime reads the first; its labels of a single class are 1 and 0."""
    for aggregate in ("SUM", "AVERAGE", "MIN", "MAX"):
        how = forest(rng, "target", 3, 4, weights, "MIXED")
        how |= {"target_ids": [0] * len(how["target_ids"]), "base_values": [0.1], "post_transform": transform}
        how |= {"n_targets": 1, "aggregate_function": aggregate}
        x = rng.standard_normal((9, 4)).astype("f4")
        agrees("TreeEnsembleRegressor", {"x": x}, domain=ML, version=3, compiled=False, **how)
    how = forest(rng, "class", 3, 4, weights, "MIXED")
    how |= {"class_ids": [0] * len(how["class_ids"]), "classlabels_int64s": [5], "post_transform": transform}
    x = rng.standard_normal((9, 4)).astype("f4")
    agrees("TreeEnsembleClassifier", {"x": x}, 2, domain=ML, version=3, compiled=False, **how)
