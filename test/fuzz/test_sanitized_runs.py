"""Sanitized runs find a leak of a model's, and none where there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sanitized import CPU

from mlc.driver.toolchain.c_compiler import find

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from sanitized import SANITIZERS, restart
restart()
import weakref
import agree
from leaks import own_allocations
from mlc.runtime import library
if sys.argv[2] == "leaks":
    library.weakref = type("None", (), {"finalize": lambda *_: type("Nothing", (), {})()})
try:
    print("found:", agree.difference(0, 3, SANITIZERS))
except MemoryError as error:
    print("lost:", error)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    command = [*find(None, CPU).command, "-print-file-name=libasan.so"]
    found = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    if not Path(found).is_absolute():
        pytest.skip("the C compiler has no address sanitizer")
    (tmp_path / "run.py").write_text(RUN)
    return tmp_path / "run.py"


@pytest.mark.parametrize(("kind", "says"), [("clean", "found: \n"), ("leaks", "lost: LeakSanitizer")])
def test_leaks_of_models_are_found(script: Path, kind: str, says: str) -> None:
    command = [sys.executable, str(script), str(Path(__file__).parent), kind]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert says in result.stdout, result.stdout + result.stderr
    assert ("mlc_" in result.stdout) == (kind == "leaks"), result.stdout
