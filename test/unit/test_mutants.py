"""The planted faults of ``test/mutants`` fit the sources of today, so that they can be planted tomorrow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUTANTS = ROOT / "test" / "mutants"
sys.path.append(str(MUTANTS))
from faults import HERE, Fault, faults  # noqa: E402 - from the folder of the faults

FAULTS = faults([])


def test_the_command_lists_every_patch() -> None:
    command = [sys.executable, str(MUTANTS / "run.py"), "--list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert listed == sorted(str(path.relative_to(HERE).with_suffix("")) for path in HERE.rglob("*.patch"))
    assert len(listed) >= 80


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_patch_applies_and_names_tests_that_exist(fault: Fault) -> None:
    checked = subprocess.run(["git", "apply", "--check", fault.path], cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, f"write it anew for today's sources:\n{checked.stderr}"
    assert fault.files and fault.tests
    for test in fault.tests:
        assert (ROOT / test.partition("::")[0]).exists(), test
