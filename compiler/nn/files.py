"""Weights in files: safetensors, and ONNX models whose weights were trained."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mlc.errors import InputError, OutputError
from mlc.nn.naming import from_tensor

HEADER_BYTES = 8  # the length of the header of a file of safetensors
LONGEST_HEADER = 100_000_000  # as the package has it


def written_whole(path: str | Path, write: Callable[[Path], Any]) -> None:
    """``write`` a temporary file beside ``path``, sync and rename it: ``path`` is the old or the new file, never half.

    Raises:
        InputError: there is no such folder.
        OutputError: the disk is full, or the folder cannot be written to.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"'{target}' is a folder", hint="Give the name of a file")
    if not target.parent.is_dir():
        raise InputError(f"There is no folder '{target.parent}'", hint="Make it first")
    try:
        _write(target, write)
    except OSError as error:
        hint = "Free disk space, or choose another folder"
        raise OutputError(f"Cannot write '{target}': {error.strerror or error}", hint=hint) from error


def _write(target: Path, write: Callable[[Path], Any]) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    try:
        write(Path(name))
        _synchronized(Path(name))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _synchronized(target.parent)


def _synchronized(path: Path) -> None:
    """Bring a file or the names in a folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _safetensors() -> Any:
    try:
        return import_module("safetensors.numpy")
    except ModuleNotFoundError:
        raise InputError("Files of safetensors need the package safetensors", hint="pip install 'mlc[train]'") from None


def save_file(values: Mapping[str, Any], path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
    """Write arrays by name, such as ``model.state_dict()``, as a file of safetensors, at once.

    Raises:
        InputError: no such folder, or the package is missing.
        OutputError: the disk is full, or the folder cannot be written to.
    """
    library = _safetensors()
    arrays = {name: np.ascontiguousarray(from_tensor(x)).reshape(np.shape(x)) for name, x in values.items()}
    written_whole(path, lambda file: file.write_bytes(library.save(arrays, dict(metadata) if metadata else None)))


def load_file(path: str | Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a file of safetensors, for ``model.load_state_dict``.

    Raises:
        InputError: no such file, a damaged one, or the package is missing.
    """
    library = _safetensors()
    if not Path(path).is_file():
        raise InputError(f"There is no file '{path}'", hint="Give the path that save_file wrote")
    try:
        found: dict[str, np.ndarray[Any, Any]] = library.load_file(path)
    except Exception as error:  # SafetensorError, which has no public home
        raise InputError(
            f"'{path}' is no file of safetensors: {error}", hint="Write it by save_file, or copy it again"
        ) from error
    return found


def metadata_of(path: str | Path) -> dict[str, str]:
    """What ``save_file`` wrote beside the arrays. InputError where the file is damaged."""
    try:
        with Path(path).open("rb") as file:
            size = int.from_bytes(file.read(HEADER_BYTES), "little")
            header = json.loads(file.read(min(size, LONGEST_HEADER)))
            return {str(name): str(value) for name, value in header.get("__metadata__", {}).items()}
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(
            f"'{path}' is no file of safetensors: {error}", hint="Write it by save_file, or copy it again"
        ) from error


def save_onnx(model: str | Path, weights: Mapping[str, Any], path: str | Path) -> None:
    """Write an ONNX file with other values of initializers by name: ``mlc.function(model).weights`` after training.

    Raises:
        InputError: not a valid model, an unknown name, or another shape.
    """
    import onnx  # which modules and traced functions do not need

    from mlc.frontends.onnx import read_whole

    made = read_whole(model)
    initializers = {tensor.name: tensor for tensor in made.graph.initializer}
    for name, value in weights.items():
        tensor = initializers.get(name)
        array = np.asarray(from_tensor(value))
        if tensor is None or tuple(tensor.dims) != array.shape:
            wanted = "has no such initializer" if tensor is None else f"has the shape {tuple(tensor.dims)}"
            raise InputError(
                f"'{name}' is an array {array.shape}, where '{model}' {wanted}",
                hint="Give the weights of mlc.function(model)",
            )
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array.astype(dtype), name))
    written_whole(path, lambda file: file.write_bytes(made.SerializeToString()))
