"""The compiler of eager programs: what is evaluated line by line and repeats."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from mlc.api import make_options
from mlc.frontends.array import evaluate
from mlc.frontends.array.evaluate import Arrays, Run
from mlc.frontends.imported import Imported
from mlc.tracing import background
from mlc.tracing.source import TraceSource, compiled


def compiling(text: str, make: Callable[[], Imported]) -> Future[Run]:
    """The program as a function of its data, compiled in the background."""
    return background.submit(lambda: _compiled(text, make))


def _compiled(text: str, make: Callable[[], Imported]) -> Run:
    model = compiled(TraceSource("eager", text, make), make_options())

    def run(inputs: Arrays) -> Arrays:
        found = model(*inputs)
        return found if isinstance(found, tuple) else (found,)

    return run


evaluate.compiler[:] = [compiling]
