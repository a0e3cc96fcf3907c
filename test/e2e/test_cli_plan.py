"""``mlc plan``: functions with a mesh of their own, or one on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Command

FUNCTIONS = """
import mlc, mlc.numpy as mnp
def layer(x, w, v): return mnp.tanh(x @ w) @ v
pipe = mlc.pipeline(lambda w, x: mnp.tanh(x @ w), lambda y: mnp.mean(y), stages=2, microbatches=3)
divided = mlc.jit(layer, mesh=mlc.Mesh(model=2), shardings={"w": mlc.P(None, "model")})
"""
TYPES = ("-i", "x=f32[4,6]", "-i", "w=f32[6,8]", "-i", "v=f32[8,6]")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text(FUNCTIONS)
    return tmp_path / "net.py"


def test_the_plan_of_a_function_with_a_mesh(mlc_command: Command, file: Path) -> None:
    printed = mlc_command("plan", f"{file}:divided", *TYPES)
    assert "axis 'model' of 2 ranks: a rank sends 96 bytes and holds 288 of 480 bytes of arguments" in printed
    assert "partial add → whole" in printed and "reduced" in printed


def test_the_schedule_of_a_pipeline(mlc_command: Command, file: Path) -> None:
    printed = mlc_command("plan", f"{file}:pipe")
    assert "2 stages, 3 micro-batches, 1f1b: bubble 25.0% of 8 ticks" in printed
    assert "stage 1  .  F0 B0 F1 B1 F2 B2" in printed


def test_a_mesh_of_the_command_line(mlc_command: Command, file: Path) -> None:
    given = ("--mesh", "data=2,model=2", "--shard", "w=-,model", "--shard", "x=data")
    printed = mlc_command("plan", f"{file}:layer", *TYPES, *given)
    assert "axis 'data' of 2 ranks" in printed and "axis 'model' of 2 ranks" in printed


@pytest.mark.parametrize(
    "given, message",
    [
        ((), "The function has no mesh"),
        (("--mesh", "data"), "'data' is not NAME=VALUE"),
        (("--mesh", "data=x"), "is no mesh"),
        (("--mesh", "data=2", "--shard", "y=data"), "which are no parameters"),
        (("--mesh", "data=3", "--shard", "x=-,-,data"), "does not fit an array of shape"),
    ],
)
def test_what_does_not_fit_is_refused(mlc_command: Command, file: Path, given: tuple[str, ...], message: str) -> None:
    assert message in mlc_command("plan", f"{file}:layer", *TYPES, *given, code=2)


def test_a_plan_is_searched_printed_edited_and_read(mlc_command: Command, file: Path, tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_text("[rank]\nflops = 1e9\n[[level]]\nalpha = 1e-9\nbeta = 1e-12\n")
    given = (f"{file}:layer", *TYPES, "--mesh", "data=2,model=2", "--cluster", str(tmp_path / "cluster.toml"))
    printed = mlc_command("plan", *given, "--auto", "--memory", "1MiB", "--stages", "2")
    assert "mesh data=2,model=2" in printed and "# stage 1: operators" in printed and "above the best" in printed
    edited = "\n".join(line for line in printed.splitlines() if "graph.contract" in line)
    (tmp_path / "layer.plan").write_text(edited)
    again = mlc_command("plan", *given, "--plan", str(tmp_path / "layer.plan"))
    assert [line for line in again.splitlines() if "graph.contract" in line] == edited.splitlines()
    fixed = mlc_command("plan", *given, "--auto", "--shard", "w=-,model")
    assert "argument 1 w 6x8xf32 | data: whole; model: split 1" in fixed


def test_the_plan_of_a_model_divides_its_weights(mlc_command: Command, tmp_path: Path) -> None:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save

    weight = numpy_helper.from_array(np.ones((512, 512), np.float32), "w")
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", 512]) for n in ("x", "y")]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    save(helper.make_model(helper.make_graph([node], "g", info[:1], info[1:], [weight])), tmp_path / "model.onnx")
    given = ("plan", str(tmp_path / "model.onnx"), "--mesh", "model=4", "--auto")
    printed = mlc_command(*given, "--dim", "batch=4", "--memory", "400KB")
    assert "graph.weight 512x512xf32 | model: -> split" in printed
    assert "Fix it by --dim batch=8" in mlc_command(*given, code=2)


@pytest.mark.parametrize(
    "given, message",
    [
        (("--auto",), "A search needs a mesh"),
        (("--memory", "1GiB"), "are of a search"),
        (("--auto", "--mesh", "data=2", "--memory", "lots"), "'lots' is no size of memory"),
        (("--auto", "--mesh", "data=2", "--memory", "10"), "fits in 10 bytes a rank"),
        (("--plan", "none.plan", "--mesh", "data=2"), "does not exist"),
    ],
)
def test_a_search_that_cannot_be_is_refused(
    mlc_command: Command, file: Path, given: tuple[str, ...], message: str
) -> None:
    assert message in mlc_command("plan", f"{file}:layer", *TYPES, *given, code=2)
