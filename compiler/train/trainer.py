"""``Trainer``: the training loop around one compiled step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mlc import comm
from mlc.api import make_options
from mlc.errors import InputError, MlcError, RunError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.keywords import keywords_checked
from mlc.nn.module import combine, modules
from mlc.nn.summary import Summary, summary
from mlc.optim.mixed_precision import LossScaleState, wrapped
from mlc.optim.transform import GradientTransformation
from mlc.optim.wrappers import FiniteState
from mlc.tracing.jit import jit
from mlc.tracing.stateful import Stateful
from mlc.train.augmentation import Augment
from mlc.train.batches import arguments_of
from mlc.train.callbacks import Callback
from mlc.train.checkpoints import Checkpoints
from mlc.train.checks import check_callbacks, check_functions
from mlc.train.data import ArrayData, prefetched
from mlc.train.evaluation import Evaluator, Predict, Scalars, numpy, target_of
from mlc.train.losses import TAKEN, Loss
from mlc.train.metrics import Given, Metrics, metrics_of
from mlc.train.parallel import Shards, same_on_all_ranks
from mlc.train.progress import ProgressBar
from mlc.train.run import Limits, Run
from mlc.train.sources import once, source_of
from mlc.train.step import Trainable, TrainState, first_state, training_step
from mlc.train.tensorboard import TensorBoard
from mlc.train.watch import origin
from mlc.train.zero import Divided

KEPT = 10_000
Log = Callable[[int, Scalars], None]


class Trainer:
    """Trains a model by an optimizer: ``trainer = Trainer(model, optim.adam(), loss)``, ``trainer.fit(data, 1000)``.

    ``loss(model, *batch)`` gives a float of rank 0, or a pair of it and further numbers by name,
    ``(loss, {"kl": kl})``; these are in the bar, the history and the logs. The step, with its derivative and the
    update, is one program, which is compiled at the first step.

    Args:
        model: a module, or a tree of modules; it does not change, ``trainer.model`` is the trained one.
        optimizer: a gradient transformation of ``mlc.optim``.
        seed: of the random key, for layers such as dropout, and of the order of rows.
        precision: the type in which the loss is computed, such as ``"bfloat16"``; parameters stay in float32.
        trainable: ``trainable(name)`` says which parameters are trained; all by default.
        watch: a loss or gradient that is not finite is an error, which names where it comes from; such a step changes
            nothing. Then an update waits until all gradients are computed.
        shards: into how many equal parts a batch is divided, whose gradients are averaged; one for each rank of the job
            by default. The same shards give the same bits on any number of ranks. Metrics are then of evaluations
            alone.
        zero: 1 divides the optimizer's state among the ranks, each of which updates its part of the parameters; with 2
            a gradient is not kept either; with 3 parameters are in parts, and whole only while a layer reads them
            (ZeRO). ``state``, ``fit`` with checkpoints and ``rate_factor`` are then for all ranks together, with 3 also
            ``model``, ``evaluate`` and ``predict``.
        metrics: of each epoch and evaluation: names such as ``"accuracy"``, metrics, functions of a prediction and a
            target, or a dictionary of these. They compare what the loss got when it called the model last with the last
            argument of the loss.
        predict: ``predict(model, *inputs)`` is the prediction of ``predict``, and that of metrics where the loss does
            not call the model; by default ``model(x)`` of the first argument of the loss.
        augment: of the first arrays of a batch other ones, as many as it takes, within the compiled step; it draws by
            ``nn.next_key``. Evaluation does not call it.
        options: of the compiler, as those of ``mlc.compile``.

    Raises:
        InputError: an argument of another kind, an unknown option, or nothing is trained; shards that the ranks do not
            divide; an optimizer whose state is not divided.
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
        zero: int = 0,
        metrics: Given = None,
        predict: Predict | None = None,
        augment: Augment | None = None,
        **options: Any,
    ) -> None:
        check_functions(loss, trainable, predict=predict, augment=augment)
        self.ranks, self.seed = comm.current(), seed
        state = same_on_all_ranks(first_state(model, optimizer, seed, trainable))
        leaves_out = any(isinstance(each, LossScaleState | FiniteState) for each in wrapped(state.optimizer))
        self.watch, self._loss = watch and not leaves_out, loss
        self.metrics = metrics_of(metrics)
        self.step = 0
        """How many steps were taken."""
        self.history: list[tuple[int, Scalars]] = []
        """(step, values) of the last steps, at least ``KEPT`` of those that this process has taken."""
        self.epochs: list[dict[str, Any]] = []
        """``epoch``, ``step``, the means of the loss and other values, metrics, and ``val_…`` of each epoch."""
        self.should_stop = False
        """What a callback sets to end a run."""
        self._rate_factor = 1.0
        divided = Shards.of(shards, self.ranks.ranks)
        self._zero = _zero(zero, optimizer, state, self.ranks.ranks)
        if self._zero is not None and divided is not None:
            divided = replace(
                divided, axes=self._zero.parameters, stage=min(self._zero.stage, 3 if divided.here == 1 else 2)
            )
            state = self._part(state)
        self._gives_outputs = divided is None and predict is None
        step = training_step(loss, optimizer, precision, trainable, self.watch, divided, augment, self._zero)
        self._stateful: Stateful = jit(step, state="state", **options)
        self._instance = self._stateful.create(state)
        self._evaluator = Evaluator(loss, predict, precision, options)

    @property
    def state(self) -> TrainState:
        """All that training changes, a copy; it may be assigned."""
        held = self.held
        if self._zero is None:
            return held
        parameters, optimizer = self._zero.gathered(held.parameters, held.optimizer, self.ranks)
        return held._replace(parameters=parameters, optimizer=optimizer)

    @state.setter
    def state(self, state: TrainState) -> None:
        state = self._part(state)
        with self._counted():
            self._instance.state = (state,)
        self.step, self._rate_factor = int(state.step), float(state.factor)

    def _part(self, state: TrainState) -> TrainState:
        """What this rank has of a whole state."""
        if self._zero is None:
            return state
        parameters, optimizer = self._zero.held(state.parameters, state.optimizer, self.ranks.rank)
        return state._replace(parameters=parameters, optimizer=optimizer)

    @property
    def held(self) -> TrainState:
        """What this rank has of the state, a copy: a part of what ``zero`` divides."""
        (state,) = self._instance.state
        return trees.tree_map(as_array, state)

    @property
    def rate_factor(self) -> float:
        """What all updates are multiplied by, 1 at first; it may be assigned between steps, and the program stays."""
        return self._rate_factor

    @rate_factor.setter
    def rate_factor(self, factor: float) -> None:
        self.state = self.state._replace(factor=as_array(np.float32(factor)))

    @property
    def model(self) -> Any:
        """The model with the trained parameters, a copy; ``.eval()`` sets the mode of inference."""
        state = self.held if self._zero is None or self._zero.stage < 3 else self.state
        return combine(state.parameters, state.rest)

    @keywords_checked()
    def fit(
        self,
        data: Any,
        steps: int | None = None,
        *,
        epochs: int | None = None,
        batch_size: int | None = None,
        steps_per_epoch: int | None = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        metrics: Given = None,
        callbacks: Callback | Sequence[Callback] = (),
        checkpoints: Checkpoints | str | Path | None = None,
        log_dir: str | Path | None = None,
        callback: Log | None = None,
        progress: bool = True,
    ) -> Trainer:
        """Train until ``steps`` steps, or ``epochs`` epochs, were taken in all.

        Args:
            data: ``train.ArrayData``; an iterable of batches, such as a torch ``DataLoader``, a loader of Grain, or an
                iterator; arrays, or a data set of Hugging Face, with a ``batch_size``, whose rows are in another order
                in each epoch; or a function of a step: the batches from it on. Of ``ArrayData`` each rank of a job
                reads its rows; other data give each rank the part of the batch that is its own.
            steps_per_epoch: how many steps an epoch has, where the end of the data is not its end.
            validation_data: as ``data``; evaluated after each epoch, and at the end. Of data without end,
                ``validation_steps`` batches.
            metrics: in place of those of the trainer.
            callbacks: one, or several: ``train.EarlyStopping``, ``BestCheckpoint``, ``ReduceLROnPlateau``,
                ``TensorBoard``, or classes of one's own.
            checkpoints: a folder; training goes on from its last checkpoint. Rank 0 writes them.
            log_dir: a folder for TensorBoard; needs the package tensorboardX.
            callback: called with each step and its values.
            progress: show a progress bar.

        Raises:
            RunError: the loss or the gradient is not finite; ``trainer.state`` is that before the step.
            InputError: the data ends before; data of another kind; epochs of data without end; an unknown option.
        """
        limits = Limits(steps, epochs, steps_per_epoch)
        saved = checkpoints if isinstance(checkpoints, Checkpoints | None) else Checkpoints(checkpoints)
        if saved and saved.steps() and saved.steps()[-1] > self.step:
            self.state = saved.load(self.state)
        rank = self.ranks.rank
        whole = source_of(data, batch_size, self.seed)
        source = whole.part(rank, self.ranks.ranks) if isinstance(whole, ArrayData) else whole
        limits.check(source)
        chosen = self.metrics if metrics is None else metrics_of(metrics)
        size = batch_size or getattr(data, "batch_size", None)

        def validate() -> Scalars:
            return self._evaluated(once(validation_data, size, validation_steps), chosen)

        def save(ends: bool) -> None:
            if saved and (self.step % saved.every == 0 or ends) and (rank == 0 or self._zero is not None):
                state = self.state
                if rank == 0:
                    saved.save(self.step, state)

        bar = ProgressBar(self.step, limits.total(source), epochs, disabled=not progress or rank != 0)
        with ExitStack() as stack:
            stack.enter_context(bar.running())
            called = [*check_callbacks(callbacks), bar]
            if log_dir is not None and rank == 0:
                called.append(board := TensorBoard(log_dir))
                stack.callback(board.close)
            called += [_Function(callback)] if callback else []
            given = Metrics(chosen) if self._gives_outputs else Metrics({})
            Run(self, source, limits, given, called, None if validation_data is None else validate, save).go()
        return self

    def take(self, batch: Any, metrics: Metrics | None = None) -> Scalars:
        """Take one step on a batch; its values. ``metrics`` are updated by what the loss got from the model.

        A tuple or list is the arguments of the loss after the model, a dictionary their names and values. A loss of one
        argument takes a dictionary, a named tuple or a longer tuple whole. Strings in a batch are left out.

        Raises:
            InputError: a dictionary does not have a name that the loss takes.
            RunError: the loss or the gradient is not finite; the state stays. Or the device fails: the state is that
                before or that after the step, and ``trainer.step`` says which.
        """
        given = arguments_of(self._loss, batch)
        with self._counted():
            found, output = self._instance(given, ()) if metrics else (self._instance(given), None)
            values = {name: float(value) for name, value in found.items()}
        if self.watch and not all(math.isfinite(values[name]) for name in TAKEN):
            raise RunError(self._explanation(given, values))
        if metrics and output is not None:
            predicted, target = output
            metrics.update(trees.tree_map(numpy, predicted), target_of(given if target is None else (target,)))
        self.step += 1
        self.history.append((self.step, values))
        if len(self.history) > 2 * KEPT:
            del self.history[:-KEPT]
        return values

    def evaluate(
        self, data: Any, *, batch_size: int | None = None, steps: int | None = None, metrics: Given = None
    ) -> dict[str, Any]:
        """The loss and the metrics of data, in the mode of inference: means over all rows, each once and in order.

        Args:
            data: as of ``fit``; of arrays ``batch_size`` rows a batch, 32 by default.
            steps: how many batches of data without end.
            metrics: in place of those of the trainer.

        Raises:
            InputError: no batch; data of another kind; metrics where the loss does not call the model.
        """
        return self._evaluated(once(data, batch_size, steps), self.metrics if metrics is None else metrics_of(metrics))

    def predict(self, data: Any, *, batch_size: int | None = None, steps: int | None = None) -> Any:
        """What the model predicts, a tree of NumPy arrays [rows, …], in the mode of inference.

        Args:
            data: arrays, or as of ``fit``; targets may lack, and are not read.
            steps: how many batches of data without end.

        Raises:
            InputError: no batch, or data of another kind.
        """
        return self._evaluator.predictions(self._inference(), once(data, batch_size, steps))

    def summary(self, *examples: Any) -> Summary:
        """The layers of the model with their parameters, and for example inputs the shapes of what they give; see
        ``nn.summary``."""
        return summary(self._inference(), *examples)

    def _evaluated(self, batches: Iterator[Any], metrics: Any) -> dict[str, Any]:
        given = prefetched(batches)
        try:
            return self._evaluator.evaluate(self._inference(), given, Metrics(metrics))
        finally:
            given.close()  # type: ignore[attr-defined]

    def _inference(self) -> Any:
        """The trained model, each module of it in the mode of inference."""
        found = self.model
        for each in modules(found):
            each.training = False
        return found

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count as the state does where a device fails, which may have updated it."""
        try:
            yield
        except RunError:
            with suppress(MlcError):
                self.step = int(self.held.step)
            raise

    def _explanation(self, batch: tuple[Any, ...], metrics: Scalars) -> str:
        shown = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        where = origin(self._stateful.jitted, self.held, batch)
        return f"Step {self.step + 1} has {shown}: {where or self._nowhere()}"

    def _nowhere(self) -> str:
        alone = self.ranks.ranks == 1
        return f"the interpreter finds no such operator{'' if alone else f' on rank {self.ranks.rank}'}"


def _zero(stage: int, optimizer: GradientTransformation, state: TrainState, ranks: int) -> Divided | None:
    if stage not in (0, 1, 2, 3):
        raise InputError(f"zero={stage!r} is no stage that the trainer has", hint="Give 0, 1, 2 or 3")
    return Divided.of(stage, optimizer, state.parameters, state.optimizer, ranks) if stage and ranks > 1 else None


class _Function(Callback):
    """A function of each step and its values."""

    def __init__(self, function: Log) -> None:
        self.function = function

    def on_step_end(self, trainer: Trainer, step: int, values: Any) -> None:
        self.function(step, values)
