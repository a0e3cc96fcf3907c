"""What the comparisons decide on: errors, choices of models, ratios, and workers that answer."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

import mlc
from benchmarks import cases, limits, models
from benchmarks.correctness import TOLERANCES, compare
from benchmarks.measure import compile_cost, latencies
from benchmarks.models import random_inputs, small
from benchmarks.results import Latencies
from benchmarks.thread_counts import COUNTS, ThreadCounts
from mlc.runtime.sealed import read_signature


def passed(actual: np.ndarray, expected: np.ndarray, numerics: str = "default") -> bool:
    (row,) = compare("model", numerics, {}, {"y": actual}, {"y": expected})
    return row.passed


@pytest.mark.parametrize("numerics", TOLERANCES)
def test_the_tolerance_is_relative_to_the_largest_value(numerics: str) -> None:
    expected, bound = np.array([[0.0, -50.0, 3.0]]), 50 * TOLERANCES[numerics]
    assert passed(expected + 0.9 * bound, expected, numerics)
    assert not passed(expected + 1.1 * bound, expected, numerics)


@pytest.mark.parametrize("wrong", [np.full((2, 3), np.nan), np.full((2, 3), np.inf), np.ones((3, 2)),
                                   np.ones((2, 3), np.float32)])  # fmt: skip
def test_wrong_values_shapes_and_types_fail(wrong: np.ndarray) -> None:
    assert not passed(wrong, np.ones((2, 3)))


def test_other_bits_on_some_number_of_threads_fail(tiny: tuple[Path, Path]) -> None:
    path, inputs = tiny[0], dict(np.load(tiny[1]))
    net = mlc.compile(path)
    ours = net.run(inputs)
    (name, y), *_ = ours.items()
    with ThreadCounts(net.path) as counts:
        assert counts.differing(inputs, ours) == {name: ()}
        assert counts.differing(inputs, {name: np.nextafter(y, np.inf)}) == {name: COUNTS}
    (row,) = compare("model", "default", {}, ours, ours)
    assert row.passed and not replace(row, differs=(4,)).passed


def test_cases_are_chosen_by_name_or_prefix() -> None:
    assert [case.name for case in cases.select(["lstm@batch", "light_resnet*"])] == [
        "lstm@batch", "light_resnet50", "light_resnet50+random"]  # fmt: skip
    assert len(cases.select([])) == 2 * len(models.FAMILIES) + 2 * 9 + 1
    with pytest.raises(ValueError, match="resnet50"):
        cases.select(["resnet"])


def test_ratios_pair_the_rounds() -> None:
    measured = Latencies({"mlc": [1.0, 2.0, 4.0], "peer": [2.0, 6.0, 4.0]})
    assert measured.ratios("peer") == (1.5, 2.0, 2.5)
    assert measured.median("mlc") == 2.0


@pytest.fixture
def tiny(tmp_path: Path) -> tuple[Path, Path]:
    """A small model and inputs for it, as files."""
    model, path, inputs = models.build("mlp", **small.OPTIONS["mlp"]), tmp_path / "mlp.onnx", tmp_path / "inputs.npz"
    onnx.save(model, path)
    np.savez(inputs, allow_pickle=False, **random_inputs(model, 1))
    return path, inputs


def cpu() -> list[int]:
    return sorted(os.sched_getaffinity(0))[:1]


def test_workers_answer_in_turn(tiny: tuple[Path, Path]) -> None:
    path, inputs = tiny
    measured = latencies({"onnxruntime": path}, inputs, cpu(), rounds=2, seconds=0.01)
    assert len(measured.rounds["onnxruntime"]) == 2 and measured.median("onnxruntime") > 0
    assert measured.resident["onnxruntime"] > 1 << 20 and measured.loading["onnxruntime"] > 0


def test_an_engine_that_fails_is_left_out_with_its_reason(tiny: tuple[Path, Path]) -> None:
    path, inputs = tiny
    files = {"mlc": path, "onnxruntime": path}  # mlc would need a compiled library
    measured = latencies(files, inputs, cpu(), rounds=1, seconds=0.01)
    assert set(measured.rounds) == {"onnxruntime"} == set(measured.resident) and measured.failures["mlc"]


def test_a_target_limits_who_can_be() -> None:
    assert limits.environment("x86-64-v3")["ONEDNN_MAX_CPU_ISA"] == "AVX2" and not limits.environment("cpu")
    assert limits.options("iree", "x86-64-v3") == {"cpu": "x86-64-v3"} and not limits.options("iree", "cpu")
    assert limits.unlimited(["onnxruntime", "openvino", "iree"], "x86-64-v3") == ["onnxruntime"]
    assert limits.unlimited(["openvino", "iree"], "x86-64-v4") == ["openvino"]


def test_a_target_reaches_compiler_and_peers(tiny: tuple[Path, Path], tmp_path: Path) -> None:
    path, inputs = tiny
    library = tmp_path / "model.so"
    compile_cost(path, library, 1, {}, tmp_path / "cache", "x86-64-v3")
    assert read_signature(library)["target"] == "x86-64-v3"
    measured = latencies({"onnxruntime": path}, inputs, cpu(), rounds=1, seconds=0.01, target="x86-64-v3")
    assert len(measured.rounds["onnxruntime"]) == 1


def test_an_engine_that_is_too_slow_is_left_out(tiny: tuple[Path, Path]) -> None:
    path, inputs = tiny
    measured = latencies({"onnxruntime": path}, inputs, cpu(), rounds=1, seconds=0.01, patience=1e-6)
    assert not measured.rounds and "no answer" in measured.failures["onnxruntime"]
