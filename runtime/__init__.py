"""Runs compiled models. Needs only NumPy and cffi, and imports only ``mlc.errors`` from the rest of mlc."""

from __future__ import annotations

from mlc.errors import ArtifactError, InputError, MlcError, RunError
from mlc.runtime.model import Model, load
from mlc.runtime.signature import TensorSpec

__all__ = ["ArtifactError", "InputError", "MlcError", "Model", "RunError", "TensorSpec", "load"]
