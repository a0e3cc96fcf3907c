"""Pipelines beside one rank: schedules, losses and gradients, on simulated ranks and ranks that are threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.comm.schedules import NAMES, Schedule
from mlc.errors import InputError

LAYERS, ROWS, WIDTH = 8, 16, 6
P = mlc.P


def draw(*shape: int) -> np.ndarray[Any, Any]:
    return (np.random.default_rng().normal(size=shape) / 2).astype("float32")


def layer(w: Any, x: Any) -> Any:
    return x + mnp.tanh(x @ w["weight"] + w["bias"])


def loss(y: Any, t: Any) -> Any:
    return mnp.mean((y - t) ** 2)


def chain(w: Any, x: Any) -> Any:
    return mlc.scan(lambda x, w: (layer(w, x), None), x, w)[0]


def whole(w: Any, x: Any, t: Any) -> Any:
    return mlc.value_and_grad(lambda w: loss(chain(w, x), t))(w)


def weights() -> dict[str, Any]:
    return {"weight": draw(LAYERS, WIDTH, WIDTH), "bias": draw(LAYERS, WIDTH)}


def close(found: Any, wanted: Any) -> None:
    mlc.tree_map(
        lambda a, b: np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4, atol=1e-5), found, wanted
    )


@pytest.mark.parametrize("name", NAMES[:2])
def test_schedules(name: str) -> None:
    """Each step once, after what it reads; the bubble of the literature; 1F1B keeps as many inputs as stages."""
    for stages in range(1, 6):
        for micro in (1, 2, 5, 8):
            found = Schedule.of(name, stages, micro)
            at = {(s, step): t for t, tick in enumerate(found.ticks) for s, step in enumerate(tick) if step}
            assert len(at) == 2 * stages * micro
            for (s, (kind, k)), t in at.items():
                before = (s - 1, ("F", k)) if kind == "F" else (s + 1, ("B", k)) if s < stages - 1 else (s, ("F", k))
                assert before[0] < 0 or at[before] < t
            assert found.bubble == pytest.approx((stages - 1) / (micro + stages - 1))
            assert found.kept <= (micro if name == "gpipe" else min(stages, micro))


def test_a_schedule_as_text() -> None:
    assert Schedule.of("1f1b", 3, 4).text().splitlines() == [
        "3 stages, 4 micro-batches, 1f1b: bubble 33.3% of 12 ticks, inputs of 3 micro-batches kept",
        "  stage 0  F0 F1 F2 .  .  B0 F3 B1 .  B2 .  B3",
        "  stage 1  .  F0 F1 .  B0 F2 B1 F3 B2 .  B3 .",
        "  stage 2  .  .  F0 B0 F1 B1 F2 B2 F3 B3 .  .",
    ]


@pytest.mark.parametrize("name", NAMES[:2])
@pytest.mark.parametrize("stages, micro", [(1, 4), (2, 4), (4, 8), (4, 2)])
def test_losses_and_gradients_are_those_of_one_rank(name: str, stages: int, micro: int) -> None:
    w, x, t = weights(), draw(ROWS, WIDTH), draw(ROWS, WIDTH)
    pipe = mlc.pipeline(layer, loss, stages, microbatches=micro, schedule=name)
    on_all = lambda v: np.stack([v] * stages)  # noqa: E731
    parts = mlc.tree_map(lambda v: np.stack(np.split(v, stages)), w)
    value, gradients = comm.simulate(pipe, stages)(parts, on_all(x), on_all(t))
    joined = mlc.tree_map(lambda g: np.asarray(g).reshape(-1, *g.shape[2:]), gradients)
    wanted = whole(*mlc.tree_map(mnp.asarray, (w, x, t)))
    close((np.asarray(value)[stages - 1], joined), wanted)
    ys = comm.simulate(pipe.forward, stages)(parts, on_all(x))
    close(np.asarray(ys)[0], chain(mlc.tree_map(mnp.asarray, w), mnp.asarray(x)))


@pytest.mark.parametrize("stages, chunks", [(2, 2), (3, 2), (4, 3), (1, 2)])
def test_an_interleaved_schedule_has_the_bubble_of_the_literature(stages: int, chunks: int) -> None:
    """(p-1)/(v m + p - 1) of v chunks: each step once, after what it reads."""
    for micro in (stages, 2 * stages, 4 * stages):
        found = Schedule.of("interleaved", stages, micro, chunks)
        at = {(s, step): t for t, tick in enumerate(found.ticks) for s, step in enumerate(tick) if step}
        assert len(at) == 2 * stages * micro * chunks
        for (s, (kind, n)), t in at.items():
            place, k = n // micro * stages + s, n % micro  # in the whole chain
            neighbour = place - 1 if kind == "F" else min(place + 1, stages * chunks - 1)
            read = "F" if kind == "F" or place == neighbour else "B"
            assert neighbour < 0 or at[neighbour % stages, (read, neighbour // stages * micro + k)] < t
        assert found.bubble == pytest.approx((stages - 1) / (chunks * micro + stages - 1))


def test_an_interleaved_schedule_as_text() -> None:
    assert Schedule.of("interleaved", 2, 2, 2).text().splitlines() == [
        "2 stages, 2 micro-batches, interleaved: bubble 20.0% of 10 ticks, inputs of 2 micro-batches kept a chunk",
        "  stage 0  F0.0 F1.0 F0.1 F1.1 .    B0.1 .    B1.1 B0.0 B1.0",
        "  stage 1  .    F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0 .",
    ]


CHAINS = [(mlc.Mesh(stage=2), 2, 4), (mlc.Mesh(stage=4), 2, 4), (mlc.Mesh(data=2, stage=2), 1, 4),
          (mlc.Mesh(stage=2, data=2), 2, 2), (mlc.Mesh(data=2, stage=1), 1, 2)]  # fmt: skip


def dealt(w: Any, mesh: mlc.Mesh, chunks: int, rank: int) -> Any:
    """The layers of a rank: of each chunk of all ranks those of its stage."""
    stages, here = mesh.axes["stage"], mesh.positions(rank)["stage"]
    return mlc.tree_map(lambda v: np.concatenate(np.split(v, stages * chunks)[here::stages]), w)


@pytest.mark.parametrize("mesh, chunks, micro", CHAINS)
def test_chains_of_parts_of_the_batch_and_chunks_of_layers_are_those_of_one_rank(
    mesh: mlc.Mesh, chunks: int, micro: int
) -> None:
    w, x, t = weights(), draw(ROWS, WIDTH), draw(ROWS, WIDTH)
    pipe = mlc.pipeline(layer, loss, mesh, microbatches=micro, schedule="interleaved", chunks=chunks)
    on_all = lambda v: np.stack([v] * mesh.ranks)  # noqa: E731
    stacked = lambda tree: mlc.tree_map(lambda *each: np.stack(each), *tree)  # noqa: E731
    parts = stacked([dealt(w, mesh, chunks, rank) for rank in range(mesh.ranks)])
    value, gradients = comm.simulate(pipe, mesh.ranks)(parts, on_all(x), on_all(t))
    wanted, of_layers = whole(*mlc.tree_map(mnp.asarray, (w, x, t)))
    of_layers = mlc.tree_map(np.asarray, of_layers)
    close(gradients, stacked([dealt(of_layers, mesh, chunks, rank) for rank in range(mesh.ranks)]))
    close(value, on_all(np.asarray(wanted)))
    ys = comm.simulate(pipe.forward, mesh.ranks)(parts, on_all(x))
    close(ys, on_all(np.asarray(chain(mlc.tree_map(mnp.asarray, w), mnp.asarray(x)))))


def test_ranks_train_by_it() -> None:
    """Threads of this process: each rank updates its layers, for two steps."""
    w, x, t = weights(), draw(ROWS, WIDTH), draw(ROWS, WIDTH)
    descend = lambda w, g: mlc.tree_map(lambda a, b: a - 0.1 * b, w, g)  # noqa: E731
    one, wanted = mlc.jit(whole), w
    for _ in range(2):
        value, gradients = one(wanted, x, t)
        wanted = descend(wanted, gradients)

    def run(rank: int) -> Any:
        step = mlc.jit(mlc.pipeline(layer, loss, 2, microbatches=4), wait=True)
        part = mlc.tree_map(lambda v: np.split(v, 2)[rank], w)
        for _ in range(2):
            value, gradients = step(part, x, t)
            part = descend(part, gradients)
        return value, part

    found = comm.in_threads(2, run)
    assert all(np.asarray(each) == pytest.approx(float(value), rel=1e-5) for each, _ in found)
    close(mlc.tree_map(lambda a, b: np.concatenate([a, b]), found[0][1], found[1][1]), wanted)


REFUSED = {
    "a schedule": (lambda: mlc.pipeline(layer, loss, 2, microbatches=4, schedule="2f2b"), "no schedule '2f2b'"),
    "no stage": (lambda: mlc.pipeline(layer, loss, 0, microbatches=4), "A pipeline cannot have 0 stages"),
    "ranks": (
        lambda: mlc.pipeline(layer, loss, 2, microbatches=4)(weights(), draw(8, 6), draw(8, 6)),
        "not fit 1 rank",
    ),
    "axes": (lambda: mlc.pipeline(layer, loss, mlc.Mesh(model=2), microbatches=4), "no mesh of a pipeline"),
    "chunks": (lambda: mlc.pipeline(layer, loss, 2, microbatches=4, chunks=2), "has no chunks"),
    "groups": (
        lambda: mlc.pipeline(layer, loss, 2, microbatches=3, schedule="interleaved", chunks=2),
        "no multiple of 2 stages",
    ),
    "rows": (lambda: mlc.pipeline(layer, loss, 1, microbatches=3)(weights(), draw(8, 6), draw(8, 6)), "no 3 equal"),
    "shapes": (
        lambda: mlc.pipeline(lambda w, x: x @ w, loss, 1, microbatches=2)(draw(1, 6, 3), draw(8, 6), draw(8, 6)),
        "A layer of a pipeline cannot change",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        make()


def test_an_index_by_the_number_of_the_rank_is_of_each_rank() -> None:
    table = mnp.asarray(np.array([3.0, 5.0], np.float32))
    found = comm.simulate(lambda x: x * table[comm.rank()], 2)(np.ones((2, 1), np.float32))
    assert np.asarray(found).ravel().tolist() == [3, 5]
