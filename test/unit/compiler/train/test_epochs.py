"""Epochs: their means, metrics and validation against NumPy; evaluation, prediction, values beside the loss."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import mlc.numpy as mnp
from mlc import nn, optim, train
from mlc.errors import InputError
from mlc.numpy import random
from mlc.tracing import background

RNG = np.random.Generator(np.random.Philox(7))
X = RNG.standard_normal((70, 3)).astype(np.float32)
Y = (X @ np.array([1.0, -2.0, 0.5], np.float32) + 3 + RNG.standard_normal(70)).astype(np.float32)


def loss(model: Any, x: Any, y: Any) -> Any:
    found = model(x)[:, 0]
    return nn.mse_loss(found, y), {"mae": nn.l1_loss(found, y), "rows": x.shape[0]}


def trained(**options: Any) -> train.Trainer:
    nn.manual_seed(3)
    return train.Trainer(nn.Linear(3, 1), optim.sgd(0.05), loss, **options)


def by_numpy(steps: list[tuple[Any, Any]], weight: Any, bias: Any, rate: float = 0.05) -> tuple[Any, ...]:
    """Gradient descent in float64: losses and absolute errors of the steps, the last weight and bias, predictions."""
    losses, errors, found = [], [], []
    weight, bias = weight.astype(np.float64), bias.astype(np.float64)
    for x, y in steps:
        apart = x @ weight[0] + bias - y
        losses.append((apart**2).mean())
        errors.append(np.abs(apart).mean())
        found.append(apart + y)
        weight, bias = weight - rate * 2 * (apart[:, None] * x).mean(0)[None], bias - rate * 2 * apart.mean()
    return losses, errors, weight, bias, found


def test_epochs_are_those_of_numpy() -> None:
    """70 rows in batches of 20: three steps an epoch. Validation has each row once."""
    trainer = trained(metrics={"r2": "r2", "far": train.MeanSquaredError()})
    first = trainer.model
    data = train.ArrayData((X, Y), 20, seed=5)
    trainer.fit(data, epochs=2, validation_data=(X[:50], Y[:50]), progress=False)
    steps = [batch for _, batch in zip(range(6), data(0), strict=False)]
    losses, errors, weight, bias, found = by_numpy(steps, first.weight.numpy(), first.bias.numpy())
    assert [e["epoch"] for e in trainer.epochs] == [1, 2] and [e["step"] for e in trainer.epochs] == [3, 6]
    for n, each in enumerate(trainer.epochs):
        part = slice(3 * n, 3 * n + 3)
        targets = np.concatenate([y for _, y in steps[part]])
        predicted = np.concatenate(found[part])
        assert each["loss"] == pytest.approx(np.mean(losses[part]), rel=1e-5)
        assert each["mae"] == pytest.approx(np.mean(errors[part]), rel=1e-5) and each["rows"] == 20
        assert each["far"] == pytest.approx(((predicted - targets) ** 2).mean(), rel=1e-5)
    apart = X[:50] @ weight[0] + bias - Y[:50]
    last = trainer.epochs[-1]
    assert last["val_loss"] == pytest.approx((apart**2).mean(), rel=1e-5)
    assert last["val_mae"] == pytest.approx(np.abs(apart).mean(), rel=1e-5)
    assert last["val_r2"] == pytest.approx(1 - (apart**2).sum() / ((Y[:50] - Y[:50].mean()) ** 2).sum(), rel=1e-5)
    assert trainer.history[4][1]["mae"] == pytest.approx(errors[4], rel=1e-5)


def test_evaluation_and_prediction() -> None:
    """Rows that fill no batch count too: means are over rows."""
    trainer = trained()
    model = trainer.model
    expected = X @ model.weight.numpy()[0] + model.bias.numpy()
    for data, size in (((X, Y), 32), ((X, Y), 33), ([(X[:40], Y[:40]), (X[40:], Y[40:])], None), ((X, Y), 999)):
        found = trainer.evaluate(data, batch_size=size, metrics=["r2", "mae"])
        assert found["loss"] == pytest.approx(((expected - Y) ** 2).mean(), rel=1e-5)
        assert found["mae"] == pytest.approx(np.abs(expected - Y).mean(), rel=1e-5)
        np.testing.assert_allclose(trainer.predict(data, batch_size=size)[:, 0], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(trainer.predict(X)[:, 0], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(trainer.predict([X[:9], X[9:]])[:, 0], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(trainer.predict(iter([(X[:9], Y[:9])]))[:, 0], expected[:9], rtol=1e-4, atol=1e-5)
    assert len(trainer.predict(train.ArrayData((X, Y), 30))) == 70 and trainer.step == 0


def test_names_of_dictionaries() -> None:
    """A batch without targets is predicted; inputs go by the names of the loss, or of the prediction."""
    batches = [{"y": Y[:5], "x": X[:5], "id": ["a"] * 5}]
    trainer = trained()
    assert trainer.evaluate(batches)["rows"] == 5
    expected = trainer.predict(X[:5])
    np.testing.assert_array_equal(trainer.predict(batches), expected)
    np.testing.assert_array_equal(trainer.predict([{"x": X[:5]}]), expected)
    double = trained(predict=lambda model, x: {"twice": 2 * model(x)})
    np.testing.assert_array_equal(double.predict([{"x": X[:5]}])["twice"], 2 * expected)
    np.testing.assert_array_equal(double.predict((X, Y), batch_size=5)["twice"][:5], 2 * expected)
    with pytest.raises(InputError, match="takes 'x', and the batch has 'z'"):
        trainer.predict([{"z": X[:5]}])


def test_inference_in_evaluation() -> None:
    """Dropout and running statistics are those of inference in evaluation, and of training in the steps' metrics."""
    model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm(8), nn.Dropout(0.5), nn.Linear(8, 1))
    trainer = train.Trainer(model, optim.sgd(0.01), loss, metrics="mse")
    trainer.fit((X, Y), epochs=1, batch_size=35, progress=False)
    plain = trainer.model.eval()
    assert trainer.model.training and not plain.training
    expected = plain(X).numpy()
    np.testing.assert_allclose(trainer.predict(X), expected, rtol=1e-4, atol=1e-5)
    found = trainer.evaluate((X, Y))
    assert found["mse"] == pytest.approx(((expected[:, 0] - Y) ** 2).mean(), rel=1e-4) == found["loss"]
    assert trainer.epochs[0]["mse"] == pytest.approx(trainer.epochs[0]["loss"], rel=1e-5)


def test_confusion_matrices_are_arrays() -> None:
    labels = (Y > 3).astype(np.int64)
    model = nn.Linear(3, 2)
    trainer = train.Trainer(model, optim.sgd(0.1), lambda m, x, y: nn.cross_entropy(m(x), y))
    matrix = trainer.evaluate((X, labels), metrics=train.ConfusionMatrix(2))["confusion_matrix"]
    assert matrix.sum() == 70 and matrix.sum(1).tolist() == np.bincount(labels).tolist()
    trainer.fit((X, labels), epochs=1, batch_size=35, metrics=train.ConfusionMatrix(2), progress=False)
    assert trainer.epochs[0]["confusion_matrix"].sum() == 70


def test_a_loss_that_calls_layers_alone() -> None:
    """Metrics of a dictionary of modules need ``predict``, and are then those of evaluation."""
    model = {"a": nn.Linear(3, 4), "b": nn.Linear(4, 1)}

    def parts(m: Any, x: Any, y: Any) -> Any:
        return nn.mse_loss(m["b"](nn.tanh(m["a"](x)))[:, 0], y)

    with pytest.raises(InputError, match="Metrics need a prediction.*predict="):
        train.Trainer(model, optim.sgd(0.1), parts).evaluate((X, Y), metrics="mae")
    predict = lambda m, x: m["b"](nn.tanh(m["a"](x)))  # noqa: E731
    trainer = train.Trainer(model, optim.sgd(0.1), parts, predict=predict, metrics="mse")
    trainer.fit((X, Y), epochs=1, batch_size=70, validation_data=(X, Y), progress=False)
    found = trainer.epochs[0]
    assert "mse" not in found and found["val_mse"] == pytest.approx(found["val_loss"], rel=1e-5)


def test_random_losses_draw_by_next_key() -> None:
    """Each step, and each draw of it, has other numbers; runs of one seed have the same."""

    def noisy(model: Any, x: Any, y: Any) -> Any:
        a, b = (random.normal(nn.next_key(), (5,)) for _ in range(2))
        return nn.mse_loss(model(x)[:, 0], y), {"a": mnp.sum(a), "b": mnp.sum(b)}

    made = [train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), noisy, seed=seed) for seed in (0, 0, 1)]
    runs = [each.fit([(X, Y)], 3, progress=False) for each in made]
    drawn = [[v for _, values in run.history for v in (values["a"], values["b"])] for run in runs]
    assert drawn[0] == drawn[1] and len({*drawn[0], *drawn[2]}) == 12
    assert np.isfinite(runs[0].evaluate((X, Y))["a"])
    with pytest.raises(InputError, match="nn.next_key draws random numbers"):
        nn.next_key()


def test_steps_per_epoch_and_more_runs() -> None:
    trainer = trained()
    trainer.fit(iter([(X[:10], Y[:10])] * 20), epochs=3, steps_per_epoch=2, progress=False)
    assert [each["step"] for each in trainer.epochs] == [2, 4, 6]
    trainer.fit(lambda start: iter([(X[:10], Y[:10])] * 20), epochs=4, steps_per_epoch=2, progress=False)
    assert trainer.step == 8 and trainer.epochs[-1]["epoch"] == 4
    with pytest.warns(UserWarning, match="took no step"):
        trainer.fit([(X, Y)], epochs=2, progress=False)
    trainer.fit([(X, Y)], 12, validation_data=lambda start: iter([(X, Y)] * 99), validation_steps=2, progress=False)
    assert trainer.step == 12 and "val_loss" in trainer.epochs[-1]


def test_a_validation_at_the_end_of_steps() -> None:
    """A run that ends within an epoch is validated as well."""
    trainer = trained().fit((X, Y), 5, batch_size=20, validation_data=(X, Y), progress=False)
    assert [each["step"] for each in trainer.epochs] == [3, 5]
    assert trainer.epochs[-1]["val_loss"] == pytest.approx(trainer.evaluate((X, Y))["loss"], rel=1e-6)


def test_values_that_are_not_finite_are_no_error() -> None:
    """The loss and the gradient are watched, what is beside them is not."""
    found = train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), lambda m, x, y: (loss(m, x, y)[0], {"log": mnp.log(-1.0)}))
    assert np.isnan(found.take((X, Y))["log"])


def test_the_bar_shows_epochs_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    trained(metrics="mse").fit((X, Y), epochs=2, batch_size=35, validation_data=(X, Y))
    text = " ".join(capsys.readouterr().out.split())
    for part in ("epoch 1/2: loss", "epoch 2/2", "4/4", "mae", "mse", "val_loss"):
        assert part in text, text


def test_compilation_is_watched() -> None:
    """The bar hears of each step of a compilation: how many are done, and how many there are."""
    from mlc.train.progress import Compiling

    said: list[str] = []
    with background.watched(Compiling(said.append)):
        trainer = train.Trainer(nn.Linear(5, 2), optim.sgd(0.123), lambda m, x: mnp.sum(m(x)))
        trainer.take((np.ones((7, 5), np.float32),))
    if said:  # else the program is in the cache
        assert said[0] == "compiling" and said[-1].startswith("compiling, ")
        done, total = (int(each) for each in said[-1].removeprefix("compiling, ").split(" of "))
        assert done == total > 20
    assert background.watchers == []


def test_summary() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm(4), nn.relu, nn.Flatten(), nn.Linear(4 * 64, 10))
    lines = nn.summary(model, np.zeros((2, 3, 8, 8), np.float32)).splitlines()
    assert [line.split()[:2] for line in lines[2:7]] == [
        ["0", "Conv2d"], ["1", "BatchNorm"], ["2", "relu"], ["3", "Flatten"], ["4", "Linear"]
    ]  # fmt: skip
    assert "[2, 4, 8, 8]" in lines[2] and lines[2].endswith("112")
    assert "[2, 10]" in lines[6] and lines[6].endswith("2,570")
    assert lines[-2] == "parameters: 2,690 (10.5 KiB)" and lines[-1] == "other elements: 9"
    assert "gives" not in trained().summary().splitlines()[0] and "[1, 1]" in trained().summary(X[:1])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"data": [(X, Y)]}, "neither steps nor epochs"),
        ({"data": [(X, Y)], "steps": 1, "epochs": 1}, "both steps and epochs"),
        ({"data": [(X, Y)], "epochs": -1}, "until -1 epochs"),
        ({"data": lambda start: iter(()), "epochs": 1}, "no epochs. Give steps_per_epoch="),
        ({"data": (X, Y), "epochs": 1}, "A tuple of arrays is one batch.*batch_size=32"),
        ({"data": {"x": X, "y": Y}, "epochs": 1}, "A dict of arrays is one batch"),
        ({"data": iter([(X, Y)]), "epochs": 2}, "data ends after 1 steps"),
        ({"data": [(X, Y)], "epochs": 1, "steps_per_epoch": 0}, "epoch of 0 steps"),
        ({"data": [(X, Y)], "epochs": 1, "callbacks": print}, "A callback is the function print.*callback= takes"),
        ({"data": [(X, Y)], "epochs": 1, "validation_data": []}, "have no batch"),
        ({"data": [(X, Y)], "epochs": 1, "validation_data": lambda start: iter(())}, "without end. Give steps="),
        ({"data": [(X, Y)], "epochs": 1, "metrics": "acc1"}, "There is no metric 'acc1'"),
    ],
)
def test_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says), warnings.catch_warnings():
        trained().fit(**{"progress": False, **options})


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (lambda x: (x, {"loss": x}), "gives a value the name 'loss'"),
        (lambda x: (x, {"kl": mnp.zeros(3)}), r"gives 'kl' as an array of the shape \[3\]"),
        (lambda x: (x, x), "returns a tuple"),
    ],
)
def test_values_that_are_refused(found: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), lambda m, x: found(mnp.sum(m(x)))).take((X,))
