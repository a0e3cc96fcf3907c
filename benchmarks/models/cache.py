"""Generated models kept as files between runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import onnx


def directory() -> Path:
    """Where generated models are kept: $XDG_CACHE_HOME/mlc-benchmarks or ~/.cache/mlc-benchmarks."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mlc-benchmarks"


def cached(name: str, options: object, build: Callable[[], onnx.ModelProto]) -> Path:
    """The file of `build()`, written unless it is there; the key is `name`, `options` and the generator's code."""
    key = hashlib.sha256(repr((name, options)).encode() + _sources()).hexdigest()[:16]
    file = directory() / f"{name}-{key}.onnx"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}")
        onnx.save(build(), partial, format="protobuf")
        partial.replace(file)
    return file


def _sources() -> bytes:
    return b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.glob("*.py")))
