"""The losses of one training by mlc and by torch, and what puts the same numbers in both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mlc import train

Losses = list[float]


@dataclass(frozen=True)
class Twin:
    """The losses of some steps by mlc on some threads, and by torch (or a reference in float64); the trainer and data
    that a run is resumed with, where the example has a trainer."""

    ours: Callable[[int, int], Losses]
    theirs: Callable[[int], Losses]
    trainer: Callable[[int], tuple[train.Trainer, Any]] | None = None


def numbers(state: dict[str, Any]) -> dict[str, Any]:
    """A state for torch, in its own memory."""
    import torch

    return {name: torch.tensor(value) for name, value in state.items()}


def tensor(array: Any) -> Any:
    """For torch: floats in its default type, which is float64 for a reference (``in_float64``)."""
    import torch

    made = torch.as_tensor(array)
    return made.to(torch.get_default_dtype()) if made.is_floating_point() else made


@contextmanager
def in_float64() -> Iterator[None]:
    """New parameters of torch, and what ``tensor`` makes, are in float64."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def torch_losses(steps: int, batches: Iterable[Any], optimizer: Any, loss: Callable[..., Any]) -> Losses:
    """A loop of eager torch; ``loss`` takes the tensors of a batch."""
    found = []
    for batch in islice(batches, steps):
        optimizer.zero_grad()
        value = loss(*map(tensor, batch))
        value.backward()
        optimizer.step()
        found.append(value.item())
    return found


def of_trainer(make: Callable[[int], tuple[train.Trainer, Any]], theirs: Callable[[int], Losses]) -> Twin:
    def ours(steps: int, threads: int) -> Losses:
        trainer, data = make(threads)
        return [m["loss"] for _, m in trainer.fit(data, steps, progress=False).history]

    return Twin(ours, theirs, make)
