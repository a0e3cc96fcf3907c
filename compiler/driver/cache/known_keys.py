"""Keys of sources that were compiled before.

A key depends on two things that only a compilation finds out: what a model needs beside itself, and which kernels it
has, since these decide which tuned schedules apply. Both are kept in the cache, so that the next compilation knows its
key without reading the model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any

from mlc.driver.cache import source_digest
from mlc.driver.cache.cache_key import CacheKey, Needs, key_of
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.source import Source
from mlc.driver.toolchain.c_compiler import Toolchain
from mlc.options import Options
from mlc.plugins import code_of

KIND, FILE = "models", "known.json"


def recall(source: Source, options: Options, toolchain: Toolchain, cache: Cache) -> CacheKey | None:
    """The key of a source; None if it was never compiled, or one of its files cannot be read."""
    match _read(cache, _needs_key(source)):
        case [list(files), list(families)] if _are_names(files) and _are_names(families):
            needs = Needs(tuple(files), tuple(families))
        case _:
            return None
    try:
        key = key_of(source, needs, options, toolchain)
    except OSError:
        return None  # the frontend will report which
    return key.with_tuned(_kernels(cache, key) if options.tuned else (), options)


def learn(
    source: Source,
    needs: Needs,
    kernel_digests: Iterable[str],
    options: Options,
    toolchain: Toolchain,
    cache: Cache,
) -> CacheKey:
    """The key of a source that has just been compiled; stores its dependencies and kernels for ``recall``."""
    kernels = sorted(set(kernel_digests))
    key = key_of(source, needs, options, toolchain)
    _write(cache, _needs_key(source), astuple(needs))
    _write(cache, key.digest, kernels)
    return key.with_tuned(kernels, options)


def key_of_wish(source: Source, options: Options) -> str:
    """A digest of what is to be compiled, known before the model is read."""
    return hashlib.sha256(f"{_needs_key(source)} {options}".encode()).hexdigest()


def _needs_key(source: Source) -> str:
    """The key of what a model calls: a digest of the model, the compiler and the user's code that imports it."""
    code = json.dumps({**source.code(), **dict(code_of(source))}, sort_keys=True)
    return hashlib.sha256(f"{source.digest} {source_digest.of_sources()} {code}".encode()).hexdigest()


def _kernels(cache: Cache, key: CacheKey) -> list[str] | None:
    """The kernels of a model, by digest; None where they are not known."""
    names = _read(cache, key.digest)
    return names if isinstance(names, list) and _are_names(names) else None


def _are_names(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _read(cache: Cache, key: str) -> Any:
    """The data that was written; None where nothing was, or where it cannot be read."""
    entry = cache.get(KIND, key)
    try:
        return None if entry is None else json.loads((entry / FILE).read_text())
    except (OSError, ValueError, RecursionError):
        return None


def _write(cache: Cache, key: str, values: Sequence[Any]) -> None:
    with cache.stage(KIND, key) as folder:
        try:
            (folder / FILE).write_text(json.dumps(values))
        except OSError:
            return
        cache.commit(folder, KIND, key)
