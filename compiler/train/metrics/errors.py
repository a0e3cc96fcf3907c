"""Errors of predicted numbers: absolute, squared, and R², the share of the variance that is explained.

Source: sklearn.metrics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.train.metrics.base import Data, Metric


def numbers(prediction: Any, target: Any) -> tuple[Data, Data]:
    """Both in float64 and the target's shape; a prediction [N, 1] fits a target [N].

    Raises:
        InputError: the shapes do not fit.
    """
    found, true = np.asarray(prediction, np.float64), np.asarray(target, np.float64)
    if found.shape != true.shape and (found.size != true.size or abs(found.ndim - true.ndim) > 1):
        what = f"Predictions of the shape {found.shape} do not fit targets of the shape {true.shape}"
        raise InputError(what, hint="Give arrays of one shape")
    return found.reshape(true.shape), true


class _MeanError(Metric):
    """The mean of an error over all elements."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.total, self.count = 0.0, 0

    def update(self, prediction: Any, target: Any) -> None:
        found, true = numbers(prediction, target)
        self.total, self.count = self.total + float(self.error(found - true).sum()), self.count + true.size

    def compute(self) -> float:
        return self.total / self.count if self.count else float("nan")

    def error(self, difference: Data) -> Data:
        raise NotImplementedError


class MeanAbsoluteError(_MeanError):
    """The mean of absolute errors. Source: sklearn.metrics.mean_absolute_error."""

    name = "mae"

    def error(self, difference: Data) -> Data:
        return np.abs(difference)


class MeanSquaredError(_MeanError):
    """The mean of squared errors. Source: sklearn.metrics.mean_squared_error."""

    name = "mse"

    def error(self, difference: Data) -> Data:
        return difference * difference


class RootMeanSquaredError(MeanSquaredError):
    """The root of the mean of squared errors. Source: sklearn.metrics.root_mean_squared_error."""

    name = "rmse"

    def compute(self) -> float:
        return math.sqrt(super().compute())


class R2(Metric):
    """1 less the squared errors over the squared deviations of the targets; of targets [N, K] the mean over K.

    NaN for fewer than two rows; targets that are all equal give 1 where they are predicted, else 0. Means and squares
    are joined batch by batch (Chan et al., 1979), so that a large mean costs no digits. Source:
    sklearn.metrics.r2_score.
    """

    name = "r2"

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.count = 0
        self.mean: Any = 0.0
        self.squares: Any = 0.0
        self.errors: Any = 0.0

    def update(self, prediction: Any, target: Any) -> None:
        found, true = numbers(prediction, target)
        found, true = (x.reshape(len(x), -1) for x in (found, true))
        if not len(true):
            return
        mean, count = true.mean(0), self.count + len(true)
        apart = mean - self.mean
        self.squares = self.squares + ((true - mean) ** 2).sum(0) + apart**2 * (self.count * len(true) / count)
        self.mean, self.count = self.mean + apart * (len(true) / count), count
        self.errors = self.errors + ((found - true) ** 2).sum(0)

    def compute(self) -> float:
        if self.count < 2:
            return float("nan")
        equal = np.asarray(self.squares) == 0
        scores = 1 - self.errors / np.where(equal, 1.0, self.squares)
        return float(np.mean(np.where(equal, np.where(np.asarray(self.errors) == 0, 1.0, 0.0), scores)))
