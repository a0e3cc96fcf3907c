"""``mlc bench``: latency, throughput, a peer, the profile and the trace, on a small network."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import onnx
import pytest
from command_line import Command
from onnx import numpy_helper


def test_the_shapes_and_the_distribution(mlc_command: Command, model: Path) -> None:
    printed = mlc_command("bench", model, "--seconds", "0.05", "--dim", "batch=4")
    assert printed.startswith("inputs: x float32[4, 20]; loads in ")
    assert all(name in printed for name in ("min", "median", "p90", "p95", "p99", "max", "mean"))


def test_the_profile_by_operator_and_by_launch(mlc_command: Command, model: Path) -> None:
    printed = mlc_command("bench", model, "--seconds", "0.05", "--profile", "--top", "1")
    operators, kernels = printed.split("Kernels; peak")
    assert "contract" in operators
    rows = [line for line in kernels.splitlines() if "| " in line]  # a schedule
    assert len(rows) == 1 and "at best: kernels 0.0" in printed
    assert not any(line.strip("─ ") == "" and "─" in line for line in printed.splitlines())  # no lines in a pipe


def test_a_number_of_rows_without_the_table_is_an_error(mlc_command: Command, model: Path) -> None:
    message = "mlc: error: --top has no effect without --profile. Add --profile, or leave out --top."
    assert message in mlc_command("bench", model, "--top", "3", code=2)


def test_json(mlc_command: Command, model: Path) -> None:
    options = ["--iterations", "7", "--dim", "batch=2", "--profile", "--streams", "2", "--seconds", "0.05"]
    record = json.loads(mlc_command("bench", model, *options, "--json"))
    assert record["runs"] == 7 and record["inputs"] == {"x": {"dtype": "float32", "shape": [2, 20]}}
    assert 0 < record["latency"]["min"] <= record["latency"]["median"] <= record["latency"]["max"]
    assert record["load"] > 0 and record["streams"] > 0
    assert {"first", "second"} <= {node for launch in record["launches"] for node in launch["nodes"]}


def test_the_trace_has_all_launches(mlc_command: Command, model: Path) -> None:
    mlc_command("bench", model, "--seconds", "0.05", "--trace", "trace.json")
    events = json.loads(Path("trace.json").read_text())["traceEvents"]
    launches = [event for event in events if event["ph"] == "X"]
    assert {each["tid"] for each in launches} == {each["tid"] for each in events if each["name"] == "thread_name"}
    assert {"first", "second"} <= {node for each in launches for node in each["args"]["nodes"]}
    for track in {each["tid"] for each in launches}:
        ordered = [each for each in launches if each["tid"] == track]
        assert all(a["ts"] + a["dur"] <= b["ts"] + 1e-6 for a, b in itertools.pairwise(ordered))
    assert "ends in .json" in mlc_command("bench", model, "--seconds", "0", "--trace", "trace.txt", code=2)


def test_a_peer_agrees(mlc_command: Command, model: Path) -> None:
    printed = mlc_command("bench", model, "--seconds", "0.1", "--peer", "onnxruntime", "--dim", "batch=3")
    assert "onnxruntime: min" in printed and "times as fast" in printed


def test_a_peer_that_disagrees_fails(mlc_command: Command, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlc.tools import peer

    changed = onnx.load(model)
    last = numpy_helper.to_array(changed.graph.initializer[2])
    changed.graph.initializer[2].CopyFrom(numpy_helper.from_array(-last, "w2"))
    onnx.save(changed, "changed.onnx")
    original = peer.onnxruntime_session
    monkeypatch.setitem(peer.PEERS, "onnxruntime", lambda path, threads: original(Path("changed.onnx"), threads))
    says = mlc_command("bench", model, "--seconds", "0.1", "--peer", "onnxruntime", code=1)
    assert "Outputs differ from onnxruntime's by" in says
