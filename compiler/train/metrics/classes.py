"""Metrics of classes: accuracy, the best k, and what follows from the confusion matrix. Source: sklearn.metrics."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.train.metrics.base import Data, Metric


def classes_of(prediction: Data, target: Data, threshold: float, axis: int) -> tuple[Data, Data]:
    """Predicted and true classes, integers of one shape.

    Of scores with a class ``axis`` that the target lacks, or has with the extent 1, the best one; of two arrays [N, C]
    the best ones, as of one-hot vectors or probabilities; of other floats, whether they are above the ``threshold``.

    Raises:
        InputError: the shapes do not fit, or rows of a target [N, C] are of several classes.
    """
    found, true = _without_axis(prediction, axis, target), _without_axis(target, axis, prediction)
    if found.ndim == true.ndim + 1:
        found = found.argmax(axis)
    elif found.shape == true.shape and found.ndim == 2:
        if not np.allclose(true.sum(-1), 1, atol=1e-3):
            what = f"Targets of the shape {target.shape} have rows of several classes, or of none"
            raise InputError(what, hint="Use BinaryAccuracy, or give metrics flat arrays, for many labels of a row")
        found, true = found.argmax(-1), true.argmax(-1)
    elif found.dtype.kind == "f":
        found = found > threshold
    if found.shape != true.shape:
        what = f"Predictions of the shape {prediction.shape} do not fit targets of the shape {target.shape}"
        raise InputError(what, hint="Give scores [N, C] and classes [N]; axis= says where the classes are")
    return found.astype(np.int64), true.astype(np.int64)


def _without_axis(x: Data, axis: int, other: Data) -> Data:
    """``x`` without a class axis of the extent 1."""
    single = x.ndim > 1 and -x.ndim <= axis < x.ndim and x.shape[axis] == 1
    return x.squeeze(axis) if single and other.ndim >= x.ndim - 1 else x


class _Classes(Metric):
    """What metrics of classes take: the threshold of two classes, the axis of scores, a label that is left out."""

    def __init__(self, threshold: float = 0.5, axis: int = -1, ignore_index: int | None = None) -> None:
        """``threshold``: above which a single score says class 1: 0 for logits. ``axis``: of the classes, among scores.
        ``ignore_index``: targets that are counted nowhere."""
        self.threshold, self.axis, self.ignore_index = threshold, axis, ignore_index
        self.reset()

    def _classes(self, prediction: Any, target: Any) -> tuple[Data, Data]:
        found, true = classes_of(np.asarray(prediction), np.asarray(target), self.threshold, self.axis)
        kept = np.ones(true.shape, bool) if self.ignore_index is None else true != self.ignore_index
        return found[kept], true[kept]


class Accuracy(_Classes):
    """The share of elements whose class is right. Source: sklearn.metrics.accuracy_score."""

    name = "accuracy"

    def reset(self) -> None:
        self.right = self.count = 0

    def update(self, prediction: Any, target: Any) -> None:
        found, true = self._classes(prediction, target)
        self.right, self.count = self.right + int((found == true).sum()), self.count + true.size

    def compute(self) -> float:
        return self.right / self.count if self.count else float("nan")


class BinaryAccuracy(_Classes):
    """The share of elements [N…] on the right side of the threshold, each label of many counted by itself."""

    name = "binary_accuracy"

    def reset(self) -> None:
        self.right = self.count = 0

    def update(self, prediction: Any, target: Any) -> None:
        found, true = np.asarray(prediction), np.asarray(target)
        if found.size != true.size:
            what = f"Predictions of the shape {found.shape} do not fit targets of the shape {true.shape}"
            raise InputError(what, hint="Give as many scores as targets")
        kept = np.ones(true.shape, bool) if self.ignore_index is None else true != self.ignore_index
        right = (found.reshape(true.shape) > self.threshold) == (true > 0.5)
        self.right, self.count = self.right + int(right[kept].sum()), self.count + int(kept.sum())

    def compute(self) -> float:
        return self.right / self.count if self.count else float("nan")


class TopK(Metric):
    """The share of rows whose class is among the ``k`` best scores [N, C]; of equal scores the last ones are best.

    Source: sklearn.metrics.top_k_accuracy_score.
    """

    name = "top_k"

    def __init__(self, k: int = 5) -> None:
        if k < 1:
            raise InputError(f"The best {k} classes are none", hint="Give k from 1 on")
        self.k = k
        self.reset()

    def reset(self) -> None:
        self.right = self.count = 0

    def update(self, prediction: Any, target: Any) -> None:
        scores, true = np.asarray(prediction), np.asarray(target)
        if scores.ndim != true.ndim + 1 or scores.shape[:-1] != true.shape:
            what = f"Scores of the shape {scores.shape} do not fit classes of the shape {true.shape}"
            raise InputError(what, hint="Give scores [N, C] and classes [N]")
        order = np.argsort(scores, axis=-1, kind="stable")[..., ::-1][..., : self.k]
        self.right += int((order == true[..., None]).any(-1).sum())
        self.count += true.size

    def compute(self) -> float:
        return self.right / self.count if self.count else float("nan")


class ConfusionMatrix(_Classes):
    """The number of elements of class i that were predicted as class j: [classes, classes], int64.

    ``classes``: how many there are; by default as many as were seen. Source: sklearn.metrics.confusion_matrix.
    """

    name = "confusion_matrix"

    def __init__(
        self,
        classes: int | None = None,
        threshold: float = 0.5,
        axis: int = -1,
        ignore_index: int | None = None,
    ) -> None:
        self.classes = classes
        super().__init__(threshold, axis, ignore_index)

    def reset(self) -> None:
        self.matrix = np.zeros((self.classes or 0,) * 2, np.int64)

    def update(self, prediction: Any, target: Any) -> None:
        """
        Raises:
            InputError: a class that there is not.
        """
        found, true = self._classes(prediction, target)
        if not true.size:
            return
        low, high = min(found.min(), true.min()), int(max(found.max(), true.max()))
        if low < 0 or (self.classes is not None and high >= self.classes):
            what = f"There is a class {low if low < 0 else high}, which is none of {self.classes or 'those from 0 on'}"
            raise InputError(what, hint="Give classes=, or ignore_index=, as the targets need them")
        size = max(len(self.matrix), high + 1)
        counts = np.bincount(true * size + found, minlength=size * size).reshape(size, size)
        self.matrix = np.pad(self.matrix, (0, size - len(self.matrix))) + counts

    def compute(self) -> Any:
        return self.matrix.copy()
