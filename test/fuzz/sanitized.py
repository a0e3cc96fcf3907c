"""Restarts a program such that libraries built with the address sanitizer load into it."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mlc import target
from mlc.driver.toolchain.c_compiler import find
from mlc.options import environment as environ

CPU = target.get("cpu")
SANITIZERS = "address,undefined"
# From its first line on, what Python allocates is no leak; leaks.py counts what models allocate. The second is for
# Python's other threads.
QUIET = "void __lsan_disable(void); __attribute__((constructor)) static void quiet(void) { __lsan_disable(); }\n"
SUPPRESSIONS = "leak:Py\nleak:onnxruntime\n"
CALLS = "--param=asan-instrumentation-with-call-threshold=0"  # of gcc: checks that are calls compile faster
# Variables of threads are no roots: the search for leaks crashes where one of onnxruntime's threads ends meanwhile, and
# no model keeps a pointer in one.
THREADS = "use_tls=0"
OPTIONS = "detect_leaks=1:leak_check_at_exit=0:allocator_may_return_null=1"


def restart() -> None:
    """Run the same command again with the sanitizer's library before all others; nothing where it is there."""
    if loaded():
        preloaded = os.environ.pop("LD_PRELOAD", "")  # or the C compiler would run under it too, at twice the time
        if preloaded.endswith("quiet.so"):
            atexit.register(shutil.rmtree, Path(preloaded.split()[-1]).parent, ignore_errors=True)
        return
    libraries = [_path("libasan.so"), _path("libstdc++.so.6")]  # the second for exceptions of onnxruntime's
    if not os.path.isabs(libraries[0]):
        sys.exit("the C compiler has no address sanitizer; install gcc's libasan")
    folder = _quiet()
    environment = {
        "LD_PRELOAD": " ".join([*libraries, f"{folder}/quiet.so"]),
        "ASAN_OPTIONS": OPTIONS,
        "OPENBLAS_NUM_THREADS": "1",
        "LSAN_OPTIONS": f"suppressions={folder}/suppressions:print_suppressions=0:{THREADS}",
    }
    if (compiler := find(environ().cc, CPU)).command == ("gcc",):
        environment["CC"] = f"{compiler.command[0]} {CALLS}"
    os.execvpe(sys.executable, [sys.executable, *sys.argv], os.environ | environment)


def loaded() -> bool:
    """Whether this process has the sanitizer's library."""
    return "/libasan." in Path("/proc/self/maps").read_text()


def _quiet() -> Path:
    """A folder with a library that switches the search for leaks off where it is loaded, and a file of exceptions."""
    folder = Path(tempfile.mkdtemp(prefix="mlc-fuzz-"))
    (folder / "suppressions").write_text(SUPPRESSIONS)
    (folder / "quiet.c").write_text(QUIET)
    command = [*find(None, CPU).command, "-shared", "-fPIC", "quiet.c", "-o", "quiet.so"]
    subprocess.run(command, cwd=folder, check=True)
    return folder


def _path(library: str) -> str:
    """Where the C compiler has a library; its bare name where it has none."""
    command = [*find(None, CPU).command, f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
