"""Programs for another architecture, run by qemu, which emulates a process (qemu-user and gcc-aarch64-linux-gnu)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from mlc.api import make_options
from mlc.driver.compile import compile_source
from mlc.driver.onnx_source import OnnxSource

ARCH = "aarch64"
COMPILER, EMULATOR = f"{ARCH}-linux-gnu-gcc", f"qemu-{ARCH}"
SYSTEM = f"/usr/{ARCH}-linux-gnu"  # where the compiler's package has the C library
SECONDS = 120

needed = pytest.mark.skipif(
    not (shutil.which(COMPILER) and shutil.which(EMULATOR)), reason=f"needs {COMPILER} and {EMULATOR}"
)

Array = np.ndarray[Any, Any]


def run(program: Path, *words: Any, data: bytes = b"") -> bytes:
    """What a program for ``ARCH`` writes."""
    command = [EMULATOR, "-L", SYSTEM, program, *words]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True, timeout=SECONDS).stdout


class Emulated:
    """A model compiled for ``target``, of ``ARCH``, into ``folder`` by the C compiler ``cc``, and emulated.c linked
    with it."""

    def __init__(self, model: ModelProto, folder: Path, cc: str | None = None, target: str = ARCH) -> None:
        self.folder, self.program = folder, folder / "program"
        onnx.save(model, folder / "model.onnx")
        model_file, options = OnnxSource.of(folder / "model.onnx"), make_options(target, cc=cc)
        compile_source(model_file, options).artifact.install(folder / "model.so")
        source = Path(__file__).with_suffix(".c")
        warnings = ["-Wall", "-Wextra", "-Werror"]
        link = [f"-I{folder}", str(source), str(folder / "model.so"), "-Wl,-rpath,$ORIGIN", "-o", str(self.program)]
        subprocess.run([COMPILER, *warnings, *link], check=True)

    def run(
        self, inputs: Mapping[str, Array], like: Mapping[str, Array], threads: int, dims: Sequence[int] = ()
    ) -> dict[str, Array]:
        """Outputs of the shapes and dtypes of ``like``; inputs and outputs in the model's order."""
        files = [self.folder / f"input{n}" for n in range(len(inputs))]
        for file, array in zip(files, inputs.values(), strict=True):
            np.ascontiguousarray(array).tofile(file)
        found = {name: self.folder / f"output{n}" for n, name in enumerate(like)}
        sizes = [f"{file}={like[name].nbytes}" for name, file in found.items()]
        run(self.program, str(threads), ",".join(map(str, dims)), *files, ":", *sizes)
        return {name: np.fromfile(file, like[name].dtype).reshape(like[name].shape) for name, file in found.items()}
