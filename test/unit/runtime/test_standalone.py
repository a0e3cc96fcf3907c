"""The runtime installed alone: a wheel of its own, without the compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import cffi
import numpy as np
import pytest
from toy_build import Toy

ROOT = Path(__file__).parents[3]
RUN = """
import sys
import numpy as np
import mlc
assert mlc.__file__.startswith({folder!r}), mlc.__file__
net = mlc.load({library!r}, verify=True)
print(net(np.ones((3, 8), np.float32), np.zeros(6, np.float32))[0].shape, mlc.RunError.__name__)
assert not {{"onnx", "xdsl", "islpy", "typer"}} & set(sys.modules)
try:
    mlc.compile
except ImportError as error:
    print(error)
"""


def test_the_projects_agree() -> None:
    whole, alone = (tomllib.loads((ROOT / path / "pyproject.toml").read_text())["project"] for path in ("", "runtime"))
    assert alone["version"] == whole["version"] and alone["requires-python"] == whole["requires-python"]
    plain = {line.replace(" ", "") for line in whole["dependencies"]}
    assert {line.replace(" ", "") for line in alone["dependencies"]} == {d for d in plain if d[:4] in ("nump", "cffi")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the wheel."""
    folder = tmp_path_factory.mktemp("alone")
    for name in ("compiler", "runtime"):
        shutil.copytree(ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__"))
    try:
        here = ["--no-build-isolation"] if int(version("setuptools").partition(".")[0]) >= 77 else []
    except PackageNotFoundError:
        here = []
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", *here, "-w", folder, folder / "source/runtime"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    (wheel,) = folder.glob("mlc_runtime-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_the_wheel_has_the_runtime_and_no_compiler(installed: Path) -> None:
    found = {path.relative_to(installed / "mlc").as_posix() for path in (installed / "mlc").rglob("*.py")}
    ours = {f"runtime/{path.name}" for path in (ROOT / "runtime").glob("*.py")}
    assert found == {"__init__.py", "errors.py", "expressions.py", "runtime/c/__init__.py"} | ours
    assert {path.name for path in (installed / "mlc").rglob("*.h")} == {"mlc_comm.h", "mlc_comm_mpi.h"}


def test_it_runs_a_model_and_says_what_it_cannot(installed: Path, toy: Toy, tmp_path: Path) -> None:
    code = RUN.format(folder=str(installed), library=str(toy.library))
    libraries = sorted({str(Path(package.__file__).parents[1]) for package in (np, cffi)})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *libraries])}
    command = [sys.executable, "-S", "-c", code]  # -S: not the editable installation of the compiler
    result = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == "(3,) RunError"
    assert "install mlc" in result.stdout
