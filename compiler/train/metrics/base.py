"""Metrics: numbers that say how good predictions are, summed up batch by batch. Source: torchmetrics; scikit-learn."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from mlc.errors import InputError

Data = np.ndarray[Any, Any]


class Metric:
    """Takes predictions and targets batch by batch, and gives one number, or an array of them, for all.

        class Bias(train.Metric):
            def reset(self):
                self.total = self.rows = 0

            def update(self, prediction, target):
                self.total, self.rows = self.total + (prediction - target).sum(), self.rows + len(target)

            def compute(self):
                return self.total / self.rows

    Arrays are NumPy's; sums are kept in float64.
    """

    def reset(self) -> None:
        """Begin anew; called before each epoch and evaluation."""
        raise NotImplementedError

    def update(self, prediction: Any, target: Any) -> None:
        """Take a batch."""
        raise NotImplementedError

    def compute(self) -> Any:
        """The value for all batches since ``reset``: a number, or an array that is in no log."""
        raise NotImplementedError

    def __call__(self, prediction: Any, target: Any) -> Any:
        """The value for these arrays alone; what was taken before is forgotten."""
        self.reset()
        self.update(np.asarray(prediction), np.asarray(target))
        return self.compute()


class Mean(Metric):
    """The mean over all rows of a function of a prediction and a target that gives one number for a batch."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function
        self.reset()

    def reset(self) -> None:
        self.total, self.rows = 0.0, 0

    def update(self, prediction: Any, target: Any) -> None:
        value = np.asarray(self.function(prediction, target))
        if value.size != 1:
            what = f"The metric {getattr(self.function, '__name__', 'function')} gives the shape {value.shape}"
            raise InputError(what, hint="Return one number for a batch, or write a class of train.Metric")
        rows = np.shape(target)[0] if np.shape(target) else 1
        self.total, self.rows = self.total + rows * float(value), self.rows + rows

    def compute(self) -> float:
        return self.total / self.rows if self.rows else float("nan")


class Metrics:
    """Copies of metrics by name, which take the same batches."""

    def __init__(self, metrics: Mapping[str, Metric]) -> None:
        self.metrics = copy.deepcopy(dict(metrics))
        self.reset()

    def __bool__(self) -> bool:
        return bool(self.metrics)

    def reset(self) -> None:
        for each in self.metrics.values():
            each.reset()

    def update(self, prediction: Any, target: Any) -> None:
        for each in self.metrics.values():
            each.update(prediction, target)

    def results(self) -> dict[str, Any]:
        """The value of each; a metric of one number as a float."""
        found = {name: each.compute() for name, each in self.metrics.items()}
        return {name: float(x) if np.ndim(x) == 0 else x for name, x in found.items()}


Given = Iterable[Any] | Mapping[str, Any] | str | Metric | None


def named_metrics(given: Given, known: Mapping[str, Callable[[], Metric]]) -> dict[str, Metric]:
    """Metrics by name, of names (``"accuracy"``), metrics, functions, or a dictionary of these.

    Raises:
        InputError: an unknown name, the same name twice, or an object of another kind.
    """
    if isinstance(given, Mapping):
        return {name: _metric(each, known) for name, each in given.items()}
    single = isinstance(given, str | Metric | type) or callable(given)
    found: dict[str, Metric] = {}
    for each in [given] if single else (given or ()):  # type: ignore[union-attr]
        name = _name(each)
        if name in found:
            hint = "Name them: metrics={'top 1': …, 'top 5': …}"
            raise InputError(f"Two metrics have the name '{name}'", hint=hint)
        found[name] = _metric(each, known)
    return found


def _metric(given: Any, known: Mapping[str, Callable[[], Metric]]) -> Metric:
    if isinstance(given, Metric):
        return given
    if isinstance(given, str) and given.lower() in known:
        return known[given.lower()]()
    if isinstance(given, type) and issubclass(given, Metric):
        return given()
    if callable(given):
        return Mean(given)
    raise InputError(f"There is no metric {given!r}", hint=f"Give a train.Metric, a function, or {', '.join(known)}")


def _name(given: Any) -> str:
    if isinstance(given, str):
        return given.lower()
    name = getattr(given, "name", None) or getattr(given, "__name__", None) or type(given).__name__
    return str(name) if name != "<lambda>" else "metric"
