"""A model in parts on two real ranks: the example, the command line, and a rank whose weights are missing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import Command
from launched import on_ranks, refusal

import mlc
from examples.distributed.inference import HIDDEN, SHARDINGS, TOKENS, block
from mlc import divided

ROOT = Path(__file__).parents[2]
OPTIONS = [each for name in SHARDINGS for each in ("--shardings", f"{name}=-,model")]
X = np.random.default_rng(1).normal(size=(3, TOKENS, HIDDEN)).astype(np.float32)


def test_the_block_in_parts_is_the_block() -> None:
    found = divided.of(block(), mlc.Mesh(model=2), SHARDINGS).simulate({"x": X})["y"]
    np.testing.assert_allclose(found, mlc.compile(block())(X), rtol=1e-5, atol=1e-5)


def test_the_block_on_two_ranks(mlc_command: Command, tmp_path: Path) -> None:
    if why := refusal():
        pytest.skip(why)
    (tmp_path / "block.onnx").write_bytes(block().SerializeToString())
    np.save(tmp_path / "x.npy", X)
    library = tmp_path / "block.so"
    mlc_command("compile", str(tmp_path / "block.onnx"), "--mesh", "model=2", *OPTIONS, "-o", str(library))
    status, printed, _ = on_ranks(2, [sys.executable, "-m", "examples.distributed.inference", library], cwd=ROOT)
    differences = re.findall(r"bytes of weights; differs by (\S+)", printed)
    assert status == 0 and len(differences) == 2 and max(map(float, differences)) < 1e-5, printed

    run = [sys.executable, "-m", "mlc", "run", library, "-i", f"x={tmp_path / 'x.npy'}", "-o", tmp_path / "y.npy"]
    status, printed, _ = on_ranks(2, run)
    assert status == 0 and printed.count("y: float32[3, 8, 64]") == 1, printed
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), mlc.compile(block())(X), rtol=1e-5, atol=1e-5)

    (tmp_path / "block.1of2.weights").unlink()
    status, printed, seconds = on_ranks(2, run)
    assert status == 2 and seconds < 60, printed
    assert "[rank 1 of 2] mlc: error" in printed and "block.1of2.weights: No such file" in printed


@pytest.mark.parametrize("output", ["block.c", "-"])
def test_c_sources_of_a_mesh_are_refused(mlc_command: Command, tmp_path: Path, output: str) -> None:
    (tmp_path / "block.onnx").write_bytes(block().SerializeToString())
    out = output if output == "-" else str(tmp_path / output)
    printed = mlc_command("compile", str(tmp_path / "block.onnx"), "--mesh", "model=2", "-o", out, code=2)
    assert "C sources have the weights of one rank" in printed and "-o model.so" in printed
    assert not (tmp_path / "block.c").exists()


@pytest.mark.parametrize("suffix", [".a", ".o"])
def test_static_libraries_of_a_mesh_have_the_files_of_ranks(mlc_command: Command, tmp_path: Path, suffix: str) -> None:
    (tmp_path / "block.onnx").write_bytes(block().SerializeToString())
    library = tmp_path / f"block{suffix}"
    mlc_command("compile", str(tmp_path / "block.onnx"), "--mesh", "model=2", *OPTIONS, "-o", str(library))
    files = {each.name for each in tmp_path.iterdir()} - {"block.onnx"}
    assert files == {library.name, "block.h", "block.0of2.weights", "block.1of2.weights", "block.weights.json"}
