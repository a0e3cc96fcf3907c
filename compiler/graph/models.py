"""``Model``: a net, a loss and an optimizer, with one compiled step. Source: tinynn."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc import nn, optim
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.frontends.array.transforms.derivatives.gradients import grad, value_and_grad
from mlc.graph.layers import Layer, Net, Parameters
from mlc.optim.transform import GradientTransformation, apply_updates
from mlc.tracing.jit import jit


class Loss:
    """A number for predictions and targets: subclasses write ``function(self, predicted, actual)``, which is traced."""

    def __init__(self) -> None:
        self._loss, self._grad = jit(self.function), jit(grad(self.function))

    def function(self, predicted: Any, actual: Any) -> Any:
        """The loss, a float of rank 0."""
        raise InputError(f"{type(self).__name__} has no method 'function'", hint="Write it, or loss and grad")

    def loss(self, predicted: Any, actual: Any) -> float:
        """The loss."""
        return float(self._loss(_given(predicted), _given(actual)))

    def grad(self, predicted: Any, actual: Any) -> np.ndarray[Any, Any]:
        """The derivative by the predictions."""
        return self._grad(_given(predicted), _given(actual)).numpy()


def _given(x: Any) -> np.ndarray[Any, Any]:
    return as_array(x).numpy() if not isinstance(x, np.ndarray) else x


def _divided(total: Any, predicted: Any) -> Any:
    return total / predicted.shape[0]


class MSELoss(Loss):
    """Half of the sum of squares of differences, divided by the number of rows."""

    def function(self, predicted: Any, actual: Any) -> Any:
        return _divided(0.5 * mnp.sum((predicted - actual) ** 2), predicted)


class MAELoss(Loss):
    """The sum of absolute differences, divided by the number of rows."""

    def function(self, predicted: Any, actual: Any) -> Any:
        return _divided(mnp.sum(mnp.abs(predicted - actual)), predicted)


class HuberLoss(Loss):
    """Squares of small differences, and absolute values of large ones; divided by the number of rows."""

    def __init__(self, delta: float = 1.0) -> None:
        self.delta = delta
        super().__init__()

    def function(self, predicted: Any, actual: Any) -> Any:
        distance = mnp.abs(predicted - actual)
        small = mnp.minimum(distance, self.delta)
        return _divided(mnp.sum(small * (distance - 0.5 * small)), predicted)


class SoftmaxCrossEntropyLoss(Loss):
    """The cross entropy of the softmax of each row, their mean; targets are probabilities, or numbers of classes."""

    def function(self, predicted: Any, actual: Any) -> Any:
        logs = nn.log_softmax(predicted)
        if len(actual.shape) < len(predicted.shape):
            return -mnp.mean(mnp.take_along_axis(logs, mnp.astype(actual, mnp.int64)[..., None], axis=-1))
        return _divided(-mnp.sum(logs * actual), predicted)


class SigmoidCrossEntropyLoss(Loss):
    """The binary cross entropy of the sigmoid of each element, divided by the number of rows."""

    def function(self, predicted: Any, actual: Any) -> Any:
        each = mnp.maximum(predicted, 0.0) - predicted * actual + mnp.log1p(mnp.exp(-mnp.abs(predicted)))
        return _divided(mnp.sum(each), predicted)


class StepOptimizer:
    """A gradient transformation of ``mlc.optim`` for the parameters of a net: ``StepOptimizer(optim.adam(1e-3))``."""

    def __init__(self, transformation: GradientTransformation) -> None:
        self.transformation = transformation
        self.state: Any = None
        self._update = jit(self.updated)

    def updated(self, grads: Any, state: Any, params: Any) -> tuple[Any, Any]:
        """New parameters, and the state after; traced."""
        updates, after = self.transformation.update(grads, state, params)
        return apply_updates(params, updates), after

    def state_for(self, params: Any) -> Any:
        """The state, which begins with the first step."""
        if self.state is None:
            self.state = trees.tree_map(as_array, self.transformation.init(params))
        return self.state

    def apply(self, net: Any, grads: Sequence[Parameters]) -> None:
        """Change the parameters of a net."""
        given = [{name: as_array(x) for name, x in each.items()} for each in net.params]
        wanted = [{name: as_array(g[name]) for name in p} for p, g in zip(given, grads, strict=True)]
        net.params, self.state = self._update(wanted, self.state_for(given), given)

    def step(self, net: Any) -> None:
        """Change the parameters of a net as its last ``backward`` says."""
        self.apply(net, [getattr(layer, "grads", {}) for layer in net.layers])


def _optimizer(name: str, factory: Callable[..., GradientTransformation]) -> type[StepOptimizer]:
    def __init__(self: StepOptimizer, *args: Any, **kwargs: Any) -> None:
        if "lr" not in kwargs and not args and inspect.signature(factory).parameters["lr"].default is inspect._empty:
            kwargs["lr"] = 0.01
        StepOptimizer.__init__(self, factory(*args, **kwargs))

    return type(name, (StepOptimizer,), {"__init__": __init__, "__doc__": f"``mlc.optim.{factory.__name__}``."})


SGD = _optimizer("SGD", optim.sgd)
Adam = _optimizer("Adam", optim.adam)
AdamW = _optimizer("AdamW", optim.adamw)
RMSProp = _optimizer("RMSProp", optim.rmsprop)
Adagrad = _optimizer("Adagrad", optim.adagrad)
Adadelta = _optimizer("Adadelta", optim.adadelta)


class Model:
    """``pred = model.forward(x)``, ``loss, grads = model.backward(pred, y)``, ``model.apply_grad(grads)``; or all of
    these by ``model.step(x, y)``, one program where all layers are traced."""

    def __init__(self, net: Net, loss: Any, optimizer: Any) -> None:
        self.net, self.loss, self.optimizer = net, loss, optimizer
        self._whole = jit(self._step)

    def forward(self, inputs: Any) -> Any:
        """The predictions."""
        return self.net.forward(inputs)

    def backward(self, preds: Any, targets: Any) -> tuple[float, list[Parameters]]:
        """The loss of the last predictions, and what reaches the parameters of each layer."""
        value = self.loss.loss(preds, targets)
        return value, self.net.backward(self.loss.grad(preds, targets))

    def apply_grad(self, grads: Sequence[Parameters]) -> None:
        """Change the parameters by the optimizer."""
        self.optimizer.apply(self.net, grads)

    apply_grads = apply_grad

    def step(self, inputs: Any, targets: Any) -> float:
        """Forward, backward and update; the loss before it."""
        layers, loss = self.net.layers, self.loss
        traced = all(isinstance(x, Layer) and x.is_traced for x in layers) and isinstance(loss, Loss)
        if not traced or not isinstance(self.optimizer, StepOptimizer) or any(not _is_built(x) for x in layers):
            value, grads = self.backward(self.forward(inputs), targets)
            self.apply_grad(grads)
            return value
        params = self.net.params
        state = self.optimizer.state_for(params)
        self.net.params, self.optimizer.state, found = self._whole(
            params, state, layers[0].prepared(inputs), _given(targets)
        )
        return float(found)

    def _step(self, params: Any, state: Any, inputs: Any, targets: Any) -> Any:
        def objective(params: Any) -> Any:
            x = inputs
            for layer, own in zip(self.net.layers, params, strict=True):
                x = layer.function(own, x)
            return self.loss.function(x, targets)

        value, grads = value_and_grad(objective)(params)
        return *self.optimizer.updated(grads, state, params), value

    def set_phase(self, phase: str) -> None:
        """``"TRAIN"`` or ``"TEST"``."""
        self.net.set_phase(phase)
        self._whole = jit(self._step)

    def save(self, path: str | Path) -> None:
        """Write the parameters, in NumPy's format ``.npz``."""
        named = {f"{n}.{name}": as_array(x).numpy() for n, p in enumerate(self.net.params) for name, x in p.items()}
        with Path(path).open("wb") as file:
            np.savez(file, **named)  # type: ignore[arg-type]

    def load(self, path: str | Path) -> None:
        """Read the parameters that ``save`` wrote."""
        params: list[Parameters] = [{} for _ in self.net.layers]
        with np.load(path) as file:
            for name in file.files:
                n, _, short = name.partition(".")
                params[int(n)][short] = as_array(file[name])
        self.net.params = params


def _is_built(layer: Layer) -> bool:
    """Whether the parameters of a layer are there, or it has none."""
    return bool(layer.params) or type(layer).build is Layer.build
