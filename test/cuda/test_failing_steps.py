"""Training steps of which one call of the driver fails: the state is that before or that after, and nothing is left."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from fake_gpu import Gpu, needed

import mlc
import mlc.numpy as mnp
from mlc import nn, optim
from mlc.errors import MlcError
from mlc.frontends.array import trees
from mlc.train import Trainer

pytestmark = needed
TARGET = "cuda:sm_90"
Leaves = list[np.ndarray[Any, Any]]


class Perceptron(nn.Module):
    first: nn.Linear
    last: nn.Linear

    def __call__(self, x: Any) -> Any:
        return self.last(nn.relu(self.first(x)))


class Growing(nn.Module):
    """A loop whose condition the host reads: several graphs a step."""

    last: nn.Linear

    def __call__(self, x: Any) -> Any:
        weight = self.last.weight
        return mlc.while_loop(
            lambda h: mnp.max(mnp.abs(h)) < 3, lambda h: h * 1.5 + 0.1 * h @ weight, x, max_iterations=5
        )


def perceptron(rng: np.random.Generator) -> nn.Module:
    return Perceptron(nn.Linear(5, 7, rng=rng), nn.Linear(7, 3, rng=rng))


def growing(rng: np.random.Generator) -> nn.Module:
    return Growing(nn.Linear(5, 5, rng=rng))


def batch_of(rng: np.random.Generator, rows: int = 4) -> Any:
    return rng.normal(size=(rows, 5)).astype(np.float32) / 4, rng.integers(0, 3, rows)


def trainer(model: nn.Module) -> Trainer:
    loss = lambda m, x, labels: nn.cross_entropy(m(x), labels)  # noqa: E731
    return Trainer(model, optim.adam(1e-2), loss, target=TARGET)


def leaves(given: Trainer) -> Leaves:
    return [x.numpy() for x in trees.leaves(given.state)]


def equal(a: Leaves, b: Leaves) -> bool:
    return all(map(np.array_equal, a, b))


def failing(gpu: Gpu, work: Callable[[], Any], prepare: Callable[[], Any] = int) -> Iterator[MlcError | None]:
    """The error of ``work`` where its n-th call of the driver fails, for every n; None where it did not mind."""
    for n in itertools.count(1):
        prepare()
        before = gpu.counts()
        gpu.fail_at(n)
        error = None
        try:
            work()
        except MlcError as raised:
            error = raised
        gpu.fail_at(0)
        calls = sum(count for name, count in gpu.since(before).items() if name.startswith("cu"))
        if error is None and calls < n:
            return
        yield error


@pytest.mark.parametrize("make", [perceptron, growing])
def test_a_step_changes_all_of_the_state_or_nothing(gpu: Gpu, make: Callable[..., nn.Module]) -> None:
    rng = np.random.default_rng()
    given, batch = trainer(make(rng)), batch_of(rng)
    given.take(batch)
    start, before = given.state, leaves(given)
    given.take(batch)
    after, updated = leaves(given), []
    for error in failing(gpu, lambda: given.take(batch), lambda: setattr(given, "state", start)):
        found = leaves(given)
        updated.append(equal(found, after))
        assert updated[-1] or equal(found, before)
        assert given.step == int(given.state.step) == (2 if updated[-1] else 1)
        assert error is None or "out of memory (CUDA_ERROR_OUT_OF_MEMORY, error 2). Free memory" in str(error)
    assert set(updated) == {True, False}


def test_a_first_step_that_fails_can_be_taken_again(gpu: Gpu) -> None:
    """Also where the program cannot be loaded, or has some of the state already."""
    rng = np.random.default_rng()
    first, x = [rng.normal(size=n).astype(np.float32) for n in (3, 3, 1)], rng.normal(size=3).astype(np.float32)
    step = mlc.jit(lambda a, b, c, x: (a + x, b * a, c + b[:1]), state=("a", "b", "c"), target=TARGET, wait=True)
    after, tried = [first[0] + x, first[1] * first[0], first[2] + first[1][:1]], 0
    made: list[Any] = []
    for _ in failing(gpu, lambda: made[0](x), lambda: made.__setitem__(slice(None), [step.create(*first)])):
        tried += 1
        if equal(made[0].state, first):
            made[0](x)
        np.testing.assert_allclose(np.concatenate(made[0].state), np.concatenate(after), rtol=1e-6)
    assert tried > 30


def test_a_state_that_cannot_be_assigned_is_not_mixed(gpu: Gpu) -> None:
    rng = np.random.default_rng()
    given, batch = trainer(perceptron(rng)), batch_of(rng)
    wanted = trees.tree_map(lambda x: x + 1, given.state)
    for _ in failing(gpu, lambda: setattr(given, "state", wanted), lambda: given.take(batch)):
        assert equal(leaves(given), [x.numpy() for x in trees.leaves(wanted)])
        assert given.step == int(given.state.step)


def test_a_batch_of_another_shape_takes_the_state_over_or_leaves_it(gpu: Gpu) -> None:
    """Its program gets the state at its first step."""
    rng = np.random.default_rng()
    given, small, large = trainer(perceptron(rng)), batch_of(rng), batch_of(rng, 6)
    given.take(small)
    start = given.state
    given.take(large)
    before = leaves(given)
    given.take(small)
    after = leaves(given)

    def prepare() -> None:
        given.state = start
        given.take(large)

    for _ in failing(gpu, lambda: given.take(small), prepare):
        assert equal(leaves(given), before) or equal(leaves(given), after)
