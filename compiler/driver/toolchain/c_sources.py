"""C sources by file name: those of the runtime, the files that one includes, and the cache key of its object."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache

from mlc.runtime.c import paths

CSource = str | bytes
COMPILED = (".c", ".S")
FOLDERS = {"string": "strings", "image": "image", "cuda": "cuda", "comm": "comm", "mpi": "mpi"}
"""Of the C runtime, by family of what is called; ``mpi`` is for the program that loads a model."""


@cache
def runtime_sources() -> Mapping[str, CSource]:
    """File name -> text of the C runtime, which becomes part of each library."""
    return {name: path.read_text() for name, path in paths().items() if name.endswith((".c", ".h"))}


def runtime_for(families: Sequence[str] = ()) -> dict[str, CSource]:
    """The C runtime for a model that calls runtime library functions of these families."""
    left_out = set(FOLDERS.values()).difference(FOLDERS[family] for family in families)
    return {n: source for n, source in runtime_sources().items() if paths()[n].parent.name not in left_out}


def object_key(name: str, sources: Mapping[str, CSource], flags: Sequence[str], version: str) -> str:
    """The hash of everything on which an object depends: source, included files, flags and compiler version."""
    parts = [version, " ".join(flags), name]
    forced = [flags[n + 1] for n, flag in enumerate(flags) if flag == "-include"]
    for file in [name, *_included(name, sources), *forced]:
        parts += [file, hashlib.sha256(encoded(sources[file])).hexdigest()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def is_generated(source: CSource) -> bool:
    """Whether a unit is generated kernels that call no runtime library function: its only header is that of vectors."""
    return isinstance(source, str) and re.findall(r'^#include "(.+)"', source, re.MULTILINE) == ["mlc_kernel.h"]


def _included(name: str, sources: Mapping[str, CSource]) -> list[str]:
    """Files of ``sources`` that ``name`` includes (or takes in by .incbin), directly or not, sorted."""
    found: set[str] = set()
    queue = [name]
    while queue:
        text = sources[queue.pop()]
        quoted = re.findall(r'"([^"\n]+)"', text) if isinstance(text, str) else []
        new = {file for file in quoted if file in sources} - found - {name}
        found |= new
        queue += new
    return sorted(found)


def encoded(source: CSource) -> bytes:
    return source.encode() if isinstance(source, str) else source


@cache
def runtime_object_key(name: str, flags: tuple[str, ...], version: str) -> str:
    """``object_key`` of a unit of the runtime, computed once a process."""
    return object_key(name, runtime_sources(), flags, version)
