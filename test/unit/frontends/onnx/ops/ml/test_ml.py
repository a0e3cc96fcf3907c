"""Operators of ai.onnx.ml against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from forests import forest
from single import ML, agrees, ml, single

import mlc


@pytest.mark.parametrize("dtype", ["f4", "i8"])
def test_array_feature_extractor(rng: np.random.Generator, dtype: str) -> None:
    x = (10 * rng.standard_normal((5, 7))).astype(dtype)
    ml("ArrayFeatureExtractor", {"x": x, "y": np.array([[3, 0, 6]], np.int64)}, version=1)


@pytest.mark.parametrize("shape", [(), (3,), (3, 1), (1, 1), (2, 2, 1)])
@pytest.mark.parametrize("rows", [(7,), (4, 7), (2, 3, 7)])
def test_indices_of_any_shape_are_flat(rng: np.random.Generator, shape: tuple[int, ...], rows: tuple[int, ...]) -> None:
    x, y = rng.standard_normal(rows).astype("f4"), rng.integers(0, 7, shape)
    ml("ArrayFeatureExtractor", {"x": x, "y": y}, version=1, constants=["y"])
    ml("ArrayFeatureExtractor", {"x": x, "y": y}, version=1)


def test_indices_of_a_symbolic_number_of_rows(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal((4, 7)).astype("f4"), np.array([[5], [0], [2]])
    model = single("ArrayFeatureExtractor", {"x": x, "y": y}, domain=ML, version=1)
    for n, value in enumerate(model.graph.input):
        value.type.tensor_type.shape.dim[0].dim_param = f"rows{n}"
    compiled = mlc.compile(model)
    for count in (3, 1):
        np.testing.assert_array_equal(compiled.run({"x": x, "y": y[:count]})["y0"], x[:, y[:count, 0]])


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
    ml("OneHotEncoder", {"x": rng.choice([5, 0, 2], (4, 3))}, version=1, cats_int64s=[5, 0, 2], zeros=0)


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


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("skips", [0, 2])
def test_tf_idf_vectorizer(rng: np.random.Generator, mode: str, skips: int) -> None:
    how = {"min_gram_length": 1, "max_gram_length": 3, "max_skip_count": skips, "mode": mode}
    how |= {"ngram_counts": [0, 3, 9], "pool_int64s": [1, 2, 3, 1, 2, 2, 3, 0, 1, 1, 2, 3, 0, 0, 1]}
    how |= {"ngram_indexes": [3, 0, 5, 1, 7, 2, 4, 6], "weights": rng.random(8).tolist()}
    agrees("TfIdfVectorizer", {"x": rng.integers(0, 4, (3, 13))}, **how)


def test_tf_idf_of_a_large_vocabulary(rng: np.random.Generator) -> None:
    """No cost grows with positions times n-grams, nor with the square of these."""
    words = rng.choice(1 << 40, 4000, replace=False) - (1 << 39)
    pairs = rng.permutation(np.unique(rng.integers(0, 4000, (6000, 2)), axis=0))
    grams = len(words) + len(pairs)
    how = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 1, "mode": "TFIDF", "ngram_counts": [0, 4000]}
    how |= {"pool_int64s": [*words.tolist(), *words[pairs].ravel().tolist()]}
    how |= {"ngram_indexes": (2 * rng.permutation(grams)).tolist(), "weights": rng.random(grams).tolist()}
    text = words[pairs[rng.integers(0, len(pairs), (2, 40))]].reshape(2, 80)
    agrees("TfIdfVectorizer", {"x": np.where(rng.random(text.shape) < 0.2, 7, text)}, **how)


WORDS = np.array([["a", "bb", "", "ü"], ["bb", "c", "unknown", "a"]], dtype=object)


def test_categories_of_strings() -> None:
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


def test_labels_that_are_strings(rng: np.random.Generator) -> None:
    x = rng.standard_normal((19, 4)).astype("f4")
    how = forest(rng, "class", 5, 4, 3, "BRANCH_LEQ") | {"classlabels_strings": ["no", "", "ja"]}
    ml("TreeEnsembleClassifier", {"x": x}, 2, **how)
    how = forest(rng, "class", 5, 4, 1, "BRANCH_LT") | {"classlabels_strings": ["no", "ja"]}
    ml("TreeEnsembleClassifier", {"x": x}, 2, **how)
    linear = {"coefficients": rng.standard_normal(12).tolist(), "intercepts": [0.1, 0.2, -0.3]}
    ml("LinearClassifier", {"x": x}, 2, version=1, classlabels_strings=["a", "b", "c"], **linear)


def test_tf_idf_of_strings(rng: np.random.Generator) -> None:
    x = rng.choice(np.array(["a", "bb", "c", "dd"], dtype=object), (3, 11))
    how = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 1, "mode": "TF", "ngram_counts": [0, 2]}
    agrees("TfIdfVectorizer", {"x": x}, ngram_indexes=[2, 0, 1], pool_strings=["a", "c", "bb", "a"], **how)
    how |= {"mode": "TFIDF", "weights": [0.5, 2.0, 0.25]}
    agrees("TfIdfVectorizer", {"x": x}, ngram_indexes=[2, 0, 1], pool_strings=["a", "c", "bb", "a"], **how)


KEYS = [[5, -3, 0, 5, 9], [1000, 1007, 1003], [7], [-(1 << 62), 4, 1 << 62], [n**5 - 999 for n in range(300)]]


@pytest.mark.parametrize("keys", KEYS, ids=len)
def test_label_encoder_of_near_and_far_keys(rng: np.random.Generator, keys: list[int]) -> None:
    """A table where keys are near each other, else a search; the first of equal keys."""
    x = np.concatenate([rng.choice(keys, 20), rng.integers(-9, 1020, 20), [-(1 << 63), (1 << 63) - 1]])
    values = rng.standard_normal(len(keys)).tolist()
    first = dict(reversed(list(zip(keys, values, strict=True))))
    wanted = np.array([first.get(int(v), -2.5) for v in x], "f4")
    how = {"keys_int64s": keys, "values_floats": values, "default_float": -2.5}
    agrees("LabelEncoder", {"x": x}, domain=ML, version=2, wanted=[wanted], rtol=0, **how)
