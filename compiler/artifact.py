"""A compiled model on disk: ``<stem>.so``, ``<stem>.h`` and, unless the library has them, ``<stem>.weights``."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from mlc.cache import Cache
from mlc.files import staged
from mlc.options import Options
from mlc.runtime.weights import HEADER_BYTES
from mlc.toolchain import Source, Toolchain, link_library

EMBEDDED_SYMBOL = "mlc_embedded_weights"
"""The array that generated code declares (``extern const char mlc_embedded_weights[]``) when weights are embedded."""

SUFFIXES = (".weights", ".h", ".so")  # in the order of installation: a library appears once its weights are there


class Lowered(Protocol):
    """What the pipeline hands over (see ``mlc.pipeline``)."""

    @property
    def sources(self) -> Mapping[str, Source]: ...
    @property
    def signature(self) -> Mapping[str, Any]: ...
    @property
    def weights_writer(self) -> Callable[[Path], None]: ...
    @property
    def prefix(self) -> str: ...


@dataclass(frozen=True)
class Artifact:
    """The files of one compiled model in one folder; with an ``owner``, the folder goes when the artifact does."""

    folder: Path
    stem: str
    owner: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def find(cls, folder: Path) -> Artifact:
        """The one artifact in a folder."""
        (library,) = folder.glob("*.so")
        return cls(folder, library.stem)

    @property
    def library(self) -> Path:
        return self.folder / f"{self.stem}.so"

    @property
    def files(self) -> dict[str, Path]:
        """Suffix -> path of the files that exist, weights first."""
        paths = {suffix: self.folder / f"{self.stem}{suffix}" for suffix in SUFFIXES}
        return {suffix: path for suffix, path in paths.items() if path.exists()}

    def install(self, library: Path) -> list[Path]:
        """Copy the files to ``library`` and beside it, each by one rename; OutputError, and no trace, if that fails."""
        targets = {suffix: library.with_suffix(suffix) for suffix in self.files}
        with staged(library) as folder:
            for suffix, path in self.files.items():
                shutil.copyfile(path, folder / f"new{suffix}")
            for suffix, target in targets.items():
                os.replace(folder / f"new{suffix}", target)
        return list(targets.values())


def write(lowered: Lowered, folder: Path, options: Options, toolchain: Toolchain, cache: Cache) -> Artifact:
    """Compile generated code into ``folder``. ToolchainError if that fails, OSError if a file cannot be written."""
    artifact = Artifact(folder, lowered.prefix)
    sources = dict(lowered.sources)
    weights = lowered.signature["weights"]
    if weights["bytes"] and not weights["file"]:
        sources |= _embedded(lowered, folder)
    (folder / f"{artifact.stem}.h").write_text(header(lowered.prefix, lowered.signature))
    sanitizing = replace(toolchain, sanitizers=options.sanitizers)
    with ThreadPoolExecutor(1) as pool:
        if weights["file"]:
            writing = pool.submit(lowered.weights_writer, folder / weights["file"])
        link_library(sources, artifact.library, options.target, sanitizing, cache)
    if weights["file"]:
        writing.result()
    return artifact


def _embedded(lowered: Lowered, folder: Path) -> dict[str, Source]:
    """Sources that put the payload (without the file's header) into the library as read-only data."""
    file = folder / "payload"
    lowered.weights_writer(file)
    payload = file.read_bytes()[HEADER_BYTES:]
    file.unlink()
    assembly = (
        f".section .rodata\n.balign 64\n.globl {EMBEDDED_SYMBOL}\n.hidden {EMBEDDED_SYMBOL}\n"
        f'{EMBEDDED_SYMBOL}:\n.incbin "weights.bin"\n.section .note.GNU-stack,"",%progbits\n'
    )
    return {"weights.S": assembly, "weights.bin": payload}


def header(prefix: str, signature: Mapping[str, Any]) -> str:
    """The C header of a model: the interface, and what to pass to it."""
    template = (files("mlc.runtime.c") / "mlc_model.h.in").read_text()
    return f"/*{_contract(signature)} */\n" + template.replace("@PREFIX@", prefix)


def _contract(signature: Mapping[str, Any]) -> str:
    """Lines of a C comment that list dimensions, inputs and outputs in the order of the arguments."""
    lines = [f" dims: {', '.join(signature['dims']) or 'none'}"]
    for kind in ("inputs", "outputs"):
        for index, tensor in enumerate(signature[kind]):
            shape = ", ".join(str(size) for size in tensor["shape"])
            lines.append(f"{kind}[{index}]: {tensor['name']} {tensor['dtype']}[{shape}]")
    for size in signature.get("sizes", ()):
        name, bound, output = size["name"], size["bound"], size["output"]
        lines.append(f"{name}: found out by the run, at most {bound}; outputs[{output}] says it")
    return "\n * ".join(line.replace("*/", "* /").replace("\n", " ") for line in lines)
