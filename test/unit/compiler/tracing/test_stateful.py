"""State in a compiled program: equal to passing it, resumed bit for bit on any number of threads; refusals."""

from __future__ import annotations

import resource
import threading
from pathlib import Path
from typing import Any

import numpy as np
import optree
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError, RunError

STATE = ("params", "opt")


def step(params: Any, opt: Any, x: Any, y: Any) -> Any:
    """Momentum with weight decay, on two layers."""

    def loss(p: Any) -> Any:
        return mnp.mean((mnp.tanh(x @ p["w"] + p["b"]) @ p["out"] - y) ** 2)

    value, gradient = mlc.value_and_grad(loss)(params)
    m = {name: 0.9 * opt["m"][name] + g + 0.01 * params[name] for name, g in gradient.items()}
    return {name: p - 0.05 * m[name] for name, p in params.items()}, {"m": m, "n": opt["n"] + 1}, value


def random(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def given() -> tuple[Any, Any, Any, Any]:
    params = {"w": random(20, 33), "b": random(33), "out": random(33, 3)}
    return params, {"m": {k: np.zeros_like(p) for k, p in params.items()}, "n": 0}, random(17, 20), random(17, 3)


def leaves(tree: Any) -> list[Any]:
    return [np.asarray(x) for x in optree.tree_leaves(tree)]


def test_steps_are_those_that_pass_the_state() -> None:
    params, opt, x, y = given()
    plain, training = mlc.jit(step, wait=True), mlc.jit(step, state=STATE).create(params, opt)
    for _ in range(4):
        params, opt, expected = plain(params, opt, x, y)
        assert float(training(x, y)) == float(expected)
    for a, b in zip(leaves(training.state), leaves((params, opt)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert training.get_state("opt.n") == 4


def test_nothing_is_copied() -> None:
    """State needs no copy, and is no input or output."""
    text = mlc.jit(step, state=STATE).ir("plan", *given())
    assert text.count("rt.state") == text.count("rt.update") == 7
    assert 'inputs = ["x", "y"], outputs = ["y0"]' in text and "rt.copy" not in text


def test_other_batches_continue_with_the_state() -> None:
    params, opt, x, y = given()
    training, plain = mlc.jit(step, state=STATE).create(params, opt), mlc.jit(step, wait=True)
    for n in (17, 5, 17):
        params, opt, expected = plain(params, opt, x[:n], y[:n])
        assert float(training(x[:n], y[:n])) == float(expected)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_resumed_bit_for_bit_on_any_number_of_threads(threads: int, tmp_path: Path) -> None:
    *state, x, y = given()
    stateful = mlc.jit(step, state=STATE)
    whole = stateful.create(*state)
    losses = [float(whole(x, y)) for _ in range(6)]
    stateful.save(tmp_path / "step.so", *state, x, y)
    first, second = (mlc.load(tmp_path / "step.so", n) for n in (1, threads))
    assert [float(first(x, y)) for _ in range(3)] == losses[:3]
    for name in first.states:
        np.save(tmp_path / "saved.npy", first.get_state(name))
        second.set_state(name, np.load(tmp_path / "saved.npy"))
    assert [float(second(x, y)) for _ in range(3)] == losses[3:]
    whole.save(tmp_path / "later.so", x, y)
    assert float(mlc.load(tmp_path / "later.so")(x, y)) == float(whole(x, y))


def test_the_artifact_lists_the_state(tmp_path: Path) -> None:
    mlc.jit(step, state=STATE).save(tmp_path / "step.so", *given())
    model = mlc.load(tmp_path / "step.so")
    assert list(model.states) == ["params.b", "params.out", "params.w", "opt.m.b", "opt.m.out", "opt.m.w", "opt.n"]
    assert list(model.inputs) == ["x", "y"] and list(model.outputs) == ["y0"]
    header = (tmp_path / "step.h").read_text()
    assert "state params.w float32[20, 33]" in header and "step_STATE_COUNT = 7" in header
    with pytest.raises(RunError, match="has no state 'params.v'"):
        model.get_state("params.v")
    with pytest.raises(RunError, match="State 'params.w' must be float32"):
        model.set_state("params.w", random(33, 20))
    with pytest.raises(RunError, match="dtype float64"):
        model.set_state("params.w", np.zeros((20, 33)))


def test_runs_are_one_at_a_time() -> None:
    """A run while another is in progress fails, and does not disturb it."""

    def count(n: Any, x: Any) -> Any:
        return n + 1, mlc.fori_loop(0, 3000, lambda i, s: mnp.tanh(s @ x), x)

    training = mlc.jit(count, state="n").create(np.int64(0))
    x = random(64, 64)
    training(x)
    failed: list[str] = []
    runs = 5

    def run() -> None:
        for _ in range(runs):
            try:
                training(x)
            except RunError as error:
                failed.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all("another thread uses the state of model 'count'" in each for each in failed)
    assert training.get_state("n") == 1 + 2 * runs - len(failed)


def test_many_steps_leak_nothing() -> None:
    training = mlc.jit(lambda w, x: (w - 0.01 * x, mnp.sum(w)), state="w").create(random(5))
    donated = mlc.jit(lambda w, x: (w - 0.01 * x, mnp.sum(w)), donate="w")
    x, w = random(5), mnp.asarray(random(5)) * 1.0

    def steps(count: int, w: Any) -> Any:
        for _ in range(count):
            training(x)
            w, _ = donated(w, x)
        return w

    w = steps(300, w)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    steps(3000, w)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512  # KiB: 0.17 a step would be a leak


def test_results_that_are_no_state() -> None:
    first, opt, x, y = given()
    with pytest.raises(InputError, match=r"test_stateful.py:\d+: jit: the new value of 'opt' has the structure"):
        mlc.jit(lambda params, opt: (params, params), state=STATE).ir("graph", first, opt)
    with pytest.raises(InputError, match="the new value of 'params' has the structure None"):
        mlc.jit(lambda params: params, state="params").ir("graph", first)
    with pytest.raises(InputError, match="the new value of 'w' is"):
        mlc.jit(lambda w: (w[1:],), state="w").ir("graph", x)
    with pytest.raises(InputError, match="state is y, but the first parameters are x, y"):
        mlc.jit(lambda x, y: (y, x), state="y")
    with pytest.raises(InputError, match="create takes params, opt, not 1 arguments"):
        mlc.jit(step, state=STATE).create(first)
    with pytest.raises(InputError, match="Call the instance first"):
        mlc.jit(step, state=STATE).create(first, opt).get_state("params.w")


def test_updates_need_no_memory_of_a_budget() -> None:
    """A budget counts what the program has: a new value in the memory of the old one takes none."""
    module = mlc.jit(step, state=STATE).ir("plan", *given())
    arena = int(module.partition("arena = {bytes = ")[2].split()[0])
    within = mlc.jit(step, state=STATE, peak_memory=arena).ir("plan", *given())
    assert int(within.partition("arena = {bytes = ")[2].split()[0]) <= arena
    with pytest.raises(InputError, match="peak_memory"):
        mlc.jit(step, state=STATE, peak_memory=1).ir("plan", *given())


def test_the_state_is_assigned() -> None:
    params, opt, x, y = given()
    training, other = (mlc.jit(step, state=STATE).create(params, opt) for _ in range(2))
    for _ in range(3):
        training(x, y)
    other.state = training.state  # before there is a program
    assert float(training(x, y)) == float(other(x, y))
    other.state = params, opt
    for a, b in zip(leaves(other.state), leaves((params, opt)), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(InputError, match="another structure"):
        other.state = params, {"m": opt["m"]}


def test_first_values_are_copies_that_are_given_up() -> None:
    """The caller may change its arrays, and the first values are not held beside the program's state."""
    big = np.arange(1 << 20, dtype=np.float32)
    instance = mlc.jit(lambda s, x: (s + x, x), state="s").create(big)
    big[:] = 0
    instance(np.float32(1))
    np.testing.assert_array_equal(instance.state[0], np.arange(1 << 20, dtype=np.float32) + 1)
    assert not instance._first


def test_a_program_runs_on_the_threads_that_are_asked_for() -> None:
    for threads in (1, 3, None):
        step = mlc.jit(lambda s, x: (s + x, s * x), state="s", threads=threads)
        assert step.lower(np.zeros(3, np.float32), np.ones(3, np.float32)).model.threads == threads
        plain = mlc.jit(lambda x: x + 1, threads=threads).lower(np.zeros(3, np.float32))
        assert plain.model.threads == threads
