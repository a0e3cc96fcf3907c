"""Whether a compiled model gives the same bits whatever the number of threads."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import mlc
from benchmarks.engines import Arrays

COUNTS = (1, 2, 4)
REPETITIONS = 2  # a race need not show the first time


class ThreadCounts:
    """An artifact, loaded once for each number of threads."""

    def __init__(self, library: Path, counts: Iterable[int] = COUNTS) -> None:
        self._stack = ExitStack()
        self._models = {n: self._stack.enter_context(mlc.load(library, n)) for n in counts}

    def differing(self, inputs: Arrays, expected: Arrays) -> dict[str, tuple[int, ...]]:
        """The numbers of threads with which an output's bits are not the expected ones, for each output."""
        found: dict[str, dict[int, None]] = {name: {} for name in expected}
        for count, model in self._models.items():
            for _ in range(REPETITIONS):
                outputs = model.run(inputs)
                wrong = (name for name, y in expected.items() if outputs[name].tobytes() != y.tobytes())
                for name in wrong:
                    found[name][count] = None
        return {name: tuple(counts) for name, counts in found.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
