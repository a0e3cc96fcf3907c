"""Output without escape sequences: names of a model, a path or an array cannot move the cursor or rename a window."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from mlc.errors import visible


class PlainOutput:
    """A stream of text in which control characters are written as ``\\u001b``; all else is the stream's."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(visible(text, kept="\n\r\t"))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def unfiltered(stream: Any) -> Any:
    """The stream itself, for code that draws by escape sequences."""
    return stream.stream if isinstance(stream, PlainOutput) else stream


@contextmanager
def plain_output() -> Iterator[None]:
    """A context in which text printed to stdout and stderr has no escape sequences."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(PlainOutput, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
