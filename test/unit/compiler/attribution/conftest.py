"""Settings of the tests of this folder."""

import pytest

from mlc.tracing import interpretable


@pytest.fixture(autouse=True)
def compiled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jitted functions wait for the compiler: what is compared with the reference is compiled code."""
    monkeypatch.setattr(interpretable, "LIMIT", -1)
