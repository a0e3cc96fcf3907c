"""Sparse embeddings: what a batch reads changes as torch's SparseAdam says, by formulas; all else keeps its bits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc.numpy as mnp
from mlc import nn, optim, train
from mlc.errors import InputError

V, D = 20, 3
Data = np.ndarray[Any, Any]


class Net(nn.Module):
    """Two tables, of which one is read twice, and a dense layer."""

    words: nn.Embedding
    users: nn.Embedding
    head: nn.Linear

    def __init__(self, sparse: bool, padding_idx: int | None = None) -> None:
        self.words = nn.Embedding(V, D, padding_idx, sparse=sparse)
        self.users = nn.Embedding(V, D, sparse=sparse)
        self.head = nn.Linear(D, 1)

    def __call__(self, a: Any, b: Any, u: Any) -> Any:
        first = mnp.mean(self.words(a), axis=1) * self.words(b) + self.users(u)
        return self.head(mnp.tanh(first))[:, 0]


def loss(model: Any, a: Any, b: Any, u: Any, y: Any) -> Any:
    return nn.mse_loss(model(a, b, u), y)


def batches(steps: int, low: int = 0, high: int = V) -> list[tuple[Data, ...]]:
    """Indices, some equal and negative ones, and targets."""
    rng = np.random.default_rng()
    make = lambda: (rng.integers(-3, 8, (6, 4)), rng.integers(low, high, 6), rng.integers(2, 9, 6))  # noqa: E731
    return [(*make(), rng.normal(size=6).astype(np.float32)) for _ in range(steps)]


def trained(optimizer: Any, data: Any, sparse: bool = True, model: Any = None, **options: Any) -> train.Trainer:
    nn.manual_seed(4)
    trainer = train.Trainer(Net(sparse) if model is None else model, optimizer, loss, **options)
    for batch in data:
        trainer.take(batch)
    return trainer


def rows(state: Any) -> dict[str, Data]:
    return {name: np.asarray(x) for name, x in state.state_dict().items()}


def test_gradient_descent_is_that_of_the_whole_table() -> None:
    """SGD, AdaGrad of rows that a batch does not read: nothing. The norm of the gradient is that of the whole one."""
    data = batches(6)
    for make in (lambda: optim.sgd(0.1), lambda: optim.adagrad(0.1),
                 lambda: optim.chain(optim.clip_by_global_norm(0.1), optim.sgd(0.5))):  # fmt: skip
        sparse, dense = trained(make(), data), trained(make(), data, sparse=False)
        for (_, a), (_, b) in zip(sparse.history, dense.history, strict=True):
            assert a == pytest.approx(b, rel=1e-4)
        for name, x in rows(dense.model).items():
            np.testing.assert_allclose(rows(sparse.model)[name], x, rtol=1e-4, atol=1e-6)


def lazy_adam(data: list[tuple[Data, ...]], rate: float) -> Callable[[Data, Callable[[int], Data]], Data]:
    """SparseAdam of one table in float64, from the rows and the gradient of the whole table at each step."""

    def run(table: Data, read: list[Data], gradients: list[Data]) -> Data:
        table, m, v = table.astype(np.float64), np.zeros(table.shape), np.zeros(table.shape)
        for t, (at, g) in enumerate(zip(read, gradients, strict=True), 1):
            at = np.unique(at % V)
            m[at] = 0.9 * m[at] + 0.1 * g[at]
            v[at] = 0.999 * v[at] + 0.001 * g[at] ** 2
            table[at] -= rate * m[at] / (1 - 0.9**t) / (np.sqrt(v[at] / (1 - 0.999**t)) + 1e-8)
        return table

    return run  # type: ignore[return-value]


def test_adam_of_the_rows_that_are_read() -> None:
    """Moments of other rows stay; gradients by differences of the dense model's, from the same weights."""
    data = batches(5)
    nn.manual_seed(4)
    model = Net(True)
    first, probe = rows(model), train.Trainer(model, optim.adam(0.05), loss)
    read: dict[str, list[Data]] = {"words": [], "users": []}
    gradients: dict[str, list[Data]] = {"words": [], "users": []}
    for a, b, u, y in data:
        now = probe.model
        slope = _gradient(now, (a, b, u, y))
        for name, at in (("words", np.concatenate([a.reshape(-1), b])), ("users", u)):
            read[name].append(at)
            gradients[name].append(slope[f"{name}.weight"])
        probe.take((a, b, u, y))
    for name in read:
        expected = lazy_adam(data, 0.05)(first[f"{name}.weight"], read[name], gradients[name])  # type: ignore[call-arg]
        found = rows(probe.model)[f"{name}.weight"]
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
        seen = np.unique(np.concatenate([x.reshape(-1) for x in read[name]]) % V)
        others = np.setdiff1d(np.arange(V), seen)
        assert np.array_equal(found[others], first[f"{name}.weight"][others])


def _gradient(model: Any, batch: Any) -> dict[str, Data]:
    import mlc

    return rows(mlc.grad(lambda m: loss(m, *batch))(model))


def test_beside_torch() -> None:
    torch = pytest.importorskip("torch")
    nn.manual_seed(4)
    model = nn.Embedding(V, D, padding_idx=2, sparse=True)
    theirs = torch.nn.Embedding(V, D, padding_idx=2, sparse=True)
    theirs.load_state_dict({"weight": torch.tensor(np.array(model.weight.numpy()))})
    optimizer = torch.optim.SparseAdam(theirs.parameters(), lr=0.05)
    target = np.random.default_rng().normal(size=(7, 2, D)).astype(np.float32)
    trainer = train.Trainer(model, optim.adam(0.05), lambda m, at, y: mnp.mean((m(at) - y) ** 2))
    for _ in range(6):
        at = np.random.default_rng().integers(0, 9, (7, 2))
        optimizer.zero_grad()
        ((theirs(torch.tensor(at)) - torch.tensor(target)) ** 2).mean().backward()
        optimizer.step()
        trainer.take((at, target))
        np.testing.assert_allclose(trainer.model.weight, theirs.weight.detach().numpy(), rtol=1e-4, atol=2e-6)
    assert (trainer.model.weight.numpy()[2] == 0).all()


def test_with_other_options() -> None:
    """bfloat16, loss scaling, frozen tables, names that decay, a loss that is not finite, rows read nowhere."""
    data = batches(3)
    scaled = trained(optim.loss_scaling(optim.sgd(0.1)), data, precision="bfloat16")
    for name, x in rows(trained(optim.sgd(0.1), data).model).items():
        np.testing.assert_allclose(rows(scaled.model)[name], x, atol=0.02)
    plain = trained(optim.adam(0.05), data)
    frozen = trained(optim.adam(0.05), data, trainable=lambda name: name != "users.weight")
    nn.manual_seed(4)
    first = rows(Net(True))
    assert np.array_equal(rows(frozen.model)["users.weight"], first["users.weight"])
    assert not np.array_equal(rows(frozen.model)["words.weight"], first["words.weight"])
    decayed = trained(optim.adamw(0.05, weight_decay=0.5, decays=lambda name, _: name == "words.weight"), data)
    changed = (rows(decayed.model)["words.weight"] != first["words.weight"]).all(1)
    read = np.unique(np.concatenate([np.concatenate([a.reshape(-1), b]) for a, b, _, _ in data]) % V)
    assert np.flatnonzero(changed).tolist() == read.tolist()
    before = rows(plain.model)
    with pytest.raises(Exception, match="nan"):
        plain.take((*data[0][:3], data[0][3] * np.nan))
    assert all(np.array_equal(x, before[name]) for name, x in rows(plain.model).items())
    unread = train.Trainer(Net(True), optim.adam(0.05), lambda m, a, b, u, y: mnp.mean((m.words(a) - 1) ** 2))
    start = rows(unread.model)["users.weight"]
    unread.take(data[0])
    assert np.array_equal(rows(unread.model)["users.weight"], start)


def test_evaluation_and_files() -> None:
    """A sparse model predicts what a dense one does, and loads its weights."""
    model, dense = Net(True), Net(False)
    dense.load_state_dict(model.state_dict())
    (batch,) = batches(1)
    np.testing.assert_array_equal(model(*batch[:3]), dense(*batch[:3]))
    found = train.Trainer(model, optim.adam(), loss).evaluate([batch])["loss"]
    assert found == pytest.approx(train.Trainer(dense, optim.adam(), loss).evaluate([batch])["loss"], rel=1e-6)


@pytest.mark.parametrize(
    ("optimizer", "options", "says"),
    [
        (optim.ema(optim.adam()), {}, "accumulate and ema do not know"),
        (optim.accumulate(optim.adam(), 2), {}, "accumulate and ema do not know"),
        (optim.lbfgs(), {}, "array of shape .* not like the table"),
        (optim.adam(), {"shards": 2}, "'words.weight' has rows of its own in each shard"),
    ],
)
def test_refused(optimizer: Any, options: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        trained(optimizer, batches(1), **options)


def test_the_cost_is_that_of_the_batch() -> None:
    """A step with Adam on a table of 200,000 x 32 takes about what one on a table of 2,000 does: a dense one copies 150
    MB, more than 10 ms."""

    def seconds(extent: int) -> float:
        trainer = train.Trainer(
            nn.Embedding(extent, 32, sparse=True), optim.adam(0.05), lambda m, at, y: mnp.mean((m(at) - y) ** 2)
        )
        at, y = np.random.default_rng(0).integers(0, extent, 256), np.ones((256, 32), np.float32)
        times = []
        for _ in range(30):
            begin = time.perf_counter()
            trainer.take((at, y))
            times.append(time.perf_counter() - begin)
        return min(times)

    assert seconds(200_000) < 3 * seconds(2_000) + 1e-3
