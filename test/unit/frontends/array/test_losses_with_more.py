"""Functions that return more or other than a loss: the errors say what they return, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn, optim, train
from mlc.errors import InputError

X = np.ones(3, np.float32)
LOSSES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a pair": (lambda x: (mnp.sum(x), x), "returns a tuple.*has_aux=True"),
    "a dictionary": (lambda x: {"loss": mnp.sum(x)}, "returns a dict.*has_aux=True"),
    "three": (lambda x: [mnp.sum(x), x, x], "returns a list.*has_aux=True"),
    "a vector": (lambda x: 2 * x, r"returns float32\[3\].*vjp differentiates"),
    "nothing": (lambda x: None, "returns a NoneType"),
}


@pytest.mark.parametrize("transform", [mlc.grad, mlc.value_and_grad])
@pytest.mark.parametrize("kind", LOSSES)
def test_gradients(kind: str, transform: Callable[..., Any]) -> None:
    loss, says = LOSSES[kind]
    with pytest.raises(InputError, match=says):
        transform(loss)(X)
    with pytest.raises(InputError, match=f"test_losses_with_more.py:.*{says}"):
        mlc.jit(transform(loss))(X)


@pytest.mark.parametrize("loss, says", [(mnp.sum, "float32"), (lambda x: (mnp.sum(x), x, x), "3 results")])
def test_has_aux_without_a_pair(loss: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(InputError, match=f"With has_aux a function returns a pair, and this one returns {says}"):
        mlc.grad(loss, has_aux=True)(X)


def test_training() -> None:
    model = nn.Linear(3, 2)
    data = train.ArrayData((np.ones((4, 3), np.float32),), 2)
    for loss, says in (
        (lambda m, x: (mnp.sum(m(x)), m(x)), "returns a tuple.*give other values by their names"),
        (lambda m, x: m(x), r"returns float32\[2, 2\]"),
    ):
        with pytest.raises(InputError, match=says):
            train.Trainer(model, optim.adam(1e-2), loss).fit(data, 1, progress=False)
