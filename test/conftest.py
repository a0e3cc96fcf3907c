"""Settings of the whole suite."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from mlc.runtime import memory

# How long an example takes depends on what else the machine does.
settings.register_profile("mlc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mlc")


@pytest.fixture
def no_memory_kept() -> Iterator[None]:
    """Nothing is there from outputs of other tests, and nothing stays."""
    memory._free.clear()
    yield
    memory._free.clear()
