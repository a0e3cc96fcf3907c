"""The C interface of an artifact, bound through ctypes (``c/mlc_model.h.in`` has the contracts)."""

from __future__ import annotations

import _ctypes
import ctypes
import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mlc.runtime import elf
from mlc.runtime.errors import ArtifactError, RunError

ABI_VERSION = 1
_PREFIX_MARK = "_abi_version"
_TEXT, _INT, _POINTER = ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p
_PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "abi_version": (_INT, ()),
    "signature": (_TEXT, ()),
    "create": (_POINTER, (_TEXT, _INT)),
    "destroy": (None, (_POINTER,)),
    "workspace_size": (ctypes.c_int64, (_POINTER,)),
    "output_shape": (_INT, (_INT, _POINTER, _POINTER)),
    "run": (_INT, (_POINTER, _POINTER, _POINTER, _POINTER, _POINTER)),
    "profile": (_INT, (_POINTER, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER)),
    "error": (_TEXT, ()),
}


class Library:
    """One created model inside one loaded library; freed with the last reference, so a call in flight keeps it alive.

    ``signature`` is the parsed signature of the artifact, ``prefix`` its symbol prefix.
    """

    def __init__(self, path: Path, threads: int | None) -> None:
        self.path = path
        self.prefix = _find_prefix(path)
        self._dll = _open(path)
        self._c = SimpleNamespace()
        self._bind()
        self.signature = self._read_signature()
        self._model = self._c.create(_os_path(self.weights_path()), threads or 0)
        if not self._model:
            raise ArtifactError(f"Cannot load {path}: {self._error()}")
        # Not at interpreter exit: a daemon thread may still be inside a call.
        weakref.finalize(self, _release, self._c.destroy, self._model, self._dll._handle).atexit = False

    def _bind(self) -> None:
        for name, (result, arguments) in _PROTOTYPES.items():
            try:
                function = getattr(self._dll, f"{self.prefix}_{name}")
            except AttributeError:
                message = f"{self.path} is not an mlc artifact: it lacks the function {self.prefix}_{name}"
                raise ArtifactError(message) from None
            function.restype, function.argtypes = result, arguments
            setattr(self._c, name, function)
            if name == "abi_version":
                self._check_version(function())

    def _check_version(self, version: int) -> None:
        if version != ABI_VERSION:
            message = f"{self.path} has ABI version {version}, this mlc reads version {ABI_VERSION}"
            raise ArtifactError(message, hint="Compile the model again with this mlc")

    def _read_signature(self) -> dict[str, Any]:
        try:
            return json.loads(self._c.signature())
        except (ValueError, TypeError):
            raise ArtifactError(f"{self.path} is damaged: its signature is not valid JSON") from None

    def weights_path(self) -> Path | None:
        """The weights file: under the library's own name, else under the name at compile time; None: embedded."""
        name = (self.signature.get("weights") or {}).get("file")
        if not name:
            return None
        own = self.path.with_suffix(".weights")
        return own if own.exists() else self.path.with_name(Path(name).name)

    def shape_of_output(self, index: int, rank: int, dims: ctypes.Array[Any]) -> tuple[int, ...]:
        """The shape of one output for these dimension values."""
        shape = (ctypes.c_int64 * max(rank, 1))()
        if self._c.output_shape(index, dims, shape) != rank:
            raise RunError(f"Cannot tell the shape of output {index}: {self._error()}")
        return tuple(shape[:rank])

    def call(self, inputs: Sequence[int], outputs: Sequence[int], dims: ctypes.Array[Any]) -> None:
        """Runs the model on these addresses."""
        if self._c.run(self._model, _pointers(inputs), _pointers(outputs), dims, None):
            raise RunError(f"Model '{self.signature['name']}' failed: {self._error()}")

    def call_profiled(self, inputs: Sequence[int], outputs: Sequence[int], dims: ctypes.Array[Any]) -> list[int]:
        """As :meth:`call`; the nanoseconds of each launch."""
        times = (ctypes.c_uint64 * max(len(self.signature["kernels"]), 1))()
        if self._c.profile(self._model, _pointers(inputs), _pointers(outputs), dims, None, times):
            raise RunError(f"Model '{self.signature['name']}' failed: {self._error()}")
        return times[: len(self.signature["kernels"])]

    def _error(self) -> str:
        return self._c.error().decode(errors="replace")


def _release(destroy: Any, model: int, handle: int) -> None:
    destroy(model)
    _ctypes.dlclose(handle)


def _pointers(addresses: Sequence[int]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(addresses))(*addresses)


def _os_path(path: Path | None) -> bytes | None:
    return None if path is None else os.fsencode(path)


def _find_prefix(path: Path) -> str:
    marked = [name for name in elf.exported_functions(path) if name.endswith(_PREFIX_MARK)]
    if len(marked) != 1:
        raise ArtifactError(f"{path} is not an mlc artifact", hint="Give the .so file that 'mlc compile' wrote")
    return marked[0].removesuffix(_PREFIX_MARK)


_opened: dict[str, tuple[int, int]] = {}
_opened_lock = threading.Lock()


def _open(path: Path) -> ctypes.CDLL:
    """Loads a library.

    The dynamic loader knows libraries by path: a file that replaced one which may still be loaded is loaded from a
    private copy, or the old code would run.
    """
    status = path.stat()
    identity = status.st_dev, status.st_ino
    with _opened_lock:
        replaced = _opened.setdefault(str(path), identity) != identity
    try:
        return _open_copy(path) if replaced else ctypes.CDLL(str(path))
    except OSError as error:
        raise ArtifactError(f"Cannot load {path}: {error}") from None


def _open_copy(path: Path) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="mlc-") as folder:
        return ctypes.CDLL(shutil.copy(path, folder))
