"""What a compilation depends on: the key under which its artifact is cached, and the words to explain a miss."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc import digest, stamps
from mlc.cache import Cache
from mlc.options import Options
from mlc.runtime.errors import InputError
from mlc.toolchain import Toolchain

if TYPE_CHECKING:
    from onnx import ModelProto

Model = "str | Path | bytes | ModelProto"
LIBRARIES = ("xdsl", "islpy", "onnx", "numpy")  # whose version can change generated code


@dataclass(frozen=True)
class Source:
    """A model to compile: a file, or its bytes. ``name`` is the artifact's stem before it is made an identifier."""

    model: Path | bytes
    name: str
    digest: str

    @classmethod
    def of(cls, model: str | Path | bytes | ModelProto) -> Source:
        """InputError if there is no such file, or ``model`` is nothing that can be compiled."""
        if isinstance(model, str | Path):
            path = Path(model)
            return cls(path, path.stem, _digest_of(path))
        data = model if isinstance(model, bytes) else _serialized(model)
        return cls(data, "model", digest.of_bytes(data))


def _digest_of(path: Path) -> str:
    try:
        return stamps.of_file(path)
    except OSError as error:
        raise InputError(f"Cannot read the model {path}: {error.strerror}", stage="import") from error


def _serialized(model: Any) -> bytes:
    if not hasattr(model, "SerializeToString"):
        raise InputError(
            f"Cannot compile a {type(model).__name__}", hint="Give a path, the bytes of an ONNX file, or a ModelProto"
        )
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def remember_files(cache: Cache, source: Source, names: Iterable[str]) -> None:
    """Store which external data files a model reads, so that the next key needs no parsing of the model."""
    with cache.stage("models", source.digest) as folder:
        try:
            (folder / "files.json").write_text(json.dumps(sorted(names)))
        except OSError:
            return
        cache.commit(folder, "models", source.digest)


def known_files(cache: Cache, source: Source) -> list[str] | None:
    """The external data files of a model, relative to its folder; None if it has not been compiled before."""
    entry = cache.get("models", source.digest)
    return None if entry is None else json.loads((entry / "files.json").read_text())


def remember_kernels(cache: Cache, parts: Mapping[str, Any], digests: Iterable[str]) -> None:
    """Store which kernels a compilation has, so that the next one knows which tuned schedules apply."""
    with cache.stage("models", key(parts)) as folder:
        try:
            (folder / "kernels.json").write_text(json.dumps(sorted(digests)))
        except OSError:
            return
        cache.commit(folder, "models", key(parts))


def known_kernels(cache: Cache, parts: Mapping[str, Any]) -> list[str] | None:
    """The digests of the kernels of a compilation; None if it has not been done before."""
    entry = cache.get("models", key(parts))
    return None if entry is None else json.loads((entry / "kernels.json").read_text())


def with_tuned(parts: dict[str, Any], digests: Iterable[str] | None, options: Options) -> dict[str, Any]:
    """``parts`` with the tuned schedules of its kernels; nothing is cached yet where these are not known."""
    applying = {digest: options.tuned[digest] for digest in digests or () if digest in options.tuned}
    return {**parts, "tuned": "unknown" if options.tuned and digests is None else applying}


def parts(source: Source, files: Iterable[str], options: Options, toolchain: Toolchain) -> dict[str, Any]:
    """Everything that decides an artifact, by name. OSError if an external data file cannot be read."""
    base = source.model.parent if isinstance(source.model, Path) else Path()
    return {
        "model": source.digest,
        "name": source.name,
        "file": isinstance(source.model, Path),  # bytes have their graph's name
        "external": {name: stamps.of_file(base / name) for name in sorted(files)},
        "options": json.loads(json.dumps(options.key())),
        "compiler": toolchain.version,
        "mlc": digest.of_sources(),
        "libraries": _versions(),
    }


def key(parts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def _versions() -> dict[str, str]:
    return {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def difference(old: Any, new: Any, path: str = "") -> list[str]:
    """What differs between two nested values, one line each: ``options.target.l2: 1048576 -> 524288``."""
    if isinstance(old, dict) and isinstance(new, dict):
        names = sorted(old.keys() | new.keys())
        return [
            line for name in names for line in difference(old.get(name), new.get(name), f"{path}.{name}".strip("."))
        ]
    return [] if old == new else [f"{path}: {_short(old)} -> {_short(new)}"]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
