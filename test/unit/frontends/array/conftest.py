"""Settings of the tests of arrays."""

from collections.abc import Iterator

import pytest

from mlc.frontends.array.evaluate import Program


@pytest.fixture(autouse=True, scope="module")
def nothing_compiles_afterwards() -> Iterator[None]:
    """Programs that compile in the background are done: other tests measure memory."""
    yield
    Program.pool.submit(int).result()
