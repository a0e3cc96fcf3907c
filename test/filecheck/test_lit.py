"""Runs the lit tests of this folder, once, and reports each as a pytest test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = sorted(str(path.relative_to(HERE)) for path in HERE.rglob("*.mlir"))

pytestmark = pytest.mark.xdist_group("lit")  # one worker runs them: lit itself works in parallel


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Name -> {"code": "PASS", "output": ...} of every test that lit found."""
    folder = tmp_path_factory.mktemp("lit")
    report = folder / "report.json"
    lit = [sys.executable, "-c", "from lit.main import main; main()"]
    command = [*lit, "-q", "--param", f"exec_root={folder}", "--output", str(report), str(HERE)]
    process = subprocess.run(command, capture_output=True, text=True)
    assert report.exists(), process.stderr
    return {test["name"].partition(" :: ")[2]: test for test in json.loads(report.read_text())["tests"]}


def test_lit_finds_every_file_and_there_are_some(results: dict[str, dict[str, str]]) -> None:
    assert FILES
    assert sorted(results) == FILES


@pytest.mark.parametrize("name", FILES)
def test_lit(name: str, results: dict[str, dict[str, str]]) -> None:
    assert results[name]["code"] == "PASS", results[name]["output"]
