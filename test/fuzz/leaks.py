"""Leaks of what models allocate. What Python and onnxruntime allocate does not count: ``sanitized`` sees to that."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from sanitized import loaded

from mlc.runtime.library import Library


@contextmanager
def own_allocations() -> Iterator[None]:
    """Count what models allocate that are loaded within; MemoryError if some of it is lost at the end.

    Nothing where the sanitizer is not there.
    """
    if not loaded():
        yield
        return
    with patch.multiple(Library, _bind=_bind, _repeat=lambda *_: None):
        yield
    if report := _report():
        raise MemoryError(report)


def _report() -> str:
    """Where memory was allocated that is lost; empty where none is. It comes on stderr, with notes about threads."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        lost = ctypes.CDLL(None).__lsan_do_recoverable_leak_check()
        os.dup2(kept, 2)
        os.close(kept)
        file.seek(0)
        text = file.read().decode(errors="replace").partition("ERROR: ")[2] if lost else ""
    head, *leaks = text.split("\n\n")
    ours = [leak for leak in leaks if " in mlc_" in leak]  # Python may resize a list while it is watched
    return "\n\n".join([head, *ours]) if ours else ""


_plain = Library._bind


def _bind(library: Library) -> None:
    _plain(library)
    for name in ("create", "destroy", "run"):
        setattr(library._c, name, _counting(getattr(library._c, name)))


def _counting(function: Any) -> Callable[..., Any]:
    sanitizer = ctypes.CDLL(None)

    def call(*arguments: Any) -> Any:
        sanitizer.__lsan_enable()
        try:
            return function(*arguments)
        finally:
            sanitizer.__lsan_disable()

    return call
