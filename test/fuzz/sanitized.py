"""Restarts a program such that libraries built with the address sanitizer load into it."""

from __future__ import annotations

import os
import subprocess
import sys

from mlc import target
from mlc.toolchain import find

SANITIZERS = "address,undefined"


def restart() -> None:
    """Run the same command again with the sanitizer's library in front of all others; nothing where it is there."""
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        return
    compiler = [*find(None, target.get("cpu")).command, "-print-file-name=libasan.so"]
    library = subprocess.run(compiler, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(library):
        sys.exit("the C compiler has no address sanitizer; install gcc's libasan")
    environment = {**os.environ, "LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    os.execvpe(sys.executable, [sys.executable, *sys.argv], environment)
