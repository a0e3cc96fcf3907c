"""Fitted models of scikit-learn, XGBoost and LightGBM as ONNX: ``python converters.py NAME FILE``.

Runs in an environment of its own (`benchmarks.real.made`), which has neither mlc nor this package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import pandas
import skl2onnx
import xgboost
from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from skl2onnx.common.shape_calculator import (
    calculate_linear_classifier_output_shapes,
    calculate_linear_regressor_output_shapes,
)
from sklearn import (
    calibration,
    cluster,
    compose,
    datasets,
    decomposition,
    discriminant_analysis,
    ensemble,
    feature_extraction,
    gaussian_process,
    linear_model,
    multiclass,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)

COLUMNS = 8
OPSETS = {"": 18, "ai.onnx.ml": 3}
COLOURS = ["red", "green", "blue"]
SENTENCES = [
    "the red house by the sea",
    "a green field",
    "blue and red, red and blue!",
    "rain on the green field",
    "sea",
]

skl2onnx.update_registered_converter(
    xgboost.XGBClassifier, "XGBClassifier", calculate_linear_classifier_output_shapes, convert_xgboost,
    options={"nocl": [True, False], "zipmap": [True, False, "columns"]},
)  # fmt: skip
skl2onnx.update_registered_converter(
    lightgbm.LGBMClassifier, "LGBMClassifier", calculate_linear_classifier_output_shapes, convert_lightgbm,
    options={"nocl": [True, False], "zipmap": [True, False, "columns"]},
)  # fmt: skip
skl2onnx.update_registered_converter(
    lightgbm.LGBMRegressor, "LGBMRegressor", calculate_linear_regressor_output_shapes, convert_lightgbm,
    options={"split": None},
)  # fmt: skip

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
    "random-forest": lambda: ensemble.RandomForestClassifier(50, max_depth=8, random_state=1),
    "extra-trees": lambda: ensemble.ExtraTreesClassifier(20, random_state=1),
    "decision-tree": lambda: tree.DecisionTreeClassifier(random_state=1),
    "gradient-boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=30, random_state=1),
    "ada-boost": lambda: ensemble.AdaBoostClassifier(n_estimators=10, random_state=1),
    "bagging": lambda: ensemble.BaggingClassifier(n_estimators=5, random_state=1),
    "voting": lambda: ensemble.VotingClassifier(
        [("a", linear_model.LogisticRegression()), ("b", tree.DecisionTreeClassifier(max_depth=4))],
        voting="soft",
        flatten_transform=False,
    ),
    "stacking": lambda: ensemble.StackingClassifier(
        [("a", naive_bayes.GaussianNB()), ("b", tree.DecisionTreeClassifier(max_depth=4))]
    ),
    "nearest": lambda: neighbors.KNeighborsClassifier(5),
    "svc": lambda: svm.SVC(probability=True, random_state=1),
    "svc-linear": lambda: svm.SVC(kernel="linear", random_state=1),
    "calibrated": lambda: calibration.CalibratedClassifierCV(svm.LinearSVC(), cv=3),
    "one-vs-rest": lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()),
    "naive-bayes": lambda: naive_bayes.GaussianNB(),
    "bernoulli": lambda: pipeline.make_pipeline(preprocessing.Binarizer(), naive_bayes.BernoulliNB()),
    "perceptron": lambda: neural_network.MLPClassifier((32, 16), max_iter=60, random_state=1),
    "discriminant": lambda: discriminant_analysis.LinearDiscriminantAnalysis(),
    "quadratic": lambda: discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1),
    "xgboost": lambda: xgboost.XGBClassifier(n_estimators=40, max_depth=5, n_jobs=1),
    "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=50, n_jobs=1, verbose=-1),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "ridge": lambda: linear_model.Ridge(),
    "forest-regressor": lambda: ensemble.RandomForestRegressor(30, max_depth=8, random_state=1),
    "svr": lambda: svm.SVR(),
    "process": lambda: gaussian_process.GaussianProcessRegressor(alpha=0.1),
    "nearest-regressor": lambda: neighbors.KNeighborsRegressor(3, weights="distance"),
    "polynomial": lambda: pipeline.make_pipeline(preprocessing.PolynomialFeatures(2), linear_model.Lasso(0.01)),
    "lightgbm-regressor": lambda: lightgbm.LGBMRegressor(n_estimators=50, n_jobs=1, verbose=-1),
}
TRANSFORMERS: dict[str, Callable[[], Any]] = {
    "isolation-forest": lambda: ensemble.IsolationForest(n_estimators=20, random_state=1),
    "k-means": lambda: cluster.KMeans(4, n_init=1, random_state=1),
    "principal": lambda: pipeline.make_pipeline(preprocessing.MinMaxScaler(), decomposition.PCA(3)),
    "bins": lambda: preprocessing.KBinsDiscretizer(5, encode="ordinal"),
    "robust": lambda: pipeline.make_pipeline(preprocessing.RobustScaler(), preprocessing.Normalizer()),
    "outliers": lambda: neighbors.LocalOutlierFactor(novelty=True),
}


def fitted(name: str) -> tuple[Any, list[tuple[str, Any]], dict[str, Any]]:
    """A fitted model, the types of its inputs and options of the conversion."""
    rows, classes = datasets.make_classification(
        400, COLUMNS, n_informative=6, n_redundant=1, n_classes=3, random_state=3
    )
    rows = rows.astype(np.float32)
    kind = DoubleTensorType if name == "process" else FloatTensorType  # its sum of 400 terms of 18,000 is 6
    numbers = [("x", kind([None, COLUMNS]))]
    if name in CLASSIFIERS:
        model = CLASSIFIERS[name]().fit(rows, classes)
        return model, numbers, {} if name == "logistic" else {"zipmap": False}
    if name in REGRESSORS:
        return REGRESSORS[name]().fit(rows, rows @ np.arange(1, COLUMNS + 1) + np.sin(rows[:, 0])), numbers, {}
    if name in TRANSFORMERS:
        return TRANSFORMERS[name]().fit(rows), numbers, {}
    return WORDS[name](rows, classes)


def _columns(rows: np.ndarray, classes: np.ndarray) -> tuple[Any, list[tuple[str, Any]], dict[str, Any]]:
    """Numbers scaled, words as one column each: the usual first step of a table."""
    frame = pandas.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "colour": np.array(COLOURS, object)[classes]})
    steps = [
        ("numbers", preprocessing.StandardScaler(), ["a", "b"]),
        ("words", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    ]
    model = pipeline.make_pipeline(compose.ColumnTransformer(steps), linear_model.LogisticRegression())
    kinds = {"a": FloatTensorType, "b": FloatTensorType, "colour": StringTensorType}
    types = [(column, kind([None, 1])) for column, kind in kinds.items()]
    return model.fit(frame, rows[:, 3] > 0), types, {"zipmap": False}


def _ordinal(rows: np.ndarray, classes: np.ndarray) -> tuple[Any, list[tuple[str, Any]], dict[str, Any]]:
    words = np.array(COLOURS, object)[np.stack([classes, (classes + 1) % 3], axis=1)]
    model = preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(words)
    return model, [("x", StringTensorType([None, 2]))], {}


def _counts(rows: np.ndarray, classes: np.ndarray) -> tuple[Any, list[tuple[str, Any]], dict[str, Any]]:
    model = feature_extraction.text.TfidfVectorizer(ngram_range=(1, 2), token_pattern="[a-z]+")
    model = pipeline.make_pipeline(model, linear_model.LogisticRegression())
    return model.fit(SENTENCES, [0, 1, 0, 1, 0]), [("x", StringTensorType([None]))], {"zipmap": False}


WORDS: dict[str, Callable[..., tuple[Any, list[tuple[str, Any]], dict[str, Any]]]] = {
    "columns": _columns, "ordinal": _ordinal, "tfidf": _counts,
}  # fmt: skip


def main(name: str, file: str) -> None:
    """Fit, convert and write one model."""
    model, types, options = fitted(name)
    kept = {id(model): options} if options else {}
    kept[feature_extraction.text.TfidfVectorizer] = {"locale": "C"}  # onnxruntime wants the system's en_US without
    proto = skl2onnx.convert_sklearn(model, name, types, options=kept, target_opset=OPSETS)
    with open(file, "wb") as stream:
        stream.write(proto.SerializeToString())


if __name__ == "__main__":
    main(*sys.argv[1:])
