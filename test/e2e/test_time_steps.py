"""Recurrences and scans of a number of steps that is symbolic or large, against onnxruntime; and loops large enough for
several threads, which have to take the same iterations."""

from __future__ import annotations

import numpy as np
import pytest
from control import BOOL, FLOAT, INT32, INT64, Array, agree, body, kinds, model, node
from onnx import ModelProto

import mlc

RNG = np.random.default_rng(22)
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def recurrence(op: str, steps: int | str, directions: int = 1, lengths: bool = False, size: int = 12) -> ModelProto:
    gates, names = GATES[op], "y h c" if op == "LSTM" else "y h"
    weights = {
        "w": 0.3 * normal(directions, gates * size, 5),
        "r": 0.3 * normal(directions, gates * size, size),
        "b": 0.3 * normal(directions, 2 * gates * size),
    }
    inputs = {"x": (FLOAT, [steps, 3, 5])} | ({"lengths": (INT32, [3])} if lengths else {})
    direction = "bidirectional" if directions == 2 else "forward"
    nodes = [node(op, "x w r b" + " lengths" * lengths, names, hidden_size=size, direction=direction)]
    return model(nodes, inputs, dict.fromkeys(names.split(), (FLOAT, None)), weights)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("directions", [1, 2])
def test_a_symbolic_number_of_steps(op: str, directions: int) -> None:
    proto = recurrence(op, "steps", directions)
    assert kinds(proto) == ["graph.loop"] * directions
    agree(proto, *({"x": normal(n, 3, 5)} for n in (1, 2, 23)))


@pytest.mark.parametrize("op", GATES)
def test_sequences_of_several_lengths(op: str) -> None:
    feeds = [{"x": normal(n, 3, 5), "lengths": np.array([n, 1, n // 2 + 1], np.int32)} for n in (1, 9, 20)]
    agree(recurrence(op, "steps", 2, lengths=True), *feeds)


def test_many_steps() -> None:
    proto = recurrence("LSTM", 700)
    assert kinds(proto) == ["graph.loop"]
    agree(proto, {"x": normal(700, 3, 5)})


def test_a_loop_is_what_the_fixed_steps_are() -> None:
    proto, x = recurrence("LSTM", "steps"), normal(40, 3, 5)
    loop, fixed = mlc.compile(proto), mlc.compile(proto, dims={"steps": 40})
    for a, b in zip(loop(x), fixed(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def scan(steps: int | str, opset: int = 17) -> ModelProto:
    """A decaying sum of rows and columns of two inputs, one scanned from its end; collected both ways."""
    step = body(
        [node("Mul", "s decay", "t"), node("Add", "t a", "u"), node("Sub", "u b", "n"), node("Exp", "n", "e")]
        + [node("Identity", "n", "o")],
        {"s": (FLOAT, [4]), "a": (FLOAT, [4]), "b": (FLOAT, [4])},
        {"n": (FLOAT, [4]), "o": (FLOAT, [4]), "e": (FLOAT, [4])},
        {"decay": np.float32(0.7)},
    )
    ways = {"scan_input_axes": [0, 1], "scan_input_directions": [0, 1]}
    ways |= {"scan_output_axes": [0, 1], "scan_output_directions": [1, 0]}
    nodes = [node("Scan", "start x z", "last os es", body=step, num_scan_inputs=2, **ways)]
    inputs = {"start": (FLOAT, [4]), "x": (FLOAT, [steps, 4]), "z": (FLOAT, [4, steps])}
    outputs = {"last": (FLOAT, [4]), "os": (FLOAT, None), "es": (FLOAT, None)}
    return model(nodes, inputs, outputs, opset=opset)


@pytest.mark.parametrize("steps", ["steps", 2100, 50, 5])
@pytest.mark.parametrize("opset", [9, 17])
def test_scans(steps: int | str, opset: int) -> None:
    proto = scan(steps, opset)
    assert kinds(proto) == ["graph.loop"] * (steps != 5)
    sizes = (1, 2, 60) if steps == "steps" else (int(steps),)
    agree(proto, *({"start": normal(4), "x": normal(n, 4), "z": normal(4, n)} for n in sizes))


def test_a_scan_of_opset_8_with_symbolic_batch_and_steps() -> None:
    step = body(
        [node("Add", "s e", "n"), node("Identity", "n", "o")],
        {"s": (FLOAT, [2]), "e": (FLOAT, [2])},
        {"n": (FLOAT, [2]), "o": (FLOAT, [2])},
    )
    nodes = [node("Scan", "_ start x", "last os", body=step, num_scan_inputs=1)]
    inputs = {"start": (FLOAT, ["batch", 2]), "x": (FLOAT, ["batch", "steps", 2])}
    proto = model(nodes, inputs, {"last": (FLOAT, None), "os": (FLOAT, None)}, opset=8)
    feeds = [{"start": normal(b, 2), "x": normal(b, s, 2)} for b, s in ((1, 1), (3, 7))]
    wanted = []
    for feed in feeds:
        sums = feed["start"][:, None] + np.cumsum(feed["x"], axis=1)
        wanted.append([sums[:, -1], sums])
    agree(proto, *feeds, wanted=wanted)


def products(size: int = 80) -> ModelProto:
    """Collatz' sequences with products of matrices: numbers of iterations and branches depend on data in two loops."""
    types = {"n": (INT64, []), "s": (FLOAT, [size, size])}
    odd = [node("Mul", "n three", "n3"), node("Add", "n3 one", "m"), node("MatMul", "s w", "p"), node("Tanh", "p", "t")]
    even = [node("Div", "n two", "m"), node("MatMul", "s w", "q"), node("MatMul", "q w", "r"), node("Sin", "r", "t")]
    results = {"m": (INT64, []), "t": (FLOAT, [size, size])}
    choice = {"then_branch": body(odd, {}, results), "else_branch": body(even, {}, results)}
    inner = body(
        [node("Mod", "n two", "rest"), node("Equal", "rest one", "is_odd"), node("If", "is_odd", "m t", **choice)]
        + [node("Greater", "m one", "more")],
        {"j": (INT64, []), "jc": (BOOL, []), **types},
        {"more": (BOOL, []), **results},
    )
    outer = body(
        [node("Gather", "starts i", "start"), node("Loop", "_ c start s", "end u", body=inner)]
        + [node("Identity", "c", "d"), node("MatMul", "u w", "v"), node("ReduceSum", "v", "y", keepdims=0)],
        {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, [size, size])},
        {"d": (BOOL, []), "v": (FLOAT, [size, size]), "y": (FLOAT, [])},
    )
    weights = {"one": np.int64(1), "two": np.int64(2), "three": np.int64(3), "w": normal(size, size) / 8}
    nodes = [node("Loop", "count go x", "last ys", body=outer)]
    outputs = {"last": (FLOAT, [size, size]), "ys": (FLOAT, None)}
    inputs = {"x": (FLOAT, [size, size]), "starts": (INT64, [12])}
    return model(nodes, inputs, outputs, weights | {"count": np.int64(12), "go": np.bool_(True)})


def test_threads_take_the_same_iterations_and_branches() -> None:
    proto = products()
    feeds = [{"x": normal(80, 80), "starts": RNG.integers(2, 40, 12)} for _ in range(3)]
    wanted = [mlc.compile(proto, threads=1).run(f) for f in feeds]
    for threads in (2, 4, 7):
        compiled = mlc.compile(proto, threads=threads)
        for n in range(60):
            results = compiled.run(feeds[n % 3])
            assert all(results[name].tobytes() == wanted[n % 3][name].tobytes() for name in results), (threads, n)
