"""Samples of sweeps: where a command names folders, a test that compiles models runs some of its cases, drawn by
``--seed``.

Such a test states one property, and each of its cases takes a tenth of a second to ten seconds. All cases run where
the command names the file, and with ``--whole``; ``--sample`` takes a sample in each file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from costs import SLOW
from seeds import drawn

FEWEST, SHARE = 2, 4  # cases of a test: at least two, or else a quarter of all
OWN = {"test_aarch64", "test_cli", "test_models", "test_sessions"}  # draw themselves, or a case is a test of its own
FOLDERS = [Path(__file__).parent / name for name in ("cuda", "e2e")]


def _is_sampled(path: Path, named: set[Path]) -> bool:
    if path in named or path.stem in OWN:
        return False
    return path.stem in SLOW or any(path.is_relative_to(folder) for folder in FOLDERS)


def _named_files(config: pytest.Config) -> set[Path]:
    """Files of the command, whose tests all run."""
    if config.getoption("sample"):
        return set()
    return {(config.invocation_params.dir / argument.split("::")[0]).resolve() for argument in config.args}


def _sample(name: str, cases: Sequence[pytest.Item]) -> set[pytest.Item]:
    return set(drawn(cases, max(FEWEST, -(-len(cases) // SHARE)), name))


def sample_sweeps(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases of slow tests that are not drawn."""
    named, sweeps = _named_files(config), defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if _is_sampled(item.path, named):
            sweeps[item.nodeid.split("[")[0]].append(item)
    left = {item for name, cases in sweeps.items() for item in set(cases) - _sample(name, cases)}
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]
