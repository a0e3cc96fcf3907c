"""Callbacks: what is called as a run begins, at its steps and epochs, and as it ends. Source: keras.callbacks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.errors import InputError
from mlc.frontends.array.array import as_array
from mlc.nn.files import save_file
from mlc.nn.naming import named

if TYPE_CHECKING:
    from mlc.train.trainer import Trainer

Values = Mapping[str, Any]
MODES = ("auto", "min", "max")
HIGHER_IS_BETTER = ("acc", "auc", "f1", "iou", "precision", "r2", "recall", "top")


class Callback:
    """Does nothing; subclasses write what they need. ``trainer.should_stop = True`` ends the run after the epoch, or
    after the step where ``on_step_end`` sets it.

    Steps and epochs count from 1; ``values`` are the loss, the metrics and what the loss gives beside, by name, of an
    epoch their means over its steps, with those of the validation as ``val_loss``.
    """

    def on_train_begin(self, trainer: Trainer) -> None:
        """Called before the first step of ``fit``."""

    def on_epoch_begin(self, trainer: Trainer, epoch: int) -> None:
        """Called before the first step of an epoch, or of what is left of it."""

    def on_step_end(self, trainer: Trainer, step: int, values: Values) -> None:
        """Called after each step."""

    def on_epoch_end(self, trainer: Trainer, epoch: int, values: Values) -> None:
        """Called after the last step of an epoch and its validation."""

    def on_train_end(self, trainer: Trainer) -> None:
        """Called once ``fit`` is done, whichever way it ends."""


class _Monitor(Callback):
    """Looks whether a value gets better from epoch to epoch."""

    def __init__(self, monitor: str, mode: str, min_delta: float, patience: int = 0) -> None:
        if mode not in MODES:
            raise InputError(f"There is no mode {mode!r} of what is best", hint="Give 'min', 'max' or 'auto'")
        if patience < 0 or not min_delta >= 0:
            what = f"{type(self).__name__} has patience={patience} and min_delta={min_delta}"
            raise InputError(what, hint="Give numbers from 0 on")
        self.monitor, self.mode, self.min_delta, self.patience = monitor, mode, min_delta, patience
        self._begin()

    @property
    def is_higher_better(self) -> bool:
        of_name = any(part in self.monitor.lower() for part in HIGHER_IS_BETTER) and "loss" not in self.monitor.lower()
        return self.mode == "max" or (self.mode == "auto" and of_name)

    def _begin(self) -> None:
        self.best = -math.inf if self.is_higher_better else math.inf
        self.best_epoch, self.waited = 0, 0

    def on_train_begin(self, trainer: Trainer) -> None:
        self._begin()

    def is_better(self, epoch: int, values: Values) -> bool:
        """Whether this epoch has the best value so far, which is then remembered; a NaN is never better.

        Raises:
            InputError: there is no such value.
        """
        if self.monitor not in values:
            hint = f"Give one of {', '.join(values)}; values that begin with val_ need validation_data"
            raise InputError(f"{type(self).__name__} watches '{self.monitor}', which an epoch does not have", hint=hint)
        value = float(values[self.monitor])
        sign = 1 if self.is_higher_better else -1
        better = sign * value > sign * self.best + (self.min_delta if math.isfinite(self.best) else 0)
        if better:
            self.best, self.best_epoch = value, epoch
        self.waited = 0 if better else self.waited + 1
        return better


class EarlyStopping(_Monitor):
    """Ends the run where a value has not got better by more than ``min_delta`` for ``patience`` epochs.

    ``restore_best``: parameters and buffers are then those of the best epoch. ``best`` and ``best_epoch`` say which.
    Source: keras.callbacks.EarlyStopping.

    Raises:
        InputError: in ``fit``: an epoch does not have the value.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        patience: int = 0,
        min_delta: float = 0.0,
        mode: str = "auto",
        restore_best: bool = False,
    ) -> None:
        super().__init__(monitor, mode, min_delta, patience)
        self.restore_best = restore_best
        self._kept: Any = None

    def on_epoch_end(self, trainer: Trainer, epoch: int, values: Values) -> None:
        if self.is_better(epoch, values):
            if self.restore_best:
                self._kept = trainer.state
        elif self.waited >= self.patience:
            trainer.should_stop = True

    def on_train_end(self, trainer: Trainer) -> None:
        if self._kept is not None:
            best, self._kept = self._kept, None
            trainer.state = trainer.state._replace(parameters=best.parameters, rest=best.rest)


class BestCheckpoint(_Monitor):
    """Writes the weights of the best epoch to ``path``, a file of safetensors: ``model.load_state_dict(nn.load_file(
    path))`` reads them. Rank 0 writes. Source: keras.callbacks.ModelCheckpoint(save_best_only=True).

    Raises:
        InputError: in ``fit``: an epoch does not have the value.
        OutputError: in ``fit``: the file cannot be written.
    """

    def __init__(self, path: str | Path, monitor: str = "val_loss", mode: str = "auto", min_delta: float = 0.0) -> None:
        super().__init__(monitor, mode, min_delta)
        self.path = Path(path)

    def on_epoch_end(self, trainer: Trainer, epoch: int, values: Values) -> None:
        if self.is_better(epoch, values) and trainer.ranks.rank == 0:
            arrays = {name: as_array(leaf).numpy() for name, leaf, _ in named(trainer.model)}
            about = {"epoch": str(epoch), "step": str(trainer.step), self.monitor: repr(self.best)}
            save_file(arrays, self.path, about)


class ReduceLROnPlateau(_Monitor):
    """Multiplies the learning rate by ``factor`` where a value has not got better for ``patience`` epochs, and then
    waits ``cooldown`` epochs; ``trainer.rate_factor`` gets no lower than ``min_factor``.

    The program stays: the factor of the rate is part of its state. Source: keras.callbacks.ReduceLROnPlateau.

    Raises:
        InputError: a factor that is not between 0 and 1; in ``fit``: an epoch does not have the value.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        min_delta: float = 1e-4,
        mode: str = "auto",
        cooldown: int = 0,
        min_factor: float = 0.0,
    ) -> None:
        super().__init__(monitor, mode, min_delta, patience)
        if not 0 < factor < 1:
            raise InputError(f"A factor of {factor} does not reduce a rate", hint="Give one between 0 and 1")
        self.factor, self.cooldown, self.min_factor = factor, cooldown, min_factor
        self.resting = 0

    def on_epoch_end(self, trainer: Trainer, epoch: int, values: Values) -> None:
        better, rests = self.is_better(epoch, values), self.resting > 0
        self.resting = max(self.resting - 1, 0)
        if rests:
            self.waited = 0
        if not better and self.waited >= max(self.patience, 1) and trainer.rate_factor > self.min_factor:
            trainer.rate_factor = max(trainer.rate_factor * self.factor, self.min_factor)
            self.waited, self.resting = 0, self.cooldown
