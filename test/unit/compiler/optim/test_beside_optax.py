"""Masks, averages, accumulation, loss scaling and master weights against optax and torch, over several steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mlc import nn, optim, train

Tree = dict[str, np.ndarray[Any, Any]]
STEPS = 7
SHAPES = {"bias": (5,), "weight": (5, 3)}


def random_tree(random: np.random.Generator) -> Tree:
    return {name: random.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}


@pytest.fixture
def data() -> tuple[Tree, list[Tree]]:
    """Parameters, and gradients of each step, large and small ones."""
    random = np.random.default_rng()
    scales = random.permutation(np.linspace(0.1, 3.0, STEPS))
    parameters, *gradients = (random_tree(random) for _ in range(STEPS + 1))
    return parameters, [{n: np.float32(s) * g[n] for n in g} for s, g in zip(scales, gradients, strict=True)]


def run(optimizer: Any, tree: Any, gradients: list[Tree], apply: Callable[..., Any]) -> tuple[list[Any], Any]:
    """The parameters after each step and the last state, of either library."""
    state, found = optimizer.init(tree), []
    for each in gradients:
        updates, state = optimizer.update(each, state, tree)
        tree = apply(tree, updates)
        found.append(tree)
    return found, state


def close(found: Any, expected: Any) -> None:
    """Steps are 0.05 to 0.1 wide, and optax rounds 1 - 0.999 ** step to 6e-5 of it."""
    for name in SHAPES:
        np.testing.assert_allclose(found[name], np.asarray(expected[name]), rtol=1e-5, atol=2e-5)


def is_weight(name: str, _: Any) -> bool:
    return name == "weight"


MASK = {"bias": False, "weight": True}
PAIRS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "decay mask of adamw": (
        optim.adamw(0.05, weight_decay=0.3, decays=is_weight),
        lambda o: o.adamw(0.05, weight_decay=0.3, mask=MASK),
    ),
    "decay mask of sgd": (
        optim.sgd(0.05, 0.9, weight_decay=0.3, decays=is_weight),
        lambda o: o.chain(o.add_decayed_weights(0.3, MASK), o.sgd(0.05, 0.9)),
    ),
    "decay mask of lion": (
        optim.lion(0.02, weight_decay=0.3, decays=is_weight),
        lambda o: o.lion(0.02, weight_decay=0.3, mask=MASK),
    ),
    "masked": (
        optim.chain(optim.masked(optim.adam(0.1), is_weight), optim.scale(0.5)),
        lambda o: o.chain(o.masked(o.adam(0.1), MASK), o.scale(0.5)),
    ),
    "accumulation": (optim.accumulate(optim.adam(0.1), 3), lambda o: o.MultiSteps(o.adam(0.1), 3)),
    "accumulation, clipped, a schedule": (
        optim.accumulate(optim.chain(optim.clip_by_global_norm(0.7), optim.adamw(optim.warmup_cosine(0.1, 2, 5))), 2),
        lambda o: o.MultiSteps(
            o.chain(
                o.clip_by_global_norm(0.7),
                o.adamw(o.warmup_cosine_decay_schedule(0.0, 0.1, 2, 5), weight_decay=0.01),
            ),
            2,
        ),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_wrappers(name: str, data: tuple[Tree, list[Tree]]) -> None:
    optax = pytest.importorskip("optax")
    ours, theirs = PAIRS[name]
    found, _ = run(ours, *data, optim.apply_updates)
    expected, _ = run(theirs(optax), *data, optax.apply_updates)
    for one, other in zip(found, expected, strict=True):
        close(one, other)


def test_averages_of_parameters(data: tuple[Tree, list[Tree]]) -> None:
    optax = pytest.importorskip("optax")
    _, state = run(optim.ema(optim.adam(0.1), 0.8), *data, optim.apply_updates)
    expected, average = run(optax.adam(0.1), *data, optax.apply_updates)[0], data[0]
    for each in expected:
        average = optax.incremental_update(each, average, 0.2)
    close(state.average, average)


def test_averages_beside_torch(data: tuple[Tree, list[Tree]]) -> None:
    torch = pytest.importorskip("torch")
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    model = torch.nn.Linear(3, 5)
    model.load_state_dict({name: torch.tensor(x) for name, x in data[0].items()})
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.8))
    average.update_parameters(model)  # the first is a copy
    optimizer = torch.optim.AdamW(
        [{"params": [model.bias], "weight_decay": 0.0}, {"params": [model.weight]}], 0.1, weight_decay=0.2
    )
    for each in data[1]:
        model.bias.grad, model.weight.grad = torch.tensor(each["bias"]), torch.tensor(each["weight"])
        optimizer.step()
        average.update_parameters(model)
    ours = optim.ema(optim.adamw(0.1, weight_decay=0.2, decays=is_weight), 0.8)
    found, state = run(ours, *data, optim.apply_updates)
    close(found[-1], {name: x.detach() for name, x in model.named_parameters()})
    close(state.average, {name: x.detach() for name, x in average.module.named_parameters()})


def test_steps_that_are_not_finite(data: tuple[Tree, list[Tree]]) -> None:
    optax = pytest.importorskip("optax")
    parameters, gradients = data
    for n in (1, 2, 4):
        gradients[n]["weight"][3, 1] = (np.inf, np.nan)[n % 2]
    found, state = run(optim.apply_if_finite(optim.adam(0.1), 2), parameters, gradients, optim.apply_updates)
    theirs = optax.apply_if_finite(optax.adam(0.1), 2)
    expected, other = run(theirs, parameters, gradients, optax.apply_updates)
    for one, two in zip(found, expected, strict=True):
        close(one, two)
    assert [int(n) for n in state[1:]] == [int(other.notfinite_count), int(other.total_notfinite)] == [0, 3]


def test_loss_scaling(data: tuple[Tree, list[Tree]]) -> None:
    torch = pytest.importorskip("torch")
    parameters, gradients = data
    gradients[1]["weight"][2, 0], gradients[4]["bias"][1] = np.inf, np.nan
    tensors = {name: torch.tensor(x, requires_grad=True) for name, x in parameters.items()}
    optimizer = torch.optim.Adam(tensors.values(), 0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=2)
    ours = optim.loss_scaling(optim.adam(0.1), initial=2.0**10, period=2)
    tree: Any = parameters
    state = ours.init(tree)
    for each in gradients:
        for name, tensor in tensors.items():
            tensor.grad = None
            scaler.scale((tensor * torch.tensor(each[name])).sum()).backward()
        scale = float(state.scale)
        assert scale == scaler.get_scale()
        updates, state = ours.update({name: np.float32(scale) * g for name, g in each.items()}, state, tree)
        tree = optim.apply_updates(tree, updates)
        scaler.step(optimizer)
        scaler.update()
        close(tree, {name: x.detach() for name, x in tensors.items()})
    assert float(state.scale) == scaler.get_scale()


def test_master_weights_of_a_loss_in_bfloat16() -> None:
    """Losses of products in bfloat16: parameters, gradients by them and moments are float32, as torch's casts."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng()
    x = random.standard_normal((16, 3)).astype(np.float32)
    y = random.standard_normal((16, 5)).astype(np.float32)
    model = nn.Linear(3, 5)
    w, b = (torch.tensor(np.asarray(each), requires_grad=True) for each in (model.weight, model.bias))
    trainer = train.Trainer(model, optim.adamw(0.01), lambda m, x, y: nn.mse_loss(m(x), y), precision="bfloat16")
    optimizer, half = torch.optim.AdamW([w, b], 0.01), torch.bfloat16
    for _ in range(STEPS):
        optimizer.zero_grad()
        given = torch.nn.functional.linear(torch.tensor(x).to(half), w.to(half), b.to(half))
        loss = torch.nn.functional.mse_loss(given, torch.tensor(y).to(half)).float()
        loss.backward()
        optimizer.step()
        np.testing.assert_allclose(trainer.take((x, y))["loss"], loss.item(), rtol=0.02)
    found = np.asarray(trainer.model.weight)
    np.testing.assert_allclose(found, w.detach(), atol=0.01)
    assert found.dtype == np.float32 and (found != np.asarray(torch.tensor(found).to(half).float())).any()
