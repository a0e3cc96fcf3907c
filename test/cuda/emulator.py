"""Compiles units of CUDA kernels by g++ against the emulation header, and launches them (``emulation/``)."""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from mlc.passes.codegen.cuda.cuda_unit import unit

HERE = Path(__file__).parent / "emulation"
DEVICE = Path(__file__).parents[2] / "runtime" / "c" / "cuda"
KERNEL = re.compile(
    r'extern "C" __global__ void __launch_bounds__\((\d+), \d+\) '
    r"(?:__cluster_dims__\((\d+), 1, 1\) )?(\w+)\((.*?)\) \{"
)
WAITS = (
    "__syncthreads",
    "mlc_shuffle",
    "mlc_mma",
    "mlc_mbarrier",
    "mlc_ldmatrix",
    "mlc_arrive",
    "DYNAMIC_SHARED",
    "mlc_argsort",
    "mlc_scan",
    "mlc_scatter",
    "mlc_cholesky",
    "mlc_lu",
)

C_HEADERS = ("-nostdinc++",)
"""C's <math.h> for kernels: that of C++17 takes g++ 80 ms."""

needed = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")


def compiled(functions: Sequence[str], folder: Path) -> Path:
    """A shared library with a function ``launch_SYMBOL(void **args, int64_t blocks, int threads)`` for each kernel of a
    unit: ``args`` are pointers to the parameters, as of cuLaunchKernel. Equal units are compiled once."""
    text = "\n".join(['#include "emulation.h"', unit(functions), *map(_entry, functions)])
    made = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    if made.exists():
        return made
    source, partial = made.with_suffix(".cu.cpp"), made.with_suffix(".partial")
    source.write_text(text)
    include = [f"-I{HERE}", f"-I{DEVICE}"]
    flags = ["-std=c++17", "-O0", "-fPIC", "-ffp-contract=off", "-fno-exceptions", "-w", *C_HEADERS]
    # With -O1 g++ takes four times as long, and the emulation of small products runs no faster.
    watched = ["-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"]
    _run("g++", *flags, *watched, *include, "-c", source, "-o", made.with_suffix(".o"))
    _run("gcc", "-shared", made.with_suffix(".o"), _runtime(folder), "-o", partial)
    partial.rename(made)
    return made


def _runtime(folder: Path) -> Path:
    made = folder / "emulation.o"
    if not made.exists():
        _run("g++", "-std=c++17", "-O2", "-fPIC", "-Wall", "-Werror", "-c", HERE / "emulation.cpp", "-o", made)
    return made


def _run(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert not done.returncode, done.stderr[:4000]


def _entry(text: str) -> str:
    """Return the C entry point of a kernel."""
    found = KERNEL.search(text)
    assert found, text[:200]
    types = [parameter.rpartition("b" if "*" in parameter else " ")[0] for parameter in found[4].split(", ")]
    types = [t.replace("__restrict__", "").replace("const int64_t", "int64_t") for t in types]
    values = ", ".join(f"*({t}*)a[{n}]" for n, t in enumerate(types))
    waits = int(any(word in text for word in WAITS) or "__shared__" in text)
    call = f"static __attribute__((no_sanitize_thread)) void call_{found[3]}(void **a) {{ {found[3]}({values}); }}"
    head = f'extern "C" void launch_{found[3]}(void **args, int64_t blocks, int threads)'
    launch = f"mlc_emulated_launch(call_{found[3]}, args, blocks, threads, {waits});"
    return f"{call}\n{head} {{ mlc_emulated_cluster({found[2] or 1}); {launch} }}"


@dataclass(frozen=True)
class Map:
    """A tensor map: the address of its buffer, the bytes of an element, extents and strides in bytes, box and span."""

    start: int
    itemsize: int
    extents: Sequence[int]
    strides: Sequence[int]
    box: Sequence[int]
    span: int

    def encoded(self, library: ctypes.CDLL) -> ctypes.Array[ctypes.c_char]:
        """Encode the map as a kernel parameter. Raise AssertionError for what cuTensorMapEncodeTiled refuses."""
        memory = ctypes.create_string_buffer(128 + 64)
        aligned = (ctypes.c_char * 128).from_buffer(memory, -ctypes.addressof(memory) % 64)
        extents = (ctypes.c_uint64 * len(self.extents))(*self.extents)
        strides, box = (ctypes.c_uint64 * 4)(*self.strides), (ctypes.c_uint32 * 5)(*self.box)
        kind, swizzle = {1: 0, 2: 1, 4: 2}[self.itemsize], {0: 0, 32: 1, 64: 2, 128: 3}[self.span]
        place = ctypes.c_void_p(self.start)
        rank = len(self.extents)
        assert not library.mlc_emulated_encode_map(aligned, kind, rank, place, extents, strides, box, swizzle), self
        return aligned


class Emulator:
    """The kernels of a unit."""

    def __init__(self, functions: Sequence[str], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # Libraries of kernels are linked without it: its symbols take the linker 45 ms.
        ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(compiled(functions, folder)))
        self.library.mlc_emulated_end.restype = ctypes.c_char_p

    def order(self, last_first: bool = False, old_news: bool = False) -> None:
        """Set the order of a launch's blocks. With ``old_news`` no block learns that the other blocks of its tile have
        arrived.
        """
        self.library.mlc_emulated_order(int(last_first), int(old_news))

    def launch(
        self,
        symbol: str,
        buffers: Sequence[tuple[int, int]],
        dims: Sequence[int],
        blocks: int,
        threads: int,
        maps: Sequence[Map] = (),
    ) -> None:
        """Run a kernel on buffers (address, bytes); AssertionError for a race or an access out of bounds."""
        values = [ctypes.c_void_p(address) for address, _ in buffers] + [ctypes.c_int64(n) for n in dims]
        values += [each.encoded(self.library) for each in maps]
        pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(v) for v in values))
        for address, size in dict.fromkeys(buffers):
            self.library.mlc_emulated_register(ctypes.c_void_p(address), ctypes.c_int64(size), 0)
        self.library.mlc_emulated_check()
        getattr(self.library, f"launch_{symbol}")(pointers, ctypes.c_int64(blocks), ctypes.c_int(threads))
        error = self.library.mlc_emulated_end().decode()
        assert not error, f"{symbol}: {error}"
