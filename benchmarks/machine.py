"""What a comparison ran on: the CPU, its measured peak, and the versions of everything."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.engines import DISTRIBUTIONS


def describe(cpus: Sequence[int], peers: Sequence[str]) -> dict[str, Any]:
    """CPU, instruction sets, system, compiler, versions, revision, and the peaks of these CPUs."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # a process whose affinity may change
        peak = pool.submit(_peak, list(cpus)).result()
    versions = {DISTRIBUTIONS[engine]: version(DISTRIBUTIONS[engine]) for engine in ("mlc", *peers)}
    return {
        "date": date.today().isoformat(), "cpu": cpu_model(), "cpus": len(cpus), "system": platform.platform(),
        "python": platform.python_version(), "revision": revision(), "versions": versions, **peak,
    }  # fmt: skip


def _peak(cpus: list[int]) -> dict[str, Any]:
    from mlc import target as targets
    from mlc.driver.toolchain.c_compiler import find
    from mlc.tools.peak import measure_peak

    os.sched_setaffinity(0, cpus)
    peak, target = measure_peak(len(cpus)), targets.get("cpu")
    compiler = find(None, target).version
    described = {"isa": list(target.features), "vector_bits": target.vector_bits, "compiler": compiler}
    return {"flops": peak.flops, "bandwidth": peak.bytes, **described}


def cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def revision() -> str:
    """The commit of the working tree, with a + if it has changes; empty without git."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--abbrev=10"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
