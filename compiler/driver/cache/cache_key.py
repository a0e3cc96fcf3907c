"""The cache key: everything on which an artifact depends, by name, so that a miss can be explained."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mlc.driver.cache import digest_cache, source_digest
from mlc.driver.source import Source
from mlc.driver.toolchain.c_compiler import Toolchain
from mlc.driver.toolchain.external_libraries import external_flags
from mlc.options import Options
from mlc.plugins import code_of, code_of_target

PACKAGES = ("xdsl", "islpy", "onnx", "numpy")  # whose version can change generated code


@dataclass(frozen=True)
class Needs:
    """The dependencies of a model: external data files, relative to its folder, and the families of the runtime library
    functions that it calls, which may call external libraries."""

    files: tuple[str, ...] = ()
    families: tuple[str, ...] = ()


@dataclass(frozen=True)
class CacheKey:
    """``parts`` are JSON-ready values; two keys of equal parts have the same ``digest``."""

    parts: Mapping[str, Any]

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.parts, sort_keys=True).encode()).hexdigest()

    def with_tuned(self, kernels: Iterable[str] | None, options: Options) -> CacheKey:
        """The key with the tuned schedules of these kernels; None where the kernels are not known."""
        applying = {kernel: options.tuned[kernel] for kernel in kernels or () if kernel in options.tuned}
        return CacheKey({**self.parts, "tuned": "unknown" if options.tuned and kernels is None else applying})


def key_of(source: Source, needs: Needs, options: Options, toolchain: Toolchain) -> CacheKey:
    """The key before tuned schedules.

    Raises:
        OSError: an external data file cannot be read.
        ToolchainError: an external library is missing.
    """
    return CacheKey(
        {
            "kind": source.kind,
            "model": source.digest,
            "name": source.name,
            "code": {**source.code(), **dict(code_of(source)), **dict(code_of_target(options.target))},
            "external": {name: digest_cache.of_file(source.folder / name) for name in sorted(needs.files)},
            "options": json.loads(json.dumps(options.key())),
            "compiler": toolchain.version,
            **({"cuda": toolchain.cuda.version} if toolchain.cuda else {}),
            "mlc": source_digest.of_sources(),
            "packages": versions(),
            "libraries": dict(external_flags(needs.families, options.target).versions),
        }
    )


@cache
def versions() -> dict[str, str]:
    """The versions of the packages that can change generated code."""
    return {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def difference(old: Any, new: Any, path: str = "") -> list[str]:
    """What differs between the parts of two keys, one line each: ``options.target.l2: 1048576 -> 524288``."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        names = sorted(old.keys() | new.keys())
        return [
            line for name in names for line in difference(old.get(name), new.get(name), f"{path}.{name}".strip("."))
        ]
    return [] if old == new else [f"{path}: {_short(old)} -> {_short(new)}"]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
