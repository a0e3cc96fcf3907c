"""One call of ``fit``: steps and epochs until a limit, with what is called, validated and written between them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mlc.errors import InputError
from mlc.train.callbacks import Callback
from mlc.train.data import prefetched
from mlc.train.metrics.base import Metrics
from mlc.train.sources import Item, steps_of, stream

if TYPE_CHECKING:
    from mlc.train.trainer import Trainer

Values = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """How many steps or epochs were taken in all when a run ends, and how many steps an epoch has, where that is not
    what the data say."""

    steps: int | None
    epochs: int | None
    steps_per_epoch: int | None

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.epochs is None):
            given = "neither steps nor epochs" if self.steps is None else "both steps and epochs"
            raise InputError(f"fit was given {given}", hint="Give one: fit(data, 1000), or fit(data, epochs=10)")
        for what, limit in (("steps", self.steps), ("epochs", self.epochs)):
            if limit is not None and limit < 0:
                hint = "Give a number from 0 on"
                raise InputError(f"Training cannot go on until {limit} {what} were taken", hint=hint)

    def check(self, source: Any) -> None:
        """Raises: InputError: epochs of data that never end one."""
        if self.epochs is not None and callable(source) and steps_of(source, self.steps_per_epoch) is None:
            what = "A function of a step gives batches without end, so there are no epochs"
            raise InputError(what, hint="Give steps_per_epoch=, or steps")

    def total(self, source: Any) -> int | None:
        """How many steps there are in all, where that is known before."""
        size = steps_of(source, self.steps_per_epoch)
        return self.steps if self.epochs is None else None if size is None else size * self.epochs


@dataclass
class Run:
    """A run of a trainer. ``validate`` gives the values of a validation; ``save`` writes a checkpoint."""

    trainer: Trainer
    source: Any
    limits: Limits
    metrics: Metrics
    callbacks: Sequence[Callback]
    validate: Callable[[], Values] | None
    save: Callable[[bool], None]
    epoch: int | None = None
    sums: Values = field(default_factory=dict)
    count: int = 0

    def go(self) -> None:
        """Train until a limit or a callback ends the run."""
        first, self.trainer.should_stop = self.trainer.step, False
        items = prefetched(stream(self.source, first, self.limits.steps_per_epoch))
        self._each(lambda each: each.on_train_begin(self.trainer))
        try:
            self._steps(items)
        finally:
            items.close()  # type: ignore[attr-defined]
            self._each(lambda each: each.on_train_end(self.trainer))
        if self.limits.epochs and self.trainer.step == first and not self.trainer.should_stop:
            what = f"fit(epochs={self.limits.epochs}) took no step: so many epochs of these data were taken before"
            warnings.warn(f"{what}. epochs counts all of a trainer, as steps does", stacklevel=4)

    def _steps(self, items: Iterator[Item]) -> None:
        while self.limits.steps is None or self.trainer.step < self.limits.steps:
            if (item := self._next(items)) is None:
                return
            self._step(item)
            if self.trainer.should_stop:
                return
            if item.is_last and item.epoch + 1 == self.limits.epochs:
                return
        if self.epoch is not None and self.validate is not None:
            self._end_epoch()

    def _next(self, items: Iterator[Item]) -> Item | None:
        """The next batch; None where its epoch is one too many."""
        if self.limits.epochs == 0:
            return None
        try:
            item = next(items)
        except StopIteration:
            raise InputError(
                f"The data ends after {self.trainer.step} steps",
                hint="Give data that may be read again, or train fewer steps",
            ) from None
        return None if self.limits.epochs is not None and item.epoch >= self.limits.epochs else item

    def _step(self, item: Item) -> None:
        if self.epoch is None:
            self.epoch = item.epoch
            self._each(lambda each: each.on_epoch_begin(self.trainer, item.epoch + 1))
        values = self.trainer.take(item.batch, self.metrics)
        self.count += 1
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
        self._each(lambda each: each.on_step_end(self.trainer, self.trainer.step, values))
        if item.is_last:
            self._end_epoch()
        is_last = item.is_last and item.epoch + 1 == self.limits.epochs
        self.save(is_last or self.trainer.should_stop or self.trainer.step == self.limits.steps)

    def _end_epoch(self) -> None:
        assert self.epoch is not None
        means = {name: total / self.count for name, total in self.sums.items()}
        values = {**means, **(self.metrics.results() if self.count else {})}
        if self.validate is not None:
            values |= {f"val_{name}": value for name, value in self.validate().items()}
        number = self.epoch + 1
        self.trainer.epochs.append({"epoch": number, "step": self.trainer.step, **values})
        self.epoch, self.sums, self.count = None, {}, 0
        self.metrics.reset()
        self._each(lambda each: each.on_epoch_end(self.trainer, number, values))

    def _each(self, call: Callable[[Callback], None]) -> None:
        for each in self.callbacks:
            call(each)
