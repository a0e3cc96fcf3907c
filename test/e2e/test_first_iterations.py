"""Loops whose first iteration gives a state its shape, as Paddle's undefined variables have: against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from control import BOOL, FLOAT, INT64, agree, body, kinds, model, node
from onnx import ModelProto

RNG = np.random.default_rng(21)


def undefined(trips: int | str, ends: bool = False, collects: bool = True) -> ModelProto:
    """Of x [b, 4]: s := tanh(s + x), u := s·s of u [1] before; as often as ``trips``, an extent or a number, says."""
    nodes = [node("Add", "s x", "t"), node("Tanh", "t", "n"), node("Mul", "n n", "v"), node("Neg", "n", "w"),
             node("ReduceMax", "n", "most", keepdims=0), node("Less", "most limit", "d")]  # fmt: skip
    nodes = nodes if ends else [*nodes[:-2], node("Identity", "c", "d")]
    states = {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, ["b", 4]), "u": (FLOAT, None)}
    results = {"d": (BOOL, []), "n": (FLOAT, None), "v": (FLOAT, None)} | ({"w": (FLOAT, None)} if collects else {})
    inner = body(nodes, states, results, {"limit": np.float32(0.9)})
    before = [] if isinstance(trips, int) else [node("Shape", "z", "extents"), node("Squeeze", "extents", "m")]
    names = "last square all" if collects else "last square"
    inputs = {"x": (FLOAT, ["b", 4])} | ({} if isinstance(trips, int) else {"z": (FLOAT, [trips])})
    weights = {"u": np.float32([1e27]), "go": np.bool_(True)}
    weights |= {"m": np.int64(trips)} if isinstance(trips, int) else {}
    outputs = dict.fromkeys(names.split(), (FLOAT, None))
    return model([*before, node("Loop", "m go x u", names, body=inner)], inputs, outputs, weights)


@pytest.mark.parametrize("collects", [True, False])
@pytest.mark.parametrize("trips", [40, 3000, "n"])
def test_the_number_of_iterations_is_known_or_a_size(trips: int | str, collects: bool) -> None:
    proto = undefined(trips, collects=collects)
    for b, n in ((2, 3), (3, 1)):
        x = RNG.standard_normal((b, 4)).astype(np.float32)
        agree(proto, {"x": x} if isinstance(trips, int) else {"x": x, "z": np.zeros(n, np.float32)})
    assert kinds(proto) == ["graph.loop"]


def test_a_condition_ends_it() -> None:
    proto = undefined(40, ends=True)
    agree(proto, *({"x": RNG.uniform(low, low + 0.1, (2, 4)).astype(np.float32)} for low in (0.02, 0.2, 2.0)))
