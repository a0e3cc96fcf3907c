"""Batches as arguments of a loss, and training on torch's loaders."""

from __future__ import annotations

from collections import UserDict, namedtuple
from typing import Any

import numpy as np
import pytest

import mlc.nn as nn
import mlc.numpy as mnp
from mlc import optim
from mlc.errors import InputError
from mlc.train import Trainer
from mlc.train.batches import arguments_of

Row = namedtuple("Row", "x t")
X, T = np.ones((2, 3)), np.zeros(2)


def two(model: Any, x: Any, t: Any) -> Any: ...


def one(model: Any, batch: Any) -> Any: ...


def several(model: Any, *arrays: Any, scale: float = 1.0) -> Any: ...


@pytest.mark.parametrize(
    ("loss", "batch", "expected"),
    [
        (two, (X, T), (X, T)),
        (two, [X, T], (X, T)),
        (two, {"t": T, "x": X, "id": ["a", "b"]}, (X, T)),
        (two, UserDict(t=T, x=X), (X, T)),
        (two, Row(X, T), (X, T)),
        (one, {"t": T, "x": X}, ({"t": T, "x": X},)),
        (one, Row(X, T), (Row(X, T),)),
        (one, (X, T), ((X, T),)),
        (one, (X,), (X,)),
        (one, X, (X,)),
        (one, {"x": X, "id": ["a", "b"], "name": np.array(["a"])}, ({"x": X, "id": [None, None], "name": None},)),
        (several, (X, T), (X, T)),
        (several, X, (X,)),
    ],
)
def test_the_arguments_of_a_loss(loss: Any, batch: Any, expected: Any) -> None:
    found = arguments_of(loss, batch)
    assert repr(found) == repr(expected)


def test_a_name_that_is_missing() -> None:
    with pytest.raises(InputError, match="takes 't', and the batch has 'x', 'y'.*Name the loss's arguments"):
        arguments_of(two, {"x": X, "y": T})


def test_a_torch_loader_whose_last_batch_is_smaller() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng()
    x = torch.from_numpy(rng.normal(size=(10, 3)).astype(np.float32))
    kinds = {
        "tuples": ([(row, row.sum()) for row in x], lambda m, x, t: mnp.mean((m(x)[:, 0] - t) ** 2)),
        "dicts": (
            [{"x": row, "t": row.sum(), "id": str(n)} for n, row in enumerate(x)],
            lambda m, x, t: mnp.mean((m(x)[:, 0] - t) ** 2),
        ),
        "named": ([Row(row, row.sum()) for row in x], lambda m, b: mnp.mean((m(b.x)[:, 0] - b.t) ** 2)),
    }
    first, losses = nn.Linear(3, 1), []
    for rows, loss in kinds.values():
        trainer = Trainer(first, optim.sgd(0.05), loss)
        trainer.fit(torch.utils.data.DataLoader(rows, batch_size=4), 6, progress=False)
        losses.append([metrics["loss"] for _, metrics in trainer.history])
    weight, bias = (torch.tensor(np.asarray(p)).clone().requires_grad_() for p in (first.weight, first.bias))
    assert len(losses[0]) == 6 and losses[0] == losses[1] == losses[2]
    optimizer, wanted = torch.optim.SGD([weight, bias], 0.05), []
    for step in range(6):
        part = x[4 * (step % 3) : 4 * (step % 3) + 4]
        y = part @ (weight if weight.shape[0] == 3 else weight.T) + bias
        value = ((y[:, 0] - part.sum(1)) ** 2).mean()
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        wanted.append(value.item())
    np.testing.assert_allclose(losses[0], wanted, rtol=1e-4)
