"""Settings of the whole suite."""

import gc
import sys
import tempfile
from collections.abc import Iterator

import pytest
from costs import EAGER, FAST, FIRST, SLOW
from hypothesis import HealthCheck, settings
from optimization import unoptimized
from runtime_objects import runtime_objects
from sampling import sample_sweeps
from seeds import (
    pytest_addoption,
    pytest_configure,
    pytest_fixture_setup,
    pytest_make_collect_report,
    pytest_report_header,
    pytest_runtest_call,
    pytest_runtest_makereport,
)
from surroundings import usual_surroundings
from watchdog import limit_calls

from mlc.frontends.array import evaluate
from mlc.runtime import memory

__all__ = [
    "pytest_addoption", "pytest_configure", "pytest_fixture_setup", "pytest_make_collect_report",
    "pytest_report_header", "pytest_runtest_call", "pytest_runtest_makereport", "runtime_objects",
    "pytest_sessionstart", "pytest_runtestloop", "pytest_collection_modifyitems",
]  # fmt: skip


def pytest_sessionstart() -> None:
    usual_surroundings()
    limit_calls()
    gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """A million objects of modules and tests live until the end: the collector of cycles does not visit them again."""
    gc.freeze()
    gc.enable()


# How long an example takes depends on what else the machine does.
settings.register_profile("mlc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("mlc")


@pytest.fixture(autouse=True, scope="session")
def temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Put temporary files of mlc and its commands, such as reproducers, into the tests' own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
        patch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture
def no_memory_kept() -> Iterator[None]:
    """Free the memory kept for outputs before and after each test."""
    memory._free.clear()
    yield
    memory._free.clear()


@pytest.fixture(autouse=True, scope="module")
def lines_are_interpreted(request: pytest.FixtureRequest) -> Iterator[None]:
    """What is evaluated line by line is not compiled where it repeats, but for the tests of that: nobody waits for it,
    and the queue of an earlier test delays later ones."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.stem not in EAGER:
            patch.setattr(evaluate, "COMPILED_AFTER", sys.maxsize)
        yield


@pytest.fixture(autouse=True, scope="module")
def level_of_optimization(request: pytest.FixtureRequest) -> Iterator[None]:
    """Compile the tests of ``UNOPTIMIZED`` with ``-O0``."""
    with pytest.MonkeyPatch.context() as patch:
        if unoptimized(request.path):
            patch.setenv("MLC_CFLAGS", "-O0")
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest tests first; ``-m fast``: lit and unit tests without the slow ones, for the inner loop."""
    items.sort(key=lambda item: item.path.stem not in FIRST)
    for item in items:
        if item.path.stem not in SLOW and any(item.path.is_relative_to(folder) for folder in FAST):
            item.add_marker("fast")
    sample_sweeps(config, items)
