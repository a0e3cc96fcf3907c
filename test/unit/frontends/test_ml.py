"""Operators of ai.onnx.ml against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from single import agrees, single

from mlc.frontends.onnx import UnsupportedError, import_model

ML = "ai.onnx.ml"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def ml(op: str, inputs: dict[str, Any], outputs: int = 1, **how: Any) -> None:
    agrees(op, inputs, outputs, domain=ML, **how)


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_array_feature_extractor(rng: np.random.Generator, dtype: str) -> None:
    x = (10 * rng.standard_normal((5, 7))).astype(dtype)
    ml("ArrayFeatureExtractor", {"x": x, "y": np.array([[3, 0, 6]], np.int64)}, version=1)


def test_binarizer(rng: np.random.Generator) -> None:
    ml("Binarizer", {"x": rng.standard_normal((3, 5)).astype("f4")}, version=1, threshold=0.3)


@pytest.mark.parametrize("count", [1, 6])
@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_scaler(rng: np.random.Generator, count: int, dtype: str) -> None:
    x = (10 * rng.standard_normal((4, 6))).astype(dtype)
    how = {"offset": rng.standard_normal(count).tolist(), "scale": rng.standard_normal(count).tolist()}
    ml("Scaler", {"x": x}, version=1, **how)


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(rng: np.random.Generator, norm: str) -> None:
    x = rng.standard_normal((5, 7)).astype("f4")
    ml("Normalizer", {"x": x}, version=1, norm=norm)


@pytest.mark.parametrize("replaced", [float("nan"), -1.0])
@pytest.mark.parametrize("count", [1, 5])
def test_imputer(rng: np.random.Generator, replaced: float, count: int) -> None:
    x = rng.standard_normal((6, 5)).astype("f4")
    x[::2, 1:4] = replaced
    how = {"imputed_value_floats": rng.standard_normal(count).tolist(), "replaced_value_float": replaced}
    ml("Imputer", {"x": x}, version=1, **how)


def test_label_encoder(rng: np.random.Generator) -> None:
    x = rng.integers(0, 9, (4, 5))
    keys = [7, 2, 5, 3]
    ml("LabelEncoder", {"x": x}, version=2, keys_int64s=keys, values_floats=[0.5, 1.5, -2.0, 9.0], default_float=-7.0)
    floats = {"keys_floats": [1.0, float("nan"), 3.0], "values_int64s": [4, 5, 6]}
    y = np.array([3, 1, np.nan, 2], "f4")
    for version in (2, 4):
        ml("LabelEncoder", {"x": y}, version=version, default_int64=-3, **floats)


def test_one_hot_encoder(rng: np.random.Generator) -> None:
    ml("OneHotEncoder", {"x": rng.integers(0, 6, (4, 3))}, version=1, cats_int64s=[5, 0, 2], zeros=1)


def test_feature_vectorizer(rng: np.random.Generator) -> None:
    arrays = {n: rng.standard_normal((4, w)).astype("f4") for n, w in (("a", 3), ("b", 1), ("c", 5))}
    ml("FeatureVectorizer", arrays, version=1, inputdimensions=[3, 1, 5])


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
def test_linear_models(rng: np.random.Generator, transform: str) -> None:
    x = rng.standard_normal((5, 7)).astype("f4")
    how = {"coefficients": rng.standard_normal(21).tolist(), "intercepts": rng.standard_normal(3).tolist()}
    ml("LinearRegressor", {"x": x}, version=1, targets=3, post_transform=transform, **how)
    ml("LinearClassifier", {"x": x}, 2, version=1, classlabels_ints=[4, -1, 9], post_transform=transform, **how)


def test_probit(rng: np.random.Generator) -> None:
    x = rng.random((5, 1)).astype("f4") * 0.8 + 0.1
    how = {"coefficients": [1.0, 0.9], "intercepts": [0.0, 0.05], "targets": 2, "post_transform": "PROBIT"}
    ml("LinearRegressor", {"x": x}, version=1, rtol=1e-4, **how)


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
        import_model(single("TreeEnsembleRegressor", {"x": np.ones((2, 3), "f4")}, domain="ai.onnx.ml", **how))


def test_texts_are_refused() -> None:
    x = np.ones((2, 3), np.int64)
    model = single("LabelEncoder", {"x": x}, domain=ML, version=2, keys_int64s=[1], values_strings=["a"])
    with pytest.raises(UnsupportedError, match="texts"):
        import_model(model)


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("skips", [0, 2])
def test_tf_idf_vectorizer(rng: np.random.Generator, mode: str, skips: int) -> None:
    how = {"min_gram_length": 1, "max_gram_length": 3, "max_skip_count": skips, "mode": mode}
    how |= {"ngram_counts": [0, 3, 9], "pool_int64s": [1, 2, 3, 1, 2, 2, 3, 0, 1, 1, 2, 3, 0, 0, 1]}
    how |= {"ngram_indexes": [3, 0, 5, 1, 7, 2, 4, 6], "weights": rng.random(8).tolist()}
    agrees("TfIdfVectorizer", {"x": rng.integers(0, 4, (3, 13))}, **how)


KERNELS = {"LINEAR": [0.0, 0.0, 0.0], "POLY": [0.3, 0.5, 3.0], "RBF": [0.2, 0.0, 0.0], "SIGMOID": [0.1, 0.2, 0.0]}


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
def test_svm_regressor(rng: np.random.Generator, kind: str, one_class: int) -> None:
    how = {"kernel_type": kind, "kernel_params": KERNELS[kind], "n_supports": 6, "one_class": one_class}
    how |= {"support_vectors": rng.standard_normal(24).tolist(), "coefficients": rng.standard_normal(6).tolist()}
    x = rng.standard_normal((7, 4)).astype("f4")
    ml("SVMRegressor", {"x": x}, version=1, rho=[0.3], compiled=not one_class, **how)


@pytest.mark.parametrize("kind", KERNELS)
def test_svm_classifier(rng: np.random.Generator, kind: str) -> None:
    sizes = [2, 4, 3]
    how = {"kernel_type": kind, "kernel_params": KERNELS[kind], "vectors_per_class": sizes}
    how |= {"support_vectors": rng.standard_normal(45).tolist(), "coefficients": rng.standard_normal(18).tolist()}
    how |= {"rho": rng.standard_normal(3).tolist(), "classlabels_ints": [5, 2, 9]}
    ml("SVMClassifier", {"x": rng.standard_normal((9, 5)).astype("f4")}, 2, version=1, **how)


def test_maps_are_refused() -> None:
    model = single("ZipMap", {"x": np.ones((2, 3), "f4")}, domain=ML, classlabels_int64s=[1, 2, 3])
    with pytest.raises(UnsupportedError, match="maps are not supported.*export without it"):
        import_model(model)
