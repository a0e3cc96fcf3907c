"""Data of any kind as a stream of batches with the ends of epochs: arrays, loaders, data sets, iterators, functions.

What data are follows from what they can do, so no library of data is imported: a torch ``DataLoader`` and Grain's
loaders are iterables of batches, a data set of Hugging Face gives batches by ``iter(batch_size=)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.nn.naming import from_tensor
from mlc.train.data import ArrayData

BATCH = 32  # rows of a batch of arrays, where nothing says another number: that of Keras
ENDLESS = 2**31  # the length that a repeated data set of Grain has, and more


@dataclass(frozen=True)
class Item:
    """A batch, the number of its epoch from 0 on, and whether it is the last one of it."""

    epoch: int
    batch: Any
    is_last: bool


class Rows:
    """Batches of a data set of Hugging Face, or of what has its methods; in another order for each pass."""

    def __init__(self, data: Any, batch_size: int, seed: int | None) -> None:
        """``seed``: None keeps the order, and the rest that fills no batch."""
        is_plain = hasattr(data, "with_format") and (getattr(data, "format", None) or {}).get("type") is None
        self.data = data.with_format("numpy") if is_plain else data
        self.batch_size, self.seed, self.passes = batch_size, seed, count()
        if not is_streaming(data):
            rest = 0 if seed is not None else -1
            self.steps_per_epoch: int | None = len(data) // batch_size if rest == 0 else -(-len(data) // batch_size)
            if self.steps_per_epoch == 0:
                what = f"Batches of {batch_size} of {len(data)} elements: there would be none"
                raise InputError(what, hint="Give 1 to the length")

    def __iter__(self) -> Iterator[Any]:
        if self.seed is None:
            yield from self.data.iter(batch_size=self.batch_size)
            return
        shuffled = self.data.shuffle(seed=self.seed + next(self.passes))
        yield from shuffled.iter(batch_size=self.batch_size, drop_last_batch=True)


def is_streaming(data: Any) -> bool:
    """Whether data have no length."""
    return not hasattr(data, "__len__")


def _is_data_set(data: Any) -> bool:
    return callable(getattr(data, "iter", None)) and hasattr(data, "features")


def _are_arrays(data: Any) -> bool:
    """Whether data are arrays, one row for each element: one, a tuple or a dictionary of them."""
    leaves = list(data.values()) if isinstance(data, Mapping) else data if isinstance(data, tuple) else [data]
    return bool(leaves) and all(hasattr(each, "shape") and hasattr(each, "__getitem__") for each in leaves)


def source_of(data: Any, batch_size: int | None, seed: int | None) -> Any:
    """``ArrayData``, a function of the first step, or an iterable of batches. ``seed``: of the order of rows, which is
    kept where it is None.

    Raises:
        InputError: data of another kind, or a tuple of arrays, which is one batch, without a batch size.
    """
    if isinstance(data, ArrayData) or callable(data):
        return data
    if _is_data_set(data):
        if batch_size is None:
            what = f"Data of the class {type(data).__name__} are rows, not batches"
            raise InputError(what, hint="Give batch_size=32, or data.with_format('numpy').iter(batch_size=32)")
        return Rows(data, batch_size, seed)
    if _are_arrays(data) and (batch_size is not None or isinstance(data, tuple | Mapping)):
        return _of_arrays(data, batch_size, seed)
    if not isinstance(data, Iterable):
        hint = "Give ArrayData, an iterable of batches such as a torch DataLoader, or a function of a step"
        raise InputError(f"Data cannot be a {type(data).__name__}", hint=hint)
    return data


def _of_arrays(data: Any, batch_size: int | None, seed: int | None) -> ArrayData:
    if batch_size is None:
        raise InputError(
            f"A {type(data).__name__} of arrays is one batch, not the data of a run",
            hint="Give batch_size=32, train.ArrayData(arrays, batch_size), or [arrays]",
        )
    arrays = trees.tree_map(from_tensor, data)
    if seed is None:
        batch_size = max(1, min(batch_size, *(len(each) for each in trees.leaves(arrays)), batch_size))
    return ArrayData(arrays, batch_size, seed or 0, shuffle=seed is not None)


def steps_of(source: Any, steps_per_epoch: int | None) -> int | None:
    """How many batches an epoch has; None where only its end tells."""
    if steps_per_epoch is not None:
        if steps_per_epoch < 1:
            raise InputError(f"An epoch of {steps_per_epoch} steps is empty", hint="Give steps_per_epoch from 1 on")
        return steps_per_epoch
    found = getattr(source, "steps_per_epoch", None)
    if isinstance(found, int) or callable(source):
        return found
    try:
        return found if (found := len(source)) < ENDLESS else None
    except TypeError:
        return None


def stream(source: Any, start: int, steps_per_epoch: int | None) -> Iterator[Item]:
    """The batches from step ``start`` on. An iterable is read from its beginning, and again where it ends; so a resumed
    run goes on with the next batch. ``steps_per_epoch`` ends epochs elsewhere than where the data end."""
    if callable(source):
        return _counted(source(start), start, steps_of(source, steps_per_epoch))
    if steps_per_epoch is not None:
        return islice(_counted((item.batch for item in _repeated(source)), 0, steps_per_epoch), start, None)
    return islice(_repeated(source), start, None)


def _counted(batches: Iterator[Any], start: int, size: int | None) -> Iterator[Item]:
    """Batches whose epochs end after ``size`` of them; None: never."""
    for step, batch in enumerate(batches, start):
        yield Item(step // size, batch, (step + 1) % size == 0) if size else Item(0, batch, False)


def _repeated(data: Iterable[Any]) -> Iterator[Item]:
    for epoch in count():
        found = iter(data)
        try:
            batch = next(found)
        except StopIteration:
            return
        for after in found:
            yield Item(epoch, batch, False)
            batch = after
        yield Item(epoch, batch, True)


def once(data: Any, batch_size: int | None, steps: int | None) -> Iterator[Any]:
    """The batches of one pass, all rows in order; of data without end ``steps`` of them.

    Raises:
        InputError: data of another kind, or without end and without ``steps``.
    """
    source = source_of(data, batch_size or BATCH, None)
    if isinstance(source, ArrayData):
        return islice(source.once(), steps)
    if callable(source):
        count = steps if steps is not None else getattr(source, "steps_per_epoch", None)
        if count is None:
            raise InputError("A function of a step gives batches without end", hint="Give steps=, how many to take")
        return islice(source(0), count)
    return islice(iter(source), steps)
