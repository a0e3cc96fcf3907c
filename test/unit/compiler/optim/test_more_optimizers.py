"""RAdam, Adafactor, LAMB and Muon against formulas in NumPy's float64, torch and optax."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mlc import nn, optim, train
from mlc.errors import InputError

Tree = dict[str, np.ndarray[Any, Any]]
STEPS = 9
SHAPES = {"kernel": (2, 3, 2, 4), "tall": (5, 3), "vector": (5,), "wide": (3, 7)}


def data() -> tuple[Tree, list[Tree]]:
    """Parameters, and gradients of each step, large and small ones."""
    rng = np.random.default_rng()
    make = lambda scale: {n: (scale * rng.standard_normal(s)).astype(np.float32) for n, s in SHAPES.items()}  # noqa: E731
    return make(1.0), [make(scale) for scale in rng.permutation(np.geomspace(0.01, 10, STEPS))]


def ours(optimizer: optim.GradientTransformation, tree: Any, gradients: list[Tree]) -> list[Tree]:
    state, found = optimizer.init(tree), []
    for each in gradients:
        updates, state = optimizer.update(each, state, tree)
        tree = optim.apply_updates(tree, updates)
        found.append({name: np.asarray(x) for name, x in tree.items()})
    return found


def close(found: list[Tree], expected: list[Tree], names: Any = SHAPES, rtol: float = 1e-4) -> None:
    """Moves are about 0.05 a step."""
    for n, (a, b) in enumerate(zip(found, expected, strict=True)):
        for name in names:
            np.testing.assert_allclose(a[name], b[name], rtol=rtol, atol=2e-5, err_msg=f"{name}, step {n + 1}")


def stepped(move: Callable[[Any, Any, dict[str, Any], int], Any], tree: Tree, gradients: list[Tree]) -> list[Tree]:
    """The parameters after each step of a formula for one array, in float64."""
    now, found = {name: x.astype(np.float64) for name, x in tree.items()}, []
    states: dict[str, dict[str, Any]] = {name: {} for name in tree}
    for t, each in enumerate(gradients, 1):
        now = {name: move(x, each[name].astype(np.float64), states[name], t) for name, x in now.items()}
        found.append(now)
    return found


def moments(g: Any, state: dict[str, Any]) -> tuple[Any, Any]:
    state["m"] = 0.9 * state.get("m", 0) + 0.1 * g
    state["v"] = 0.999 * state.get("v", 0) + 0.001 * g * g
    return state["m"], state["v"]


def radam(p: Any, g: Any, state: dict[str, Any], t: int) -> Any:
    m, v = moments(g + 0.1 * p, state)
    most, power = 1999.0, 0.999**t
    length = most - 2 * t * power / (1 - power)
    unbiased = m / (1 - 0.9**t)
    if length <= 5:
        return p - 0.05 * unbiased
    factor = math.sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length))
    return p - 0.05 * unbiased * factor * math.sqrt(1 - power) / (np.sqrt(v) + 1e-8)


def lamb(p: Any, g: Any, state: dict[str, Any], t: int) -> Any:
    m, v = moments(g, state)
    u = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-6) + 0.1 * p
    return p - 0.05 * u * np.linalg.norm(p) / np.linalg.norm(u)


def adafactor(p: Any, g: Any, state: dict[str, Any], t: int) -> Any:
    w, least = t**-0.8, float(np.finfo(np.float32).eps)
    size = max(1e-3, np.sqrt((p**2).mean())) * min(0.05, 1 / math.sqrt(t))
    p = p * (1 - 0.05 * 0.1)
    if g.ndim < 2:
        squares = state["s"] = (1 - w) * state.get("s", 0) + w * g * g
    else:
        rows = state["r"] = (1 - w) * state.get("r", 0) + w * (g * g).mean(-1, keepdims=True)
        columns = state["c"] = (1 - w) * state.get("c", 0) + w * (g * g).mean(-2, keepdims=True)
        squares = rows * columns / np.maximum(rows.mean(-2, keepdims=True), least)
    u = g / np.sqrt(np.maximum(squares, least**2))
    return p - size / max(1, np.sqrt((u * u).mean())) * u


def muon(p: Any, g: Any, state: dict[str, Any], t: int) -> Any:
    m = state["m"] = 0.95 * state.get("m", 0) + 0.05 * g
    y = 0.05 * g + 0.95 * m
    y = y / max(np.linalg.norm(y), 1e-7)
    y = y.T if y.shape[0] > y.shape[1] else y
    for _ in range(5):
        a = y @ y.T
        y = 3.4445 * y + (-4.775 * a + 2.0315 * a @ a) @ y
    y = y.T if p.shape != y.shape else y
    return p * (1 - 0.05 * 0.1) - 0.05 * math.sqrt(max(1, p.shape[0] / p.shape[1])) * y


def test_formulas() -> None:
    tree, gradients = data()
    close(ours(optim.radam(0.05, weight_decay=0.1), tree, gradients), stepped(radam, tree, gradients))
    close(ours(optim.lamb(0.05, weight_decay=0.1), tree, gradients), stepped(lamb, tree, gradients))
    close(ours(optim.adafactor(0.05, weight_decay=0.1), tree, gradients), stepped(adafactor, tree, gradients))
    names = ("tall", "wide")
    matrices = [{name: each[name] for name in names} for each in (tree, *gradients)]
    close(ours(optim.muon(0.05), tree, gradients), stepped(muon, matrices[0], matrices[1:]), names, 1e-3)


def test_muon_and_the_others() -> None:
    """What is no matrix goes by AdamW, or by the optimizer that is given; ``where`` chooses matrices by name."""
    tree, gradients = data()
    plain = ours(optim.adamw(0.05, weight_decay=0.1), tree, gradients)
    close(ours(optim.muon(0.05), tree, gradients), plain, ("kernel", "vector"))
    found = ours(optim.muon(0.05, where=lambda name, _: name == "wide", others=optim.sgd(0.1)), tree, gradients)
    close(found, ours(optim.sgd(0.1), tree, gradients), ("kernel", "tall", "vector"))
    close(found, ours(optim.muon(0.05), tree, gradients), ("wide",))
    with pytest.raises(InputError, match=r"Muon is for matrices.*\[2, 3, 2, 4\]"):
        ours(optim.muon(where=lambda name, _: True), tree, gradients)


@pytest.mark.parametrize("name", ["RAdam", "Adafactor", "Muon"])
def test_beside_torch(name: str) -> None:
    """Torch's Muon iterates in bfloat16, and takes matrices alone."""
    torch = pytest.importorskip("torch")
    tree, gradients = data()
    names = ("tall", "wide") if name == "Muon" else tuple(SHAPES)
    parameters = {each: torch.nn.Parameter(torch.tensor(tree[each])) for each in names}
    optimizer, expected = getattr(torch.optim, name)(parameters.values(), lr=0.05, weight_decay=0.1), []
    for each in gradients:
        for key, p in parameters.items():
            p.grad = torch.tensor(each[key])
        optimizer.step()
        expected.append({key: p.detach().numpy().copy() for key, p in parameters.items()})
    found = ours(getattr(optim, name.lower())(0.05, weight_decay=0.1), tree, gradients)
    if name != "Muon":
        close(found, expected)
        return
    for a, b in zip(found, expected, strict=True):
        for key in names:
            np.testing.assert_allclose(a[key], b[key], atol=0.02 * STEPS * 0.05)


def test_beside_optax() -> None:
    optax, jax = pytest.importorskip("optax"), pytest.importorskip("jax")
    tree, gradients = data()
    for theirs, mine in ((optax.lamb(0.05, weight_decay=0.1), optim.lamb(0.05, weight_decay=0.1)),
                         (optax.radam(0.05), optim.radam(0.05))):  # fmt: skip
        now, state, expected = jax.tree.map(jax.numpy.asarray, tree), theirs.init(tree), []
        for each in gradients:
            updates, state = theirs.update(each, state, now)
            now = optax.apply_updates(now, updates)
            expected.append({name: np.asarray(x) for name, x in now.items()})
        close(ours(mine, tree, gradients), expected, rtol=1e-3)


@pytest.mark.parametrize("make", [optim.radam, optim.adafactor, optim.lamb, optim.muon])
def test_schedules_and_training(make: Any) -> None:
    """A schedule of one rate is that rate, in a compiled step too; a regression is learnt."""
    tree, gradients = data()
    found, expected = (make(rate, weight_decay=0.1) for rate in (optim.constant(0.05), 0.05))
    close(ours(found, tree, gradients), ours(expected, tree, gradients))
    x = np.random.default_rng(0).standard_normal((64, 3)).astype(np.float32)
    loss = lambda model, x, y: nn.mse_loss(model(x)[:, 0], y)  # noqa: E731
    trainer = train.Trainer(nn.Linear(3, 1), make(0.03, weight_decay=0.0), loss)
    trainer.fit([(x, x @ np.array([1, -2, 0.5], np.float32))], 60, progress=False)
    assert trainer.history[-1][1]["loss"] < 0.7 * trainer.history[0][1]["loss"]


def test_trust_ratios_of_zeros() -> None:
    """A parameter that begins as zeros has no norm: its steps are Adam's."""
    zeros, gradients = {"w": np.zeros((2, 3), np.float32)}, [{"w": np.ones((2, 3), np.float32)}]
    np.testing.assert_allclose(ours(optim.lamb(0.1), zeros, gradients)[0]["w"], -0.1, rtol=1e-5)
    still = [{"w": np.zeros((2, 3), np.float32)}]
    assert (ours(optim.lamb(0.1), {"w": np.ones((2, 3), np.float32)}, still)[0]["w"] == 1).all()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: optim.muon(momentum=1.0), "Muon has momentum=1.0"),
        (lambda: optim.adafactor(beta2_decay=0.8), "beta2_decay=0.8"),
        (lambda: optim.radam(betas=(0.9, 1.0)), r"betas\) are \(0.9, 1.0\)"),
        (lambda: optim.radam(-1.0), "learning rate of -1.0"),
    ],
)
def test_refused(call: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'adafactor'"):
        optim.adafactr  # noqa: B018
