"""``mlc plan``: functions with a mesh of their own, or one on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Command

FUNCTIONS = """
import mlc, mlc.numpy as mnp
def layer(x, w, v): return mnp.tanh(x @ w) @ v
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
