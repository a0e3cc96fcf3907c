"""The source distribution has all that an installation needs: built, compared with git's list, installed, used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

ROOT = Path(__file__).parents[2]
NEEDED = ("compiler", "dialects", "frontends", "passes", "runtime", "pyproject.toml", "README.md", "LICENSE")
OTHERS = {"runtime/pyproject.toml"}  # of another distribution, mlc-runtime
BUILD = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
USE = """
import sys, numpy as np, mlc
assert mlc.__file__.startswith(sys.argv[1]), mlc.__file__
np.save("y.npy", mlc.compile("net.onnx")(np.load("x.npy")))
"""


def tracked() -> list[str]:
    """Files of the repository that an installation needs; new ones count before they are committed."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *NEEDED]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return sorted({name for name in names if name and (ROOT / name).exists()} - OTHERS)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that the build leaves nothing in the tree."""
    folder = tmp_path_factory.mktemp("sdist")
    for name in tracked():
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / "source" / name)
    command = [sys.executable, "-c", BUILD, str(folder)]
    subprocess.run(command, cwd=folder / "source", check=True, capture_output=True)
    (built,) = folder.glob("*.tar.gz")
    return built


def test_it_has_every_file(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = sorted(set(tracked()) - names)
    assert not missing, f"add to packages, or package-data, in pyproject.toml: {missing}"


def test_what_is_installed_from_it_compiles(sdist: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(site), str(sdist)], check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(site), "MLC_CACHE_DIR": str(tmp_path / "cache")}

    def python(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert python("-m", "mlc", "--version").startswith("mlc ")
    x = np.random.default_rng().standard_normal((3, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "g", info[:1], info[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, tmp_path / "net.onnx")
    python("-c", USE, str(site))
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), np.exp(x.astype(np.float64)), rtol=1e-6)
