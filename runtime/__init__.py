"""Runs compiled models. Needs NumPy and cffi alone: no part of the compiler is imported here."""

from __future__ import annotations

from mlc.runtime.errors import ArtifactError, InputError, MlcError, RunError
from mlc.runtime.model import Model, load
from mlc.runtime.signature import TensorSpec

__all__ = ["ArtifactError", "InputError", "MlcError", "Model", "RunError", "TensorSpec", "load"]
