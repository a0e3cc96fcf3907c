"""What is imported only where it is needed, as imports are a part of each command and each first compilation."""

from __future__ import annotations

import subprocess
import sys

import pytest

HELP = """
import sys
from mlc.cli import main
sys.argv = ["mlc", "--help"]
try:
    main()
except SystemExit as ended:
    assert not ended.code
"""
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
CPU = "import mlc.driver.compile, mlc.driver.lower, mlc.pipelines.cpu"


@pytest.mark.parametrize(
    ("program", "needed", "unneeded"),
    [
        (HELP, {"typer"}, {"numpy", "onnx", "xdsl", "islpy", "mlc.runtime"}),
        ("import mlc.numpy, mlc.nn, mlc.optim", {"numpy", "mlc.nn"}, {"onnx", "torch", "safetensors"}),
        (RUNTIME, {"mlc.runtime.c"}, {"xdsl", "mlc.passes", "mlc.dialects"}),
        (CPU, {"xdsl", "islpy"}, {"onnx", "mlc.passes.codegen.cuda.emit_cuda", "mlc.passes.device.distribute_values"}),
    ],
)
def test_modules(program: str, needed: set[str], unneeded: set[str]) -> None:
    program += "\nimport sys\nprint(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = set(done.stderr.split())
    assert needed <= modules
    assert not modules & unneeded
