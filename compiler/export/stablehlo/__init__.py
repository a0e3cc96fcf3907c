"""``mlc.export_stablehlo``: a function, a module, an ONNX or PyTorch model as the text of a StableHLO module."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from mlc.export import imported
from mlc.nn.files import written_whole


def export_stablehlo(model: Any, *examples: Any, dims: Any = None, path: str | PathLike[str] | None = None) -> str:
    """The text of a StableHLO module that computes the same; written to ``path`` where one is given.

    Its function is ``main``, and takes and returns the arrays in order; ``mlc.name`` is the name of each. All extents
    are numbers. Weights are constants. A function that StableHLO lacks (erf, asin, cosh, …) is CHLO's, a dialect of the
    same repository.

    Args:
        model: a function on arrays, a jitted one, or a module of ``mlc.nn`` (``trainer.model``), with its arrays as
            constants; or a path to an ONNX model or exported PyTorch program, or either itself, without ``examples``.
        examples: arguments, or ``mlc.TensorSpec``s in their place.
        dims: the extents of a model's symbols, ``{"batch": 1}``.

    Raises:
        InputError: no examples for a function, an open dimension, or an operator that has no form in StableHLO; names
            where it comes from.
        OutputError: the file cannot be written.
    """
    from mlc.export.stablehlo.modules import text_of

    made = text_of(imported(model, examples, dims))
    if path is not None:
        written_whole(Path(path), lambda file: file.write_text(made, encoding="utf-8"))
    return made


__all__ = ["export_stablehlo"]
