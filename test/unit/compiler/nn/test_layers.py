"""Layers against torch: the same weights give the same values, gradients and running statistics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn, optim, train

torch = pytest.importorskip("torch")
T = torch.nn
Case = tuple[Callable[[], Any], Callable[[], Any], tuple[int, ...]]
IMAGE, VOLUME, SEQUENCE = (2, 4, 7, 6), (2, 4, 3, 4, 3), (5, 2, 4)
CONV = {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}
UP = {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}
DEEP = {"num_layers": 2, "bidirectional": True, "batch_first": True}
CASES: dict[str, Case] = {
    "Linear": (lambda: nn.Linear(6, 3), lambda: T.Linear(6, 3), IMAGE),
    "Linear without bias": (lambda: nn.Linear(6, 3, bias=False), lambda: T.Linear(6, 3, bias=False), (5, 6)),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, padding="same"), lambda: T.Conv1d(4, 6, 3, padding="same"), (2, 4, 7)),
    "Conv2d": (lambda: nn.Conv2d(4, 6, 3, **CONV), lambda: T.Conv2d(4, 6, 3, **CONV), IMAGE),
    "Conv3d": (lambda: nn.Conv3d(4, 2, (2, 3, 1)), lambda: T.Conv3d(4, 2, (2, 3, 1)), VOLUME),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 6, 3, 2), lambda: T.ConvTranspose1d(4, 6, 3, 2), (2, 4, 5)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(4, 6, 3, **UP), lambda: T.ConvTranspose2d(4, 6, 3, **UP), IMAGE),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(4, 2, 2), lambda: T.ConvTranspose3d(4, 2, 2), VOLUME),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4, momentum=0.3), lambda: T.BatchNorm1d(4, momentum=0.3), (5, 4)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(4), lambda: T.BatchNorm2d(4), IMAGE),
    "BatchNorm without affine": (
        lambda: nn.BatchNorm(4, affine=False), lambda: T.BatchNorm2d(4, affine=False), IMAGE),
    "BatchNorm of inference": (lambda: nn.BatchNorm(4).eval(), lambda: T.BatchNorm2d(4).eval(), IMAGE),
    "LayerNorm": (lambda: nn.LayerNorm((7, 6)), lambda: T.LayerNorm((7, 6)), IMAGE),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), lambda: T.GroupNorm(2, 4), IMAGE),
    "RMSNorm": (lambda: nn.RMSNorm(6), lambda: T.RMSNorm(6), IMAGE),
    "RNN": (lambda: nn.RNN(4, 3, nonlinearity="relu"), lambda: T.RNN(4, 3, nonlinearity="relu"), SEQUENCE),
    "LSTM": (lambda: nn.LSTM(4, 3, **DEEP), lambda: T.LSTM(4, 3, **DEEP), SEQUENCE),
    "GRU": (lambda: nn.GRU(4, 3, 2), lambda: T.GRU(4, 3, 2), SEQUENCE),
    "RNNCell": (lambda: nn.RNNCell(4, 3), lambda: T.RNNCell(4, 3), (5, 4)),
    "LSTMCell": (lambda: nn.LSTMCell(4, 3), lambda: T.LSTMCell(4, 3), (5, 4)),
    "GRUCell": (lambda: nn.GRUCell(4, 3, bias=False), lambda: T.GRUCell(4, 3, bias=False), (5, 4)),
    "Sequential": (
        lambda: nn.Sequential(nn.Linear(6, 5), nn.tanh, nn.Sequential(nn.LayerNorm(5), nn.Identity())),
        lambda: T.Sequential(T.Linear(6, 5), T.Tanh(), T.Sequential(T.LayerNorm(5), T.Identity())), (3, 6)),
    "Flatten": (nn.Flatten, T.Flatten, IMAGE),
}  # fmt: skip


def total(y: Any, weights: list[np.ndarray[Any, Any]], asarray: Callable[[Any], Any]) -> Any:
    """A weighted sum of all results, which are arrays or nested tuples of them."""
    parts = [y]
    while any(isinstance(p, tuple) for p in parts):
        parts = [q for p in parts for q in (p if isinstance(p, tuple) else (p,))]
    while len(weights) < len(parts):
        weights.append(np.random.default_rng().standard_normal(tuple(parts[len(weights)].shape)).astype(np.float32))
    return sum((p * asarray(w)).sum() if asarray is torch.from_numpy else mnp.sum(p * w)
               for p, w in zip(parts, weights, strict=True))  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_gradients_and_states(name: str) -> None:
    make, reference, shape = CASES[name]
    theirs, ours = reference(), make()
    for value in theirs.state_dict().values():
        if value.is_floating_point():
            value += torch.rand_like(value) / 4
    ours.load_state_dict(theirs.state_dict())
    x = np.random.default_rng().standard_normal(shape).astype(np.float32)
    given, weights = torch.tensor(x, requires_grad=True), list[Any]()
    expected = total(theirs(given), weights, torch.from_numpy)
    expected.backward()

    def loss(parameters: Any, rest: Any, x: Any) -> Any:
        y, after = nn.functional_call(nn.combine(parameters, rest), x)
        return total(y, weights, mnp.asarray), after

    step = mlc.value_and_grad(loss, (0, 2), has_aux=True)
    (value, after), (gradients, by_x) = step(*nn.partition(ours), x)
    np.testing.assert_allclose(float(value), expected.item(), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(by_x, given.grad, rtol=1e-3, atol=1e-4)
    found = gradients.state_dict()
    for key, parameter in theirs.named_parameters():
        np.testing.assert_allclose(found.pop(key), parameter.grad, rtol=1e-3, atol=1e-4, err_msg=key)
    assert not found
    for key, state in theirs.state_dict().items():
        np.testing.assert_allclose(after.state_dict()[key], state, rtol=1e-5, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("name", CASES)
def test_torch_loads_the_states(name: str) -> None:
    make, reference, _ = CASES[name]
    state = {key: torch.tensor(value) for key, value in make().state_dict().items()}
    reference().load_state_dict(state)


@pytest.mark.parametrize("batch_first", [False, True])
def test_multihead_attention(batch_first: bool) -> None:
    ours = nn.MultiheadAttention(6, 2, batch_first=batch_first)
    theirs = T.MultiheadAttention(6, 2, batch_first=batch_first)
    ours.load_state_dict(theirs.state_dict())
    random = np.random.default_rng()
    query, key = (random.standard_normal(s).astype(np.float32) for s in ((3, 4, 6), (3, 4, 6)))
    expected = theirs(*map(torch.from_numpy, (query, key, key)), need_weights=False)[0]
    np.testing.assert_allclose(ours(query, key), expected.detach(), rtol=1e-4, atol=1e-5)


def test_states_of_recurrent_layers_go_on() -> None:
    ours, theirs = nn.LSTM(4, 3, 2), T.LSTM(4, 3, 2)
    ours.load_state_dict(theirs.state_dict())
    random = np.random.default_rng()
    x, h, c = (random.standard_normal(s).astype(np.float32) for s in (SEQUENCE, (2, 2, 3), (2, 2, 3)))
    y, (_, last) = ours(x, (h, c))
    expected, (_, theirs_last) = theirs(torch.from_numpy(x), (torch.from_numpy(h), torch.from_numpy(c)))
    np.testing.assert_allclose(y, expected.detach(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(last, theirs_last.detach(), rtol=1e-4, atol=1e-5)


def test_a_padding_row_stays() -> None:
    ours, theirs = nn.Embedding(5, 3, padding_idx=-2), T.Embedding(5, 3, padding_idx=-2)
    assert not ours.weight.numpy()[3].any() and ours.weight.numpy()[4].any()
    ours.load_state_dict(theirs.state_dict())
    indices, w = np.array([[3, 1, 3], [0, 3, 1]]), np.random.default_rng().standard_normal((2, 3, 3)).astype(np.float32)
    found = mlc.jit(mlc.grad(lambda model: mnp.sum(model(indices) * w)), wait=True)(ours)
    (theirs(torch.from_numpy(indices)) * torch.from_numpy(w)).sum().backward()
    np.testing.assert_allclose(found.weight, theirs.weight.grad, rtol=1e-5)


def test_tied_parameters_are_trained_as_torchs() -> None:
    class Theirs(T.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.head = T.Embedding(7, 4), T.Linear(4, 7)
            self.head.weight = self.table.weight

        def forward(self, x: Any) -> Any:
            return self.head(torch.tanh(self.table(x)))

    class Ours(nn.Module):
        table: nn.Embedding
        head: nn.Linear

        def __call__(self, x: Any) -> Any:
            return self.head(mnp.tanh(self.table(x)))

    theirs, model = Theirs(), Ours(nn.Embedding(7, 4), nn.Linear(4, 7))
    tied = nn.Tied(model, {"head.weight": "table.weight"}).load_state_dict(theirs.state_dict())
    assert len(mlc.frontends.array.trees.leaves(tied)) == 2 and model.head.weight is not None
    x, labels = np.array([1, 3, 6, 1]), np.array([0, 3, 2, 5])
    trainer = train.Trainer(tied, optim.adam(0.1), lambda m, x, y: nn.cross_entropy(m(x), y))
    optimizer = torch.optim.Adam(theirs.parameters(), 0.1)
    for _ in range(5):
        optimizer.zero_grad()
        expected = T.functional.cross_entropy(theirs(torch.from_numpy(x)), torch.from_numpy(labels))
        expected.backward()
        optimizer.step()
        np.testing.assert_allclose(trainer.take((x, labels))["loss"], expected.item(), rtol=1e-4)
    state = trainer.model.state_dict()
    theirs.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    np.testing.assert_array_equal(state["head.weight"], state["table.weight"])
