"""The C runtime under sanitizers, and its symbols."""

from __future__ import annotations

import hashlib
import platform
import re
import subprocess

import numpy as np
import pytest
from toy_build import HERE, RUNTIME, compile_c, compiler, kernel_features, write_toy_files

from mlc.runtime import c, elf


def sanitizer_works(folder, flag):
    (folder / "empty.c").write_text("int main(void) { return 0; }")
    command = [compiler(), flag, str(folder / "empty.c"), "-o", str(folder / "empty")]
    built = subprocess.run(command, capture_output=True).returncode == 0
    return built and subprocess.run([folder / "empty"], capture_output=True).returncode == 0


def sanitizer_flags(folder, sanitizer):
    flags = ["-O1"] if sanitizer is None else ["-O1", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]
    if sanitizer and not sanitizer_works(folder, flags[1]):
        pytest.skip(f"the sanitizer '{sanitizer}' does not run here")
    return flags


def check_driver(*command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=30)  # run, and not compiled: about 2 s
    assert (result.returncode, result.stdout) == (0, "0 wrong\n"), result.stderr[-3000:]


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread", None])
def test_driver(tmp_path, sanitizer):
    flags, sources = sanitizer_flags(tmp_path, sanitizer), write_toy_files(tmp_path)
    compile_c(tmp_path / "driver", [HERE / "driver.c", *sources], *flags, f"-include{tmp_path / 'toy_signature.h'}")
    check_driver(tmp_path / "driver", tmp_path / "toy.weights")


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread", None])
def test_parts_of_phases_run_once_and_in_order(tmp_path, sanitizer):
    flags = sanitizer_flags(tmp_path, sanitizer)
    compile_c(tmp_path / "phases", [HERE / "phases.c", *RUNTIME], *flags)
    check_driver(tmp_path / "phases")


SMALL_STACK = 'ulimit -S -s 512 && exec "$0"'  # KiB: what threads have by default then, too


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread", None])
def test_workers_have_stack_enough(tmp_path, sanitizer):
    flags = sanitizer_flags(tmp_path, sanitizer)
    compile_c(tmp_path / "stack", [HERE / "stack.c", *RUNTIME], *flags)
    check_driver("sh", "-c", SMALL_STACK, tmp_path / "stack")  # Python itself may need more, deep in a test


def test_only_the_interface_is_exported(toy):
    functions = {"abi_version", "signature", "error", "create", "destroy", "workspace_size", "output_shape", "run",
                 "create_interface_0a1b", "profile", "trace", "seed", "get_state", "set_state"}
    with elf.opened(toy.library) as image:
        exported = set(elf.exported_functions(image))
    assert exported == {f"toy_{name}" for name in functions}


def test_headers_stand_alone_and_in_cpp(tmp_path, toy):
    for name in ("mlc_runtime.h", "mlc_vec.h"):
        source = tmp_path / "include.c"
        source.write_text(f'#include "{name}"\nint x;\n')
        compile_c(tmp_path / "include.o", [source], "-c", "-Wno-psabi")
    source = tmp_path / "user.cpp"
    source.write_text(f'#include "{toy.folder / "toy.h"}"\nint main() {{ return 0; }}\n')
    result = subprocess.run([compiler(), "-x", "c++", "-fsyntax-only", "-Wall", str(source)], capture_output=True)
    if b"c++" not in result.stderr and b"cc1plus" not in result.stderr:  # a C compiler without C++ cannot tell
        assert result.returncode == 0, result.stderr


SHA_DRIVER = """
#include <stdio.h>
#include "mlc_internal.h"
int main(void) {
  static char data[1000];
  size_t size = fread(data, 1, sizeof data, stdin);
  char hex[65];
  mlc_sha256_hex(data, size, hex);
  puts(hex);
}
"""


def test_sha256_against_hashlib(tmp_path):
    (tmp_path / "sha.c").write_text(SHA_DRIVER)
    compile_c(tmp_path / "sha", [tmp_path / "sha.c", c.paths()["mlc_sha256.c"]], "-O1")
    for size in (0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 777):
        data = np.random.default_rng(size).bytes(size)
        result = subprocess.run([tmp_path / "sha"], input=data, capture_output=True, check=True)
        assert result.stdout.decode().strip() == hashlib.sha256(data).hexdigest()


ISA_DRIVER = """
#include <stdio.h>
#include "mlc_internal.h"
int main(int count, char **names) {
  for (int i = 1; i < count; i++) puts(mlc_check_isa(names[i]) ? "absent" : "present");
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the table holds x86 features")
def test_cpu_features_against_the_kernel(tmp_path):
    (tmp_path / "isa.c").write_text(ISA_DRIVER)
    sources = [tmp_path / "isa.c", *RUNTIME]
    compile_c(tmp_path / "isa", sources, "-O1")
    known = re.findall(r'{"([^"]+)", \d', c.paths()["mlc_isa.c"].read_text())
    assert len(known) > 20
    output = subprocess.run([tmp_path / "isa", *known], capture_output=True, text=True, check=True).stdout
    present = {name for name, answer in zip(known, output.split(), strict=True) if answer == "present"}
    assert present == set(known) & kernel_features()
