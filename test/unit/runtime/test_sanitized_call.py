"""The extension for calls from Python under the address and the undefined behaviour sanitizer, by its own tests."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from toy_build import HERE, compiler

from mlc import runtime
from mlc.runtime import library

pytestmark = pytest.mark.skipif(library.Call is None, reason="installed without a C compiler")
SOURCE = Path(runtime.__file__).parent / "_call.c"
TESTS = [HERE / f"test_{name}.py" for name in ("call_again", "running", "arguments", "memory", "dlpack")]
# Requests of absurd sizes are part of the tests; what Python loses at its end is no matter.
ASAN = "detect_leaks=0:allocator_may_return_null=1"
# A child of fork may wait forever for a lock of the sanitizer's allocator that another thread held.
WITHOUT = "not (test_in_a_process_of_its_own and fork)"


def sanitizer() -> str:
    command = [compiler(), "-print-file-name=libasan.so"]
    found = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return found if Path(found).is_absolute() else pytest.skip("the C compiler has no address sanitizer")


def built(folder: Path, text: str) -> Path:
    (folder / "_call.c").write_text(text)
    flags = ["-shared", "-fPIC", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [compiler(), *flags, f"-I{sysconfig.get_path('include')}", f"-I{SOURCE.parent}", str(folder / "_call.c")]
    subprocess.run([*command, "-o", str(folder / "_call.so")], check=True)
    return folder / "_call.so"


def run_under(extension: Path, *tests: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "LD_PRELOAD": sanitizer(), "ASAN_OPTIONS": ASAN, "PYTHONMALLOC": "malloc",
        "SANITIZED_CALL": str(extension), "PYTHONPATH": str(HERE),
    }  # fmt: skip
    options = ["-q", "-s", "-n0", "-p", "sanitized_call", "-p", "no:cacheprovider", "-k", WITHOUT]
    command = [sys.executable, "-m", "pytest", *options]
    return subprocess.run([*command, *tests], capture_output=True, text=True, env=environment, timeout=300)


def test_the_extension_is_clean(tmp_path: Path) -> None:
    done = run_under(built(tmp_path, SOURCE.read_text()), *TESTS)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def test_an_array_that_is_given_back_twice_is_found(tmp_path: Path) -> None:
    text, end = SOURCE.read_text(), "  while (count) Py_DECREF(values[--count]);"
    assert text.count(end) == 1
    done = run_under(built(tmp_path, text.replace(end, f"  Py_DECREF(values[0]);\n{end}")), TESTS[0])
    assert done.returncode != 0 and "ERROR: AddressSanitizer: heap-use-after-free" in done.stderr
