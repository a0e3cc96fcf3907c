"""Models built with sanitizers: right programs run as ever, and a kernel that leaves its buffers is caught."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mlc
from mlc import target as targets
from mlc.driver.toolchain.c_compiler import find
from mlc.errors import InputError
from mlc.options import Options

CPU = targets.get("cpu")
# Two buffers in the arena: the kernel of the second reads one element after the first where BEYOND is 1.
RUN = """
import sys
from pathlib import Path
import numpy as np
from onnx import TensorProto, helper
import mlc
from mlc.driver.compile import import_source
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.onnx_source import OnnxSource
from mlc.options import Options
from mlc.driver.lower import lower
from mlc.driver.toolchain.c_compiler import find
from mlc.driver.artifact.write_artifact import write

folder, beyond = Path(sys.argv[1]), int(sys.argv[2])
x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [4, 16]), ("y", [4, 1])))
nodes = [
    helper.make_node("Softmax", ["x"], ["a"], axis=0),
    helper.make_node("Softmax", ["a"], ["b"], axis=1),
    helper.make_node("Softmax", ["b"], ["c"], axis=0),
    helper.make_node("ReduceMax", ["c"], ["y"], axes=[1]),
]
graph = helper.make_graph(nodes, "g", [x], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
options = Options(sanitize="address,undefined")
imported = import_source(OnnxSource.of(model), options)
lowered = lower(imported.module, imported.weights, options)
text = lowered.sources["model.c"]
place = "c->arena + 0"
assert place in text, text
lowered.sources["model.c"] = text.replace(place, f"c->arena + {4 * beyond}")
made = write(lowered, folder, options, find(None, options.target), Cache(None))
print(mlc.load(made.library, 1)(np.ones((4, 16), np.float32)))
"""


def library() -> str:
    """The address sanitizer's runtime library; skips where there is none."""
    command = [*find(None, CPU).command, "-print-file-name=libasan.so"]
    found = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip("the C compiler has no address sanitizer")
    return found


def run(folder: Path, beyond: int) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LD_PRELOAD": library(), "ASAN_OPTIONS": "detect_leaks=0"}
    command = [sys.executable, "-c", RUN, str(folder), str(beyond)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def test_a_right_model_runs(tmp_path: Path) -> None:
    result = run(tmp_path, beyond=0)
    assert result.returncode == 0, result.stderr[-3000:]
    np.testing.assert_allclose(float(result.stdout.split("[")[-1].split("]")[0]), 1 / 4)


def test_an_access_after_a_buffer_of_the_arena_ends_the_process(tmp_path: Path) -> None:
    result = run(tmp_path, beyond=1)
    assert result.returncode != 0
    assert "ERROR: AddressSanitizer" in result.stderr


def test_flags() -> None:
    toolchain = find(None, CPU)
    assert not any("sanitize" in flag for flag in (*toolchain.flags(CPU, "k.c"), *toolchain.link_flags(CPU)))
    assert Options(sanitize="address,undefined").sanitizers == ("address", "undefined")
    with pytest.raises(InputError, match="Unknown sanitizer in 'adress'"):
        Options(sanitize="adress")
    with pytest.raises(InputError, match="Unknown sanitizer"):
        mlc.compile(b"", sanitize="leak")
