"""The source of a model of any frontend, by what it is given as."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mlc.driver.onnx_source import OnnxSource
from mlc.driver.source import ModelSource
from mlc.errors import InputError
from mlc.plugins import frontend_of
from mlc.torch.source import SUFFIX, FileSource, ProgramSource, is_program

if TYPE_CHECKING:
    from onnx import ModelProto
    from torch.export import ExportedProgram

    Model: TypeAlias = str | Path | bytes | ModelProto | ExportedProgram
OF_SUFFIX: dict[str, Callable[[Path], ModelSource]] = {SUFFIX: FileSource.of}
"""The sources of files, by suffix: one for each frontend. A file of another suffix is an ONNX model."""

ONNX = ("", ".onnx")
"""The suffixes of ONNX models, which no plug-in reads."""


def source_of(model: Any, cache: int = 0) -> ModelSource:
    """The source of a file, of an ONNX model in memory, or of an exported program. InputError for other objects.

    ``cache``: the caches of a decoder in ONNX are state, with room for so many tokens.
    """
    if cache:
        return _with_cache(source_of(model), cache)
    if isinstance(model, str | Path) and (make := _reader(Path(model))) is not None:
        return make(Path(model))
    return ProgramSource.of(model) if is_program(model) else OnnxSource.of(model)


def _with_cache(source: ModelSource, cache: int) -> ModelSource:
    if not isinstance(source, OnnxSource):
        raise InputError("Only decoders in ONNX have caches that mlc can keep", hint="Leave the cache out")
    if cache < 1:
        raise InputError(f"A cache of {cache} tokens has no room", hint="Give a number of tokens from 1 on")
    return source.with_cache(cache)


def _reader(path: Path) -> Callable[[Path], ModelSource] | None:
    """The class that reads a file, by its suffix: mlc's own or a plug-in's. None for ONNX models."""
    if path.suffix in OF_SUFFIX:
        return OF_SUFFIX[path.suffix]
    return None if path.suffix in ONNX else frontend_of(path)
