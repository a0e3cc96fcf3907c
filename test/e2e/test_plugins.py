"""A package with plug-ins, installed into a folder: used by the API, the command line and the cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import onnx
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples/plugin"
PROGRAMS = Path(__file__).parents[1] / "programs"
PROGRAM = """
import numpy as np, onnx, mlc
from mlc import plugins, target

assert "narrow" in target.names() and target.get("narrow:vector_registers=16").vector_registers == 16
assert [each.problem for each in plugins.every()] == [""] * 6, plugins.every()

x = np.array([[0.5, 100.0]], np.float32)
model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 17, "com.example": 1]>'
    'net (float[1, 2] x) => (float[1, 2] y) { c = com.example.Cube(x) y = Exp(c) }')
(y,) = mlc.compile(model, target="narrow")(x)
np.testing.assert_allclose(y, np.exp(np.minimum(x[0] ** 3, 80)), rtol=1e-6)      # the operator, and the pass

y = mlc.compile("net.layers")(np.ones((4, 3), np.float32))
np.testing.assert_allclose(y.sum(1), 1, rtol=1e-6)
assert mlc.check("net.layers") == []
"""
PRODUCT = """<ir_version: 8, opset_import: ["": 17]>
    net (float[12, 20] x, float[20, 16] w) => (float[12, 16] y) { z = MatMul(x, w) y = Relu(z) }"""
INSTRUCTIONS = """\
loop r0 12 8
loop r1 16 8
fill t0 0x0.0p+0
loop r2 20 8
load t1 b0[0] rows r0*20 cols r2*1
load t2 b1[0] rows r2*16 cols r1*1
matmul8x8 t0 t1 t2
end"""
BROKEN = """
[mlc.targets]
narrow = nowhere:NARROW
x86-64 = nowhere:X86
[mlc.passes]
odd = json:loads
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example as pip installs it."""
    made = tmp_path_factory.mktemp("plugin")
    copy = made / "source"
    shutil.copytree(EXAMPLE, copy)
    options = ["-q", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(made / "packages"), str(copy)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options], check=True)
    network = {"inputs": 3, "layers": [{"weight": [[1, -2], [0.5, 1], [-1, 1]], "bias": [0, 1], "activation": "relu"}]}
    (made / "net.layers").write_text(json.dumps(network))
    return made


def run(folder: Path, packages: str, *command: str) -> subprocess.CompletedProcess[str]:
    paths = [str(folder / packages), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MLC_CFLAGS": "-O0"}
    return subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)


def test_each_kind_is_used(folder: Path) -> None:
    found = run(folder, "packages", "-c", PROGRAM)
    assert found.returncode == 0, found.stderr


def test_an_accelerator_with_its_own_printer_and_simulator(folder: Path) -> None:
    found = run(folder, "packages", str(PROGRAMS / "toy_accelerator.py"))
    assert found.returncode == 0, found.stderr
    (folder / "net.onnx").write_bytes(onnx.parser.parse_model(PRODUCT).SerializeToString())
    command = ("-m", "mlc", "compile", "net.onnx", "--target", "toy")
    printed = run(folder, "packages", *command, "--emit", "code").stdout
    assert all(f'"{line}\\n"' in printed for line in INSTRUCTIONS.splitlines()), printed
    first, second = (run(folder, "packages", *command, "-o", "toy.so") for _ in range(2))
    assert first.returncode == 0 and "taken from the cache" in second.stderr, first.stderr + second.stderr
    code = folder / "packages/mlc_example_plugin/toy/mlc_toy.c"
    code.write_text(f"/* {time.time_ns()} */ {code.read_text()}")
    assert "compiled in" in run(folder, "packages", *command, "-o", "toy.so").stderr


def test_the_command_line_and_the_cache(folder: Path) -> None:
    listed = run(folder, "packages", "-m", "mlc", "plugins")
    assert listed.returncode == 0 and "mlc.targets    narrow" in listed.stdout, listed.stdout + listed.stderr
    command = ("-m", "mlc", "compile", "net.layers", "--target", "narrow", "-o", "net.so")
    first, second = (run(folder, "packages", *command) for _ in range(2))
    assert first.returncode == 0 and "taken from the cache" in second.stderr, first.stderr + second.stderr
    code = folder / "packages/mlc_example_plugin/clamp_exponents.py"
    new = f"LARGEST = 70.{time.time_ns()}"  # nothing that an earlier run has left in the cache
    code.write_text(code.read_text().replace("LARGEST = 80.0", new))
    assert "compiled in" in run(folder, "packages", *command).stderr


def test_what_cannot_be_loaded_is_said(folder: Path) -> None:
    broken = folder / "broken/broken-1.0.dist-info"
    broken.mkdir(parents=True)
    (broken / "entry_points.txt").write_text(BROKEN)
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    listed = run(folder, "broken", "-m", "mlc", "plugins")
    assert listed.returncode == 2
    for says in ("of the package broken cannot be loaded", "hidden by mlc's own", "is no pass of a stage"):
        assert says in listed.stdout, listed.stdout + listed.stderr
    (folder / "net.onnx").write_bytes(b"")
    failed = run(folder, "broken", "-m", "mlc", "compile", "net.onnx", "--target", "narrow")
    assert failed.returncode == 2 and "No module named 'nowhere'" in failed.stderr
