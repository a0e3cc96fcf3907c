"""Training steps with Adam on the device: several steps agree with those of the CPU target, and with torch's."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import optree
import pytest
from fake_gpu import Gpu

import mlc
import mlc.numpy as mnp
from benchmarks.gradient_networks import CLASSES, OURS, Network, torch_functions
from mlc import nn, optim, train

TARGET = "cuda:sm_90"
RATE, STEPS = 1e-2, 4


def weights(random: np.random.Generator, **shapes: tuple[int, ...]) -> dict[str, np.ndarray[Any, Any]]:
    return {name: (random.standard_normal(shape) * 0.3).astype(np.float32) for name, shape in shapes.items()}


def network(random: np.random.Generator, parameters: Any, shape: tuple[int, ...], batch: int, loss: Any) -> Network:
    x = random.standard_normal(shape).astype(np.float32)
    return Network(parameters, x, random.integers(0, CLASSES, batch), loss)


def mlp(random: np.random.Generator) -> Network:
    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        return f.cross_entropy(f.relu(x @ p["a"] + p["b"]) @ p["c"], labels)

    return network(random, weights(random, a=(9, 20), b=(20,), c=(20, CLASSES)), (6, 9), 6, loss)


def convolutions(random: np.random.Generator) -> Network:
    """Two convolutions, one with a stride, each followed by normalization over the batch."""

    def layer(f: Any, x: Any, p: Any, n: str, stride: int) -> Any:
        return f.relu(f.batch_norm(f.conv(x, p["w" + n], stride, 1), p["s" + n], p["b" + n]))

    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        x = layer(f, layer(f, x, p, "1", 1), p, "2", 2)
        return f.cross_entropy(f.mean(x, (2, 3)) @ p["w"], labels)

    shapes = {"w1": (5, 2, 3, 3), "s1": (5,), "b1": (5,), "w2": (6, 5, 3, 3), "s2": (6,), "b2": (6,)}
    return network(random, weights(random, **shapes, w=(6, CLASSES)), (4, 2, 6, 5), 4, loss)


def lstm(random: np.random.Generator) -> Network:
    """One layer of 7 units over 4 steps."""

    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        def step(state: Any, z: Any) -> tuple[Any, Any]:
            h, c = state
            gates = z + h @ p["h"]
            i, o, g, k = (gates[:, n * 7 : (n + 1) * 7] for n in range(4))
            c = f.sigmoid(g) * c + f.sigmoid(i) * f.tanh(k)
            h = f.sigmoid(o) * f.tanh(c)
            return (h, c), h

        _, hidden = f.scan(step, (f.zeros(3, 7), f.zeros(3, 7)), x @ p["x"] + p["b"])
        return f.cross_entropy(hidden[-1] @ p["w"], labels)

    return network(random, weights(random, x=(5, 28), h=(7, 28), b=(28,), w=(7, CLASSES)), (4, 3, 5), 3, loss)


def transformer(random: np.random.Generator) -> Network:
    """One layer of two heads of 8, and 5 tokens."""

    def loss(f: Any, p: Any, x: Any, labels: Any) -> Any:
        parts = [f.swap(f.reshape(x @ p[name], (2, 5, 2, 8))) for name in "qkv"]
        attended = f.reshape(f.swap(f.attention(*parts)), (2, 5, 16))
        x = f.layer_norm(x + attended @ p["o"], p["s1"], p["b1"])
        x = f.layer_norm(x + f.gelu(x @ p["up"]) @ p["down"], p["s2"], p["b2"])
        return f.cross_entropy(f.mean(x, (1,)) @ p["w"], labels)

    shapes = dict.fromkeys("qkvo", (16, 16)) | dict.fromkeys(("s1", "b1", "s2", "b2"), (16,))
    shapes |= {"up": (16, 24), "down": (24, 16), "w": (16, CLASSES)}
    return network(random, weights(random, **shapes), (2, 5, 16), 2, loss)


NETWORKS: list[Callable[[np.random.Generator], Network]] = [mlp, convolutions, lstm, transformer]
each = pytest.mark.parametrize("make", NETWORKS, ids=lambda make: make.__name__)


def step_of(given: Network) -> Callable[..., Any]:
    """(parameters, optimizer's state, x, labels) → (both after the step, loss)."""
    optimizer = optim.adam(RATE)

    def step(params: Any, opt: Any, x: Any, labels: Any) -> Any:
        loss, gradient = mlc.value_and_grad(lambda p: given.loss(OURS, p, x, labels))(params)
        updates, after = optimizer.update(gradient, opt, params)
        return optim.apply_updates(params, updates), after, loss

    return step


def start(given: Network) -> tuple[Any, Any]:
    return given.parameters, optree.tree_map(np.asarray, optim.adam(RATE).init(given.parameters))


def trained(given: Network, target: str) -> tuple[list[float], Any]:
    """The losses of some steps that own their state, and the parameters after them."""
    training = mlc.jit(step_of(given), state=("params", "opt"), target=target).create(*start(given))
    losses = [float(training(given.x, given.labels)) for _ in range(STEPS)]
    return losses, training.state[0]


def assert_close(found: tuple[list[float], Any], wanted: tuple[list[float], Any]) -> None:
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4)
    for ours, theirs in zip(*(optree.tree_leaves(each[1]) for each in (found, wanted)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def torchs(given: Network) -> tuple[list[float], Any]:
    import torch

    leaves, tree = optree.tree_flatten(given.parameters)
    tensors = [torch.tensor(leaf, requires_grad=True) for leaf in leaves]
    parameters, optimizer, losses = optree.tree_unflatten(tree, tensors), torch.optim.Adam(tensors, lr=RATE), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = given.loss(torch_functions(), parameters, torch.from_numpy(given.x), torch.from_numpy(given.labels))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, optree.tree_unflatten(tree, [each.detach().numpy() for each in tensors])


@each
def test_steps_agree_with_the_cpu_and_with_torch(make: Any, gpu: Gpu) -> None:
    given = make(np.random.default_rng())
    found = trained(given, TARGET)
    assert_close(found, trained(given, "cpu"))
    if find_spec("torch") is not None:
        assert_close(found, torchs(given))


def test_a_step_moves_only_its_batch_and_its_loss(gpu: Gpu) -> None:
    given = mlp(np.random.default_rng())
    training = mlc.jit(step_of(given), state=("params", "opt"), target=TARGET).create(*start(given))
    training(given.x, given.labels)
    training(given.x, given.labels)
    before = gpu.counts()
    training(given.x, given.labels)
    calls = gpu.since(before)
    assert (calls["cuMemcpyHtoDAsync_v2"], calls["cuMemcpyDtoHAsync_v2"]) == (2, 1)
    assert calls["cuGraphLaunch"] == 1 and not {"cuMemAlloc_v2", "cuGraphInstantiateWithFlags"} & set(calls)
    assert "cuMemcpyDtoDAsync_v2" not in calls  # the new values are where the old ones were


def test_a_run_goes_on_from_saved_state(gpu: Gpu) -> None:
    given = mlp(np.random.default_rng())
    jitted = mlc.jit(step_of(given), state=("params", "opt"), target=TARGET)
    first = jitted.create(*start(given))
    first(given.x, given.labels)
    saved = first.state
    wanted = [float(first(given.x, given.labels)) for _ in range(2)]
    again = jitted.create(*saved)
    assert [float(again(given.x, given.labels)) for _ in range(2)] == wanted
    again.set_state("params.a", saved[0]["a"] + 1)
    np.testing.assert_array_equal(again.get_state("params.a"), saved[0]["a"] + 1)
    assert float(again(given.x, given.labels)) != float(first(given.x, given.labels))


def test_a_trainer_in_bfloat16_learns_as_on_a_cpu(gpu: Gpu) -> None:
    """Statistics of a batch and random units left out, too."""
    random = np.random.default_rng()
    x = random.standard_normal((20, 6)).astype(np.float32)
    data = train.ArrayData((x, (x.sum(1) > 0).astype(np.int64)), batch_size=10)
    layers = nn.Linear(6, 12, rng=random), nn.BatchNorm(12), nn.relu, nn.Dropout(0.1), nn.Linear(12, 2, rng=random)
    losses = []
    for target in (TARGET, "cpu"):
        trainer = train.Trainer(
            nn.Sequential(*layers), optim.adam(RATE), lambda model, x, labels: nn.cross_entropy(model(x), labels),
            target=target, precision="bfloat16",
        )  # fmt: skip
        trainer.fit(data, steps=STEPS, progress=False)
        losses.append([float(metrics["loss"]) for _, metrics in trainer.history])
    np.testing.assert_allclose(losses[0], losses[1], rtol=2e-2)


def test_donated_arguments_are_updated_as_on_a_cpu(gpu: Gpu) -> None:
    given = convolutions(np.random.default_rng())
    steps = [mlc.jit(step_of(given), target=target, donate=("params", "opt"), wait=True) for target in (TARGET, "cpu")]
    states = [optree.tree_map(np.array, start(given)) for _ in steps]
    for _ in range(STEPS):
        *states[0], found = steps[0](*states[0], given.x, given.labels)
        *states[1], wanted = steps[1](*states[1], given.x, given.labels)
        np.testing.assert_allclose(float(found), float(wanted), rtol=1e-4)
    for ours, theirs in zip(*map(optree.tree_leaves, states), strict=True):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-3, atol=1e-4)


def gradients(x: Any, w: Any, picks: Any) -> dict[str, Any]:
    """Derivatives of operators of every family that has one."""
    functions: dict[str, Callable[[Any], Any]] = {
        "cumulative": lambda x: mnp.sum(mnp.cumulative_sum(x, axis=1) ** 2),
        "sorted": lambda x: mnp.sum(mnp.sort(x, axis=1) * w),
        "taken": lambda x: mnp.sum(mnp.take(x, picks, axis=0) ** 3),
        "softmax": lambda x: mnp.sum(nn.softmax(x) * w),
        "largest": lambda x: mnp.sum(mnp.max(x, axis=0) * w[0]),
        "inverse": lambda x: mnp.sum(mnp.tanh(x @ w.mT) @ x),
        "padded": lambda x: mnp.sum(mnp.concat([x[1:], x[:3] * 2]) ** 2),
        "branches": lambda x: mnp.sum(mnp.where(x > w, mnp.exp(x), x * w)),
        "statistics": lambda x: mnp.var(x) * mnp.prod(1 + x[0] ** 2),
        "second": lambda x: mnp.sum(mlc.grad(lambda y: mnp.sum(mnp.sin(y) * y))(x) ** 2),
    }
    return {name: mlc.grad(function)(x) for name, function in functions.items()}


def test_gradients_agree_with_the_cpu(gpu: Gpu) -> None:
    random = np.random.default_rng()
    x, w = random.standard_normal((2, 5, 7)).astype(np.float32)
    picks = np.array([4, 0, 4, 2])
    found, wanted = (mlc.jit(gradients, target=target, wait=True)(x, w, picks) for target in (TARGET, "cpu"))
    for name, value in wanted.items():
        np.testing.assert_allclose(np.asarray(found[name]), np.asarray(value), rtol=1e-4, atol=1e-5, err_msg=name)
