"""Batches: their order follows from the seed and the step; prefetch keeps it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from mlc.errors import InputError
from mlc.train import ArrayData, prefetched
from mlc.train.sources import source_of, stream


def test_an_epoch_has_each_element_once() -> None:
    data = ArrayData((np.arange(10), {"y": np.arange(10) * 2}), 3, seed=4)
    batches = list(islice(data(0), 6))
    for start in (0, 3):
        seen = np.concatenate([x for x, _ in batches[start : start + 3]])
        assert len(set(seen)) == 9 and data.steps_per_epoch == 3
    assert all((rest["y"] == 2 * x).all() for x, rest in batches)
    assert batches[0][0].tolist() != batches[3][0].tolist()


@pytest.mark.parametrize("start", [0, 2, 3, 7])
def test_batches_from_a_step_on(start: int) -> None:
    data = ArrayData(np.arange(10), 3, seed=1)
    expected, found = list(islice(data(0), 12))[start:], list(islice(data(start), 12 - start))
    np.testing.assert_array_equal(found, expected)


def test_without_shuffling() -> None:
    assert [x.tolist() for x in islice(ArrayData(np.arange(5), 2, shuffle=False)(1), 2)] == [[2, 3], [0, 1]]


def test_iterables_begin_again() -> None:
    found = list(islice(stream([1, 2, 3], 2, None), 4))
    assert [(each.epoch, each.batch, each.is_last) for each in found] == [
        (0, 3, True), (1, 1, False), (1, 2, False), (1, 3, True)
    ]  # fmt: skip
    assert [each.batch for each in stream(iter([1, 2, 3]), 1, None)] == [2, 3]


def test_prefetch() -> None:
    assert list(prefetched(iter(range(20)))) == list(range(20))

    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    items = prefetched(failing())
    assert next(items) == 1
    with pytest.raises(ValueError, match="no more"):
        next(items)


def test_the_thread_ends_with_the_loop() -> None:
    items = prefetched(iter(range(10**9)))
    assert next(items) == 0
    items.close()  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        if thread.name == "mlc-prefetch":
            thread.join(timeout=5)
            assert not thread.is_alive()


@pytest.mark.parametrize("make, says", [
    (lambda: ArrayData((np.arange(3), np.arange(4)), 2), "lengths"),
    (lambda: ArrayData(np.arange(3), 4), "Batches of 4 of 3"),
    (lambda: source_of(3, None, 0), "Data cannot be a int"),
])  # fmt: skip
def test_refused(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()
