"""Seeds of tests: random data is the same in each run, and other data with ``pytest --seed random``.

A test draws from fresh generators, ``np.random.default_rng()`` or ``secrets.randbits``. The entropy of both follows
from one seed and the name of the test, so a test draws the same alone, in any order and on any worker. Of sweeps that
take minutes it draws a sample (``drawn``); ``pytest --whole`` runs all of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random, SystemRandom
from typing import TypeVar

import pytest
from numpy.random import bit_generator

T = TypeVar("T")
SEED = 0  # of continuous integration
_entropy = Random()
_seed, _whole = str(SEED), False


def _drawn(bits: int) -> int:
    return _entropy.getrandbits(bits)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", default=str(SEED), help="of random data in tests: a number, or 'random' for a new one")
    parser.addoption("--whole", action="store_true", help="all cases of sweeps of which else a sample is drawn")
    parser.addoption("--sample", action="store_true", help="a sample of sweeps also in files that the command names")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before workers start, which get the number."""
    if config.option.seed == "random":
        config.option.seed = str(SystemRandom().getrandbits(32))
    config.option.seed = str(int(config.option.seed))
    global _seed, _whole
    _seed, _whole = config.option.seed, config.option.whole
    config.option.hypothesis_seed = config.option.hypothesis_seed or config.option.seed
    secrets.randbits = bit_generator.randbits = _drawn  # type: ignore[attr-defined]


def pytest_report_header(config: pytest.Config) -> str:
    return f"random data: --seed {config.option.seed}"


def drawn(cases: Sequence[T], number: int, name: str) -> list[T]:
    """``number`` of the cases, in order, as parameters of a test: others for another ``--seed`` or name; all with
    ``--whole``."""
    if _whole or number >= len(cases):
        return list(cases)
    chosen = Random(f"{_seed} {name}").sample(range(len(cases)), number)
    return [cases[n] for n in sorted(chosen)]


@contextmanager
def _seeded(config: pytest.Config, name: str) -> Iterator[None]:
    state = _entropy.getstate()
    _entropy.seed(f"{config.option.seed} {name}")
    try:
        yield
    finally:
        _entropy.setstate(state)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    with _seeded(collector.config, collector.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> Iterator[None]:
    with _seeded(request.config, f"{request.node.nodeid} {fixturedef.argname}"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    with _seeded(item.config, item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failure says its seed."""
    report = yield
    if report.failed:  # type: ignore[attr-defined]
        report.sections.append(("Random data", f"--seed {item.config.option.seed}"))  # type: ignore[attr-defined]
    return report
