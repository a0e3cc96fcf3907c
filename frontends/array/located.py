"""Errors of a trace with the user's file and line first."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from types import TracebackType
from typing import Any

from mlc.errors import MlcError
from mlc.frontends.array.record import is_inside

LOCATED = re.compile(r"[^\s:]+:\d+: ")


@contextmanager
def located(where: str, traced: bool = False) -> Iterator[None]:
    """Put a line of user code before the message of an error of mlc that has none: ``where``, or while a function is
    ``traced`` the innermost one.
    """
    try:
        yield
    except MlcError as error:
        where = (user_line(error.__traceback__) if traced else "") or where
        if where and not LOCATED.match(error.message):
            error.message = f"{where}: {error.message}"
            error.args = (error.message,)
        raise


def defined_at(f: Callable[..., Any]) -> str:
    """``file.py:3`` where a function is defined, or nothing."""
    code = getattr(inspect.unwrap(f), "__code__", None)
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""


def user_line(trace: TracebackType | None) -> str:
    """``file.py:12`` of the innermost user code that an exception came through, or nothing."""
    found = ""
    for frame, line in walk_tb(trace):
        file = frame.f_code.co_filename
        if not is_inside(file) and not file.endswith("contextlib.py"):
            found = f"{os.path.basename(file)}:{line}"
    return found
