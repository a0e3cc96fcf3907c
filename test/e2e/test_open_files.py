"""No file or folder is left open: Python's ResourceWarnings are errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

IN_PROCESS = """
import gc, sys, numpy as np, mlc, mlc.numpy as mnp
net = mlc.compile(sys.argv[1])
net(np.ones((2, 20), np.float32))
net.close()
mlc.jit(lambda x: mnp.tanh(x) @ x, wait=True)(np.ones((3, 3), np.float32))
del net
gc.collect()
"""


@pytest.mark.parametrize("cache", ["", "cache"])
def test_files_are_closed(model: Path, tmp_path: Path, cache: str) -> None:
    """Of compiling for a library, an archive and sources, running, inspecting and measuring, and in a program."""
    commands = [f"compile {model} -o net.so", f"compile {model} -o net.a", "run net.so --random 0", "inspect net.so",
                f"compile {model} -o net.c", "bench net.so --iterations 1 --warmup 0"]  # fmt: skip
    for command in [["-m", "mlc", *each.split()] for each in commands] + [["-c", IN_PROCESS, str(model)]]:
        said = warned(command, tmp_path, str(tmp_path / cache) if cache else "")
        assert "ResourceWarning" not in said and "Traceback" not in said, f"{command}: {said}"


def warned(command: list[str], place: Path, cache: str) -> str:
    surroundings = {**os.environ, "MLC_CACHE_DIR": cache, "MLC_CFLAGS": "-O0"}
    python = [sys.executable, "-W", "error::ResourceWarning", *command]
    return subprocess.run(python, cwd=place, env=surroundings, capture_output=True, text=True, check=True).stderr
