"""Settings of the tests of traced functions and of arrays."""

from collections.abc import Iterator

import pytest

from mlc.tracing import background, interpretable


@pytest.fixture(autouse=True, scope="module")
def nothing_compiles_afterwards() -> Iterator[None]:
    """Programs that compile in the background are done: other tests measure memory."""
    yield
    background.submit(int).result()


@pytest.fixture(autouse=True)
def compiled_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jitted functions wait for the compiler: what is compared with the reference is compiled code."""
    monkeypatch.setattr(interpretable, "LIMIT", -1)
