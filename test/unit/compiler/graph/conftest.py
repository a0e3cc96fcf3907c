"""Programs of sessions run in the interpreter, and each test has a graph of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mlc import graph
from mlc.frontends.array import evaluate
from mlc.tracing import background


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are not compiled: each runs a few times."""
    monkeypatch.setattr(evaluate, "compiler", [])
    monkeypatch.setattr(background, "submit", lambda work: background.Future())


@pytest.fixture(autouse=True)
def own_graph() -> Iterator[None]:
    with graph.Graph().as_default():
        yield
