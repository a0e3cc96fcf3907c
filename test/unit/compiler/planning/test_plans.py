"""Plans of functions: what ranks compute and send by them, memory, plans that are edited, and known partitions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from benchmarks.plans import Size, block, block_types, spec
from mlc import P, comm, optim
from mlc.comm.link import Link
from mlc.dialects.comm import CommOp
from mlc.dialects.semantics.interpreter import main_of
from mlc.errors import InputError
from mlc.passes.distribute.rules.cost import bytes_of
from mlc.planning import Auto, Cluster, Level, Plan
from mlc.planning.search import Search
from mlc.planning.written import written

FAST = Cluster((Level(0, Link(1e-9, 1e-12)),), 1e9, 1e9)
"""Links that cost little beside computing, so that plans divide small programs."""


def draw(*shape: int) -> np.ndarray[Any, Any]:
    return (np.random.default_rng().normal(size=shape) / 4).astype("float32")


ADAM = optim.adam(1e-2)


def step(w: Any, state: Any, x: Any, y: Any) -> Any:
    def loss(w: Any) -> Any:
        return mnp.mean((mnp.tanh(x @ w["a"] + w["c"]) @ w["b"] - y) ** 2)

    value, gradient = mlc.value_and_grad(loss)(w)
    changes, state = ADAM.update(gradient, state, w)
    return value, optim.apply_updates(w, changes), state


def arguments() -> tuple[Any, ...]:
    w = {"a": draw(16, 64), "b": draw(64, 16), "c": draw(64)}
    return w, mlc.jit(ADAM.init)(w), draw(32, 16), draw(32, 16)


def close(found: Any, wanted: Any) -> None:
    mlc.tree_map(lambda a, b: np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-3, atol=1e-5),
                 found, wanted)  # fmt: skip


def sent(module: Any) -> float:
    """The bytes that a rank sends in the collectives of its program."""
    total = 0.0
    for op in main_of(module).body.block.ops:
        if isinstance(op, CommOp) and op.operands:
            ranks = op.groups.size  # type: ignore[attr-defined]
            shares = {"comm.all_reduce": 2 * (ranks - 1) / ranks, "comm.reduce_scatter": (ranks - 1) / ranks,
                      "comm.all_gather": ranks - 1, "comm.all_to_all": (ranks - 1) / ranks}  # fmt: skip
            total += shares[op.name] * bytes_of(op.operands[0])
    return total


@pytest.mark.parametrize("axes", [{"data": 4}, {"data": 2, "model": 2}, {"a": 2, "b": 2, "c": 2}])
def test_ranks_compute_the_step_and_send_the_bytes_of_the_plan(axes: dict[str, int]) -> None:
    given = arguments()
    divided = mlc.jit(step, mesh=mlc.Mesh(**axes), shardings=Auto(cluster=FAST), results="auto")
    close(divided.simulate(*given), mlc.jit(step)(*given))
    said = float(re.findall(r"a rank sends ([\d,]+)", divided.plan(*given))[0].replace(",", ""))
    assert said > 0 and sent(divided._of(given, {})[0]._lowered[0]) == said


def test_ranks_compile_a_plan_and_run_it_twice() -> None:
    """Weights in parts that are held whole: parts of the first call are arguments of the second."""
    w, x = [draw(16, 16) for _ in range(3)], draw(512, 16)
    auto = Auto(cluster=FAST, fixed={"w": P("data"), "x": P("data")})
    divided = mlc.jit(gradients, mesh=mlc.Mesh(data=2), shardings=auto, results="auto")
    assert "held" in divided.plan(w, x)
    one = mlc.jit(gradients)
    for found in comm.in_threads(2, lambda rank: [each.whole() for each in divided(divided(w, x), x)]):
        close(found, one(one(w, x), x))


def test_auto_takes_the_rates_of_the_target_and_keeps_results_whole() -> None:
    given = arguments()
    divided = mlc.jit(step, mesh=mlc.Mesh(data=2), shardings="auto")
    close(divided.simulate(*given), mlc.jit(step)(*given))
    assert "result 1 | data: whole" in divided.plan(*given)


def test_a_plan_is_an_input_too() -> None:
    given, mesh = arguments(), mlc.Mesh(data=2, model=2)
    searched = mlc.jit(step, mesh=mesh, shardings=Auto(cluster=FAST), results="auto")
    text = searched.plan(*given)
    taken = mlc.jit(step, mesh=mesh, shardings=Plan(text), results="auto")
    assert taken.ir("graph", *given) == searched.ir("graph", *given)
    again = mlc.jit(step, mesh=mesh, shardings=Auto(cluster=FAST, given=text), results="auto")
    strip = lambda lines: [line.partition("#")[0] for line in lines.splitlines() if line[0] != "#"]  # noqa: E731
    assert strip(again.plan(*given)) == strip(text)


def test_an_edited_plan_computes_the_same_and_costs_what_it_costs() -> None:
    def layer(x: Any, up: Any, down: Any) -> Any:
        return mnp.tanh(x @ up) @ down

    given, mesh = (draw(8, 6), draw(6, 8), draw(8, 6)), mlc.Mesh(model=2)
    lines = (
        "argument 1 | model: split 1\noperator 0 graph.contract | model: whole, split 1 -> split 1  # columns\n"
        "operator 2 graph.contract | model: split 1, split 0 -> partial add\n"
    )
    found = mlc.jit(layer, mesh=mesh, shardings=Auto(cluster=FAST, given=lines)).search(*given)
    text = written(found)
    assert found.usage.sent == 2 * 8 * 6 * 4 / 2 and "down 8x6xf32 | model: split 0" in text
    divided = mlc.jit(layer, mesh=mesh, shardings=Plan(text))
    close(divided.simulate(*given), mlc.jit(layer)(*given))
    assert "comm.all_reduce" in divided.ir("graph", *given)
    alone = mlc.jit(layer, mesh=mesh, shardings=Plan(lines))  # the rest follows by propagation
    close(alone.simulate(*given), mlc.jit(layer)(*given))


@pytest.mark.parametrize(
    "edit, message",
    [
        (("split", "split x"), "Line 5 of the plan cannot be read"),
        (("graph.contract", "graph.reduce"), "the operator is graph.contract"),
        (("mesh data=2", "mesh data=4"), "The plan is for the mesh"),
        (("operator 0 ", "operator 99 "), "the program has 3 operators"),
        (("argument 2 ", "argument 9 "), "this one has 3"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused_by_its_line(edit: tuple[str, str], message: str) -> None:
    def layer(x: Any, up: Any, down: Any) -> Any:
        return mnp.tanh(x @ up) @ down

    given, mesh = (draw(8, 6), draw(6, 8), draw(8, 6)), mlc.Mesh(data=2)
    text = mlc.jit(layer, mesh=mesh, shardings=Auto(cluster=FAST)).plan(*given)
    with pytest.raises(InputError, match=re.escape(message)):
        mlc.jit(layer, mesh=mesh, shardings=Plan(text.replace(*edit))).simulate(*given)


def test_what_is_no_plan_is_refused() -> None:
    with pytest.raises(InputError, match="shardings are 'automatic'"):
        mlc.jit(step, mesh=mlc.Mesh(data=2), shardings="automatic")
    with pytest.raises(InputError, match="results are 'auto' without"):
        mlc.jit(step, mesh=mlc.Mesh(data=2), results="auto")


def test_memory_limits_what_a_rank_holds() -> None:
    def layer(x: Any, up: Any, down: Any) -> Any:
        return mnp.tanh(x @ up) @ down

    def search(memory: float | None) -> Search:
        how = Auto(memory, FAST, {"x": P("data")})
        return mlc.jit(layer, mesh=mlc.Mesh(data=4), shardings=how, results=P("data")).search(*given)  # type: ignore

    given = spec(512, 64), spec(64, 256), spec(256, 64)
    free = search(None)
    limit = 0.9 * free.usage.peak
    tight = search(limit)
    assert tight.usage.peak <= limit < free.usage.peak and tight.solution.gap <= 0.01
    assert tight.solution.cost >= free.solution.cost and tight.usage.sent > free.usage.sent
    with pytest.raises(InputError, match="fits in 1,000 bytes a rank; the least needs"):
        search(1000)


def gradients(w: Any, x: Any) -> Any:
    def loss(w: Any) -> Any:
        return mnp.mean(mnp.tanh(mnp.tanh(x @ w[0]) @ w[1]) @ w[2])

    return [a - 0.1 * g for a, g in zip(w, mlc.grad(loss)(w), strict=True)]


WEIGHTS = [spec(256, 256)] * 3
SIZE = 3 * 256 * 256 * 4


@pytest.mark.parametrize("ranks", [2, 8])
def test_data_parallel_gradients_take_one_all_reduce_of_their_bytes(ranks: int) -> None:
    fixed = {"x": P("data"), "w": P()}
    auto = Auto(cluster=FAST, fixed=fixed)
    found = mlc.jit(gradients, mesh=mlc.Mesh(data=ranks), shardings=auto, results="auto").search(WEIGHTS, spec(64, 256))
    assert found.usage.sent <= 1.01 * 2 * (ranks - 1) / ranks * SIZE


def test_zero_3_takes_three_times_a_scatter() -> None:
    """Gathered forward and backward, gradients scattered (Rajbhandari et al. 2020)."""
    ranks = 8

    def search(memory: float | None) -> Search:
        how = Auto(memory, FAST, {"x": P("data"), "w": P("data")})
        found = mlc.jit(gradients, mesh=mlc.Mesh(data=ranks), shardings=how, results="auto")
        return found.search(WEIGHTS, spec(4096, 256))  # type: ignore[no-any-return]

    held = search(None)
    assert held.usage.sent <= 1.01 * 2 * (ranks - 1) / ranks * SIZE  # gathered once, and held
    found = search(0.85 * held.usage.peak)
    assert held.usage.sent < found.usage.sent <= 1.01 * 3 * (ranks - 1) / ranks * SIZE
    w, x = [draw(256, 256) for _ in range(3)], draw(4096, 256)
    ran = mlc.jit(gradients, mesh=mlc.Mesh(data=ranks), shardings=Plan(written(found)), results="auto")
    assert sent(ran._of((w, x), {})[0]._lowered[0]) == found.usage.sent
    close(ran.simulate(w, x), mlc.jit(gradients)(w, x))


def test_megatron_divides_a_block_of_gpt_2() -> None:
    """Two all-reduces forward and two backward of the hidden values (Shoeybi et al. 2019)."""
    size = Size(hidden=4096, heads=32, batch=1, tokens=1024)

    def training(x: Any, w: Any, dy: Any) -> Any:
        def f(x: Any, w: Any) -> Any:
            y = block(x, w, size)
            return mnp.sum(y * dy), y

        (_, y), (dx, dw) = mlc.value_and_grad(f, argnums=(0, 1), has_aux=True)(x, w)
        return y, dx, dw

    links = Cluster((Level(0, Link(1e-6, 1 / 200e9)),), 312e12, 1e18)
    auto = Auto(cluster=links, fixed={"x": P(), "dy": P()})
    divided = mlc.jit(training, mesh=mlc.Mesh(model=8), shardings=auto, results="auto")
    x = spec(1, 1024, 4096)
    found = divided.search(x, block_types(size), x)
    assert found.usage.sent == 4 * 2 * 7 / 8 * 1024 * 4096 * 4 and found.solution.gap <= 0.01
    text = written(found)
    for name, dim in {"q": 1, "k": 1, "v": 1, "o": 0, "up": 1, "down": 0}.items():
        assert re.search(rf"w\.{name} \S+ \| model: split {dim} ", text), name


def test_the_gradient_of_a_lookup_is_summed_before_it_is_divided() -> None:
    """A scatter of parts of a sequence is a partial sum of the whole table: divided before it is summed, rows of other
    parts of the table would be added (the fault of openxla/xla issue 42481)."""
    table, words = draw(16, 4), np.random.default_rng().integers(0, 16, (2, 8)).astype("int32")

    def gradient(table: Any, words: Any) -> Any:
        return mlc.grad(lambda t: mnp.sum(t[words] ** 2))(table)

    wanted = np.asarray(mlc.jit(gradient)(table, words))
    mesh = mlc.Mesh(data=2, model=2)
    fixed = {"table": P("model"), "words": P("data", "model")}
    for shardings in (fixed, Auto(cluster=FAST, fixed=fixed), Auto(cluster=FAST)):
        divided = mlc.jit(gradient, mesh=mesh, shardings=shardings, results=P("model"))
        close(divided.simulate(table, words), wanted)


def test_partial_sums_are_reduced_before_what_is_not_linear() -> None:
    x, w = draw(4, 8), draw(8, 4)
    lines = "operator 0 graph.contract | model: split 1, split 0 -> partial add\n"
    for f in (lambda x, w: mnp.tanh(x @ w), lambda x, w: mnp.reshape(x @ w, (16,)) ** 2):
        divided = mlc.jit(f, mesh=mlc.Mesh(model=2), shardings=Plan(lines))
        close(divided.simulate(x, w), mlc.jit(f)(x, w))
        assert re.search(r"MOVED .*partial add → ", divided.plan(x, w))
    wrong = lines + "operator 1 graph.map | model: partial add -> partial add\n"
    with pytest.raises(InputError, match="has no strategy with these states"):
        mlc.jit(lambda x, w: mnp.tanh(x @ w), mesh=mlc.Mesh(model=2), shardings=Auto(given=wrong)).search(x, w)


def test_equal_layers_have_one_choice_which_costs_no_more() -> None:
    def layers(w: Any, x: Any) -> Any:
        for a, b in w:
            x = x + mnp.tanh(x @ a) @ b
        return x

    w = [(spec(64, 128), spec(128, 64))] * 6
    found = mlc.jit(layers, mesh=mlc.Mesh(model=2), shardings=Auto(cluster=FAST)).search(w, spec(1, 64))
    graph = found.building.graph
    assert len(graph.ops) > 24 - 1 and len({node.kind for node in graph.nodes}) < 20
