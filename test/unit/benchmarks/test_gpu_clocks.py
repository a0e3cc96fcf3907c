"""The clocks of a GPU, by a library of the test in place of NVML."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.gpu.clocks import clocks

NVML = """
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned n, void **device) { *device = (void *)7; return n; }
int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz) {
  *mhz = which == 1 ? 1980 : 3201; return device != (void *)7; }
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) { *milliwatts = 612345; return 0; }
int nvmlDeviceGetTemperature(void *device, int which, unsigned *degrees) { return 3; }
"""
ASK = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); from benchmarks.gpu.clocks import clocks; print(clocks())"


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_what_nvml_knows(tmp_path: Path) -> None:
    """One query fails, and one is not there."""
    library = tmp_path / "nvml.so"
    (tmp_path / "nvml.c").write_text(NVML)
    command = ["gcc", "-shared", "-fPIC", "-w", "-Wl,-soname,libnvidia-ml.so.1", tmp_path / "nvml.c", "-o", library]
    subprocess.run(command, check=True)
    done = subprocess.run([sys.executable, "-c", ASK, library], capture_output=True, text=True, check=True)
    assert done.stdout == "{'SM MHz': 1980, 'memory MHz': 3201, 'W': 612.3}\n"


def test_no_clocks_without_nvml() -> None:
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        assert clocks() == {}
