"""``python -m benchmarks.gpu`` as a whole, on the fake driver, with a few cheap rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fake_gpu import Gpu, needed

from benchmarks.gpu import __main__ as command
from benchmarks.gpu import calibration, sections, smoke
from mlc.tools.cuda_device import Device

pytestmark = needed
TARGET = "cuda:sm_90"
ROWS = ("state", "open dimension")


def run(output: Path, **options: Any) -> tuple[int, dict[str, Any]]:
    """The exit status of the command, and its file."""
    others = {"smoke": False, "calibrate": False, "quick": False}
    rest = {"only": None, "compile": False, "share": None}
    with pytest.raises(SystemExit) as ended:
        command.main(output, None, 1.5, 3, **{**others, **options}, **rest)
    return int(ended.value.code or 0), json.loads(output.read_text())  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.advance, "compile_all", lambda *_: {})
    monkeypatch.setattr(command, "LIMITS", {"First kernel": 60.0, "Smoke": 60.0})
    every = smoke.measured
    monkeypatch.setattr(sections.smoke, "measured", lambda *given: (row for row in every(*given) if row[0] in ROWS))


def test_smoke_rows_and_the_examination_of_one_that_is_wrong(
    gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "examined", lambda name, target, hung: {"first wrong": f"{name} {target} {hung}"})
    measured = sections.smoke.measured

    def wrong(device: Device, target: str) -> Any:
        for name, measure in measured(device, target):
            yield name, lambda measure=measure, name=name: {**measure(), "right": name == ROWS[0]}

    monkeypatch.setattr(sections.smoke, "measured", wrong)
    status, found = run(tmp_path / "rows.json", smoke=True)
    assert found.keys() == {"about", "First kernel", "Smoke"} and found["about"]["target"] == TARGET
    rows = {row.get("first wrong"): row["right"] for row in found["Smoke"]}
    assert status == 1 and rows == {f"open dimension {TARGET} False": False, None: True}


def test_calibration_gives_rates(gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "SIZES", [(32, 32, 128)])
    monkeypatch.setattr(calibration, "TILES", 1)
    monkeypatch.setattr(calibration, "NUMBERS", 1)
    monkeypatch.setattr(command, "SECONDS", 60.0)
    monkeypatch.setattr(command, "MOST", {})
    status, found = run(tmp_path / "rows.json", calibrate=True)
    assert status == 0 and found.keys() == {"about", "Calibration", "rates"}
    assert any(row.get("seconds", 0) > 0 for row in found["Calibration"])
    assert found["rates"].keys() >= {"term_cycles", "launch_cycles"}
