"""Evaluation: one program gives the loss of a batch and what the model predicts, in the mode of inference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.random.threefry import fold_in, key
from mlc.nn.module import observed
from mlc.nn.naming import from_tensor
from mlc.optim.mixed_precision import cast
from mlc.tracing.jit import jit
from mlc.train.batches import arguments_of, inputs_of
from mlc.train.losses import Loss, loss_and_more
from mlc.train.metrics.base import Metrics

Predict = Callable[..., Any]
Scalars = dict[str, float]


class Evaluator:
    """The programs of a trainer that change no state: loss and prediction of a batch, prediction alone.

    ``predict(model, *inputs)`` is the prediction; without it that of the loss: what it got when it called the model
    last.
    """

    def __init__(self, loss: Loss, predict: Predict | None, precision: str | None, options: Mapping[str, Any]) -> None:
        self.loss, self.predict, self.precision = loss, predict, precision
        self._evaluated = jit(self.loss_and_prediction, wait=True, **options)
        self._predicted = jit(self.prediction, wait=True, **options)

    def loss_and_prediction(self, model: Any, batch: tuple[Any, ...], inputs: Any, draws: Array) -> tuple[Any, Any]:
        """The values of a batch, and the prediction where there are ``inputs``."""
        given, batch, inputs = self._cast((model, batch, inputs))
        (copy, found), _, outputs = observed(lambda m: (m, self.loss(m, *batch)), given, draws)
        value, more = loss_and_more(found)
        if inputs is not None and self.predict is not None:
            output, _, _ = observed(lambda m: self.predict(m, *inputs), given, draws)  # type: ignore[misc]
        else:
            output = None if inputs is None else outputs.get(id(copy))
        return {"loss": value, **more}, output

    def prediction(self, model: Any, inputs: tuple[Any, ...], draws: Array) -> Any:
        """What the model predicts of inputs."""
        given, inputs = self._cast((model, inputs))
        call = self.predict or (lambda m, *x: m(*x))
        return observed(lambda m: call(m, *inputs), given, draws)[0]

    def _cast(self, values: Any) -> Any:
        return values if self.precision is None else cast(values, self.precision)

    def evaluate(self, model: Any, batches: Iterator[Any], metrics: Metrics) -> Scalars:
        """The mean of the loss, and of what it gives beside, over all rows, and the metrics.

        Raises:
            InputError: there is no batch; metrics where the loss does not call the model itself.
        """
        totals: Scalars = {}
        rows = 0
        for number, batch in enumerate(batches):
            given = arguments_of(self.loss, batch)
            inputs = inputs_of(self.loss, self.predict, batch) if metrics else None
            scalars, output = self._evaluated(model, given, inputs, fold_in(key(0), number))
            size = rows_of(given)
            rows += size
            for name, value in scalars.items():
                totals[name] = totals.get(name, 0.0) + size * float(value)
            if metrics:
                metrics.update(_predicted(output), target_of(given))
        if not rows:
            raise InputError("The data of an evaluation have no batch", hint="Give data with one batch or more")
        return {**{name: total / rows for name, total in totals.items()}, **metrics.results()}

    def predictions(self, model: Any, batches: Iterator[Any]) -> Any:
        """What the model predicts of all batches, a tree of NumPy arrays, joined along axis 0.

        Raises:
            InputError: there is no batch, or a prediction has no axis 0.
        """
        found = []
        for number, batch in enumerate(batches):
            inputs = inputs_of(self.loss, self.predict, batch)
            found.append(trees.tree_map(numpy, self._predicted(model, inputs, fold_in(key(0), number))))
        if not found:
            raise InputError("The data of a prediction have no batch", hint="Give data with one batch or more")
        if any(not x.ndim for x in trees.leaves(found[0])):
            raise InputError("A prediction is a number, not one for each row", hint="Give predict= a row for each")
        return found[0] if len(found) == 1 else trees.tree_map(lambda *x: np.concatenate(x), *found)


def numpy(x: Any) -> np.ndarray[Any, Any]:
    """The elements, of 16-bit floats as float32."""
    given = as_array(x).numpy()
    return given.astype(np.float32) if given.dtype.name in ("bfloat16", "float16") else given


def _predicted(output: Any) -> Any:
    if output is None:
        raise InputError(
            "Metrics need a prediction, and the loss calls layers of the model, not the model",
            hint="Give the trainer predict=lambda model, x: …",
        )
    return trees.tree_map(numpy, output)


def target_of(batch: tuple[Any, ...]) -> Any:
    """What metrics compare a prediction with: the last argument of the loss."""
    return trees.tree_map(lambda x: np.asarray(from_tensor(x)) if not isinstance(x, Array) else x.numpy(), batch[-1])


def rows_of(batch: tuple[Any, ...]) -> int:
    """The extent of axis 0 of the first array that has one, else 1."""
    shapes = (np.shape(x) for x in trees.leaves(batch) if x is not None)
    return next((shape[0] for shape in shapes if shape), 1)
