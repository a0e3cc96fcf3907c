"""The area under the curve of true over false positives. Source: sklearn.metrics.roc_auc_score; Hand and Till, 2001."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.train.metrics.base import Data, Metric


class AUC(Metric):
    """The probability that an element of class 1 has a higher score than one of class 0, equal scores counting half.

    Scores [N] or [N, 1] with targets 0 and 1; of [N, 2] those of class 1; of [N, C] the mean over the classes, each
    against the rest (``average="weighted"``: by how often they are true); of targets [N, C], several labels of a row,
    the mean over the labels. Exact: all scores are kept. Any increasing
    function of scores gives the same, so logits serve as probabilities do.
    """

    name = "auc"

    def __init__(self, average: str = "macro") -> None:
        if average not in ("macro", "weighted"):
            raise InputError(f"AUC has no average {average!r}", hint="Give 'macro' or 'weighted'")
        self.average = average
        self.reset()

    def reset(self) -> None:
        self.scores: list[Data] = []
        self.targets: list[Data] = []

    def update(self, prediction: Any, target: Any) -> None:
        scores, true = np.asarray(prediction), np.asarray(target)
        scores, true = (x.reshape(-1, x.shape[-1]) if x.ndim > 1 else x[:, None] for x in (scores, true))
        if len(scores) != len(true) or true.shape[1] not in (1, scores.shape[1]):
            what = f"Scores of the shape {np.shape(prediction)} do not fit targets of the shape {np.shape(target)}"
            raise InputError(what, hint="Give scores [N] or [N, C] and classes [N]")
        self.scores.append(scores)
        self.targets.append(true.astype(np.int64))

    def compute(self) -> float:
        """The area; NaN where the targets are of one class."""
        if not self.scores:
            return float("nan")
        scores, true = np.concatenate(self.scores), np.concatenate(self.targets)
        classes = scores.shape[1]
        if true.shape[1] == 1 and classes <= 2:
            return area(scores[:, -1], true[:, 0] == 1)
        is_true = true == (np.arange(classes) if true.shape[1] == 1 else 1)
        found = [area(scores[:, n], is_true[:, n]) for n in range(classes)]
        return float(np.average(found, weights=is_true.sum(0) if self.average == "weighted" else None))


def area(scores: Data, is_true: Data) -> float:
    """The area for scores [N] and whether each is of class 1, by the sum of ranks (Mann and Whitney, 1947)."""
    positive = int(is_true.sum())
    negative = is_true.size - positive
    if not positive or not negative:
        return float("nan")
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[is_true].sum() - positive * (positive + 1) / 2) / (positive * negative))
