"""Host programs for GPUs under the address and the undefined behaviour sanitizer; calls of the driver fail in turn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fake_gpu import HERE, needed

from mlc import target
from mlc.driver.toolchain.c_compiler import find

pytestmark = needed


def test_host_programs_are_clean_and_lose_no_memory(tmp_path: Path) -> None:
    command = [*find(None, target.get("cpu")).command, "-print-file-name=libasan.so"]
    if not Path(subprocess.run(command, capture_output=True, text=True).stdout.strip()).is_absolute():
        pytest.skip("the C compiler has no address sanitizer")
    command = [sys.executable, str(HERE / "sanitized_hosts.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    failed = dict(line.split() for line in done.stdout.splitlines())
    assert failed.keys() == {"mlp", "loop_with_condition", "nonzero", "step"}
    assert all(int(count) > 50 for count in failed.values())
