"""``mlc compare``: a right model, a wrong expected value, JSON, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import Command, X

pytest.importorskip("onnxruntime")


def test_a_right_model(mlc_command: Command, model: Path) -> None:
    printed = mlc_command("compare", model, "--dim", "batch=4", "--steps")
    assert printed.startswith("outputs, compiled beside onnxruntime: 1 of 1 right\n  y  float32[4, 7]  ")
    assert "nodes, each as the importer reads it" in printed and ": 4 of 4 right" in printed
    assert printed.endswith("Every output is right.\n")


def test_a_wrong_expected_value_has_exit_status_1(mlc_command: Command, model: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    mlc_command("run", model, "-i", tmp_path / "x.npy", "-o", tmp_path / "right.npz")
    with np.load(tmp_path / "right.npz") as arrays:
        np.savez(tmp_path / "wrong.npz", y=arrays["y"] + np.float32(0.5))
    given = ["compare", model, "-i", tmp_path / "x.npy", "--json", "--expected"]
    assert json.loads(mlc_command(*given, tmp_path / "right.npz"))["right"]
    with pytest.raises(SystemExit) as caught:
        from mlc.cli import main

        main([str(each) for each in (*given, tmp_path / "wrong.npz")])
    assert caught.value.code == 1


def test_an_artifact_is_refused(mlc_command: Command) -> None:
    printed = mlc_command("compare", "net.so", code=2)
    assert "net.so is compiled: its nodes and passes cannot be seen any more." in printed


def test_an_unknown_expected_output(mlc_command: Command, model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", z=np.zeros((1, 7), np.float32))
    assert "no output 'z'. Its outputs: y." in mlc_command("compare", model, "--expected", "other.npz", code=2)
