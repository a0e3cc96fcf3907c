"""Writes a model; its weights beside it, where they do not fit into one file."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import ModelProto

from mlc.driver.artifact.output_files import output_error
from mlc.nn.files import written_whole

LARGEST = (1 << 31) - (1 << 20)  # bytes of a file of protobuf


def size_of(model: ModelProto) -> int:
    """Bytes of a model's file, also where protobuf cannot write so many at once."""
    kept = [tensor.raw_data for tensor in model.graph.initializer]
    if (data := sum(map(len, kept))) < LARGEST:
        return model.ByteSize()
    return data + sum(node.ByteSize() for node in model.graph.node)


def save(model: ModelProto, path: Path) -> None:
    """Write ``path``, and ``path.data`` where the model is too large for one file.

    Raises:
        InputError: there is no such folder.
        OutputError: the disk is full, or the folder cannot be written to.
    """
    if size_of(model) < LARGEST:
        written_whole(path, lambda file: file.write_bytes(model.SerializeToString()))
        return
    data = path.with_name(f"{path.name}.data")
    data.unlink(missing_ok=True)
    try:
        onnx.save(model, path, save_as_external_data=True, location=data.name)
        onnx.load_external_data_for_model(model, str(path.parent))  # which that has taken out of the model
    except OSError as error:
        raise output_error(path, error) from error
