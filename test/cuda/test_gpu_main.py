"""``python -m benchmarks.gpu`` as a whole, on the fake driver, with a few cheap rows (few_rows.py)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from fake_gpu import HERE, Gpu, needed

pytestmark = needed
TARGET = "cuda:sm_90"


def run(gpu: Gpu, what: str, output: Path) -> tuple[int, dict[str, Any]]:
    """The exit status of the command, and its file."""
    command = [sys.executable, HERE / "few_rows.py", gpu.folder, what, output]
    done = subprocess.run(command, capture_output=True, text=True)
    assert output.exists(), done.stderr[-2000:]
    return done.returncode, json.loads(output.read_text())


def test_smoke_rows_and_the_examination_of_one_that_is_wrong(gpu: Gpu, tmp_path: Path) -> None:
    status, found = run(gpu, "smoke", tmp_path / "rows.json")
    assert found.keys() == {"about", "First kernel", "Smoke"} and found["about"]["target"] == TARGET
    rows = {row.get("first wrong"): row["right"] for row in found["Smoke"]}
    assert status == 1 and rows == {None: True, f"state {TARGET} False": False}


def test_calibration_gives_rates(gpu: Gpu, tmp_path: Path) -> None:
    status, found = run(gpu, "calibrate", tmp_path / "rows.json")
    assert status == 0 and found.keys() == {"about", "Calibration", "rates"}
    assert any(row.get("seconds", 0) > 0 for row in found["Calibration"])
    assert found["rates"].keys() >= {"term_cycles", "launch_cycles"}
