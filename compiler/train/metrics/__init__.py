"""Metrics over batches: of classes, of rankings, of numbers. All are in NumPy and float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mlc.train.metrics.base import Given, Mean, Metric, Metrics, named_metrics
from mlc.train.metrics.classes import Accuracy, BinaryAccuracy, ConfusionMatrix, TopK
from mlc.train.metrics.errors import R2, MeanAbsoluteError, MeanSquaredError, RootMeanSquaredError
from mlc.train.metrics.ranking import AUC
from mlc.train.metrics.rates import F1, MeanIoU, Precision, Recall

KNOWN: Mapping[str, Callable[[], Metric]] = {
    "accuracy": Accuracy,
    "acc": Accuracy,
    "binary_accuracy": BinaryAccuracy,
    "top_k": TopK,
    "top5": TopK,
    "precision": Precision,
    "recall": Recall,
    "f1": F1,
    "auc": AUC,
    "confusion_matrix": ConfusionMatrix,
    "mean_iou": MeanIoU,
    "miou": MeanIoU,
    "mae": MeanAbsoluteError,
    "mse": MeanSquaredError,
    "rmse": RootMeanSquaredError,
    "r2": R2,
}
"""Metrics that have a short name."""


def metrics_of(given: Given) -> dict[str, Metric]:
    """Metrics by name.

    Raises:
        InputError: an unknown name, the same name twice, or an object of another kind.
    """
    return named_metrics(given, KNOWN)


__all__ = [
    "AUC",
    "F1",
    "KNOWN",
    "R2",
    "Accuracy",
    "BinaryAccuracy",
    "ConfusionMatrix",
    "Given",
    "Mean",
    "MeanAbsoluteError",
    "MeanIoU",
    "MeanSquaredError",
    "Metric",
    "Metrics",
    "Precision",
    "Recall",
    "RootMeanSquaredError",
    "TopK",
    "metrics_of",
]
