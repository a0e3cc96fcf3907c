"""Runs the lit tests of this folder, once, and reports each as a pytest test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = sorted(str(path.relative_to(HERE)) for path in HERE.rglob("*.mlir"))


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Name -> {"code": "PASS", "output": ...} of every test that lit found.

    One of pytest's workers runs lit, which works in parallel itself; the others wait for its report.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "lit"
    report = folder / "report.json"
    try:
        folder.mkdir()
    except FileExistsError:
        _wait(report)
    else:
        _run_lit(folder, report)
    return {test["name"].partition(" :: ")[2]: test for test in json.loads(report.read_text())["tests"]}


def _run_lit(folder: Path, report: Path) -> None:
    lit = [sys.executable, "-c", "from lit.main import main; main()"]
    made = folder / "made.json"
    command = [*lit, "-q", "--param", f"exec_root={folder}", "--output", str(made), str(HERE)]
    process = subprocess.run(command, capture_output=True, text=True)
    assert made.exists(), process.stderr
    made.rename(report)


def _wait(report: Path) -> None:
    for _ in range(6000):
        if report.exists():
            return
        time.sleep(0.1)
    raise TimeoutError(f"no {report} after ten minutes")


def test_lit_finds_every_file_and_there_are_some(results: dict[str, dict[str, str]]) -> None:
    assert FILES
    assert sorted(results) == FILES


@pytest.mark.parametrize("name", FILES)
def test_lit(name: str, results: dict[str, dict[str, str]]) -> None:
    assert results[name]["code"] == "PASS", results[name]["output"]
