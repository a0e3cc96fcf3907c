"""Settings of the tests of transformations."""

import pytest

from mlc.frontends.array import evaluate


@pytest.fixture(autouse=True)
def nothing_compiles_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program runs a few times, in the interpreter."""
    monkeypatch.setattr(evaluate, "compiler", [])
