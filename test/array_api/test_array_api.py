"""``run.py`` compares outcomes with its table of expected failures, and ``consumers.py`` runs other packages."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"array_api_{name}", HERE / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_differences_from_the_table() -> None:
    run = load("run")
    expected = run.expected_failures("# a comment\n\ntest_a # why\ntest_b[x # y] # because\n")
    assert expected == {"test_a": "why", "test_b[x": "y] # because"}
    found = {"f.py::test_a[1]": "failed", "f.py::test_c": "passed", "f.py::test_d": "skipped"}
    lines, right = run.summary(found, {"test_a": "why", "test_b": "because"})
    assert (
        right
        and lines[0] == "1 of 2 tests pass (50.00 %)"
        and "expected to fail, and passes: test_b (because)" in lines
    )
    lines, right = run.summary(found | {"f.py::test_e": "error"}, {"test_a": "why"})
    assert not right and lines[-1] == "FAILS: f.py::test_e"
    assert not run.summary({}, {})[1]


def test_the_table_gives_reasons() -> None:
    run = load("run")
    table = run.expected_failures(run.TABLE.read_text(encoding="utf-8"))
    assert table and all(table.values())


@pytest.mark.parametrize(("package", "count"), [("scipy", 14), ("sklearn", 4), ("einops", 4)])
def test_packages_run_on_arrays(package: str, count: int) -> None:
    pytest.importorskip(package)
    command = [sys.executable, "-W", "ignore", str(HERE / "consumers.py"), str(secrets.randbits(20)), package]
    done = subprocess.run(command, env=os.environ | {"SCIPY_ARRAY_API": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    differences = json.loads(done.stdout)
    assert len(differences) == count
    assert {name: error for name, error in differences.items() if error > 1e-6} == {}
