"""The compiler of eager programs: what is evaluated line by line and repeats."""

from __future__ import annotations

from collections.abc import Callable

from mlc.api import make_options, open_built
from mlc.driver.compile import compile_source
from mlc.frontends.array import evaluate
from mlc.frontends.array.evaluate import Arrays
from mlc.frontends.imported import Imported
from mlc.tracing.source import TraceSource


def compiled(text: str, make: Callable[[], Imported]) -> Callable[[Arrays], Arrays]:
    """The program as a function of its data."""
    model = open_built(compile_source(TraceSource("eager", text, make), make_options()))

    def run(inputs: Arrays) -> Arrays:
        found = model(*inputs)
        return list(found) if isinstance(found, tuple) else [found]

    return run


evaluate.compiler[:] = [compiled]
