"""``mlc run`` of a Python program on several ranks, by a launcher that starts one after another."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Command

from mlc.cli import ranks

LAUNCHER = """#!/bin/sh
shift; count=$1; shift
for rank in $(seq 0 $((count - 1))); do PMI_RANK=$rank "$@" || exit 3; done
"""
PROGRAM = """
import os, pathlib, sys
log = pathlib.Path(sys.argv[1])
log.write_text((log.read_text() if log.exists() else "") + os.environ["PMI_RANK"] + " ")
sys.exit(len(log.read_text().split()) < int(sys.argv[2]))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    launcher = tmp_path / "mpiexec"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)
    monkeypatch.setattr(ranks, "mpiexec", lambda: str(launcher))
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path / "train.py"


def test_a_program_on_three_ranks(mlc_command: Command, program: Path, tmp_path: Path) -> None:
    mlc_command("run", program, "--ranks", "3", "--", tmp_path / "log", "0")
    assert (tmp_path / "log").read_text() == "0 1 2 "


def test_a_job_that_fails_starts_again(mlc_command: Command, program: Path, tmp_path: Path) -> None:
    printed = mlc_command("run", program, "--ranks", "2", "--restarts", "3", "--", tmp_path / "log", "3")
    assert (tmp_path / "log").read_text() == "0 0 0 1 " and "ended with status 3: start 2 of 4" in printed


def test_a_job_that_fails_to_the_end(mlc_command: Command, program: Path, tmp_path: Path) -> None:
    printed = mlc_command("run", program, "--ranks", "2", "--", tmp_path / "log", "9", code=1)
    assert "mlc: error: The job on 2 ranks ended with status 3" in printed


@pytest.mark.parametrize("status, code", [(2, 2), (1, 1), (9, 1)])
def test_the_status_of_a_model_on_ranks(
    mlc_command: Command, program: Path, tmp_path: Path, status: int, code: int
) -> None:
    (tmp_path / "mpiexec").write_text(f"#!/bin/sh\nexit {status}\n")
    (tmp_path / "model.so").touch()
    printed = mlc_command("run", tmp_path / "model.so", "--ranks", "2", code=code)
    assert f"The job on 2 ranks ended with status {status}" in printed


def test_ranks_of_a_model_are_refused(mlc_command: Command, tmp_path: Path) -> None:
    printed = mlc_command("run", tmp_path / "model.onnx", "--ranks", "2", code=2)
    assert "are for Python programs" in printed
