"""The rows of ``python -m benchmarks.gpu``, without a GPU: what fails, what is left out, what is in the file."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import onnx
import pytest

from benchmarks.gpu import advance, peers, report
from benchmarks.gpu.__main__ import chosen
from benchmarks.gpu.features import Features
from benchmarks.gpu.isolation import Row, compiling, isolated

RELU = '<ir_version: 8, opset_import: ["" : 17]> g (float[3,5] x) => (float[3,5] y) { y = Relu(x) }'


@pytest.fixture(autouse=True)
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "Device", lambda: None)


def _ends() -> Row:
    os._exit(1)


def _hangs() -> Row:
    time.sleep(60)
    return {}


def _rows(_: Any) -> report.Rows:
    for n in range(5):
        yield f"row {n}", {1: _ends, 3: _hangs}.get(n, lambda n=n: {"n": n, "speed of torch": 2.0**n, "right": n < 4})


def test_every_row_is_there_whatever_another_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report.Report({}, 60, tmp_path / "rows.json")
    found.add("Products", _rows, limit=1)
    first, ended, third, hung, last = found.found["Products"]
    assert (first["n"], third["n"], last["n"]) == (0, 2, 4) and found.failures == 3
    assert ended == {"what": "row 1", "failed": "the process ended without a row"}
    assert hung == {"what": "row 3", "failed": "it took longer than 1 s"}
    assert json.loads((tmp_path / "rows.json").read_text()) == found.found
    assert [path.name for path in tmp_path.iterdir()] == ["rows.json"]
    assert "4.000 of torch's speed, the geometric mean of 3" in capsys.readouterr().out


def test_rows_after_the_time_are_left_out() -> None:
    found = report.Report({}, 0.0, None)
    found.add("Products", _rows)
    assert found.found["Products"] == [{"what": f"row {n}", "left out": "no time was left"} for n in range(5)]


def test_a_model_is_compiled_in_advance_and_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path))
    model = onnx.parser.parse_model(RELU)
    with advance.in_advance(), pytest.raises(advance.Compiled):
        advance.compiled(model, target="cpu")
    made = list((tmp_path / "artifacts").iterdir())
    with advance.compiled(model, target="cpu") as net:
        assert list((tmp_path / "artifacts").iterdir()) == made and net.outputs.keys() == {"y"}


def test_a_peer_that_fails_or_takes_long_costs_its_own_figures_alone() -> None:
    def measured(peer: Any) -> Row:
        return isolated(lambda: {"ms": 1.5, **peers.beside(peer, 0.5)}, 10)

    assert measured(lambda: {"torch ms": 2.0}) == {"ms": 1.5, "torch ms": 2.0}
    assert measured(lambda: 1 // 0)["torch says"].startswith("ZeroDivisionError")
    assert measured(_hangs) == {"ms": 1.5, "torch says": "TimeoutError: it took too long"}


def test_names_of_all_rows_need_no_device() -> None:
    for what in ("smoke", "calibrate", "quick", "all"):
        for section in chosen("cuda:sm_90", 1, what).values():
            names = [name for name, _ in section(None)]
            assert names and len(set(names)) == len(names)


def test_a_feature_that_hung_twice_is_left_out_of_later_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what was right in another row: the first row proves copies by TMA, the next two hang."""
    monkeypatch.setattr(report, "FEATURES", features := Features())
    blocks = ["copy=tma", "copy=tma persist", "copy=tma raster=8 persist", "persist", "copy=tma", "raster=8"]

    def row(n: int) -> Row:
        features.use([f"contraction: S0 S1 | m/64p | k | {blocks[n]}"])
        return _hangs() if n in (1, 2) else {"n": n, "right": True}

    found = report.Report({}, 60, None)
    found.add("Blocks", lambda _: ((f"row {n}", lambda n=n: row(n)) for n in range(6)), limit=0.5)
    first, _, _, fourth, fifth, sixth = found.found["Blocks"]
    assert first == {"what": "row 0", "n": 0, "right": True, "features": ["copy=tma"]}
    assert (fifth["n"], sixth["n"]) == (4, 5)
    assert fourth == {"what": "row 3", "left out": "kernels with persist have hung twice"}


def test_rows_that_fail_are_examined_while_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, bool]] = []
    for seconds in (90, 30):
        found = report.Report({}, seconds, None)
        found.examine = lambda name, hung: asked.append((name, hung)) or {"first wrong": name}
        found.add("Products", _rows, limit=1)
        assert found.found["Products"][3].get("first wrong") == ("row 3" if seconds == 90 else None)
    assert asked == [("row 1", False), ("row 3", True), ("row 4", False)]


def test_compilation_is_none_of_the_time_of_a_row() -> None:
    def row(seconds: float) -> Row:
        with compiling():
            time.sleep(0.7)
        time.sleep(seconds)
        return {"right": True}

    assert isolated(lambda: row(0.1), 0.5) == {"right": True}
    assert isolated(lambda: row(0.7), 0.5) == {"failed": "it took longer than 0.5 s"}
