"""Logs for TensorBoard, written by the package tensorboardX: numbers, histograms, images, text, the graph."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array.array import as_array
from mlc.nn.naming import from_tensor, named
from mlc.train.callbacks import Callback, Values

if TYPE_CHECKING:
    from mlc.train.trainer import Trainer


class TensorBoard(Callback):
    """Writes a run to the folder ``log_dir``: each step its values, each epoch its means as ``epoch_loss``, the values
    of the validation, and the learning rate's factor.

        board = train.TensorBoard("logs", histograms=True, graph=x[:1])
        trainer.fit(data, epochs=5, callbacks=[board])
        board.add_image("digit", x[0])

    Args:
        log_dir: the folder.
        histograms: one of each parameter after each epoch.
        graph: an example input, or a tuple of them, for which the model's graph is drawn; it needs the package onnx.

    Raises:
        InputError: the package tensorboardX is not there.
    """

    def __init__(self, log_dir: str | Path, histograms: bool = False, graph: Any = None) -> None:
        self.writer, self.histograms, self.graph = _writer(log_dir), histograms, graph

    def on_train_begin(self, trainer: Trainer) -> None:
        if self.graph is not None:
            examples = self.graph if isinstance(self.graph, tuple) else (self.graph,)
            self.add_graph(trainer.model.eval(), *examples)
            self.graph = None

    def on_step_end(self, trainer: Trainer, step: int, values: Values) -> None:
        self.add_scalars(values, step)

    def on_epoch_end(self, trainer: Trainer, epoch: int, values: Values) -> None:
        kept = {name: x for name, x in values.items() if name not in ("epoch", "step")}
        self.add_scalars({n if n.startswith("val_") else f"epoch_{n}": x for n, x in kept.items()}, trainer.step)
        self.add_scalars({"rate_factor": trainer.rate_factor}, trainer.step)
        if self.histograms:
            for name, leaf, _ in named(trainer.held.parameters):
                self.add_histogram(name or "parameter", leaf, trainer.step)

    def on_train_end(self, trainer: Trainer) -> None:
        self.writer.flush()

    def add_scalars(self, values: Values, step: int) -> None:
        """Numbers by name; arrays are left out."""
        for name, value in values.items():
            if np.ndim(value) == 0:
                self.writer.add_scalar(name, float(value), step)

    def add_histogram(self, name: str, values: Any, step: int = 0) -> None:
        """How often values occur. Raises InputError where one is not finite."""
        given = _array(values).astype(np.float64)
        if not given.size or not np.isfinite(given).all():
            what = f"The histogram '{name}' has {'no values' if not given.size else 'values that are not finite'}"
            raise InputError(what, hint="Give finite values, one or more")
        self.writer.add_histogram(name, given, step)

    def add_image(self, name: str, image: Any, step: int = 0) -> None:
        """An image [H, W], [C, H, W], or several [N, C, H, W] of 1, 3 or 4 channels: floats from 0 to 1, or uint8.

        Raises:
            InputError: another shape.
        """
        given = _array(image)
        formats = {2: "HW", 3: "CHW", 4: "NCHW"}
        if given.ndim not in formats or (given.ndim > 2 and given.shape[-3] not in (1, 3, 4)):
            what = f"'{name}' of the shape {given.shape} is no image"
            raise InputError(what, hint="Give [H, W], [C, H, W] or [N, C, H, W] of 1, 3 or 4 channels")
        add = self.writer.add_images if given.ndim == 4 else self.writer.add_image
        add(name, given, step, dataformats=formats[given.ndim])

    def add_text(self, name: str, text: str, step: int = 0) -> None:
        """A text in Markdown."""
        self.writer.add_text(name, text, step)

    def add_graph(self, model: Any, *examples: Any) -> None:
        """The graph of a model, or of a function, called with these arrays: that of ``mlc.export_onnx``.

        Raises:
            InputError: an operator that ONNX lacks.
        """
        from mlc.export import export_onnx

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "graph.onnx"
            export_onnx(model, *examples, path=path)
            self.writer.add_onnx_graph(str(path))

    def close(self) -> None:
        """Write what is left; nothing can be added afterwards."""
        self.writer.close()


def _array(x: Any) -> np.ndarray[Any, Any]:
    return as_array(from_tensor(x)).numpy()


def _writer(folder: str | Path) -> Any:
    try:
        return import_module("tensorboardX").SummaryWriter(str(folder))
    except ModuleNotFoundError:
        raise InputError(
            "Logs for TensorBoard need the package tensorboardX", hint="pip install 'mlc[train]'"
        ) from None
