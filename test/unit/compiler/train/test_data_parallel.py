"""Data-parallel training on ranks that are threads: the same bits as one process with the same shards."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlc import comm, nn, optim, train
from mlc.errors import InputError, RunError
from mlc.frontends.array import trees

Data = np.ndarray[Any, Any]
ROWS = 96


def rows() -> tuple[Data, Data]:
    x = np.random.default_rng(5).normal(size=(ROWS, 6)).astype(np.float32)
    return x, (x.sum(1) > 0).astype(np.int64)


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 16), nn.BatchNorm(16), nn.relu, nn.Dropout(0.2), nn.Linear(16, 2))


def plain() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 16), nn.relu, nn.Linear(16, 2))


def loss(model: Any, x: Any, labels: Any) -> Any:
    return nn.cross_entropy(model(x), labels)


def trained(model: Any, steps: int = 3, **options: Any) -> train.Trainer:
    data = train.ArrayData(rows(), batch_size=24)
    trainer = train.Trainer(model, optim.adam(1e-2), loss, **options)
    return trainer.fit(data, steps=steps, progress=False)


def on_ranks(ranks: int, model: Any, **options: Any) -> list[train.Trainer]:
    if ranks == 1:
        return [trained(model, **options)]
    return comm.in_threads(ranks, lambda rank: trained(model, **options), limit=120)


def state_of(trainer: train.Trainer) -> list[Data]:
    return [np.asarray(x) for x in trees.leaves(trainer.state)]


def test_the_same_bits_on_1_2_and_4_ranks() -> None:
    """With batch statistics and random numbers: both are those of a shard, whichever rank computes it."""
    model = network()
    one, *others = [each for ranks in (1, 2, 4) for each in on_ranks(ranks, model, shards=4)]
    assert len(others) == 6
    for other in others:
        assert other.history == one.history
        assert all(np.array_equal(a, b) for a, b in zip(state_of(other), state_of(one), strict=True))


def test_one_shard_a_rank_is_the_whole_batch_of_one_process() -> None:
    model = plain()
    one = trained(model)
    for other in on_ranks(2, model):
        assert np.allclose([m["loss"] for _, m in other.history], [m["loss"] for _, m in one.history], rtol=1e-5)
        assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(state_of(other), state_of(one), strict=True))


def test_the_state_begins_as_that_of_rank_0() -> None:
    models = [plain(), plain()]
    models[1][0].weight = models[1][0].weight * 3
    found = comm.in_threads(2, lambda rank: trained(models[rank]), limit=120)
    first, second = map(state_of, found)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_a_checkpoint_of_two_ranks_goes_on_in_one_process(tmp_path: Path) -> None:
    model = plain()

    def begin(rank: int) -> Any:
        data = train.ArrayData(rows(), batch_size=24)
        trainer = train.Trainer(model, optim.adam(1e-2), loss, shards=2)
        return trainer.fit(data, steps=2, checkpoints=tmp_path, progress=False)

    comm.in_threads(2, begin, limit=120)
    data = train.ArrayData(rows(), batch_size=24)
    rest = train.Trainer(model, optim.adam(1e-2), loss, shards=2).fit(data, 4, checkpoints=tmp_path, progress=False)
    assert [step for step, _ in rest.history] == [3, 4]
    whole = trained(model, steps=4, shards=2)
    assert all(np.array_equal(a, b) for a, b in zip(state_of(rest), state_of(whole), strict=True))


def test_a_loss_that_is_nan_on_one_rank_ends_all() -> None:
    def run(rank: int) -> str:
        x, labels = rows()
        x[ROWS // 2 * rank :] = np.nan if rank else x[0]
        trainer = train.Trainer(plain(), optim.sgd(0.1), loss)
        with pytest.raises(RunError) as error:
            trainer.take((x, labels))
        return str(error.value)

    assert all("Step 1 has loss nan" in text for text in comm.in_threads(2, run, limit=120))


def test_each_rank_reads_its_rows() -> None:
    data = train.ArrayData(rows(), batch_size=24)
    whole, parts = next(data(1)), [next(data.part(rank, 3)(1)) for rank in range(3)]
    assert np.array_equal(np.concatenate([x for x, _ in parts]), whole[0])
    assert len(parts[0][1]) == 8
    with pytest.raises(InputError, match="Batches of 24 elements for 5 ranks"):
        data.part(0, 5)


@pytest.mark.parametrize(
    "ranks, shards, message",
    [
        (1, 0, "0 shards cannot be on 1 ranks"),
        (2, 3, "Give a multiple of the 2 ranks"),
        (2, 6, "Give 1, 2, 4, … shards for each rank"),
    ],
)
def test_shards_that_do_not_fit_the_ranks(ranks: int, shards: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        comm.in_threads(ranks, lambda rank: train.Trainer(plain(), optim.sgd(0.1), loss, shards=shards), limit=20)


def test_rows_that_shards_do_not_divide() -> None:
    trainer = train.Trainer(plain(), optim.sgd(0.1), loss, shards=4)
    with pytest.raises(InputError, match=r"An array of shape \[6, 6\] in a batch, for 4 shards"):
        trainer.take((rows()[0][:6], rows()[1][:6]))


def test_small_gradients_are_summed_in_buckets() -> None:
    """Biases and small weights by one collective, into which kernels write; a large weight by its own, before that."""
    layers = nn.Linear(8, 16), nn.relu, nn.Linear(16, 16), nn.relu, nn.Linear(16, 1200), nn.Linear(1200, 2)
    model = nn.Sequential(*layers)

    def run(rank: int) -> str:
        step = train.Trainer(model, optim.sgd(0.1), lambda model, x, t: nn.cross_entropy(model(x), t))
        given = np.zeros((4, 8), np.float32), np.zeros(4, np.int64)
        return str(step._stateful.jitted.ir("plan", step.held, given)) if rank == 0 else ""

    text = comm.in_threads(2, run, limit=120)[0]
    sums = re.findall(r'rt.start "comm.all_reduce" \d+ : i64 to %\w+ : memref<([\dx]*)xf32>', text)
    assert sums[0] == "1200x16" and sums[1].isdigit() and len(sums) == 2, sums
