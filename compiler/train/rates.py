"""The learning-rate finder: the loss of a short run whose rate grows from step to step. Source: Smith, 2017; fastai."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.optim.transform import GradientTransformation
from mlc.train.losses import Loss
from mlc.train.sources import source_of, stream
from mlc.train.trainer import Trainer

DIVERGED = 4.0  # times the first loss: further rates would tell nothing
MEMORY = 0.9  # the weight of the running mean of losses, which is unbiased as Adam's


@dataclass(frozen=True)
class RateSearch:
    """Rates, the loss at each, and its running mean; the run ends early where the loss explodes."""

    rates: Sequence[float]
    losses: Sequence[float]
    smoothed: Sequence[float]

    @property
    def suggestion(self) -> float:
        """The rate, before the lowest running mean of the loss, at which this falls fastest."""
        lowest = min(range(len(self.smoothed)), key=self.smoothed.__getitem__)
        slopes = [self.smoothed[n + 1] - self.smoothed[n] for n in range(max(lowest, 1))]
        return self.rates[min(range(len(slopes)), key=slopes.__getitem__)]


def find_learning_rate(
    model: Any,
    optimizer: Callable[[Any], GradientTransformation],
    loss: Loss,
    data: Any,
    *,
    low: float = 1e-6,
    high: float = 1.0,
    steps: int = 100,
    batch_size: int | None = None,
    **options: Any,
) -> RateSearch:
    """The losses of ``steps`` steps whose rate grows by one factor from ``low`` to ``high``; the model does not change.

        found = train.find_learning_rate(model, optim.adam, loss, data)
        trainer = train.Trainer(model, optim.adam(found.suggestion), loss)

    Args:
        optimizer: a function of a rate, such as ``optim.adam`` or ``lambda rate: optim.sgd(rate, momentum=0.9)``.
        data: as of ``Trainer.fit``.
        options: those of ``Trainer``.

    Raises:
        InputError: rates or steps of no range, or fewer than three losses that are finite.
    """
    if not 0 < low < high or steps < 4:
        what = f"There are no {steps} rates from {low} to {high}"
        raise InputError(what, hint="Give 0 < low < high, and 4 steps or more")
    growth = math.log(high / low) / (steps - 1)
    schedule = lambda step: low * mnp.exp(mnp.astype(step, mnp.float32) * growth)  # noqa: E731
    trainer = Trainer(model, optimizer(schedule), loss, watch=False, **options)
    losses: list[float] = []
    smoothed: list[float] = []
    mean = 0.0
    items = stream(source_of(data, batch_size, trainer.seed), 0, None)
    for number, item in zip(range(1, steps + 1), items, strict=False):
        value = trainer.take(item.batch)["loss"]
        if not math.isfinite(value):
            break
        mean = MEMORY * mean + (1 - MEMORY) * value
        losses.append(value)
        smoothed.append(mean / (1 - MEMORY**number))
        if smoothed[-1] > DIVERGED * abs(losses[0]):
            break
    if len(losses) < 3:
        what = f"The loss is not finite after {len(losses)} steps, or the data end there"
        raise InputError(what, hint="Give a lower rate to begin with, or more data")
    return RateSearch([low * math.exp(n * growth) for n in range(len(losses))], losses, smoothed)
