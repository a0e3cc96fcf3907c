"""Metrics over batches against scikit-learn on whole arrays, and against their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mlc import train
from mlc.errors import InputError
from mlc.train.metrics import metrics_of

Data = np.ndarray[Any, Any]


def streamed(metric: train.Metric, prediction: Data, target: Data) -> Any:
    """The value of batches of random sizes, taken after others that ``reset`` forgets."""
    rng = np.random.default_rng()
    metric.update(prediction[:3], target[:3])
    metric.reset()
    cuts = np.sort(rng.choice(np.arange(1, len(target)), 3, replace=False))
    for part in zip(np.split(prediction, cuts), np.split(target, cuts), strict=True):
        metric.update(*part)
    return metric.compute()


def classes() -> tuple[Data, Data]:
    """Scores of 5 classes that are not equally likely; class 3 is never true."""
    rng = np.random.default_rng()
    target = rng.choice(5, 83, p=[0.4, 0.3, 0.2, 0, 0.1])
    scores = rng.normal(size=(83, 5)) + 1.5 * np.eye(5)[target] - [0, 0, 0, 1, 0]
    return scores.astype(np.float32), target


def binary() -> tuple[Data, Data]:
    """Scores with ties, of which about a quarter of the targets are 1."""
    rng = np.random.default_rng()
    target = (rng.random(83) < 0.25).astype(np.int64)
    scores = rng.random(83) * 0.6 + 0.4 * target * rng.random(83)
    return np.round(np.clip(scores, 0.1, 0.9), 1).astype(np.float32), target


def softmax(x: Data) -> Data:
    e = np.exp(x.astype(np.float64))
    return e / e.sum(1, keepdims=True)


OF_CLASSES: dict[str, tuple[Callable[[], Any], Callable[[Any, Data, Data], Any]]] = {
    "accuracy": (train.Accuracy, lambda m, s, y: m.accuracy_score(y, s.argmax(1))),
    "top 2": (lambda: train.TopK(2), lambda m, s, y: m.top_k_accuracy_score(y, s, k=2, labels=np.arange(5))),
    "confusion matrix": (
        lambda: train.ConfusionMatrix(5),
        lambda m, s, y: m.confusion_matrix(y, s.argmax(1), labels=np.arange(5)),
    ),
    **{
        f"{name} {average}": (
            lambda make=make, average=average: make(average),
            lambda m, s, y, score=score, average=average: getattr(m, score)(
                y, s.argmax(1), average=average, zero_division=0, **({"labels": np.arange(5)} if not average else {})
            ),
        )
        for name, make, score in (
            ("f1", train.F1, "f1_score"),
            ("precision", train.Precision, "precision_score"),
            ("recall", train.Recall, "recall_score"),
            ("iou", train.MeanIoU, "jaccard_score"),
        )
        for average in ("macro", "micro", "weighted")
    },
}


@pytest.mark.parametrize("name", OF_CLASSES)
def test_classes(name: str) -> None:
    reference = pytest.importorskip("sklearn.metrics")
    make, expected = OF_CLASSES[name]
    scores, target = classes()
    np.testing.assert_allclose(streamed(make(), scores, target), expected(reference, scores, target), rtol=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_auc_of_classes(average: str) -> None:
    reference = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng()
    target = np.concatenate([np.arange(4), rng.choice(4, 79, p=[0.5, 0.3, 0.1, 0.1])])
    scores = softmax(rng.normal(size=(83, 4)) + np.eye(4)[target])
    expected = reference.roc_auc_score(target, scores, multi_class="ovr", average=average)
    assert streamed(train.AUC(average), scores, target) == pytest.approx(expected, rel=1e-12)
    labels = (rng.random((83, 4)) < 0.4).astype(np.int64)
    expected = reference.roc_auc_score(labels, scores, average=average)
    assert streamed(train.AUC(average), scores, labels) == pytest.approx(expected, rel=1e-12)


def test_two_classes() -> None:
    reference = pytest.importorskip("sklearn.metrics")
    scores, target = binary()
    found = scores > 0.5
    for metric, expected in (
        (train.Accuracy(), reference.accuracy_score(target, found)),
        (train.BinaryAccuracy(), reference.accuracy_score(target, found)),
        (train.F1(), reference.f1_score(target, found)),
        (train.Precision(), reference.precision_score(target, found)),
        (train.Recall(), reference.recall_score(target, found)),
        (train.AUC(), reference.roc_auc_score(target, scores)),
        (train.MeanIoU(), reference.jaccard_score(target, found, average="macro")),
        (train.MeanIoU("binary"), reference.jaccard_score(target, found)),
    ):
        for given in (scores, scores[:, None]):
            assert streamed(metric, given, target) == pytest.approx(expected, rel=1e-12), metric
            assert streamed(metric, given, target[:, None].astype(np.float32)) == pytest.approx(expected, rel=1e-12)
    assert streamed(train.F1(threshold=0), np.log(scores / (1 - scores)), target) == pytest.approx(
        reference.f1_score(target, found), rel=1e-6
    )


def test_errors_of_numbers() -> None:
    reference = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng()
    target = (1e4 + rng.normal(size=(83, 3)) * [1, 10, 0.1]).astype(np.float32)
    found = (target + rng.normal(size=(83, 3))).astype(np.float32)
    for metric, score in (
        (train.MeanAbsoluteError(), reference.mean_absolute_error),
        (train.MeanSquaredError(), reference.mean_squared_error),
        (train.R2(), reference.r2_score),
    ):
        expected = score(target.astype(np.float64), found.astype(np.float64))
        assert streamed(metric, found, target) == pytest.approx(expected, rel=1e-10)
        one = score(target[:, 0].astype(np.float64), found[:, 0].astype(np.float64))
        assert streamed(metric, found[:, :1], target[:, 0]) == pytest.approx(one, rel=1e-10)
    assert streamed(train.RootMeanSquaredError(), found, target) == pytest.approx(
        np.sqrt(((found.astype(np.float64) - target) ** 2).mean()), rel=1e-12
    )
    equal = np.full(10, 3.0)
    assert streamed(train.R2(), equal, equal) == reference.r2_score(equal, equal) == 1
    assert streamed(train.R2(), equal + 1, equal) == reference.r2_score(equal, equal + 1) == 0


def test_segmentation() -> None:
    """Images of scores with the classes first, and pixels that are counted nowhere."""
    rng = np.random.default_rng()
    scores, target = rng.normal(size=(6, 3, 4, 5)), rng.integers(0, 3, (6, 4, 5))
    target[rng.random(target.shape) < 0.2] = 255
    found, kept = scores.argmax(1), target != 255
    each = [((found == n) & (target == n)).sum() / (((found == n) | (target == n)) & kept).sum() for n in range(3)]
    options = {"axis": 1, "ignore_index": 255}
    assert streamed(train.MeanIoU(**options), scores, target) == pytest.approx(np.mean(each), rel=1e-12)
    np.testing.assert_allclose(streamed(train.MeanIoU(average=None, **options), scores, target), each, rtol=1e-12)
    right = (found == target)[kept].mean()
    assert streamed(train.Accuracy(**options), scores, target) == pytest.approx(right, rel=1e-12)
    one = rng.random((6, 1, 4, 5))
    truth = rng.integers(0, 2, (6, 1, 4, 5))
    expected = ((one > 0.5) == truth).mean()
    for given in (truth, truth[:, 0]):
        assert streamed(train.Accuracy(axis=1), one, given) == pytest.approx(expected, rel=1e-12)


def test_definitions() -> None:
    """Pairs, one by one: no library is asked."""
    scores, target = binary()
    pairs = [(a > b) + (a == b) / 2 for a in scores[target == 1] for b in scores[target == 0]]
    assert streamed(train.AUC(), scores, target) == pytest.approx(np.mean(pairs), rel=1e-12)
    many, true = classes()
    hits = [y in sorted(range(5), key=lambda n: s[n])[-3:] for s, y in zip(many, true, strict=True)]
    assert streamed(train.TopK(3), many, true) == pytest.approx(np.mean(hits))
    one_hot = np.eye(5, dtype=np.float32)[true]
    assert streamed(train.Accuracy(), many, one_hot) == streamed(train.Accuracy(), many, true)
    assert np.isnan(train.AUC().compute()) and np.isnan(train.Accuracy().compute()) and np.isnan(train.R2().compute())
    assert train.F1()(np.zeros(4), np.zeros(4, int)) == 0


def test_names_and_functions() -> None:
    found = metrics_of(["accuracy", "AUC", train.F1("macro"), lambda p, t: np.abs(p - t).max()])
    assert list(found) == ["accuracy", "auc", "f1", "metric"]
    assert list(metrics_of("mae")) == ["mae"] and list(metrics_of(train.R2())) == ["r2"] and metrics_of(None) == {}
    assert metrics_of({"a": "mse", "b": train.MeanIoU})["b"].name == "mean_iou"  # type: ignore[attr-defined]
    worst = found["metric"]
    worst.update(np.array([1.0, 2]), np.array([0.0, 0]))
    worst.update(np.array([5.0]), np.array([0.0]))
    assert worst.compute() == 3


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: metrics_of("acuracy"), "There is no metric 'acuracy'. Give .*accuracy"),
        (lambda: metrics_of(["f1", train.F1()]), "Two metrics have the name 'f1'"),
        (lambda: metrics_of([3]), "There is no metric 3"),
        (lambda: train.F1("mean"), "F1 has no average 'mean'"),
        (lambda: train.TopK(0), "best 0 classes"),
        (lambda: train.F1("binary")(np.eye(3), np.arange(3)), "There are 3 classes"),
        (lambda: train.Accuracy()(np.zeros((4, 2, 3)), np.zeros((4, 3))), r"\(4, 2, 3\) do not fit .*\(4, 3\).*axis="),
        (lambda: train.Accuracy()(np.zeros((4, 3)), np.ones((4, 3))), "rows of several classes"),
        (lambda: train.ConfusionMatrix(2)(np.array([0, 2]), np.array([0, 1])), "There is a class 2"),
        (lambda: train.Accuracy()(np.array([[1.0, 0]]), np.array([-1])), None),
        (lambda: train.ConfusionMatrix()(np.array([[1.0, 0]]), np.array([-1])), "There is a class -1"),
        (lambda: train.R2()(np.zeros((4, 2)), np.zeros(4)), r"\(4, 2\) do not fit"),
        (lambda: train.AUC()(np.zeros((4, 2)), np.zeros(5)), r"\(4, 2\) do not fit"),
        (lambda: train.Metric()(np.zeros(1), np.zeros(1)), NotImplementedError),
        (lambda: metrics_of(lambda p, t: p)["metric"](np.zeros(3), np.zeros(3)), r"gives the shape \(3,\)"),
    ],
)
def test_refused(call: Callable[[], Any], says: Any) -> None:
    if says is None:
        assert call() == 0
        return
    kind, pattern = (InputError, says) if isinstance(says, str) else (says, None)
    with pytest.raises(kind, match=pattern):
        call()
