"""Errors that only the compiler raises; the rest stand in ``mlc.runtime.errors``."""

from __future__ import annotations

from mlc.runtime.errors import MlcError


class ToolchainError(MlcError):
    """There is no C compiler, or it fails on generated code (a reproducer is then left on disk). Exit code 1."""


class OutputError(MlcError):
    """A result cannot be written: a full disk, a missing folder, no permission. Exit code 1."""


class InternalError(MlcError):
    """mlc is at fault: an exception that no user input should cause. Exit code 1."""
