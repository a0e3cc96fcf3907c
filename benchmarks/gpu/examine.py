"""What a smoke row that failed is examined by, at once: compute-sanitizer, a build whose waits end, single launches."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress

from benchmarks.gpu.isolation import Row
from mlc.driver.toolchain.cuda_compiler import find_cuda
from mlc.errors import MlcError

SECONDS = 25  # of each examination
SAYS = 400  # characters of what a tool says
BOUNDED = "-DMLC_BOUNDED_WAITS"  # see runtime/c/cuda/mlc_cuda_tma.h


def examined(name: str, target: str, hung: bool) -> Row:
    """What each examination of a row says; those whose program is not there say nothing."""
    only = ["-m", "benchmarks.gpu", "--smoke", "--only", name, "--target", target]
    found: Row = {}
    if hung:
        found["barrier"] = _waits(only)
    elif program := shutil.which("compute-sanitizer"):
        found["memcheck"] = _lines(_said([program, "--tool", "memcheck", sys.executable, *only]), "=========")
    if not hung:
        said = _said([sys.executable, "-m", "benchmarks.gpu.first_wrong", name, "--target", target])
        found["first wrong"] = _first_wrong(said)
    return {what: text for what, text in found.items() if text}


def _waits(only: list[str]) -> str:
    """The barrier at which a row waits for ever: of a build that stops there, which has a cache of its own."""
    try:
        command = find_cuda().command
    except MlcError:
        return ""
    if not command:
        return ""
    with tempfile.TemporaryDirectory() as cache:
        more = {"MLC_NVCC": " ".join([*command, BOUNDED]), "MLC_CACHE_DIR": cache}
        return _lines(_said([sys.executable, *only], more), "Assertion")


def _first_wrong(said: str) -> str:
    for line in said.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            return str(json.loads(line)["first wrong"])
    return said[-SAYS:]


def _lines(said: str, word: str) -> str:
    found = dict.fromkeys(line for line in said.splitlines() if word in line)
    return " ".join(found)[-SAYS:]


def _said(command: list[str], more: Mapping[str, str] | None = None) -> str:
    """What a command prints in its time; it and what it has started are ended then."""
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        env={**os.environ, **(more or {})},
    )  # fmt: skip
    try:
        return child.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        return child.communicate()[0] + f"\nit took longer than {SECONDS} s"
