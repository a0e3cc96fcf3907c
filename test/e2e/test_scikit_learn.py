"""Pipelines of scikit-learn, converted by skl2onnx, beside scikit-learn's own results (where both are installed)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc

pytest.importorskip("skl2onnx")
pytest.importorskip("sklearn")

from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

VOTERS = [("line", LogisticRegression(max_iter=999)), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
          ("bayes", GaussianNB()), ("near", KNeighborsClassifier(1))]  # fmt: skip
SENTENCES = np.array(["the cat sat on the mat", "a dog barks at the cat", "cats and dogs are pets!", "a pet dog sleeps",
                      "stock markets fell today", "the bank raised rates, again", "Shares of the bank rose",
                      "Rates and stocks: markets"])  # fmt: skip
ASKED = np.array([*SENTENCES, "a cat and a bank", "", "unknown words only", "dogs dogs dogs RATES"])
MODELS: dict[str, Any] = {
    "votes with ties": lambda: VotingClassifier(VOTERS, flatten_transform=False),
    "weighted votes": lambda: VotingClassifier(VOTERS, weights=np.array([1, 2, 1, 2]), flatten_transform=False),
    "mean of probabilities": lambda: VotingClassifier(VOTERS, voting="soft", flatten_transform=False),
    "neighbours": lambda: KNeighborsClassifier(4),
    "neighbours by another distance": lambda: KNeighborsClassifier(3, p=1),
    "support vectors": lambda: SVC(probability=True, random_state=0),
    "polynomial support vectors": lambda: SVC(kernel="poly", probability=True, random_state=0),
    "a share of support vectors": lambda: NuSVC(probability=True, nu=0.3, random_state=0),
    "scaled and projected": lambda: make_pipeline(StandardScaler(), PCA(2), SVC(probability=True, random_state=0)),
    "forest": lambda: RandomForestClassifier(20, random_state=0),
}
OF_TEXT: dict[str, Any] = {
    "words": lambda: make_pipeline(TfidfVectorizer(), LogisticRegression()),
    "pairs of words": lambda: make_pipeline(TfidfVectorizer(ngram_range=(1, 2), norm="l1"), LogisticRegression()),
    "counts": lambda: make_pipeline(CountVectorizer(stop_words=["the", "a"]), MultinomialNB()),
    "characters": lambda: make_pipeline(CountVectorizer(analyzer="char", ngram_range=(1, 2)), LogisticRegression()),
}


def check(fitted: Any, asked: Any, kind: Any) -> None:
    model = to_onnx(fitted, initial_types=[("x", kind)], options={id(fitted): {"zipmap": False}}, target_opset=18)
    labels, *rest = mlc.compile(model.SerializeToString())(asked)
    np.testing.assert_array_equal(np.asarray(labels).astype(str), fitted.predict(asked).astype(str))
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_allclose(rest[0], fitted.predict_proba(asked), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("named", [False, True], ids=["numbers", "names"])
@pytest.mark.parametrize("name", MODELS)
def test_flowers(name: str, named: bool) -> None:
    x, y = load_iris(return_X_y=True)
    x = x.astype(np.float32)
    fitted = MODELS[name]().fit(x, np.array(["setosa", "versicolor", "virginica"])[y] if named else y)
    check(fitted, x[::3], FloatTensorType([None, 4]))


@pytest.mark.parametrize("name", OF_TEXT)
def test_sentences(name: str) -> None:
    fitted = OF_TEXT[name]().fit(SENTENCES, np.repeat(["pets", "money"], 4))
    check(fitted, ASKED, StringTensorType([None]))
