"""Runs compiled models. Needs only NumPy and cffi, and imports only ``mlc.errors`` and ``mlc.expressions`` of the
rest of mlc.

Names are loaded on first use: a model comes from the cache without NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mlc.errors import ArtifactError, InputError, MlcError, RunError

if TYPE_CHECKING:
    from mlc.runtime.model import Model as Model
    from mlc.runtime.model import load as load
    from mlc.runtime.signature import TensorSpec as TensorSpec

_HOMES = {"Model": "mlc.runtime.model", "load": "mlc.runtime.model", "TensorSpec": "mlc.runtime.signature"}

__all__ = ["ArtifactError", "InputError", "MlcError", "Model", "RunError", "TensorSpec", "load"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mlc.runtime' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
