"""What the C compiler of the ziglang wheel compiles, for this CPU and for another one, gives onnxruntime's results."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import emulated
import onnx
import pytest

import mlc
from benchmarks import models
from benchmarks.correctness import compare
from benchmarks.engines import onnxruntime
from benchmarks.models import random_inputs, small

pytest.importorskip("ziglang")

ZIG = f"{sys.executable} -m ziglang cc"
DIMS = {"batch": 3}


def saved(name: str, folder: Path) -> onnx.ModelProto:
    model = models.build(name, batch="batch", **small.OPTIONS[name])
    onnx.save(model, folder / "model.onnx")
    return model


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("name", ["bert", "efficientnet_b0", "lstm", "unet"])
def test_this_cpu(name: str, target: str, tmp_path: Path) -> None:
    seed, model = secrets.randbits(32), saved(name, tmp_path)
    inputs = random_inputs(model, seed, DIMS)
    actual = mlc.compile(tmp_path / "model.onnx", target, 2, cc=ZIG).run(inputs)
    for row in compare(name, "default", DIMS, actual, onnxruntime(tmp_path / "model.onnx", 1)(inputs)):
        assert row.passed, f"seed {seed}: {row}"


@emulated.needed
@pytest.mark.parametrize("name", ["mobilenet_v2", "gpt2"])
def test_another_cpu(name: str, tmp_path: Path) -> None:
    seed, model = secrets.randbits(32), saved(name, tmp_path)
    inputs = random_inputs(model, seed, DIMS)
    expected = onnxruntime(tmp_path / "model.onnx", 1)(inputs)
    actual = emulated.Emulated(model, tmp_path, ZIG).run(inputs, expected, 2, list(DIMS.values()))
    for row in compare(name, "default", DIMS, actual, expected):
        assert row.passed, f"seed {seed}: {row}"


def test_the_demo(tmp_path: Path) -> None:
    """As on a machine without gcc: ``CC`` names the wheel's compiler."""
    environment = {**os.environ, "CC": ZIG, "MLC_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "mlc", "demo"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


FORK_AFTER_UNLOADING = """
import os, sys
import mlc, numpy as np
from onnx import helper, save
x, y = (helper.make_tensor_value_info(name, 1, [256, 256]) for name in "xy")
save(helper.make_model(helper.make_graph([helper.make_node("MatMul", ["x", "x"], ["y"])], "g", [x], [y])), "m.onnx")
net = mlc.compile("m.onnx", threads=2, cc=sys.argv[1])
net.save("forking.so")
del net
mlc.load("forking.so")(np.ones((256, 256), np.float32))
assert not any("forking.so" in line for line in open("/proc/self/maps"))
child = os.fork() or os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""


def test_a_process_forks_after_a_library_is_unloaded(tmp_path: Path) -> None:
    """zig's start files keep what a library registers with pthread_atfork when it is unloaded."""
    command = [sys.executable, "-c", FORK_AFTER_UNLOADING, ZIG]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=100)
