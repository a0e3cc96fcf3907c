"""The ONNX frontend: a model becomes a graph module, its weights a weight store.

imported = import_model("model.onnx", dims={"batch": 1})
imported.module, imported.weights, imported.name
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from onnx import ModelProto

from mlc.frontends.imported import Imported
from mlc.frontends.onnx.attempts import translate
from mlc.frontends.onnx.errors import Unsupported, UnsupportedError
from mlc.frontends.onnx.reading.external import external_files, read_whole

__all__ = ["Imported", "Unsupported", "UnsupportedError", "check_model", "external_files", "import_model", "read_whole"]

Model = str | Path | bytes | ModelProto


def import_model(model: Model, dims: Mapping[str, int] | None = None, cache: int = 0) -> Imported:
    """Translate an ONNX model of any opset into the graph dialect.

    ``dims`` fixes symbolic dimensions by name. Dimensions without a name become symbols named after their
    input (``x_0``). The weights of a model given by its path are not read; the weight store knows where they are.
    ``cache``: the caches of a decoder become state of the module, with room for so many tokens.

    Raises:
        InputError: not a valid model.
        UnsupportedError: it uses what mlc does not support; lists all of it.
    """
    module, weights, name, unsupported = translate(model, dims or {}, cache)
    if unsupported:
        raise UnsupportedError(unsupported)
    return Imported(module, weights, name)


def check_model(model: Model, dims: Mapping[str, int] | None = None, cache: int = 0) -> list[Unsupported]:
    """Everything in the model that mlc does not support; empty where it can be compiled.

    Raises:
        InputError: not a valid model.
    """
    return translate(model, dims or {}, cache)[3]
