"""Trees of ai.onnx.ml against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from forests import forest, merged
from onnx import numpy_helper
from single import ML, ml, single

from mlc.errors import InputError
from mlc.frontends.onnx import UnsupportedError, import_model


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "MIXED"])
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_tree_ensemble_regressor(rng: np.random.Generator, mode: str, aggregate: str) -> None:
    x = rng.standard_normal((17, 5)).astype("f4")
    x[3, :] = np.nan
    how = forest(rng, "target", 6, 5, 2, mode)
    how |= {"n_targets": 2, "aggregate_function": aggregate, "base_values": [0.5, -0.25]}
    ml("TreeEnsembleRegressor", {"x": x}, compiled=aggregate == "SUM", **how)


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_tree_ensemble_classifier(rng: np.random.Generator, transform: str) -> None:
    x = rng.standard_normal((19, 4)).astype("f4")
    how = forest(rng, "class", 5, 4, 3, "BRANCH_LEQ")
    ml("TreeEnsembleClassifier", {"x": x}, 2, classlabels_int64s=[3, 8, 5], post_transform=transform, **how)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("positive", [False, True])
def test_binary_tree_ensemble_classifier(rng: np.random.Generator, transform: str, positive: bool) -> None:
    x = rng.standard_normal((19, 4)).astype("f4")
    how = forest(rng, "class", 5, 4, 1, "BRANCH_LT")
    if positive:
        how["class_weights"] = [abs(w) / 10 for w in how["class_weights"]]
    ml("TreeEnsembleClassifier", {"x": x}, 2, classlabels_int64s=[3, 8], post_transform=transform, **how)


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_GT"])
@pytest.mark.parametrize("aggregate", [0, 1, 2, 3])
def test_tree_ensemble(rng: np.random.Generator, mode: str, aggregate: int) -> None:
    how = merged(forest(rng, "target", 7, 5, 1, mode), 2)
    x = rng.standard_normal((13, 5)).astype("f4")
    ml("TreeEnsemble", {"x": x}, version=5, aggregate_function=aggregate, compiled=aggregate == 1, **how)


@pytest.mark.parametrize("targets", [-1, 0, 1 << 31])
def test_tables_of_weights_that_fit_nowhere_are_refused(rng: np.random.Generator, targets: int) -> None:
    how = forest(rng, "target", 2, 3, 1, "BRANCH_LEQ") | {"n_targets": targets}
    with pytest.raises(UnsupportedError, match=f"nodes by {targets} targets"):
        import_model(single("TreeEnsembleRegressor", {"x": np.ones((2, 3), "f4")}, domain=ML, **how))


@pytest.mark.parametrize(("values", "sizes"), [([1, np.nan], "1"), ([], ""), ([np.nan] * 20, "0.*")])
def test_sets_that_are_missing_or_empty_are_refused(rng: np.random.Generator, values: list[float], sizes: str) -> None:
    how = merged(forest(rng, "target", 1, 5, 1, "BRANCH_LEQ"), 2)
    modes = numpy_helper.to_array(how["nodes_modes"])
    how["nodes_modes"] = numpy_helper.from_array(np.full_like(modes, 6))
    how["membership_values"] = numpy_helper.from_array(np.array(values, "f4"))
    with pytest.raises(InputError, match=rf"sets of \[{sizes}\] members for {modes.size} nodes of mode 6"):
        import_model(single("TreeEnsemble", {"x": np.ones((2, 5), "f4")}, domain=ML, version=5, **how))
