"""No pass imports from a pass that runs later: what both need is a helper, or a fact that the kernel declares."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from mlc import target
from mlc.options import Options
from mlc.pipelines.backends import backend_of

ROOT = Path(__file__).parents[3]
TARGETS = ("x86-64-v3", "cuda:sm_90")
TRIALS = {"mlc.passes.fuse.autodiff.saving.planned"}
"""Helpers that run later passes on a copy of the module, to measure what a choice costs."""


def order_of(name: str) -> list[str]:
    """The modules of a target's passes, in the order in which they run; passes that occur twice, twice."""
    machine = target.get(name)
    stages = backend_of(machine).pipeline(Options(target=machine))
    return [type(each).__module__ for _, passes in stages for each in passes]


def file_of(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split(".")[1:])
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.exists()), None)


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of passes and their helpers that a module imports, also in functions."""
    path = file_of(module)
    assert path is not None, module
    found = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom) and n.module]
    names = [(n.module, f"{n.module}.{name.name}") for n in found for name in n.names]
    return frozenset(full if file_of(full) else str(home) for home, full in names if full.startswith("mlc.passes."))


def reached(module: str, passes: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The passes that a pass imports, itself or by helpers, each with the module that imports it."""
    seen, waiting = {module}, [module]
    while waiting:
        here = waiting.pop()
        for each in imports(here) - seen - TRIALS:
            seen.add(each)
            if each in passes:
                yield here, each
            else:
                waiting.append(each)


@pytest.mark.parametrize("name", TARGETS)
def test_no_pass_imports_from_a_later_one(name: str) -> None:
    order = order_of(name)
    last = {module: n for n, module in enumerate(order)}
    passes = frozenset(order)
    wrong = [(by, each) for module in last for by, each in reached(module, passes) if order.index(each) > last[module]]
    assert not wrong, f"{wrong[0][0]} imports from {wrong[0][1]}, which runs later on '{name}'"


def test_trials_are_helpers() -> None:
    assert all(file_of(module) for module in TRIALS)
