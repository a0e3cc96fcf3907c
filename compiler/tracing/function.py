"""``mlc.function``: a model of any frontend as a Python function on arrays, whose weights are arguments too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.frontends.onnx import read_whole
from mlc.torch.source import SUFFIX, FileSource, ProgramSource, is_program
from mlc.tracing.onnx_function import OnnxFunction

if TYPE_CHECKING:
    from mlc.driver.sources import Model
    from mlc.torch.function import TorchFunction


def function(model: Model, dims: Mapping[str, int] | None = None) -> OnnxFunction | TorchFunction:
    """A model as a function on arrays: ``f = mlc.function("model.onnx")``, ``y = f(x)``.

    ``mlc.grad(lambda w: loss(f(x, weights=w)))(f.weights)`` is a gradient by its weights. A program of
    ``torch.export.export``, or a ``.pt2`` file of it, takes its module's arguments. ``dims`` fixes symbolic dimensions.

    Raises:
        InputError: not a valid model, or one that uses what mlc does not support.
    """
    if is_program(model):
        return _of_program(ProgramSource.of(model), dims or {})
    if isinstance(model, str | Path) and Path(model).suffix == SUFFIX:
        return _of_program(FileSource.of(Path(model)), dims or {})
    return OnnxFunction(read_whole(model), dims or {})


def _of_program(source: Any, dims: Mapping[str, int]) -> TorchFunction:
    program = source.program  # first: it says where torch is missing
    from mlc.torch.function import TorchFunction

    return TorchFunction(program, source.name, source.digest, dims)
