"""A call of a model that hangs in C ends by the limit, which names the test and the phase."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FILE = """
import ctypes, time
import watchdog
from mlc.runtime import library

def test_in_time():
    pass

def test_hangs():
    watchdog.WATCHDOG.seconds = 0.1
    library._release(lambda model: ctypes.CDLL(None).pause(), None, 0)
"""


def test_a_hang_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_file.py").write_text(FILE)
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "test_file.py"]
    paths = {"PYTHONPATH": str(Path(__file__).parents[1]), "PATH": "/usr/bin:/bin"}
    for workers in ([], ["-n", "1"]):
        done = subprocess.run([*command, *workers], cwd=tmp_path, env=paths, capture_output=True, text=True, timeout=60)
        assert done.returncode
        assert "test_file.py::test_hangs (call): destroy has not ended in 0.1 s" in done.stderr
        assert "in _release" in done.stderr
    assert "crashed while running 'test_file.py::test_hangs'" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
