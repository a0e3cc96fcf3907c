"""Python's exceptions that mean that the machine lacks something, and not that mlc is at fault."""

from __future__ import annotations

from mlc.errors import ToolchainError

THREADS = "can't start new thread"
LIBRARIES = ("failed to map segment", "cannot allocate memory", "too many open files", "cannot open shared object")


def of_machine(error: ImportError | RuntimeError) -> ToolchainError | None:
    """The error for a thread that does not start, or for a package whose library does not load. None for other
    exceptions.
    """
    if str(error) == THREADS:
        hint = "Allow more of them (ulimit -u), or more memory (ulimit -v)"
        return ToolchainError("The system starts no more threads", hint=hint)
    if isinstance(error, ImportError) and any(each in str(error).lower() for each in LIBRARIES):
        hint = "Allow more memory (ulimit -v) and open files (ulimit -n), or install the package again"
        return ToolchainError(f"A package that mlc needs does not load: {error}", hint=hint)
    return None
