"""Rates of classes that follow from the confusion matrix: precision, recall, F1, mean IoU. Source: sklearn.metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.train.metrics.base import Data
from mlc.train.metrics.classes import ConfusionMatrix

AVERAGES = ("binary", "macro", "micro", "weighted", None)


class _Rate(ConfusionMatrix):
    """A rate of each class, averaged: ``macro`` over the classes that there are, ``weighted`` by how often they are
    true, ``micro`` of the sums over all classes, ``binary`` of class 1 alone, None an array for all classes.

    By default binary of two classes, macro of more. A rate whose divisor is 0 counts as 0.
    """

    def __init__(
        self,
        average: str | None = "auto",
        classes: int | None = None,
        threshold: float = 0.5,
        axis: int = -1,
        ignore_index: int | None = None,
    ) -> None:
        if average not in (*AVERAGES, "auto"):
            what = f"{type(self).__name__} has no average {average!r}"
            raise InputError(what, hint="Give 'binary', 'macro', 'micro', 'weighted' or None")
        self.average = average
        super().__init__(classes, threshold, axis, ignore_index)

    def compute(self) -> Any:
        right = np.diag(self.matrix).astype(np.float64)
        true, found = self.matrix.sum(1).astype(np.float64), self.matrix.sum(0).astype(np.float64)
        average = ("binary" if len(right) <= 2 else "macro") if self.average == "auto" else self.average
        if average == "micro":
            return float(self.rate(right.sum(), true.sum(), found.sum()))
        rates, present = self.rate(right, true, found), true + found > 0
        if average is None:
            return rates
        if average == "binary":
            return float(rates[1]) if len(rates) == 2 else _not_two(len(rates), rates)
        weights = true if average == "weighted" else present.astype(np.float64)
        return float((rates * weights).sum() / weights.sum()) if weights.sum() else float("nan")

    def rate(self, right: Any, true: Any, found: Any) -> Data:
        """The rate, from how many are right, true, and predicted."""
        raise NotImplementedError


def _not_two(count: int, rates: Data) -> float:
    if count > 2:
        raise InputError(f"There are {count} classes, and a binary average is of two", hint="Give average='macro'")
    return 0.0 if count else float("nan")  # class 1 was never seen


def _ratio(a: Any, b: Any) -> Data:
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=np.asarray(b) > 0)


class Precision(_Rate):
    """The share of elements predicted as a class that are of it. Source: sklearn.metrics.precision_score."""

    name = "precision"

    def rate(self, right: Any, true: Any, found: Any) -> Data:
        return _ratio(right, found)


class Recall(_Rate):
    """The share of elements of a class that are predicted as it. Source: sklearn.metrics.recall_score."""

    name = "recall"

    def rate(self, right: Any, true: Any, found: Any) -> Data:
        return _ratio(right, true)


class F1(_Rate):
    """The harmonic mean of precision and recall. Source: sklearn.metrics.f1_score."""

    name = "f1"

    def rate(self, right: Any, true: Any, found: Any) -> Data:
        return _ratio(2 * right, true + found)


class MeanIoU(_Rate):
    """Intersection over union of what is predicted as a class and what is of it: macro by default, for segmentation.

    Images of scores [N, C, H, W] with classes [N, H, W] need ``axis=1``. Source: sklearn.metrics.jaccard_score.
    """

    name = "mean_iou"

    def __init__(
        self,
        average: str | None = "macro",
        classes: int | None = None,
        threshold: float = 0.5,
        axis: int = -1,
        ignore_index: int | None = None,
    ) -> None:
        super().__init__(average, classes, threshold, axis, ignore_index)

    def rate(self, right: Any, true: Any, found: Any) -> Data:
        return _ratio(right, true + found - right)
