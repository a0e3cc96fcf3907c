"""``python -m benchmarks.gpu.calibration`` on a log of synthetic times."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.gpu import calibration
from benchmarks.gpu.measurements import product_model
from mlc import target
from mlc.api import make_options
from mlc.driver.sources import source_of
from mlc.target import GpuTarget
from mlc.tuning.variants import Variants

GPU = target.get("cuda:sm_80")
assert isinstance(GPU, GpuTarget)
SIZE = (64, 256, 2048)


def test_rates_are_fitted_to_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Times of a GPU whose kernels start in half of the time, and whose blocks wait longer."""
    m, n, k = SIZE
    model = product_model("float16", SIZE, np.zeros((k, n), np.float16))
    variants = Variants(source_of(model), make_options("cuda:sm_80"), tmp_path)
    row: dict[str, Any] = {"element": "float16", "size": list(SIZE), "seconds": 1.0}
    rows = [row | {"schedules": lines} for lines in calibration.schedules(variants)]
    true, samples = replace(GPU, launch_cycles=1500.0, term_cycles=40.0), []
    for each in rows:
        samples.append(calibration.sample_of(each, "cuda:sm_80"))
        each["seconds"] = samples[-1].estimated(true)
    assert {s.parts for s in samples} >= {1, 8} and len({(s.tile.rows, s.tile.columns) for s in samples}) > 3
    log, made = tmp_path / "log.json", tmp_path / "rates.json"
    log.write_text(json.dumps(rows))
    calibration.main(log, None, made)
    found = json.loads(made.read_text())
    assert found["launch_cycles"] == pytest.approx(1500, rel=0.05)
    assert found["term_cycles"] == pytest.approx(40, rel=0.05)
    assert "1.00 fitted" in capsys.readouterr().out


def test_rows_of_a_run_name_their_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows that were left out are none; without others nothing is fitted."""
    log = tmp_path / "rows.json"
    log.write_text(json.dumps({"about": {"target": "cuda:sm_90"}, "Calibration": [{"what": "x", "left out": "y"}]}))
    with pytest.raises(SystemExit):
        calibration.main(log)
    assert "Nothing was measured" in capsys.readouterr().out
