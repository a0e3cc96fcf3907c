"""Restarts a program such that libraries built with the address sanitizer load into it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from mlc import target
from mlc.toolchain import find

SANITIZERS = "address,undefined"


def restart() -> None:
    """Run the same command again with the sanitizer's library in front of all others; nothing where it is there."""
    if loaded():
        os.environ.pop("LD_PRELOAD", None)  # or the C compiler would run under it too, at twice the time
        return
    libraries = [_path("libasan.so"), _path("libstdc++.so.6")]  # the second for exceptions of onnxruntime's
    if not os.path.isabs(libraries[0]):
        sys.exit("the C compiler has no address sanitizer; install gcc's libasan")
    options = "detect_leaks=0:allocator_may_return_null=1"
    environment = {**os.environ, "LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": options}
    os.execvpe(sys.executable, [sys.executable, *sys.argv], environment)


def loaded() -> bool:
    """Whether this process has the sanitizer's library."""
    return "/libasan." in Path("/proc/self/maps").read_text()


def _path(library: str) -> str:
    """Where the C compiler has a library; its bare name where it has none."""
    command = [*find(None, target.get("cpu")).command, f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
