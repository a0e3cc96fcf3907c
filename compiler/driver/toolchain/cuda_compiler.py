"""The CUDA compiler: nvcc, of a toolkit or of the wheel ``nvidia-cuda-nvcc``, or NVRTC of ``nvidia-cuda-nvrtc``."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from mlc.driver.toolchain import nvrtc, processes
from mlc.driver.toolchain.c_sources import CSource, encoded
from mlc.driver.toolchain.failures import failure, not_started, reason_of
from mlc.errors import ToolchainError
from mlc.options import environment

WHAT = "The CUDA compiler"
FLAGS = ("-std=c++17", "-O3")
INSTALL = (
    "Install NVIDIA's CUDA toolkit, or `pip install 'mlc[cuda]'` for a compiler in a wheel, or name nvcc in $MLC_NVCC"
)


class Compiled(NamedTuple):
    """A unit of kernels for one architecture; PTX for that and later ones, empty where there is none."""

    cubin: bytes
    ptx: bytes


@dataclass(frozen=True)
class CudaCompiler:
    """The command of nvcc, empty for NVRTC, and the version string of either."""

    command: tuple[str, ...]
    version: str

    def flags(self, architecture: str, ptx: bool = False) -> tuple[str, ...]:
        """Flags to compile a unit for one architecture, ``sm_90a``, to a cubin; ``ptx``: its PTX is kept."""
        if not self.command:
            return nvrtc.flags(architecture)
        return ("-cubin", f"-arch={architecture}", *FLAGS, *(("--keep", "--keep-dir", ".") if ptx else ()))

    def cubin(self, unit: str, sources: Mapping[str, CSource], architecture: str) -> bytes:
        """The cubin of a unit of ``sources``, the rest of which are headers. ToolchainError if it does not compile."""
        return self.compile(unit, sources, architecture, False).cubin

    def compile(self, unit: str, sources: Mapping[str, CSource], architecture: str, ptx: bool) -> Compiled:
        """The cubin of a unit, and its PTX if that is asked for. ToolchainError if it does not compile."""
        if not self.command:
            return Compiled(*nvrtc.compiled(unit, sources, self.flags(architecture), ptx))
        with tempfile.TemporaryDirectory(prefix="mlc-cuda-") as folder:
            for name, source in sources.items():
                (Path(folder) / name).write_bytes(encoded(source))
            command = [*self.command, *self.flags(architecture, ptx), "-o", "result", unit]
            try:
                done = processes.run(command, Path(folder))
            except OSError as error:
                raise not_started(WHAT, self.command, error) from None
            if done.returncode == 0 and (made := Path(folder) / "result").exists():
                text = made.with_name(unit).with_suffix(".ptx")
                return Compiled(made.read_bytes(), text.read_bytes() if ptx and text.exists() else b"")
            reason = reason_of(done) if done.returncode else "exit status 0, and no cubin"
            raise failure(WHAT, self.command, command, Path(folder), reason)


def find_cuda() -> CudaCompiler:
    """Find the CUDA compiler: $MLC_NVCC if set, else the first of nvcc, the wheel's nvcc and NVRTC that runs. Raises
    ToolchainError if none does.
    """
    if command := environment().nvcc:
        if isinstance(found := _answer(processes.words(command)), str):
            raise ToolchainError(f"The CUDA compiler '{command}' does not run: {found}", hint="Check $MLC_NVCC")
        return found
    for candidate in toolkit("nvcc"):
        if isinstance(found := _answer((candidate,)), CudaCompiler):
            return found
    if (version := nvrtc.version()) is not None:
        return CudaCompiler((), f"NVRTC {version}")
    raise ToolchainError("There is no CUDA compiler, which the kernels of a GPU need", stage="code", hint=INSTALL)


def toolkit(program: str) -> Iterator[str]:
    """A program of the toolkit: on the path, in the toolkit that $CUDA_HOME names or in its usual place, in a wheel (of
    NVIDIA's, or Triton's)."""
    homes = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", ""), "/usr/local/cuda"]
    found = [shutil.which(program), *(f"{home}/bin/{program}" for home in homes if home)]
    folders = (f"nvidia/*/bin/{program}", f"triton/backends/nvidia/bin/{program}")
    wheels = (path for root in sys.path for each in folders for path in sorted(Path(root).glob(each)))
    yield from (str(place) for place in [*found, *wheels] if place and Path(place).exists())


@cache
def _answer(command: tuple[str, ...]) -> CudaCompiler | str:
    """The CUDA compiler of a command, or a text that says why the command does not run."""
    answer = processes.answer([*command, "--version"])
    return answer if isinstance(answer, str) else CudaCompiler(command, answer[-1])
