#!/usr/bin/env python3
"""A CUDA compiler without a GPU, for $MLC_NVCC: takes nvcc's arguments and makes, in place of a cubin, a shared object
of the emulated kernels, which the fake driver loads."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EMULATION = HERE / "emulation"
KERNEL = re.compile(
    r'extern "C" __global__ void __launch_bounds__\((\d+), \d+\) '
    r"(?:__cluster_dims__\((\d+), 1, 1\) )?(\w+)\((.*?)\) \{"
)
# of kernels with barriers
WAITS = ("__syncthreads", "mlc_shuffle", "mlc_mbarrier", "__shared__", "DYNAMIC_SHARED", "mlc_argsort", "mlc_scatter")


def entry(cluster: str | None, name: str, parameters: str, waits: bool, dynamic: str) -> str:
    """``launch_NAME``, ``parameters_NAME`` and ``dynamic_NAME``, which the fake driver finds."""
    types = [p.rpartition("b" if "*" in p else " ")[0] for p in parameters.split(", ")]
    types = [t.replace("__restrict__", "").replace("const int64_t", "int64_t") for t in types]
    values = ", ".join(f"*({t}*)a[{n}]" for n, t in enumerate(types))
    call = f"static __attribute__((no_sanitize_thread)) void call_{name}(void **a) {{ {name}({values}); }}"
    head = f'extern "C" void launch_{name}(void **args, int64_t blocks, int threads)'
    run = f"mlc_emulated_launch(call_{name}, args, blocks, threads, {int(waits)});"
    launch = f"{head} {{ mlc_emulated_cluster({cluster or 1}); {run} }}"
    maps = sum("mlc_tensor_map" in t for t in types)  # the last ones
    constants = f"extern const int parameters_{name} = {len(types)}, maps_{name} = {maps}, dynamic_{name} = {dynamic};"
    return f'{call}\n{launch}\nextern "C" {{ {constants} }}'


def dynamic_bytes(text: str, start: int) -> str:
    """The bytes of dynamic shared memory of the kernel whose body begins at ``start``."""
    found = re.compile(r"MLC_DYNAMIC_SHARED\(\w+, (\d+)\)").search(text, start, text.index("\n}\n", start))
    return found[1] if found else "0"


def main(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        parts = [Path(__file__), *sorted(EMULATION.iterdir())]
        print(f"kernels emulated by g++, {hashlib.sha256(b''.join(p.read_bytes() for p in parts)).hexdigest()[:16]}")
        return 0
    source, out = Path(arguments[-1]), arguments[arguments.index("-o") + 1]
    text = source.read_text()
    waits = any(word in text for word in WAITS)
    entries = [entry(*found.groups()[1:], waits, dynamic_bytes(text, found.end())) for found in KERNEL.finditer(text)]
    with tempfile.TemporaryDirectory() as folder:
        unit = Path(folder) / "unit.cpp"
        unit.write_text("\n".join(['#include "emulation.h"', text, *entries]))
        flags = ["-std=c++17", "-O0", "-fPIC", "-ffp-contract=off", "-fno-exceptions", "-w", f"-I{EMULATION}", "-I."]
        flags += ["-nostdinc++"]  # C's <math.h>: that of C++17 takes g++ 80 ms
        # With -O1 g++ takes four times as long, and the emulation of small products runs no faster.
        watched = ["-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"]
        made = f"{folder}/unit.o"
        commands = [
            ["g++", *flags, *watched, "-c", str(unit), "-o", made],
            ["gcc", "-shared", made, *runtime(Path(folder)), "-o", out],  # libstdc++ is with the driver
        ]
        failed = next((code for command in commands if (code := subprocess.run(command).returncode)), 0)
    if "--keep" in arguments and not failed:  # what stands for PTX is the same object after a line
        source.with_suffix(".ptx").write_bytes(b"// PTX\n" + Path(out).read_bytes())
    return failed


def runtime(folder: Path) -> list[str]:
    """The emulation, which $FAKE_EMULATION names where it is compiled already."""
    if known := os.environ.get("FAKE_EMULATION"):
        return [known]
    made = str(folder / "emulation.o")
    flags = ["-std=c++17", "-O2", "-fPIC", "-c"]
    subprocess.run(["g++", *flags, str(EMULATION / "emulation.cpp"), "-o", made], check=True)
    return [made]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
