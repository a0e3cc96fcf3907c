"""Arrays and sizes on the command line: what is read, written and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import Command, X, close, expected


def test_archives_in_and_out(mlc_command: Command, model: Path) -> None:
    np.savez("x.npz", x=X)
    mlc_command("run", model, "-i", "x.npz", "-o", "y.npz")
    mlc_command("run", model, "-i", "x.npz", "-o", "y.npy")
    assert close(np.load("y.npz")["y"], expected(model, X))
    assert np.array_equal(np.load("y.npy"), np.load("y.npz")["y"])


@pytest.mark.parametrize("options, says", [
    (["--random", "0", "--dim", "bacth=4"], "Did you mean 'batch'? Its symbolic dimensions: batch."),
    (["--random", "0", "--dim", "batch=4", "--dim", "batch=4"], "'--dim batch' is given twice"),
    (["-i", "x=x.npy", "-i", "x=x.npy"], "Input 'x' is given twice"),
    (["-i", "x=x.npy", "--dim", "batch=4"], "Dimension 'batch' is 4, but 3 in the array of input 'x'"),
    (["-i", "z=x.npy"], "Inputs: x"),
    (["-i", "z.npz"], "-i z.npz: 'z' names no input. Inputs: x."),
    (["-i", "x=x.npz"], "x.npz holds several arrays"),
    (["-i", "x=x.npy", "-o", "y.txt"], "Give a file that ends in .npz or .npy"),
    (["-i", "x=text.npy"], "Cannot read the array text.npy"),
])
def test_what_run_refuses(mlc_command: Command, model: Path, options: list[str], says: str) -> None:
    np.save("x.npy", X)
    np.savez("x.npz", x=X)
    np.savez("z.npz", z=X)
    Path("text.npy").write_text("no array")
    assert says in mlc_command("run", model, *options, code=2)
    assert not Path("y.txt").exists()


def test_a_misspelt_dimension_is_an_error_in_bench_and_tune(mlc_command: Command, model: Path) -> None:
    assert "Did you mean 'batch'" in mlc_command("bench", model, "--dim", "bach=4", code=2)
    assert "batch" in mlc_command("tune", model, "--at", "bach=4", "--budget", "1", code=2)
    assert "batch" in mlc_command("tune", model, "--dim", "bach=4", "--budget", "1", code=2)


@pytest.mark.parametrize("option", [["--target", "x86-64"], ["--numerics", "strict"], ["--no-tuned"],
                                    ["--peer", "onnxruntime"]])
def test_options_without_effect_on_an_artifact(mlc_command: Command, model: Path, option: list[str]) -> None:
    mlc_command("compile", model)
    says = mlc_command("bench", "net.so", *option, code=2)
    assert f"{option[0]} has no effect on the artifact net.so" in says
    assert ("beside the ONNX model" if option[0] == "--peer" else "mlc compile") in says
