"""ZeRO on ranks that are threads: the updates of one process, parts, bytes, memory, checkpoints, refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlc import comm, nn, optim, train
from mlc.errors import InputError
from mlc.frontends.array import trees

Data = np.ndarray[Any, Any]
ROWS = 48


def rows() -> tuple[Data, Data]:
    x = np.random.default_rng(5).normal(size=(ROWS, 6)).astype(np.float32)
    return x, (x.sum(1) > 0).astype(np.int64)


def network() -> nn.Sequential:
    """Without a bias before the normalization: its gradient is 0, and Adam would scale the rounding errors in it."""
    return nn.Sequential(nn.Linear(6, 16, bias=False), nn.BatchNorm(16), nn.relu, nn.Linear(16, 3))


def loss(model: Any, x: Any, labels: Any) -> Any:
    return nn.cross_entropy(model(x), labels)


def trained(model: Any, optimizer: Any, steps: int = 3, **options: Any) -> train.Trainer:
    trainer = train.Trainer(model, optimizer, loss, **options)
    return trainer.fit(train.ArrayData(rows(), batch_size=24), steps=steps, progress=False)


def state_of(trainer: train.Trainer) -> list[Data]:
    return [np.asarray(x) for x in trees.leaves(trainer.state)]


OPTIMIZERS = {
    "adamw": optim.adamw(1e-2),
    "momentum": optim.sgd(0.1, momentum=0.9),
    "clipped": optim.chain(optim.clip_by_global_norm(0.01), optim.adam(1e-2)),
    "a schedule": optim.adamw(optim.one_cycle(1e-2, 10)),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("ranks", [2, 4])
def test_the_state_is_that_of_undivided_optimizers(name: str, ranks: int) -> None:
    model, optimizer, stage = network(), OPTIMIZERS[name], int(np.random.default_rng().integers(1, 4))

    def both(rank: int) -> Any:
        plain = trained(model, optimizer, shards=4)
        divided = trained(model, optimizer, shards=4, zero=stage)
        whole, held = trees.leaves(divided.state.optimizer), trees.leaves(divided.held.optimizer)
        sizes = sum(np.asarray(x).size for x in held), sum(np.asarray(x).size for x in whole)
        return state_of(plain), state_of(divided), plain.history, divided.history, sizes

    for plain, divided, history, other, (held, whole) in comm.in_threads(ranks, both, limit=120):
        assert all(np.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(plain, divided, strict=True))
        assert np.allclose([m["gradient_norm"] for _, m in history], [m["gradient_norm"] for _, m in other], rtol=1e-5)
        assert held < whole * (0.6 if ranks == 2 else 0.4) or whole <= 1


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_gradients_and_parameters_take_the_bytes_of_an_all_reduce(stage: int) -> None:
    """Reduce-scatter and all-gather: 2 (p-1)/p of the parameters that the ranks divide; in stage 3 again (p-1)/p of
    those that the derivative reads, which the first layer's are not."""
    model = nn.Sequential(nn.Linear(6, 200, bias=False), nn.Linear(200, 200, bias=False), nn.Linear(200, 4, bias=False))
    parameters = (6 * 200 + 200 * 200 + 200 * 4) * 4
    again = 200 * 200 * 4 // 2 if stage == 3 else 0

    def run(rank: int) -> int:
        data = next(train.ArrayData(rows(), batch_size=24).part(rank, 2)(0))
        trainer = train.Trainer(model, optim.adam(1e-2), loss, zero=stage)
        trainer.take(data)
        before = comm.current().sent  # type: ignore[attr-defined]
        trainer.take(data)
        return int(comm.current().sent - before)  # type: ignore[attr-defined]

    wanted = parameters + again
    assert all(wanted <= sent < 1.01 * wanted for sent in comm.in_threads(2, run, limit=120))


def test_stages_need_less_memory() -> None:
    """Gradients that are not kept, then parameters that are gathered one layer ahead: the arena of a step."""
    layers = [layer for _ in range(6) for layer in (nn.Linear(64, 64), nn.relu)]
    model, x, labels = nn.Sequential(nn.Linear(6, 64), *layers, nn.Linear(64, 3)), *rows()

    def run(rank: int) -> list[int]:
        arenas = []
        for stage in (1, 2, 3):
            trainer = train.Trainer(model, optim.adam(1e-2), loss, zero=stage)
            if rank:  # they create the trainer together
                continue
            text = trainer._stateful.jitted.ir("plan", trainer.held, (x[:8], labels[:8]))
            arenas.append(int(re.findall(r"arena = {bytes = (\d+)", text)[0]))
        sizes = [np.asarray(each).size for each in trees.leaves(trainer.held.parameters)]
        assert sum(sizes) < 0.51 * sum(np.asarray(each).size for each in trees.leaves(model))
        return arenas

    first, second, third = comm.in_threads(2, run, limit=120)[0]
    assert second < 0.7 * first and third < second


def plain_network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 16), nn.relu, nn.Linear(16, 24), nn.relu, nn.Linear(24, 3))


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_checkpoint_in_parts_goes_on_where_others_divide_it(ranks: int, tmp_path: Path) -> None:
    """Each rank computes its part of the batch, so the losses are those of one rank but for rounding."""
    model, stage = plain_network(), 3

    def run(steps: int, ranks: int) -> Any:
        def on_rank(rank: int) -> Any:
            data = train.ArrayData(rows(), batch_size=24)
            trainer = train.Trainer(model, optim.adamw(1e-2), loss, zero=stage)
            trainer.fit(data, steps, checkpoints=tmp_path, progress=False)
            return [m["loss"] for _, m in trainer.history], state_of(trainer)

        return comm.in_threads(ranks, on_rank, limit=120)

    before = run(2, 4)[0][0]
    after, state = run(4, ranks)[0]
    whole = trained(model, optim.adamw(1e-2), steps=4)
    np.testing.assert_allclose([*before, *after], [m["loss"] for _, m in whole.history], rtol=1e-5)
    assert all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(state, state_of(whole), strict=True))


def test_a_checkpoint_goes_on_on_any_number_of_ranks(tmp_path: Path) -> None:
    model = network()

    def run(steps: int) -> Any:
        def on_rank(rank: int) -> Any:
            data = train.ArrayData(rows(), batch_size=24)
            trainer = train.Trainer(model, optim.adam(1e-2), loss, shards=4, zero=1)
            return state_of(trainer.fit(data, steps, checkpoints=tmp_path, progress=False))

        return on_rank

    comm.in_threads(4, run(2), limit=120)
    for found in comm.in_threads(2, run(4), limit=120):
        wanted = state_of(trained(model, optim.adam(1e-2), steps=4, shards=4))
        assert all(np.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(found, wanted, strict=True))


REFUSED = {
    "norms of tensors": (optim.lamb(1e-2), "updates a part of a tensor otherwise than the whole"),
    "loss scaling": (optim.apply_if_finite(optim.adam(1e-2)), "asks whether all of them are finite"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_optimizers_of_whole_tensors_are_refused(name: str) -> None:
    optimizer, message = REFUSED[name]

    def run(rank: int) -> None:
        with pytest.raises(InputError, match=message):
            train.Trainer(network(), optimizer, loss, zero=1)

    comm.in_threads(2, run, limit=60)


def test_other_stages_are_refused() -> None:
    with pytest.raises(InputError, match="zero=4 is no stage"):
        train.Trainer(network(), optim.adam(1e-2), loss, zero=4)
