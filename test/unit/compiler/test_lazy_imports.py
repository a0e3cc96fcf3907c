"""What is imported only where it is needed, as imports are a part of each command and each first compilation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx.helper import make_graph, make_model, make_node, make_tensor_value_info

COMMAND = """
import sys
from mlc.cli import main
sys.argv = ["mlc", *{arguments}]
try:
    main()
except SystemExit as ended:
    assert not ended.code
"""
HELP = COMMAND.format(arguments=["--help"])
RUNTIME = """
import os, tempfile
os.environ["MLC_CACHE_DIR"] = tempfile.mkdtemp()
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.link import compiled_runtime
from mlc.options import Options
from mlc.driver.toolchain.c_compiler import find
with compiled_runtime(Options(), find(None, Options().target), Cache.default()):
    pass
"""
"""What a thread does while another imports the passes: two that import one circle of modules see them half made."""
PRINT = "\nimport sys\nprint(*sorted(sys.modules), file=sys.stderr)"
CPU = "import mlc.driver.compile, mlc.driver.lower, mlc.pipelines.cpu"


@pytest.mark.parametrize(
    ("program", "needed", "unneeded"),
    [
        (HELP, {"typer"}, {"numpy", "onnx", "xdsl", "islpy", "mlc.runtime", "pydantic"}),
        ("import mlc.numpy, mlc.nn, mlc.optim", {"numpy", "mlc.nn"}, {"onnx", "torch", "safetensors"}),
        (RUNTIME, {"mlc.runtime.c"}, {"xdsl", "mlc.passes", "mlc.dialects"}),
        (CPU, {"xdsl", "islpy"}, {"onnx", "mlc.passes.codegen.cuda.emit_cuda", "mlc.passes.device.distribute_values"}),
    ],
)
def test_modules(program: str, needed: set[str], unneeded: set[str]) -> None:
    done = subprocess.run([sys.executable, "-c", program + PRINT], capture_output=True, text=True, check=True)
    modules = set(done.stderr.split())
    assert needed <= modules
    assert not modules & unneeded


def test_a_compilation_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It imports no validator of values, no other command, and nothing of what compiles."""
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path / "cache"))
    x, y = (make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 3]) for name in "xy")
    onnx.save(make_model(make_graph([make_node("Relu", ["x"], ["y"])], "g", [x], [y])), tmp_path / "relu.onnx")
    program = COMMAND.format(arguments=["compile", "relu.onnx", "--threads", "1", "--dim", "n=4"]) + PRINT
    command = [sys.executable, "-c", program]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    modules = set(done.stderr.split())
    assert "mlc.driver.compile" in modules
    assert not modules & {"numpy", "onnx", "xdsl", "islpy", "pydantic", "mlc.cli.bench", "mlc.frontends"}
