"""Steps of recurrent networks in one kernel each: against onnxruntime, for any threads."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from control import FLOAT, Array, model, node
from onnx import ModelProto

import mlc

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def recurrent(op: str, hidden: int, batch: int = 1, steps: int = 5, inputs: int = 7, **how: object
              ) -> tuple[ModelProto, dict[str, Array]]:  # fmt: skip
    """A model, and an input of it with the states it begins with."""
    random, directions = np.random.default_rng([hidden, batch]), 2 if how.get("direction") == "bidirectional" else 1
    rows, states = GATES[op] * hidden, "hc" if op == "LSTM" else "h"
    shapes = {"w": (rows, inputs), "r": (rows, hidden), "b": (2 * rows,)}
    scale = hidden**-0.5
    weights = {n: (scale * random.standard_normal((directions, *s))).astype(np.float32) for n, s in shapes.items()}
    feeds = {"x": (steps, batch, inputs)} | {f"{s}0": (directions, batch, hidden) for s in states}
    cell = op == "LSTM"
    nodes = [node(op, "x w r b _ h0" + " c0" * cell, "y h" + " c" * cell, hidden_size=hidden, **how)]
    proto = model(nodes, {n: (FLOAT, list(s)) for n, s in feeds.items()}, dict.fromkeys(["y", *states], (FLOAT, None)),
                  weights)  # fmt: skip
    return proto, {n: random.standard_normal(s).astype(np.float32) for n, s in feeds.items()}


def check(proto: ModelProto, feeds: dict[str, Array], joined: bool, target: str = "cpu") -> None:
    """The same bits on 1, 2 and 4 threads, near onnxruntime's; ``joined``: gates are in the kernel of their product."""
    nets = [mlc.compile(proto, threads=threads, target=target) for threads in (1, 2, 4)]
    first, *others = (net.run(feeds) for net in nets)
    expected = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, feeds)
    for (name, found), right in zip(first.items(), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)
        for other in others:
            np.testing.assert_array_equal(found, other[name])
    assert any("& elementwise" in kernel["schedule"] for kernel in nets[0].signature["kernels"]) == joined


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize(("hidden", "joined"), [(64, True), (192, True), (100, False)])
def test_an_lstm(hidden: int, joined: bool, target: str) -> None:
    check(*recurrent("LSTM", hidden), joined, target)


def test_both_directions() -> None:
    check(*recurrent("LSTM", 64, direction="bidirectional"), True)


def test_activations_and_a_limit() -> None:
    check(*recurrent("LSTM", 64, activations=["Sigmoid", "Relu", "Tanh"], clip=0.5), True)


def test_several_rows_stay() -> None:
    check(*recurrent("LSTM", 64, batch=3), False)


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("reset_after", [0, 1])
@pytest.mark.parametrize(("hidden", "joined"), [(64, True), (192, True), (100, False)])
def test_a_gru(hidden: int, joined: bool, reset_after: int, target: str) -> None:
    check(*recurrent("GRU", hidden, linear_before_reset=reset_after), joined, target)


@pytest.mark.parametrize("reset_after", [0, 1])
def test_a_gru_in_both_directions(reset_after: int) -> None:
    check(*recurrent("GRU", 64, linear_before_reset=reset_after, direction="bidirectional"), True)


@pytest.mark.parametrize("reset_after", [0, 1])
def test_a_gru_of_several_rows(reset_after: int) -> None:
    check(*recurrent("GRU", 64, batch=3, linear_before_reset=reset_after), False)


def test_one_gate() -> None:
    check(*recurrent("RNN", 128), False)


@pytest.mark.parametrize(("reset_after", "kernels"), [(0, 2), (1, 1)])
def test_the_kernels_of_a_step_of_a_gru(reset_after: int, kernels: int) -> None:
    """With the reset gate before its product, a step has two products one after the other."""
    proto, _ = recurrent("GRU", 128, steps=9, linear_before_reset=reset_after)
    launched = [k["name"] for k in mlc.compile(proto, threads=2).signature["kernels"]]
    assert len(launched) == 1 + 9 * kernels + 1, launched  # first the inputs' product, last a concatenation
