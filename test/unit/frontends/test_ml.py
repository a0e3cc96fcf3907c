"""Operators of ai.onnx.ml against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from single import agrees, by_onnxruntime, close, single, ways

import mlc
from mlc.frontends.onnx import UnsupportedError, import_model
from mlc.frontends.onnx.backend import prepare
from mlc.runtime.errors import InputError

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


@pytest.mark.parametrize(("values", "sizes"), [([1, np.nan], "1"), ([], ""), ([np.nan] * 20, "0.*")])
def test_sets_that_are_missing_or_empty_are_refused(rng: np.random.Generator, values: list[float], sizes: str) -> None:
    how = merged(forest(rng, "target", 1, 5, 1, "BRANCH_LEQ"), 2)
    modes = numpy_helper.to_array(how["nodes_modes"])
    how["nodes_modes"] = numpy_helper.from_array(np.full_like(modes, 6))
    how["membership_values"] = numpy_helper.from_array(np.array(values, "f4"))
    with pytest.raises(InputError, match=rf"sets of \[{sizes}\] members for {modes.size} nodes of mode 6"):
        import_model(single("TreeEnsemble", {"x": np.ones((2, 5), "f4")}, domain="ai.onnx.ml", version=5, **how))


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


def svm(rng: np.random.Generator, kind: str, sizes: list[int], labels: list[Any]) -> dict[str, Any]:
    """Attributes of a random SVMClassifier of five features."""
    count, pairs = sum(sizes), len(sizes) * (len(sizes) - 1) // 2
    how = {"kernel_type": kind, "kernel_params": KERNELS[kind], "vectors_per_class": sizes}
    how |= {"support_vectors": rng.standard_normal(5 * count).tolist(), "rho": rng.standard_normal(pairs).tolist()}
    how |= {"coefficients": rng.standard_normal((len(sizes) - 1) * count).tolist()}
    return how | {"classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints": labels}


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("labels", [[5, 2, 9], [7, -1], ["red", "grün", ""], ["no", "yes"]])
def test_svm_classifier(rng: np.random.Generator, kind: str, labels: list[Any]) -> None:
    x = rng.standard_normal((9, 5)).astype("f4")
    for how in ("NONE", "LOGISTIC"):
        given = svm(rng, kind, [2, 4, 3][: len(labels)], labels)
        ml("SVMClassifier", {"x": x}, 2, version=1, post_transform=how, compiled=kind == "RBF", **given)


@pytest.mark.parametrize("labels", [[5, 2, 9, 0], [7, -1]])
def test_svm_probabilities(rng: np.random.Generator, labels: list[int]) -> None:
    """The minimum itself: onnxruntime stops near it."""
    x, count = rng.standard_normal((9, 5)).astype("f4"), len(labels)
    how = svm(rng, "RBF", [2, 4, 3, 2][:count], labels)
    plain = single("SVMClassifier", {"x": x}, 2, domain=ML, version=1, **how)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    how |= {"prob_a": (-rng.random(len(pairs))).tolist(), "prob_b": rng.standard_normal(len(pairs)).tolist()}
    model = single("SVMClassifier", {"x": x}, 2, domain=ML, version=1, **how)
    near = by_onnxruntime(model, {"x": x})
    scores = by_onnxruntime(plain, {"x": x})[1][:, -len(pairs) :]
    wanted = np.stack([_coupled(1 / (1 + np.exp(s * how["prob_a"] + how["prob_b"])), pairs) for s in scores])
    np.testing.assert_allclose(near[1], wanted, atol=0.006)
    for label, probabilities in (both.values() for both in ways(model, {"x": x})):
        np.testing.assert_array_equal(label, near[0])
        np.testing.assert_allclose(probabilities, wanted, rtol=1e-4)


def _coupled(r: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    """The least squares solution of r[j, i] p[i] = r[i, j] p[j] for all pairs, with a sum of 1."""
    count = max(j for _, j in pairs) + 1
    rows, heavy = np.zeros((len(pairs) + 1, count)), 1e6
    for n, (i, j) in enumerate(pairs):
        rows[n, i], rows[n, j] = 1 - r[n], -r[n]
    rows[-1] = heavy
    return np.linalg.lstsq(rows, np.append(np.zeros(len(pairs)), heavy))[0]


@pytest.mark.parametrize("labels", [[5, 2, 9], [7, -1], ["no", "yes"]])
@pytest.mark.parametrize("positive", [False, True])
def test_svm_of_coefficients(rng: np.random.Generator, labels: list[Any], positive: bool) -> None:
    x, weights = rng.standard_normal((9, 5)).astype("f4"), rng.standard_normal(5 * len(labels))
    how: dict[str, Any] = {"coefficients": (abs(weights) if positive else weights).tolist(), "rho": [0.25]}
    how |= {"kernel_type": "LINEAR", "kernel_params": KERNELS["LINEAR"]}
    how["classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints"] = labels
    ml("SVMClassifier", {"x": x}, 2, version=1, **how)


@pytest.mark.parametrize("labels", [[3, 8, 5], ["a", "b", "c"]])
def test_zip_map(rng: np.random.Generator, labels: list[Any]) -> None:
    """As a sequence of maps by the backend, as two tensors from a compiled model."""
    x = rng.random((4, 3)).astype("f4")
    texts = isinstance(labels[0], str)
    how = {"classlabels_strings" if texts else "classlabels_int64s": labels}
    node = helper.make_node("ZipMap", ["x"], ["y"], domain=ML, **how)
    scores = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3])
    of_row = helper.make_map_type_proto(
        TensorProto.STRING if texts else TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    )
    result = helper.make_value_info("y", helper.make_sequence_type_proto(of_row))
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(ML, 1)]
    model = helper.make_model(helper.make_graph([node], "g", [scores], [result]), opset_imports=opsets, ir_version=10)
    assert prepare(model).run([x]) == (by_onnxruntime(model, {"x": x})[0],)
    results = mlc.compile(model).run({"x": x})
    assert results["y.keys"].tolist() == labels
    np.testing.assert_array_equal(results["y.values"], x)


def of_a_map(op: str, key: int, value: int, out: int, **attributes: Any) -> ModelProto:
    """A model of one node that takes a map from ``key`` to ``value``."""
    given = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))
    node = helper.make_node(op, ["x"], ["y"], domain=ML, **attributes)
    infos = [helper.make_value_info("x", given)], [helper.make_tensor_value_info("y", out, None)]
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(ML, 1)]
    return helper.make_model(helper.make_graph([node], "g", *infos), opset_imports=opsets, ir_version=10)


WHOLE, REAL, WIDE, WORD = TensorProto.INT64, TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.STRING


def test_dictionaries_as_vectors(rng: np.random.Generator) -> None:
    for keys, kind, name in (([9, -2, 5, 0], WHOLE, "int64"), (["a", "c", "b", "ü"], WORD, "string")):
        model = of_a_map("DictVectorizer", kind, REAL, REAL, **{f"{name}_vocabulary": keys})
        net = prepare(model)
        for count in (1, 3, 4):
            x = {keys[n]: float(rng.standard_normal()) for n in rng.permutation(4)[:count]}
            close(net.run([x])[0], by_onnxruntime(model, {"x": x})[0], 0)
        close(net.run([{}])[0], np.zeros((1, 4), "f4"), 0)


def test_dictionaries_that_onnxruntime_takes_from_no_python_object() -> None:
    def vector(key: int, value: int, given: Any, words: Any) -> Any:
        name = "string_vocabulary" if key == WORD else "int64_vocabulary"
        return prepare(of_a_map("DictVectorizer", key, value, value, **{name: words})).run([given])[0]

    close(vector(WORD, WIDE, {"q": 4.0, "c": 1e300}, ["a", "c"]), np.array([[0, 1e300]]), 0)
    close(vector(WORD, WHOLE, {"c": 1 << 60}, ["a", "c"]), np.array([[0, 1 << 60]]), 0)
    assert vector(WHOLE, WORD, {5: "x", -2: "yy"}, [9, -2, 5]).tolist() == [["", "yy", "x"]]


@pytest.mark.parametrize("form", ["DENSE", "SPARSE"])
def test_cast_maps(rng: np.random.Generator, form: str) -> None:
    for to, out in (("TO_FLOAT", REAL), ("TO_INT64", WHOLE)):
        model = of_a_map("CastMap", WHOLE, REAL, out, map_form=form, cast_to=to, max_map=7)
        net = prepare(model)
        for count in (1, 4, 9):
            x = {int(n): float(rng.normal(0, 9)) for n in rng.permutation(12)[:count]}
            close(net.run([x])[0], by_onnxruntime(model, {"x": x})[0], 0)


def test_cast_maps_of_texts() -> None:
    texts, made = {5: "3", 2: "-4.5", 1: "1e3"}, of_a_map("CastMap", WHOLE, WORD, REAL, map_form="SPARSE", max_map=4)
    close(prepare(made).run([texts])[0], np.array([[0, 1000, -4.5, 0]], "f4"), 0)
    made = of_a_map("CastMap", WHOLE, WORD, WORD, cast_to="TO_STRING")
    assert prepare(made).run([texts])[0].tolist() == [["1e3", "-4.5", "3"]]


def test_a_map_is_two_tensors() -> None:
    net = mlc.compile(of_a_map("DictVectorizer", WORD, REAL, REAL, string_vocabulary=["a", "b"]))
    feeds = {"x.keys": np.array(["b"], dtype=object), "x.values": np.array([2.5], "f4")}
    close(net.run(feeds)["y"], np.array([[0, 2.5]], "f4"), 0)


def test_refused_maps() -> None:
    with pytest.raises(UnsupportedError, match="DictVectorizer.*input 0 is no map"):
        import_model(single("DictVectorizer", {"x": np.ones(3, "f4")}, domain=ML, int64_vocabulary=[1, 2, 3]))
    with pytest.raises(UnsupportedError, match="DictVectorizer.*for a vocabulary of"):
        import_model(of_a_map("DictVectorizer", WORD, REAL, REAL, int64_vocabulary=[1, 2, 3]))
    with pytest.raises(UnsupportedError, match="CastMap.*map_form 'ROUND'"):
        import_model(of_a_map("CastMap", WHOLE, REAL, REAL, map_form="ROUND"))
    with pytest.raises(UnsupportedError, match="Abs.*a map, or a sequence of maps"):
        model = of_a_map("CastMap", WHOLE, REAL, REAL)
        model.graph.node[0].CopyFrom(helper.make_node("Abs", ["x"], ["y"]))
        import_model(model)


WORDS = np.array([["a", "bb", "", "ü"], ["bb", "c", "unknown", "a"]], dtype=object)


def test_categories_of_texts() -> None:
    keys, values = ["a", "ü", "", "c"], ["x", "", "yy", "z"]
    ml("LabelEncoder", {"x": WORDS}, version=2, keys_strings=keys, values_strings=values)
    ml("LabelEncoder", {"x": WORDS}, version=4, keys_strings=keys, values_strings=values, default_string="none")
    ml("LabelEncoder", {"x": WORDS}, version=2, keys_strings=keys, values_int64s=[3, 1, 2, 9], default_int64=-7)
    ml("LabelEncoder", {"x": WORDS}, version=2, keys_strings=keys, values_floats=[3.5, 1.0, 2.0, 9.0], compiled=False)
    ml("LabelEncoder", {"x": np.array([1, 5, 3])}, version=2, keys_int64s=[3, 1], values_strings=["three", "one"])
    ml("CategoryMapper", {"x": WORDS}, version=1, cats_strings=keys, cats_int64s=[7, 5, 6, 1], default_int64=-2)
    ml("CategoryMapper", {"x": np.array([[5, 6, 4]])}, version=1, cats_strings=keys, cats_int64s=[7, 5, 6, 1])
    ml("OneHotEncoder", {"x": WORDS}, version=1, cats_strings=keys, zeros=1)


def test_label_encoder_1() -> None:
    classes = {"classes_strings": ["a", "bb", "c"]}
    ml("LabelEncoder", {"x": WORDS}, version=1, default_int64=-4, **classes)
    ml("LabelEncoder", {"x": np.array([2, 0, 7])}, version=1, default_string="?", **classes)


def test_labels_that_are_texts(rng: np.random.Generator) -> None:
    x = rng.standard_normal((19, 4)).astype("f4")
    how = forest(rng, "class", 5, 4, 3, "BRANCH_LEQ") | {"classlabels_strings": ["no", "", "ja"]}
    ml("TreeEnsembleClassifier", {"x": x}, 2, **how)
    how = forest(rng, "class", 5, 4, 1, "BRANCH_LT") | {"classlabels_strings": ["no", "ja"]}
    ml("TreeEnsembleClassifier", {"x": x}, 2, **how)
    linear = {"coefficients": rng.standard_normal(12).tolist(), "intercepts": [0.1, 0.2, -0.3]}
    ml("LinearClassifier", {"x": x}, 2, version=1, classlabels_strings=["a", "b", "c"], **linear)


def test_tf_idf_of_texts(rng: np.random.Generator) -> None:
    x = rng.choice(np.array(["a", "bb", "c", "dd"], dtype=object), (3, 11))
    how = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 1, "mode": "TF", "ngram_counts": [0, 2]}
    agrees("TfIdfVectorizer", {"x": x}, ngram_indexes=[2, 0, 1], pool_strings=["a", "c", "bb", "a"], **how)
    how |= {"mode": "TFIDF", "weights": [0.5, 2.0, 0.25]}
    agrees("TfIdfVectorizer", {"x": x}, ngram_indexes=[2, 0, 1], pool_strings=["a", "c", "bb", "a"], **how)
