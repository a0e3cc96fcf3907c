"""What trainers refuse: models, optimizers, losses and options of other kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlc import nn, optim, train
from mlc.errors import InputError

X, Y = np.ones((4, 3), np.float32), np.zeros(4, np.float32)


def loss(model: Any, x: Any, y: Any) -> Any:
    return nn.mse_loss(model(x)[:, 0], y)


def network(x: Any) -> Any:
    return x


class Foreign:
    """A model of another library."""


class Adam:
    """An optimizer of another library, with a long text."""

    def __repr__(self) -> str:
        return "Adam (\nlr: 1\n)"


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (network, r"The model is the function network. A function has no parameters: give a module, such as"),
        (nn.Linear, r"The model is the class Linear. Give an instance, Linear\(…\)"),
        ({"a": nn.Linear(3, 1), "b": network}, "The model has at 'b' the function network"),
        (Foreign(), r"The model is an object of .*test_checks.Foreign. Give a module of mlc.nn or a tree of arrays"),
        ("resnet18", "The model is the string 'resnet18'. Give a module"),
        (None, "has no parameters that are trained"),
    ],
)
def test_models_that_are_refused(model: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        train.Trainer(model, optim.sgd(0.1), loss)


@pytest.mark.parametrize(
    ("optimizer", "says"),
    [
        (optim.adam, "The optimizer is the function adam"),
        (Adam(), "The optimizer is an object of .*test_checks.Adam"),
        (Adam, "The optimizer is the class Adam"),
        ("adam", "The optimizer is the string 'adam'"),
        (None, "The optimizer is None"),
    ],
)
def test_optimizers_that_are_refused(optimizer: Any, says: str) -> None:
    with pytest.raises(InputError, match=rf"^{says}. Give a gradient transformation of mlc.optim, such as optim.adam"):
        train.Trainer(nn.Linear(3, 1), optimizer, loss)


@pytest.mark.parametrize(
    ("given", "options", "says"),
    [
        ("mse", {}, "The loss is the string 'mse'. Give a function: lambda model, x, y: nn.mse_loss"),
        (loss, {"trainable": "bias"}, "trainable is the string 'bias'. Give a function of a parameter's name"),
        (loss, {"sed": 3}, r"^Trainer has no option 'sed'. Did you mean 'seed'\? Options: seed, .*watch, .*threads"),
        (loss, {"lr": 0.1}, "^Trainer has no option 'lr'. Options: seed"),
    ],
)
def test_losses_and_options_that_are_refused(given: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), given, **options)


def test_an_option_that_fit_does_not_have() -> None:
    says = "^Trainer.fit has no option 'epoch'. Did you mean 'epochs'. Options: epochs, .*checkpoints, log_dir, "
    with pytest.raises(InputError, match=says):
        train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), loss).fit([(X, Y)], 1, epoch=3)  # type: ignore[call-arg]


def test_loss_scaling_in_a_chain_is_refused() -> None:
    wrong = optim.chain(optim.clip_by_global_norm(1.0), optim.loss_scaling(optim.sgd(0.1)))
    for optimizer in (wrong, optim.ema(wrong)):
        with pytest.raises(InputError, match=r"loss_scaling is within a chain. Put it around: loss_scaling\(chain"):
            train.Trainer(nn.Linear(3, 1), optimizer, loss)


def test_gauss_newton_needs_a_batch() -> None:
    optimizer = optim.gauss_newton(lambda m, x: m(x)[:, 0], nn.mse_loss)
    with pytest.raises(InputError, match="needs a batch.*in a step of your own: train.Trainer gives"):
        train.Trainer(nn.Linear(3, 1), optimizer, loss).take((X, Y))


def test_trees_of_arrays_are_models() -> None:
    w = {"w": np.ones(3, np.float32), "n": np.arange(2)}
    trainer = train.Trainer(w, optim.sgd(0.1), lambda w, x, y: nn.mse_loss(x @ w["w"], y))
    assert trainer.take((X, Y))["loss"] == 9.0


@pytest.mark.parametrize(
    ("layer", "says"),
    [(nn.Linear, r"Layer 1 of Sequential is the class Linear. Give an instance"), ([nn.Identity()], "is a list")],
)
def test_layers_that_are_refused(layer: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        nn.Sequential(nn.Identity(), layer)
