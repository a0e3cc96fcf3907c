"""The CUDA compiler: nvcc, of a toolkit or of the wheel ``nvidia-cuda-nvcc``, or NVRTC of ``nvidia-cuda-nvrtc``."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mlc.driver.toolchain import nvrtc, processes
from mlc.driver.toolchain.c_sources import CSource, encoded
from mlc.errors import ToolchainError
from mlc.options import environment

FLAGS = ("-std=c++17", "-O3")
INSTALL = (
    "Install NVIDIA's CUDA toolkit, or `pip install 'mlc[cuda]'` for a compiler in a wheel, or name nvcc in $MLC_NVCC"
)


@dataclass(frozen=True)
class CudaCompiler:
    """The command of nvcc, empty for NVRTC, and the version string of either."""

    command: tuple[str, ...]
    version: str

    def flags(self, architecture: str) -> tuple[str, ...]:
        """Flags to compile a unit for one architecture, ``sm_90a``, to a cubin."""
        return ("-cubin", f"-arch={architecture}", *FLAGS) if self.command else nvrtc.flags(architecture)

    def cubin(self, unit: str, sources: Mapping[str, CSource], architecture: str) -> bytes:
        """The cubin of a unit of ``sources``, the rest of which are headers. ToolchainError if it does not compile."""
        if not self.command:
            return nvrtc.cubin(unit, sources, self.flags(architecture))
        with tempfile.TemporaryDirectory(prefix="mlc-cuda-") as folder:
            for name, source in sources.items():
                (Path(folder) / name).write_bytes(encoded(source))
            command = [*self.command, *self.flags(architecture), "-o", "result", unit]
            done = processes.run(command, Path(folder))
            if done.returncode == 0 and (made := Path(folder) / "result").exists():
                return made.read_bytes()
            raise _failed(self.command, command, Path(folder), done)


def _failed(
    name: tuple[str, ...], command: list[str], folder: Path, done: subprocess.CompletedProcess[str]
) -> ToolchainError:
    """The error for a unit that does not compile; its sources stay in a folder of their own."""
    says = [line for line in (done.stderr + done.stdout).splitlines() if "error" in line.lower()][:3]
    reason = "; ".join(says) or f"exit status {done.returncode}, and no cubin"
    hint = "The sources could not be kept: the disk is full"
    try:
        kept = Path(tempfile.mkdtemp(prefix="mlc-reproducer-"))
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        (kept / "run.sh").write_text(f'cd "$(dirname "$0")" && {shlex.join(command)}\n')
        hint = f"`sh {kept}/run.sh` repeats it"
    except OSError:
        pass
    return ToolchainError(f"The CUDA compiler {shlex.join(name)} failed: {reason}", stage="code", hint=hint)


def find_cuda() -> CudaCompiler:
    """$MLC_NVCC if it is set, else the first of nvcc, the wheel's nvcc and NVRTC that runs. ToolchainError if none."""
    if command := environment().nvcc:
        if (found := _answer(processes.words(command))) is None:
            raise ToolchainError(f"The CUDA compiler '{command}' does not run", hint="Check $MLC_NVCC")
        return found
    for candidate in toolkit("nvcc"):
        if found := _answer((candidate,)):
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
def _answer(command: tuple[str, ...]) -> CudaCompiler | None:
    """The compiler of a command; None if the command does not run."""
    try:
        result = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line for line in result.stdout.splitlines() if line]
    return CudaCompiler(command, lines[-1]) if result.returncode == 0 and lines else None
