"""mlc compile of Python functions: in every form, with open and fixed dimensions; errors with the user's line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import RANDOM, Command

import mlc
from mlc.frontends.array.record import is_inside

CODE = """\
import mlc
import mlc.numpy as mnp

def step(u, diffusivity):
    left, right = mnp.roll(u, 1), mnp.roll(u, -1)
    return u + diffusivity * (left - 2 * u + right)

@mlc.jit(static="power", shapes={"x": ("rows", None)})
def powers(x, power=3):
    return x ** power, mnp.sum(x, axis=0)

def bad(x):
    y = x + 1
    return y + mnp.zeros(4)

def worse(x):
    return undefined(x)

def branches(x):
    return x if x[0] > 0 else -x

number = 3
"""


@pytest.fixture(autouse=True)
def heat(mlc_command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of functions; what Python would write beside it when it is imported is not mlc's."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("heat.py").write_text(CODE)
    return Path("heat.py")


def test_a_function_becomes_a_library(mlc_command: Command) -> None:
    printed = mlc_command("compile", "heat.py:step", "-i", "u=f32[n]", "--input", "diffusivity=float32[]")
    assert "step.so" in printed and sorted(os.listdir()) == ["heat.py", "step.h", "step.so"]
    u = RANDOM.standard_normal(7).astype("f4")
    expected = u + np.float32(0.25) * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    np.testing.assert_allclose(mlc.load("step.so")(u, np.array(0.25, "f4")), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("form", "files"), [("a.a", ["a.a", "a.h"]), ("a.o", ["a.h", "a.o"]), ("a.c", ["a.c"])])
def test_in_every_form(mlc_command: Command, form: str, files: list[str]) -> None:
    mlc_command("compile", "heat.py:bad", "-i", "x=f64[4]", "-o", form)
    assert sorted(set(os.listdir()) - {"heat.py"}) == files


def test_a_jitted_function_of_a_module(mlc_command: Command) -> None:
    Path("package").mkdir()
    Path("package/models.py").write_text(CODE)
    mlc_command("compile", "package.models:powers", "-i", "x=f64[rows,4]")
    net = mlc.load("powers.so")
    assert net.inputs["x"].shape == ("rows", 4)
    x = RANDOM.standard_normal((6, 4))
    for found, wanted in zip(net(x), (x**3, x.sum(0)), strict=True):
        np.testing.assert_allclose(found, wanted)
    assert "tensor<5x4xf64>" in mlc_command(
        "compile", "heat.py:bad", "-i", "x=f64[m,4]", "--dim", "m=5", "--emit", "graph"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["heat.py:bad", "-i", "x=f32[3]"], "heat.py:14: Shapes (3,), (4,) do not broadcast"),
        (["heat.py:worse", "-i", "x=f32[3]"], "heat.py:17: NameError: name 'undefined' is not defined"),
        (["heat.py:branches", "-i", "x=f32[3]"], "heat.py:20: the elements of an array"),
        (["heat.py:step", "-i", "u=f32[n]"], "missing a required argument: 'diffusivity'"),
        (["heat.py:bad", "-i", "x=f32", "-i", "v=f32"], "unexpected keyword argument 'v'"),
        (["heat.py:bad", "-i", "x=f3[4]"], "'--input x=f3[4]': Arrays of dtype f3 do not exist"),
        (["heat.py:bad", "-i", "x=f32[4"], "not NAME=TYPE[SHAPE]"),
        (["heat.py:bad", "-i", "x=f32[2-n]"], "'2-n' is no dimension"),
        (["heat.py:bad", "-i", "x=f32[n,4]", "--dim", "m=3"], "No input has a dimension 'm'"),
        (["heat.py:bad", "-i", "x=f32[4]", "-i", "x=f32[4]"], "given twice"),
        (["heat.py:nothing"], "heat.py has no function 'nothing'"),
        (["heat.py:number"], "is a int, not a function"),
        (["absent.py:f"], "absent.py does not exist"),
        (["absent.module:f"], "error: No module named 'absent'. Modules are looked up in the current folder"),
        (["ending.py:f"], "ending.py:2: SystemExit: 0"),
        (["importing:f"], "importing.py:1: ModuleNotFoundError: No module named 'absent'"),
    ],
)
def test_what_is_refused(
    mlc_command: Command, arguments: list[str], says: str,
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path_factory.mktemp("modules"))
    Path(sys.path[0], "importing.py").write_text("import absent\n")
    if arguments == ["ending.py:f"]:  # a script without `if __name__ == "__main__":`
        Path("ending.py").write_text("import sys\nsys.exit(0)\n")
    error = mlc_command("compile", *arguments, code=2)
    assert error.startswith("mlc: error: ") and says in error and error.count("\n") == 1
    assert set(os.listdir()) <= {"heat.py", "ending.py"}


@pytest.mark.parametrize("command", ["run", "bench", "inspect"])
def test_a_function_is_compiled_before_it_runs(mlc_command: Command, command: str) -> None:
    assert "'mlc compile heat.py:step -i NAME=TYPE[SHAPE]'" in mlc_command(command, "heat.py:step", code=2)


COMMANDS = [("check",), ("cache", "why"), ("tune", "--budget", "0.1")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_on_functions_say_which_types_they_need(mlc_command: Command, command: tuple[str, ...]) -> None:
    error = mlc_command(*command, "heat.py:step", "-i", "u=f32[n]", code=2)
    assert "missing a required argument: 'diffusivity'. Give --input NAME=TYPE[SHAPE] for each parameter" in error
    assert "heat.py:14: Shapes (3,), (4,) do not" in mlc_command(*command, "heat.py:bad", "-i", "x=f32[3]", code=2)
    assert "absent.py does not exist" in mlc_command(*command, "absent.py:f", code=2)


def test_check_tune_and_cache_of_functions(mlc_command: Command) -> None:
    types = ("-i", "x=f32[m,4]", "--dim", "m=64")
    assert "heat.py:bad: every operator is supported" in mlc_command("check", "heat.py:bad", *types)
    assert "nothing is known of bad yet" in mlc_command("cache", "why", "heat.py:bad", *types)
    assert "kernels are faster" in mlc_command("tune", "heat.py:bad", *types, "--budget", "0.1")
    mlc_command("compile", "heat.py:bad", *types)
    assert "cache: hit" in mlc_command("cache", "why", "heat.py:bad", *types)


def test_types_are_for_functions(mlc_command: Command, model: Path) -> None:
    for command in (("compile",), ("check",), ("cache", "why")):
        assert "is for functions" in mlc_command(*command, model, "-i", "x=f32[3]", code=2)


def test_files_of_users_are_outside_of_mlc(heat: Path) -> None:
    assert not is_inside(str(heat.absolute())) and is_inside(mlc.jit.__code__.co_filename)


def test_a_function_is_exported(mlc_command: Command) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    types = ["-i", "u=f32[points]", "-i", "diffusivity=f32[]"]
    assert mlc_command("export", "heat.py:step", *types, "-o", "heat.onnx").startswith("heat.onnx  ")
    u = np.arange(5, dtype=np.float32) ** 2
    found = onnxruntime.InferenceSession("heat.onnx").run(None, {"u": u, "diffusivity": np.array(0.5, np.float32)})[0]
    np.testing.assert_allclose(found, u + 0.5 * (np.roll(u, 1) - 2 * u + np.roll(u, -1)))
