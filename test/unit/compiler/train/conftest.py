"""Settings of the tests of training."""

import pytest

from mlc.frontends.array import evaluate
from mlc.nn import manual_seed


@pytest.fixture(autouse=True)
def same_weights() -> None:
    """Initial weights do not depend on the tests before."""
    manual_seed(0)


@pytest.fixture(autouse=True)
def nothing_compiles_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each program runs once, in the interpreter."""
    monkeypatch.setattr(evaluate, "compiler", [])
