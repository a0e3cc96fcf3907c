"""``Trainer``: the training loop around one compiled step."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mlc import comm
from mlc.api import make_options
from mlc.errors import InputError, MlcError, RunError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.keywords import keywords_checked
from mlc.nn.module import combine
from mlc.optim.mixed_precision import LossScaleState, wrapped
from mlc.optim.transform import GradientTransformation
from mlc.optim.wrappers import FiniteState
from mlc.tracing.jit import jit
from mlc.tracing.stateful import Stateful
from mlc.train.batches import arguments_of
from mlc.train.checkpoints import Checkpoints
from mlc.train.checks import check_functions
from mlc.train.data import ArrayData, batches_of, prefetched
from mlc.train.parallel import Shards, same_on_all_ranks
from mlc.train.step import Loss, Trainable, TrainState, first_state, training_step
from mlc.train.watch import origin

KEPT = 10_000
Scalars = dict[str, float]
Log = Callable[[int, Scalars], None]


class Trainer:
    """Trains a model by an optimizer: ``trainer = Trainer(model, optim.adam(), loss)``, ``trainer.fit(data, 1000)``.

    ``loss(model, *batch)`` gives a float of rank 0. The step, with its derivative and the update, is one program, which
    is compiled at the first step.

    Args:
        model: a module, or a tree of modules; it does not change, ``trainer.model`` is the trained one.
        optimizer: a gradient transformation of ``mlc.optim``.
        seed: of the random key, for layers such as dropout.
        precision: the type in which the loss is computed, such as ``"bfloat16"``; parameters stay in float32.
        trainable: ``trainable(name)`` says which parameters are trained; all by default.
        watch: a loss or gradient that is not finite is an error, which names where it comes from; such a step changes
            nothing. Then an update waits until all gradients are computed.
        shards: into how many equal parts a batch is divided, whose gradients are averaged; one for each rank of the job
            by default. The same shards give the same bits on any number of ranks.
        options: of the compiler, as those of ``mlc.compile``.

    Raises:
        InputError: an argument of another kind, an unknown option, or nothing is trained; shards that the ranks do not
            divide.
    """

    @keywords_checked(make_options)
    def __init__(
        self,
        model: Any,
        optimizer: GradientTransformation,
        loss: Loss,
        *,
        seed: int = 0,
        precision: str | None = None,
        trainable: Trainable = None,
        watch: bool = True,
        shards: int | None = None,
        **options: Any,
    ) -> None:
        check_functions(loss, trainable)
        self.ranks = comm.current()
        state = same_on_all_ranks(first_state(model, optimizer, seed, trainable))
        leaves_out = any(isinstance(each, LossScaleState | FiniteState) for each in wrapped(state.optimizer))
        self.watch, self._loss = watch and not leaves_out, loss
        self.step = 0
        """How many steps were taken."""
        self.history: list[tuple[int, Scalars]] = []
        """(step, metrics) of the last steps, at least ``KEPT`` of those that this process has taken."""
        divided = Shards.of(shards, self.ranks.ranks)
        step = training_step(loss, optimizer, precision, trainable, finite=self.watch, shards=divided)
        self._stateful: Stateful = jit(step, state="state", **options)
        self._instance = self._stateful.create(state)

    @property
    def state(self) -> TrainState:
        """All that training changes, a copy; it may be assigned."""
        (state,) = self._instance.state
        return trees.tree_map(as_array, state)

    @state.setter
    def state(self, state: TrainState) -> None:
        with self._counted():
            self._instance.state = (state,)
        self.step = int(state.step)

    @property
    def model(self) -> Any:
        """The model with the trained parameters, a copy; ``.eval()`` sets the mode of inference."""
        state = self.state
        return combine(state.parameters, state.rest)

    @keywords_checked()
    def fit(
        self,
        data: Any,
        steps: int,
        *,
        checkpoints: Checkpoints | str | Path | None = None,
        log_dir: str | Path | None = None,
        callback: Log | None = None,
        progress: bool = True,
    ) -> Trainer:
        """Train until ``steps`` steps were taken in all.

        Args:
            data: ``train.ArrayData``, an iterable of batches such as a torch ``DataLoader``, or a function of a step:
                the batches from it on. Of ``ArrayData`` each rank of a job reads its rows; other data give each rank
                the part of the batch that is its own.
            checkpoints: a folder; training goes on from its last checkpoint. Rank 0 writes them.
            log_dir: a folder for TensorBoard; needs the package tensorboardX.
            callback: called with each step and its metrics.
            progress: show a progress bar.

        Raises:
            RunError: the loss or the gradient is not finite; ``trainer.state`` is that before the step.
            InputError: the data ends before; an unknown option.
        """
        if steps < 0:
            raise InputError(f"Training cannot go on until {steps} steps were taken", hint="Give a number from 0 on")
        saved = checkpoints if isinstance(checkpoints, Checkpoints | None) else Checkpoints(checkpoints)
        if saved and saved.steps() and saved.steps()[-1] > self.step:
            self.state = saved.load(self.state)
        rank, ranks = self.ranks.rank, self.ranks.ranks
        own = data.part(rank, ranks) if isinstance(data, ArrayData) else data
        batches = prefetched(batches_of(own)(self.step))
        with _logs(log_dir if rank == 0 else None, steps, self.step, progress and rank == 0) as logs:
            while self.step < steps:
                metrics = self.take(_next(batches, self.step))
                for log in [*logs, *([callback] if callback else [])]:
                    log(self.step, metrics)
                if saved and rank == 0 and (self.step % saved.every == 0 or self.step == steps):
                    saved.save(self.step, self.state)
        batches.close()  # type: ignore[attr-defined]
        return self

    def take(self, batch: Any) -> Scalars:
        """Take one step on a batch; its metrics.

        A tuple or list is the arguments of the loss after the model, a dictionary their names and values. A loss of one
        argument takes a dictionary, a named tuple or a longer tuple whole. Strings in a batch are left out.

        Raises:
            InputError: a dictionary does not have a name that the loss takes.
            RunError: the loss or the gradient is not finite; the state stays. Or the device fails: the state is that
                before or that after the step, and ``trainer.step`` says which.
        """
        given = arguments_of(self._loss, batch)
        with self._counted():
            metrics = {name: float(value) for name, value in self._instance(given).items()}
        if self.watch and not all(map(math.isfinite, metrics.values())):
            raise RunError(self._explanation(given, metrics))
        self.step += 1
        self.history.append((self.step, metrics))
        if len(self.history) > 2 * KEPT:
            del self.history[:-KEPT]
        return metrics

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count as the state does where a device fails, which may have updated it."""
        try:
            yield
        except RunError:
            with suppress(MlcError):
                self.step = int(self.state.step)
            raise

    def _explanation(self, batch: tuple[Any, ...], metrics: Scalars) -> str:
        shown = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        where = origin(self._stateful.jitted, self.state, batch)
        return f"Step {self.step + 1} has {shown}: {where or self._nowhere()}"

    def _nowhere(self) -> str:
        alone = self.ranks.ranks == 1
        return f"the interpreter finds no such operator{'' if alone else f' on rank {self.ranks.rank}'}"


def _next(batches: Iterator[Any], step: int) -> Any:
    try:
        return next(batches)
    except StopIteration:
        raise InputError(
            f"The data ends after {step} steps", hint="Give data that may be read again, or train fewer steps"
        ) from None


@contextmanager
def _logs(folder: str | Path | None, steps: int, start: int, progress: bool) -> Iterator[list[Log]]:
    """Functions that log a step: on the screen, and for TensorBoard."""
    writer = _writer(folder) if folder is not None else None
    columns = (TextColumn("step"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.fields[loss]}"))
    bar = Progress(*columns, TimeRemainingColumn(), disable=not progress)
    with bar:
        task = bar.add_task("", total=steps, completed=start, loss="")
        logs: list[Log] = [lambda n, m: bar.update(task, completed=n, loss=f"loss {m['loss']:.4g}")]
        if writer is not None:
            logs.append(functools.partial(_write, writer))
        try:
            yield logs
        finally:
            if writer is not None:
                writer.close()


def _write(writer: Any, step: int, metrics: Scalars) -> None:
    for name, value in metrics.items():
        writer.add_scalar(name, value, step)


def _writer(folder: str | Path) -> Any:
    try:
        return import_module("tensorboardX").SummaryWriter(str(folder))
    except ModuleNotFoundError:
        raise InputError(
            "Logs for TensorBoard need the package tensorboardX", hint="pip install 'mlc[train]'"
        ) from None
