"""Results as files and tables: gaps of peers, geometric means, the best peer, bytes moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import models, results, tables
from benchmarks.models import small
from benchmarks.models.traffic import traffic
from benchmarks.results import Comparison, Latencies, Result, Setup

COST = {"seconds": 1.0, "peak": 1 << 20, "arena": 100, "bound": 100}


def result(model: str, **seconds: float) -> Result:
    """One round of each engine."""
    rounds = {engine: [value] for engine, value in seconds.items()}
    latency = Latencies(rounds, dict.fromkeys(seconds, 1 << 20), dict.fromkeys(seconds, 0.5), {"tvm": "no"})
    return Result(model, 1.0, 1000, 10, COST, COST, latency)


@pytest.fixture
def comparison() -> Comparison:
    found = [result("a", mlc=1.0, onnxruntime=2.0, torch=3.0), result("op_b", mlc=1.0, onnxruntime=8.0)]
    machine = {"cpu": "test", "flops": 1e9, "bandwidth": 1e9}
    return Comparison(machine, Setup([0], ["onnxruntime", "torch"], 1, 0.1, 1), found, {"c": "why"})


def test_a_file_holds_everything(comparison: Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path / "a.json")
    assert results.load([tmp_path / "a.json"]) == comparison
    assert len(results.load([tmp_path / "a.json"] * 2).results) == 4


def test_a_missing_peer_leaves_cells_empty_and_means_right(comparison: Comparison) -> None:
    table = tables.latency(comparison.results, comparison.setup.peers)
    assert all(len(row) == len(table.headings) for row in table.rows)
    ratios = [row[i] for row in table.rows for i, heading in enumerate(table.headings) if heading == "ratio"]
    assert ratios == ["2.00 [2.00–2.00]", "3.00 [3.00–3.00]", "2.00", "8.00 [8.00–8.00]", "–", "8.00", "4.00", "3.00",
                      "4.00"]  # fmt: skip


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


def test_traffic_counts_inputs_outputs_and_weights_once() -> None:
    options = small.OPTIONS["mlp"] | {"batch": 2, "sizes": (3, 5)}
    assert traffic(models.build("mlp", **options)) == 4 * (2 * 3 + 3 * 5 + 5 + 2 * 5)
    assert traffic(models.build("mlp", **options | {"batch": "batch"}), {"batch": 2}) == 4 * (2 * 3 + 3 * 5 + 5 + 2 * 5)
    assert traffic(models.build("op_gather_30522x768_128")) == 128 * (8 + 768 * 4)
