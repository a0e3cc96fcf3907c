"""The progress bar of a run: steps, epoch, loss, validation, and how far a compilation is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mlc.driver.instrument import Instrument
from mlc.tracing.background import watched
from mlc.train.callbacks import Callback, Values

if TYPE_CHECKING:
    from mlc.train.trainer import Trainer

HIDDEN = "gradient_norm"
BESIDE = 58  # columns of a terminal that are not for values


class Compiling(Instrument):
    """Tells a function how far a compilation is: ``compiling, 41 of 60``."""

    reads_ir = False

    def __init__(self, tell: Any) -> None:
        self.tell, self.done, self.total = tell, 0, 0

    def expect(self, steps: int) -> None:
        self.total = self.done + steps

    def before(self, name: str, module: Any, weights: Any) -> None:
        if name == "import":
            self.done = self.total = 0
        self.done += 1
        self.tell(f"compiling, {self.done} of {self.total}" if self.total else "compiling")


class ProgressBar(Callback):
    """A line of a terminal that shows where a run is; each epoch leaves a line where there is more than one."""

    def __init__(self, start: int, total: int | None, epochs: int | None, disabled: bool) -> None:
        columns = (TextColumn("{task.fields[epoch]}"), TextColumn("step"), MofNCompleteColumn(), BarColumn(16))
        self.bar = Progress(*columns, TextColumn("{task.fields[text]}"), TimeRemainingColumn(), disable=disabled)
        self.epochs, self.shown = epochs, ""
        self.task = self.bar.add_task("", total=total, completed=start, text="", epoch="")

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the bar, and compilations on it."""
        with self.bar, watched(Compiling(self._show)):
            yield

    def _show(self, text: str) -> None:
        room = max(self.bar.console.width - BESIDE, 14)
        self.bar.update(self.task, text=text if len(text) <= room else f"{text[: room - 1]}…")

    def on_epoch_begin(self, trainer: Trainer, epoch: int) -> None:
        if self.epochs is not None:
            self.bar.update(self.task, epoch=f"epoch {epoch}/{self.epochs}")

    def on_step_end(self, trainer: Trainer, step: int, values: Values) -> None:
        self.bar.update(self.task, completed=step)
        self._show(f"{shown(values)}{self.shown}")

    def on_epoch_end(self, trainer: Trainer, epoch: int, values: Values) -> None:
        validation = {name: x for name, x in values.items() if name.startswith("val_")}
        self.shown = f" {shown(validation)}" if validation else ""
        if self.epochs is not None and not self.bar.disable:
            self.bar.console.print(f"epoch {epoch}/{self.epochs}: {shown(values)}", highlight=False, markup=False)


def shown(values: Values) -> str:
    """``loss 0.1234 accuracy 0.9``: numbers by name, without arrays and the norm of the gradient."""
    skipped = (HIDDEN, "step", "epoch")
    return " ".join(f"{n} {x:.4g}" for n, x in values.items() if isinstance(x, float) and n not in skipped)
