"""Callbacks: when they are called, early stopping, the best weights, rates that fall, and the rate finder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlc import nn, optim, train
from mlc.errors import InputError
from mlc.frontends.array import trees

RNG = np.random.Generator(np.random.Philox(11))
X = RNG.standard_normal((40, 3)).astype(np.float32)
Y = (X @ np.array([1.0, -2.0, 0.5], np.float32) + 3).astype(np.float32)


def loss(model: Any, x: Any, y: Any) -> Any:
    return nn.mse_loss(model(x)[:, 0], y)


def trained(rate: float = 0.05) -> train.Trainer:
    nn.manual_seed(3)
    return train.Trainer(nn.Linear(3, 1), optim.sgd(rate), loss)


class Said(train.Callback):
    """Writes down what is called."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def on_train_begin(self, trainer: train.Trainer) -> None:
        self.calls.append("begin")

    def on_epoch_begin(self, trainer: train.Trainer, epoch: int) -> None:
        self.calls.append(("epoch", epoch, trainer.step))

    def on_step_end(self, trainer: train.Trainer, step: int, values: Any) -> None:
        self.calls.append(("step", step, trainer.step, sorted(values)))

    def on_epoch_end(self, trainer: train.Trainer, epoch: int, values: Any) -> None:
        self.calls.append(("ended", epoch, trainer.step, sorted(values)))

    def on_train_end(self, trainer: train.Trainer) -> None:
        self.calls.append("end")


class Fed(train.Callback):
    """Puts a value of its own into each epoch, before the callback after it sees it."""

    def __init__(self, callback: train.Callback, values: Sequence[float], name: str = "val_loss") -> None:
        self.callback, self.values, self.name, self.factors = callback, list(values), name, []  # type: ignore[var-annotated]

    def on_train_begin(self, trainer: train.Trainer) -> None:
        self.callback.on_train_begin(trainer)

    def on_epoch_end(self, trainer: train.Trainer, epoch: int, values: Any) -> None:
        self.callback.on_epoch_end(trainer, epoch, {**values, self.name: self.values[epoch - 1]})
        self.factors.append(trainer.rate_factor)

    def on_train_end(self, trainer: train.Trainer) -> None:
        self.callback.on_train_end(trainer)


def epochs_with(callback: train.Callback, values: Sequence[float], name: str = "val_loss") -> tuple[train.Trainer, Fed]:
    fed = Fed(callback, values, name)
    return trained().fit([(X, Y)], epochs=len(values), callbacks=[fed], progress=False), fed


def test_the_order_of_calls() -> None:
    said, values = Said(), ["gradient_norm", "loss"]
    trained().fit([(X, Y)] * 2, epochs=2, callbacks=said, validation_data=[(X, Y)], progress=False)
    more = [*values, "val_loss"]
    assert said.calls == [
        "begin",
        *(("epoch", 1, 0), ("step", 1, 1, values), ("step", 2, 2, values), ("ended", 1, 2, more)),
        *(("epoch", 2, 2), ("step", 3, 3, values), ("step", 4, 4, values), ("ended", 2, 4, more)),
        "end",
    ]


def test_a_callback_ends_a_run_and_hears_of_errors() -> None:
    class Stop(Said):
        def on_step_end(self, trainer: train.Trainer, step: int, values: Any) -> None:
            super().on_step_end(trainer, step, values)
            trainer.should_stop = step == 3

    said = Stop()
    trainer = trained().fit([(X, Y)] * 2, epochs=5, callbacks=[said], progress=False)
    assert trainer.step == 3 and said.calls[-1] == "end"
    trainer.fit([(X, Y)] * 2, epochs=3, callbacks=[Said()], progress=False)
    assert trainer.step == 6 and not trainer.should_stop
    said = Stop()
    with pytest.raises(InputError, match="data ends"):
        trained().fit(iter([(X, Y)]), 2, callbacks=[said], progress=False)
    assert said.calls[-1] == "end"


@pytest.mark.parametrize(
    ("options", "values", "stops", "best"),
    [
        ({"patience": 2}, [5, 4, 4.5, 4, 3], 4, 2),
        ({"patience": 0}, [5, 4, 4.5, 1], 3, 2),
        ({"patience": 1, "min_delta": 0.5}, [5, 4.4, 4.1, 1], 3, 2),
        ({"patience": 2, "mode": "max"}, [1, 2, 1, 1.5, 9], 4, 2),
        ({"patience": 2}, [5, np.nan, 4, 3], 4, 4),
        ({"patience": 1}, [np.nan, 1, 2, 3], 1, 0),
        ({"patience": 3}, [4, 3, 2, 1], 4, 4),
    ],
)
def test_early_stopping(options: dict[str, Any], values: list[float], stops: int, best: int) -> None:
    stopping = train.EarlyStopping(**options)
    trainer, _ = epochs_with(stopping, values)
    assert trainer.step == stops and stopping.best_epoch == best


def test_the_best_is_higher_by_name() -> None:
    for name, higher in (("val_accuracy", True), ("val_auc", True), ("f1", True), ("val_loss", False), ("mae", False)):
        assert train.EarlyStopping(name).is_higher_better is higher
    stopping = train.EarlyStopping("val_accuracy", patience=1)
    assert epochs_with(stopping, [0.1, 0.5, 0.4, 0.9], "val_accuracy")[0].step == 3 and stopping.best == 0.5


def test_the_best_weights(tmp_path: Path) -> None:
    """The second epoch is best: its weights are in the file, and come back."""
    pytest.importorskip("safetensors")
    best = trained().fit([(X, Y)], epochs=2, progress=False).model
    path = tmp_path / "best.safetensors"
    epochs_with(train.BestCheckpoint(path), [5, 4, 4.5, 6])
    model = nn.Linear(3, 1).load_state_dict(nn.load_file(path))
    np.testing.assert_array_equal(model.weight, best.weight)
    trainer, _ = epochs_with(train.EarlyStopping(patience=2, restore_best=True), [5, 4, 4.5, 6])
    np.testing.assert_array_equal(trainer.model.weight, best.weight)
    np.testing.assert_array_equal(trainer.model.bias, best.bias)
    assert trainer.step == 4


@pytest.mark.parametrize(
    ("options", "values", "factors"),
    [
        ({"patience": 2, "factor": 0.5}, [5, 5, 5, 5, 5, 4], [1, 1, 0.5, 0.5, 0.25, 0.25]),
        ({"patience": 1, "factor": 0.5, "cooldown": 1}, [5, 5, 5, 5, 5], [1, 0.5, 0.5, 0.25, 0.25]),
        ({"patience": 1, "factor": 0.1, "min_factor": 0.05}, [5, 5, 5, 5], [1, 0.1, 0.05, 0.05]),
        ({"patience": 1, "factor": 0.5, "min_delta": 0.5}, [5, 4.7, 4.4, 4.2], [1, 0.5, 0.5, 0.25]),
    ],
)
def test_rates_that_fall(options: dict[str, Any], values: list[float], factors: list[float]) -> None:
    """As keras.callbacks.ReduceLROnPlateau, by hand; epochs of a cooldown do not count, as torch's."""
    _, fed = epochs_with(train.ReduceLROnPlateau(**options), values)
    np.testing.assert_allclose(fed.factors, factors, rtol=1e-6)


def test_the_factor_is_that_of_the_rate() -> None:
    """Two steps at a rate, then two at a tenth of it, as two optimizers do; one program."""
    trainer, other = trained(), trained()
    trainer.fit([(X, Y)], 2, progress=False)
    trainer.rate_factor = 0.1
    trainer.fit([(X, Y)], 4, progress=False)
    other.fit([(X, Y)], 2, progress=False)
    slow = train.Trainer(other.model, optim.sgd(0.005), loss).fit([(X, Y)], 2, progress=False)
    np.testing.assert_allclose(trainer.model.weight, slow.model.weight, rtol=1e-6)
    assert trainer.rate_factor == pytest.approx(0.1) and len(trainer._stateful.jitted.reasons) == 1


def test_the_learning_rate_finder() -> None:
    """The rates are a geometric series; the losses are those of gradient descent in float64."""
    nn.manual_seed(1)
    model = nn.Linear(3, 1)
    before = [x.numpy().copy() for x in trees.leaves(model)]
    found = train.find_learning_rate(model, optim.sgd, loss, [(X, Y)], low=1e-3, high=10.0, steps=40)
    np.testing.assert_allclose(found.rates[:20], np.geomspace(1e-3, 10, 40)[:20], rtol=1e-6)
    weight, bias = before[0].astype(np.float64)[0], before[1].astype(np.float64)[0]
    for rate, value in list(zip(found.rates, found.losses, strict=True))[:25]:
        apart = X @ weight + bias - Y
        assert value == pytest.approx((apart**2).mean(), rel=1e-4, abs=1e-6)
        weight, bias = weight - rate * 2 * (apart[:, None] * X).mean(0), bias - rate * 2 * apart.mean()
    assert 1e-2 < found.suggestion < 1 and len(found.losses) < 40
    assert all(np.array_equal(x, y) for x, y in zip(before, trees.leaves(model), strict=True))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: train.EarlyStopping(patience=-1), "patience=-1"),
        (lambda: train.EarlyStopping(mode="best"), "no mode 'best'"),
        (lambda: train.ReduceLROnPlateau(factor=1.5), "A factor of 1.5"),
        (lambda: epochs_with(train.EarlyStopping("val_acc"), [1]), "watches 'val_acc'.*loss.*validation_data"),
        (lambda: train.find_learning_rate(nn.Linear(3, 1), optim.sgd, loss, [(X, Y)], low=2), "no 100 rates from 2"),
        (lambda: train.EarlyStoping, None),
    ],
)
def test_refused(call: Any, says: str | None) -> None:
    if says is None:
        with pytest.raises(AttributeError, match="Did you mean 'EarlyStopping'"):
            call()
        return
    with pytest.raises(InputError, match=says):
        call()
