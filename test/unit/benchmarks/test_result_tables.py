"""Results as files and tables: gaps of peers, geometric means, the best peer, bytes moved."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import machine, models, report, results, roofline, tables
from benchmarks.models import small
from benchmarks.models.traffic import traffic
from benchmarks.results import Comparison, Latencies, Result, Setup

MACHINE = {
    "date": "2026-01-01", "cpu": "test", "cpus": 1, "system": "s", "python": "3", "revision": "abc", "flops": 1e9,
    "bandwidth": 1e9, "isa": [], "vector_bits": 256, "compiler": "cc 1", "versions": {"mlc": "0"},
}  # fmt: skip
COST = {"seconds": 1.0, "peak": 1 << 20, "arena": 100, "bound": 100}


def result(model: str, **seconds: float) -> Result:
    """One round of each engine."""
    rounds = {engine: [value] for engine, value in seconds.items()}
    latency = Latencies(rounds, dict.fromkeys(seconds, 1 << 20), dict.fromkeys(seconds, 0.5), {"tvm": "no"})
    return Result(model, 1.0, 1000, 10, COST, COST, 0.1, latency, [None, None] if model == "a" else [54.4, 338.0])


@pytest.fixture
def comparison() -> Comparison:
    found = [result("a", mlc=1.0, onnxruntime=2.0, torch=3.0), result("op_b", mlc=1.0, onnxruntime=8.0)]
    return Comparison(MACHINE, Setup([0], ["onnxruntime", "torch"], 1, 0.1, 1), found, {"c": "why"})


def test_a_file_holds_everything(comparison: Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path / "a.json")
    assert results.load([tmp_path / "a.json"]) == comparison
    assert len(results.load([tmp_path / "a.json"] * 2).results) == 4


def test_several_files_say_each_revision_once(comparison: Comparison, tmp_path: Path) -> None:
    for name, revision in (("a", "r1"), ("b", "r2"), ("c", "r1")):
        replace(comparison, machine={**MACHINE, "revision": revision}).save(tmp_path / f"{name}.json")
    assert results.load(tmp_path / f"{name}.json" for name in "abc").machine["revision"] == "r1, r2"


def test_a_missing_peer_leaves_cells_empty_and_means_right(comparison: Comparison) -> None:
    table = tables.latency(comparison.results, comparison.setup.peers)
    assert table.headings[5:] == ["onnxruntime", "PyTorch", "best peer", "ratio", "handover ns"]
    assert [row[5:] for row in table.rows] == [
        ["2.00 [2.00–2.00]", "3.00 [3.00–3.00]", "onnxruntime", "2.00", ""],
        ["8.00 [8.00–8.00]", "–", "onnxruntime", "8.00", "54–338"], ["4.00", "3.00", "", "4.00", ""]]  # fmt: skip


def test_means_of_groups(comparison: Comparison) -> None:
    groups = {"models": tables.models(comparison), "operators": tables.operators(comparison), "none": []}
    rows = tables.means(groups, comparison.setup.peers).rows
    assert rows == [["models", "2.00 (1)", "3.00 (1)", "2.00 (1)"], ["operators", "8.00 (1)", "– (0)", "8.00 (1)"],
                    ["none", "– (0)", "– (0)", "– (0)"]]  # fmt: skip


def test_reasons_are_listed(comparison: Comparison) -> None:
    rows = tables.failures(comparison).rows
    assert rows == [["`c`", "mlc", "why"], ["`a`", "TVM", "no"], ["`op_b`", "TVM", "no"]]


@pytest.mark.parametrize("make", [tables.latency, tables.compiling, tables.memory])
def test_tables_are_markdown(comparison: Comparison, make: object) -> None:
    lines = make(comparison.results, comparison.setup.peers).markdown().splitlines()  # type: ignore[operator]
    assert len({line.count("|") for line in lines}) == 1 and len(lines) >= 4


def test_files_measured_in_different_ways_do_not_mix(comparison: Comparison, tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    comparison.save(files[0])
    replace(comparison, machine=MACHINE | {"cpu": "other"}).save(files[1])
    with pytest.raises(ValueError, match="other"):
        results.load(files)


def test_the_page_has_every_part(comparison: Comparison) -> None:
    text = report.page(comparison, "roofline.svg")
    assert "$" not in text and "one thread" in text and "![roofline](roofline.svg)" in text
    titles = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    assert titles == ["Latency", "In short", "Compilation", "Memory", "Single operators", "Not measured"]
    assert text.count("`op_b`") == 3  # its row, its reason, its family


def test_other_peers_are_a_section_of_their_own_run(comparison: Comparison) -> None:
    section = report.page(comparison, also=[comparison]).partition("## Beside other peers")[2]
    assert "onnxruntime" in section and "| `op_b` |" in section


def test_another_target_is_a_section_that_names_who_is_not_limited(comparison: Comparison) -> None:
    assert tables.note(comparison.setup) == ""
    limited = replace(comparison, setup=replace(comparison.setup, target="x86-64-v3"))
    section = report.page(comparison, also=[limited]).partition("## Compiled for x86-64-v3")[2]
    assert "onnxruntime cannot be limited" in section and "PyTorch cannot" not in section and "| `op_b` |" in section


def test_files_for_different_targets_do_not_mix(comparison: Comparison, tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    comparison.save(files[0])
    replace(comparison, setup=replace(comparison.setup, target="x86-64-v3")).save(files[1])
    with pytest.raises(ValueError, match="x86-64-v3"):
        results.load(files)


def test_the_roofline_has_a_point_an_engine_and_model(comparison: Comparison, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    points = list(roofline.whole(comparison))
    assert {(point.group, point.gflops) for point in points if point.name == "a"} == {
        ("mlc", 1.0), ("onnxruntime", 0.5), ("torch", 1 / 3)}  # fmt: skip
    roofline.draw(points, 1e9, 1e9, tmp_path / "plot.svg")
    assert "GFLOP/s" in (tmp_path / "plot.svg").read_text()


def test_the_machine_is_described() -> None:
    found = machine.describe(sorted(os.sched_getaffinity(0))[:1], ["onnxruntime"])
    assert set(found) == set(MACHINE) and found["flops"] > 1e9 and set(found["versions"]) == {"mlc", "onnxruntime"}


def test_traffic_counts_inputs_outputs_and_weights_once() -> None:
    options = small.OPTIONS["mlp"] | {"batch": 2, "sizes": (3, 5)}
    assert traffic(models.build("mlp", **options)) == 4 * (2 * 3 + 3 * 5 + 5 + 2 * 5)
    assert traffic(models.build("mlp", **options | {"batch": "batch"}), {"batch": 2}) == 4 * (2 * 3 + 3 * 5 + 5 + 2 * 5)
    assert traffic(models.build("op_gather_30522x768_128")) == 128 * (8 + 768 * 4)
