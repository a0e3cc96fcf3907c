"""The bundle of ``python -m benchmarks.gpu.bundle`` runs in an environment that has none of mlc's packages."""

from __future__ import annotations

import json
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

import pytest
from fake_gpu import Gpu, needed

from benchmarks.gpu import bundle

pytestmark = needed


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle whose wheels are the installed packages themselves, but for mlc: it needs no network."""
    out = tmp_path_factory.mktemp("bundle") / "out"
    bundle.assemble(out)
    others = ("__editable__", "mlc", "pip", "setuptools", "benchmarks")
    for each in Path(pytest.__file__).parents[1].iterdir():
        if not each.name.startswith(others) and each.suffix != ".pth":
            (out / "site" / each.name).symlink_to(each)
    return out


def test_the_first_kernel_runs_on_the_driver_of_the_tests(made: Path, gpu: Gpu) -> None:
    said, rows, extension = bundle.check(made, sys.executable, gpu.folder)
    assert "'right': True" in said and json.loads(rows)["about"]["device"] == "Fake GPU"
    assert extension.startswith("_call.cpython") and extension.endswith(".so")


def test_wheels_are_those_of_the_other_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What pip is asked for, and what is left out; the wheels themselves need the network."""
    asked: list[list[str]] = []
    (tmp_path / "wheels").mkdir()
    for name in ("numpy-2.5.5-cp312-cp312-manylinux_2_28_x86_64", "ordered_set-4.1.0-py3-none-any"):
        (tmp_path / f"wheels/{name}.whl").touch()
    monkeypatch.setattr(bundle.subprocess, "run", lambda command, check: asked.append(command))
    bundle.download(tmp_path, "3.12", {"numpy", "onnx"})
    assert [each.name for each in (tmp_path / "wheels").iterdir()] == ["ordered_set-4.1.0-py3-none-any.whl"]
    ((*command, requirements),) = asked
    assert requirements == str(tmp_path / "requirements.txt") and "--only-binary=:all:" in command
    assert command[command.index("--python-version") + 1] == "3.12" and "manylinux_2_17_x86_64" in command
    assert any(line.startswith("xdsl==") for line in bundle.requirements())


@pytest.mark.skipif(find_library("cuda") is not None, reason="there is a driver")
def test_without_a_gpu_a_file_says_why(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.gpu", "--smoke", "--json", str(tmp_path / "rows.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout.startswith("no GPU: there is no CUDA driver")
    assert json.loads((tmp_path / "rows.json").read_text()) == {
        "about": {"failed": "there is no CUDA driver on this machine."}
    }
