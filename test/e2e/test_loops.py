"""Loops that stay loops: their ends, states, collected values, nesting; against onnxruntime and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from control import BOOL, FLOAT, INT64, Array, agree, body, kinds, model, node
from onnx import GraphProto, ModelProto

import mlc
from mlc.errors import RunError

RNG = np.random.default_rng(20)
STATE = {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, [3, 5])}


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def logistic(collects: bool = True) -> GraphProto:
    """s := tanh(s·w) + 0.1·i·k of a captured k; collects s·s."""
    nodes = [
        node("MatMul", "s w", "sw"),
        node("Tanh", "sw", "t"),
        node("Cast", "i", "f", to=FLOAT),
        node("Mul", "f k", "fk"),
        node("Add", "t fk", "n"),
        node("Mul", "n n", "y"),
        node("Identity", "c", "d"),
    ]
    outputs = {"d": (BOOL, []), "n": (FLOAT, [3, 5])} | ({"y": (FLOAT, [3, 5])} if collects else {})
    return body(nodes, STATE, outputs, {"w": 0.3 * normal(5, 5)})


def counted(trips: int | str, collects: bool = True) -> ModelProto:
    """A loop whose count is a weight, an input, or a dimension."""
    outputs = {"last": (FLOAT, [3, 5])} | ({"ys": (FLOAT, None)} if collects else {})
    names = "last ys" if collects else "last"
    inputs = {"x": (FLOAT, [3, 5]), "k": (FLOAT, [1, 5])}
    nodes, weights = [node("Loop", "m _ x", names, body=logistic(collects))], {}
    if trips == "input":
        inputs["m"] = (INT64, [])
    elif isinstance(trips, str):
        inputs["z"] = (FLOAT, [trips])
        nodes = [node("Shape", "z", "shape"), node("Squeeze", "shape", "m"), *nodes]
    else:
        weights["m"] = np.int64(trips)
    return model(nodes, inputs, outputs, weights)


@pytest.mark.parametrize("trips", [40, 3000])
def test_known_numbers_of_iterations(trips: int) -> None:
    agree(counted(trips), {"x": normal(3, 5), "k": 1e-3 * normal(1, 5)})
    assert kinds(counted(trips)) == ["graph.loop"]


def test_few_iterations_have_no_loop() -> None:
    assert kinds(counted(3)) == []


def test_a_symbolic_number_of_iterations() -> None:
    feeds = [{"x": normal(3, 5), "k": normal(1, 5), "z": np.zeros(n, np.float32)} for n in (1, 2, 37)]
    agree(counted("steps"), *feeds)


@pytest.mark.parametrize("collects", [True, False])
def test_a_number_of_iterations_that_is_an_input(collects: bool) -> None:
    feeds = [{"x": normal(3, 5), "k": normal(1, 5), "m": np.asarray(n)} for n in (0, 1, 2, 101, -4)]
    wanted = None
    if collects:  # onnxruntime does not collect nothing of unknown shape
        feeds = feeds[1:4]
    agree(counted("input", collects), *feeds, wanted=wanted)


def test_more_iterations_than_there_is_memory_for() -> None:
    compiled = mlc.compile(counted("input"))
    feeds = {"x": normal(3, 5), "k": normal(1, 5), "m": np.asarray(4096)}
    assert compiled.run(feeds)["ys"].shape == (4096, 3, 5)
    with pytest.raises(RunError, match=r"Loop 'Loop.last' needs more than the 4096 iterations"):
        compiled.run(feeds | {"m": np.asarray(4097)})
    assert compiled.run(feeds | {"m": np.asarray(2)})["ys"].shape == (2, 3, 5)


def newton(most: bool = False) -> ModelProto:
    """Square roots by Newton's method, until no element changes by more than 1e-6 of itself."""
    step = body(
        [
            node("Div", "a s", "q"),
            node("Add", "s q", "sum"),
            node("Mul", "sum half", "n"),
            node("Sub", "n s", "e"),
            node("Abs", "e", "ae"),
            node("ReduceMax", "ae", "worst", keepdims=0),
            node("Greater", "worst eps", "d"),
            node("ReduceSum", "n", "y", keepdims=0),
        ],
        {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, [6])},
        {"d": (BOOL, []), "n": (FLOAT, [6]), "y": (FLOAT, [])},
        {"half": np.float32(0.5), "eps": np.float32(1e-5)},
    )
    count = "most" if most else "_"
    outputs = {"root": (FLOAT, [6]), "sums": (FLOAT, None)}
    nodes = [node("Loop", f"{count} go a", "root sums", body=step)]
    weights = {"go": np.bool_(True)} | ({"most": np.int64(5)} if most else {})
    return model(nodes, {"a": (FLOAT, [6])}, outputs, weights)


@pytest.mark.parametrize("most", [False, True])
def test_newton_iterates_until_nothing_changes(most: bool) -> None:
    feeds = [{"a": np.abs(normal(6)) * scale + 0.5} for scale in (1, 1, 1000)]
    agree(newton(most), *feeds)
    compiled = mlc.compile(newton())
    root, sums = compiled(feeds[2]["a"])
    np.testing.assert_allclose(root, np.sqrt(feeds[2]["a"].astype(np.float64)), rtol=1e-6)
    assert len(sums) != len(compiled(feeds[0]["a"])[1])


def test_a_condition_that_is_false_before_the_first_iteration() -> None:
    nodes = [node("Loop", "m go x", "last", body=logistic(collects=False))]
    inputs = {"x": (FLOAT, [3, 5]), "k": (FLOAT, [1, 5]), "go": (BOOL, [])}
    proto = model(nodes, inputs, {"last": (FLOAT, [3, 5])}, {"m": np.int64(30)})
    agree(proto, *({"x": normal(3, 5), "k": normal(1, 5), "go": np.asarray(go)} for go in (False, True)))


def test_states_that_are_swapped() -> None:
    step = body(
        [node("Identity", "c", "d"), node("Add", "a one", "n"), node("Identity", "b", "o"), node("Identity", "k", "p")],
        {"i": (INT64, []), "c": (BOOL, []), "a": (FLOAT, [4]), "b": (FLOAT, [4]), "e": (FLOAT, [4])},
        {"d": (BOOL, []), "o": (FLOAT, [4]), "n": (FLOAT, [4]), "p": (FLOAT, [4]), "e": (FLOAT, [4])},
        {"one": np.float32(1)},
    )
    nodes = [node("Loop", "m _ x y x", "u v w es", body=step)]
    inputs = {n: (FLOAT, [4]) for n in "xyk"} | {"m": (INT64, [])}
    proto = model(nodes, inputs, {n: (FLOAT, [4]) for n in "uvw"} | {"es": (FLOAT, None)})
    agree(proto, *({"x": normal(4), "y": normal(4), "k": normal(4), "m": np.asarray(m)} for m in (1, 2, 5)))


def test_a_loop_without_states() -> None:
    step = body(
        [node("Gather", "x i", "row"), node("Exp", "row", "y"), node("Identity", "c", "d")],
        {"i": (INT64, []), "c": (BOOL, [])},
        {"d": (BOOL, []), "y": (FLOAT, [7])},
    )
    nodes = [node("Shape", "x", "sx", end=1), node("Squeeze", "sx", "m"), node("Loop", "m _", "ys", body=step)]
    agree(
        model(nodes, {"x": (FLOAT, ["rows", 7])}, {"ys": (FLOAT, None)}),
        *({"x": normal(n, 7)} for n in (1, 6, 30)),
    )


def nested(inner_end: str) -> ModelProto:
    """For each of 20 rows, a state is multiplied by the row as often as the row number, or as a condition says."""
    inner = body(
        [node("Mul", "t row", "u"), node("Add", "u bias", "v"), node("ReduceMax", "v", "big", keepdims=0)]
        + [node("Less", "big top", "less")],
        {"j": (INT64, []), "jc": (BOOL, []), "t": (FLOAT, [7])},
        {"less": (BOOL, []), "v": (FLOAT, [7])},
        {"top": np.float32(5)},
    )
    outer = body(
        [node("Gather", "x i", "row"), node("Loop", f"{inner_end} c s", "n", body=inner), node("Identity", "c", "d")]
        + [node("Mul", "n small", "m"), node("ReduceSum", "m", "y", keepdims=0)],
        {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, [7])},
        {"d": (BOOL, []), "m": (FLOAT, [7]), "y": (FLOAT, [])},
        {"small": np.float32(0.5)},
    )
    nodes = [node("Loop", "count _ start", "last ys", body=outer)]
    weights = {"count": np.int64(20), "bias": np.abs(normal(7)), "top": np.float32(5)}
    inputs = {"x": (FLOAT, [20, 7]), "start": (FLOAT, [7]), "k": (INT64, [])}
    return model(nodes, inputs, {"last": (FLOAT, [7]), "ys": (FLOAT, None)}, weights)


@pytest.mark.parametrize("inner_end", ["i", "k", "_"])
def test_a_loop_in_a_loop(inner_end: str) -> None:
    feeds = [{"x": 1 + 0.1 * np.abs(normal(20, 7)), "start": normal(7), "k": np.asarray(k)} for k in (0, 3, 9)]
    agree(nested(inner_end), *feeds)


def test_greedy_decoding_into_a_buffer() -> None:
    """Each iteration attends to the keys so far, writes its own to its row of the buffer, and ends at a token."""
    size, words, most = 8, 11, 24
    step = body(
        [
            node("Gather", "embedding token", "e"),  # [1, H]
            node("ScatterElements", "keys at e", "grown", axis=0),
            node("MatMul", "e turned", "q"),
            node("Transpose", "grown", "kt", perm=[1, 0]),
            node("MatMul", "q kt", "scores"),  # [1, most]
            node("LessOrEqual", "positions i", "seen"),
            node("Where", "seen scores low", "masked"),
            node("Softmax", "masked", "p"),
            node("MatMul", "p grown", "context"),
            node("MatMul", "context out", "logits"),
            node("ArgMax", "logits", "next", axis=1, keepdims=0),
            node("Equal", "next end", "ended"),
            node("Not", "ended", "more"),
            node("Squeeze", "more", "d"),
            node("Identity", "next", "y"),
        ],
        {"i": (INT64, []), "c": (BOOL, []), "token": (INT64, [1]), "keys": (FLOAT, [most, size])},
        {"d": (BOOL, []), "next": (INT64, [1]), "grown": (FLOAT, [most, size]), "y": (INT64, [1])},
    )
    # the row of the buffer that an iteration writes is its number, in each column
    step.node.insert(1, node("Expand", "i row", "at"))
    weights = {
        "embedding": normal(words, size),
        "turned": normal(size, size),
        "out": normal(size, words),
        "positions": np.arange(most)[None],
        "low": np.float32(-1e9),
        "row": np.array([1, size]),
        "end": np.int64(3),
        "most": np.int64(most),
        "none": np.zeros((most, size), np.float32),
    }
    nodes = [node("Loop", "most _ first none", "token keys words", body=step)]
    outputs = {"token": (INT64, [1]), "keys": (FLOAT, [most, size]), "words": (INT64, None)}
    agree(model(nodes, {"first": (INT64, [1])}, outputs, weights), *({"first": np.array([n])} for n in range(words)))


def table(count: str, *before: object) -> ModelProto:
    """y[i, j] = x + i + j; each iteration of the outer loop collects ``count`` rows of the inner."""
    j, i = ({name: (INT64, []), "c": (BOOL, [])} for name in "ji")
    ended = {"d": (BOOL, [])}
    inner = body([node("Add", "x j", "z"), node("Identity", "c", "d")], j, ended | {"z": (INT64, [2])})
    nodes = [*before, node("Loop", f"{count} _", "rows", body=inner), node("Add", "rows i", "row")]
    outer = body([*nodes, node("Identity", "c", "d")], i, ended | {"row": (INT64, None)})  # type: ignore[list-item]
    inputs = {"n": (INT64, []), "m": (INT64, []), "x": (INT64, [2])}
    return model([node("Loop", "n _", "y", body=outer)], inputs, {"y": (INT64, None)})


def test_what_is_collected_in_a_loop_and_again_round_it() -> None:
    counts = ((3, 4), (1, 7), (2, 0))
    agree(table("m"), *({"n": np.array(n), "m": np.array(m), "x": np.array([10, 20])} for n, m in counts))


def test_iterations_that_may_collect_different_sizes_are_refused() -> None:
    with pytest.raises(mlc.MlcError, match="Loop.y.*of a size that each iteration computes"):
        mlc.compile(table("k", node("Add", "m i", "k")))


def test_states_that_are_passed_on() -> None:
    """TensorFlow's while loops carry weights (w), inputs (k) and what they return (r) through each iteration."""
    passed = {"w": (FLOAT, [5, 5]), "k": (FLOAT, [1, 5]), "r": (FLOAT, [3, 5])}
    states = {"i": (INT64, []), "c": (BOOL, []), "s": (FLOAT, [3, 5]), **passed}
    nodes = [node("MatMul", "s w", "p"), node("Mul", "p k", "q"), node("Add", "q r", "a"), node("Tanh", "a", "n")]
    nodes += [node("Identity", name, f"{name}_") for name in ("c", "w", "k", "r")]
    kept = {"w_": (FLOAT, [5, 5]), "k_": (FLOAT, [1, 5]), "r_": (FLOAT, [3, 5])}
    inner = body(nodes, states, {"c_": (BOOL, []), "n": (FLOAT, [3, 5]), **kept})
    last = [node("Loop", "m _ x v k x", "s1 w1 k1 r1", body=inner), node("Mul", "s1 k1", "y")]
    inputs = {"x": (FLOAT, [3, 5]), "k": (FLOAT, [1, 5]), "m": (INT64, [])}
    outputs = {"y": (FLOAT, [3, 5]), "r1": (FLOAT, [3, 5]), "w1": (FLOAT, [5, 5])}
    feeds = [{"x": normal(3, 5), "k": normal(1, 5), "m": np.array(count)} for count in (0, 1, 9)]
    agree(model(last, inputs, outputs, {"v": 0.3 * normal(5, 5)}), *feeds)
