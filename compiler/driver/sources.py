"""The source of a model of any frontend, by what it is given as."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mlc.driver.onnx_source import OnnxSource
from mlc.torch.source import SUFFIX, FileSource, ProgramSource, is_program

if TYPE_CHECKING:
    from onnx import ModelProto
    from torch.export import ExportedProgram

    Model: TypeAlias = str | Path | bytes | ModelProto | ExportedProgram
ModelSource = OnnxSource | FileSource | ProgramSource


def source_of(model: Any) -> ModelSource:
    """The source of an ONNX model, of a ``.pt2`` file, or of an exported program. InputError for other objects."""
    if isinstance(model, str | Path) and Path(model).suffix == SUFFIX:
        return FileSource.of(Path(model))
    return ProgramSource.of(model) if is_program(model) else OnnxSource.of(model)
