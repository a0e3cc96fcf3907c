"""Models that are made here: by converters in an environment of their own, by onnxruntime's quantization, by hand."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import onnx

from benchmarks.real import idioms, quantization
from benchmarks.real.packages import PATIENCE, Unavailable, folder
from benchmarks.real.table import Real

CONVERTERS = (
    "skl2onnx==1.20.0", "onnxmltools==1.16.0", "scikit-learn==1.9.1", "lightgbm==4.7.0", "onnx==1.23.2",
    "numpy==2.4.6", "pandas==3.1.1", "packaging==26.4",
)  # fmt: skip
WITHOUT_DEPENDENCIES = ("xgboost-cpu==3.2.0",)  # it would bring a library for GPUs
HERE = Path(__file__).parent


def made(model: Real) -> Path:
    """The file of a model that a maker writes; it is kept until the maker's code changes.

    Raises Unavailable where the converters cannot be installed.
    """
    make, code = MAKERS[model.maker]
    key = hashlib.sha256(repr(sorted(model.options.items())).encode() + (HERE / code).read_bytes()).hexdigest()[:12]
    file = folder() / "made" / f"{model.name}-{key}.onnx"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}")
        make(model, partial)
        partial.rename(file)
    return file


def _converted(model: Real, file: Path) -> None:
    """By `converters.py`, in the environment of converters."""
    command = [str(_environment()), str(HERE / "converters.py"), str(model.options["of"]), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError(f"{model.name}: {''.join(done.stderr.strip().splitlines()[-1:])}")


def _environment() -> Path:
    """The interpreter of the environment of converters, which is made if it is not there."""
    root = folder() / "converters"
    if not root.exists():
        root.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=root.parent))
        pip = [str(temporary / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        _run([sys.executable, "-m", "venv", str(temporary)])
        _run([*pip, *CONVERTERS])
        _run([*pip, "--no-deps", *WITHOUT_DEPENDENCIES])
        temporary.rename(root)
    return root / "bin" / "python"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"{command[2]}: {''.join(done.stderr.strip().splitlines()[-1:])}")


def _quantized(model: Real, file: Path) -> None:
    from benchmarks.real.files import file_of
    from benchmarks.real.table import models

    (of,) = models([str(model.options["of"])])
    quantization.quantize(of, file_of(of), file, bool(model.options.get("static")))


def _written(model: Real, file: Path) -> None:
    onnx.save(idioms.IDIOMS[str(model.options["of"])](), file)


MAKERS: dict[str, tuple[Callable[[Real, Path], None], str]] = {
    "converted": (_converted, "converters.py"),
    "quantized": (_quantized, "quantization.py"),
    "written": (_written, "idioms.py"),
}
"""By name; with the file whose code decides on the result."""
