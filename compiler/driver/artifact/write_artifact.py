"""Write an artifact: compile generated code into the cache, or into a temporary folder if the cache cannot take it.

A shared library is cached as a whole; of an archive or an object the cache has the objects in it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from mlc.driver.artifact.artifact import Artifact
from mlc.driver.artifact.c_header import header
from mlc.driver.artifact.cubins import IMAGES
from mlc.driver.artifact.output_files import TemporaryFolder, output_error
from mlc.driver.cache.cache_key import CacheKey
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import Toolchain
from mlc.driver.toolchain.c_sources import CSource, runtime_for
from mlc.driver.toolchain.hidden_names import with_hidden_names
from mlc.driver.toolchain.link import link_library
from mlc.options import Options
from mlc.pipelines.backends import backend_of
from mlc.runtime.sealed import WEIGHTS, seal
from mlc.runtime.weights import HEADER_BYTES

EMBEDDED_SYMBOL = "mlc_embedded_weights"
"""The array that generated code declares (``extern const char mlc_embedded_weights[]``) when weights are embedded."""


DATA = (EMBEDDED_SYMBOL, IMAGES)
"""The arrays that are added to generated code."""


class Generated(Protocol):
    """Generated code: the part of ``mlc.driver.lower.Lowered`` that is written to files."""

    @property
    def sources(self) -> Mapping[str, CSource]: ...
    @property
    def signature(self) -> Mapping[str, Any]: ...
    @property
    def weights_writer(self) -> Callable[[Path], None]: ...
    @property
    def prefix(self) -> str: ...
    @property
    def families(self) -> Sequence[str]: ...


def write_artifact(code: Generated, key: CacheKey, options: Options, toolchain: Toolchain, cache: Cache) -> Artifact:
    """Compile into the cache, or if it cannot take the artifact, into a temporary folder that is deleted with it.

    Raises:
        ToolchainError: the C compiler fails.
        OutputError: there is no room in the temporary folder either.
    """
    try:
        with cache.stage("artifacts", key.digest) as folder:
            written = write(code, folder, options, toolchain, cache)
            entry = cache.commit(folder, "artifacts", key.digest, key.parts)
            if entry is not None:
                return Artifact(entry, written.stem)
    except OSError:
        pass
    return write_outside(code, options, toolchain, Cache(None))


def write_outside(
    code: Generated, options: Options, toolchain: Toolchain, cache: Cache, suffix: str = ".so"
) -> Artifact:
    """Compile into a temporary folder that is deleted with the artifact; errors as those of ``write_artifact``."""
    place = Path(tempfile.gettempdir())
    try:
        owner = TemporaryFolder("mlc-")
        written = write(code, Path(owner.name), options, toolchain, cache, suffix)
    except OSError as error:
        raise output_error(place, error) from error
    return replace(written, owner=owner)


def write(
    code: Generated, folder: Path, options: Options, toolchain: Toolchain, cache: Cache, suffix: str = ".so"
) -> Artifact:
    """Compile generated code into ``folder``. ToolchainError if that fails, OSError if a file cannot be written."""
    artifact = Artifact(folder, code.prefix, suffix)
    sources = dict(backend_of(options.target).c_sources(code.sources, cache))
    weights = code.signature["weights"]
    if weights["bytes"] and not weights["file"]:
        sources |= embedded(code, folder)
    if artifact.is_static:
        sources = with_hidden_names({**runtime_for(code.families), **sources}, code.prefix, DATA)
    (folder / f"{artifact.stem}.h").write_text(header(code.prefix, code.signature))
    sanitizing = replace(toolchain, sanitizers=options.sanitizers)
    with ThreadPoolExecutor(1) as pool:
        if weights["file"]:
            writing = pool.submit(code.weights_writer, folder / weights["file"])
        exports = () if artifact.is_static else [f"{code.prefix}_abi_version"]
        link_library(sources, artifact.library, options.target, sanitizing, cache, code.families, exports)
    if not artifact.is_static:
        seal(artifact.library, artifact.library.name)
    if weights["file"]:
        writing.result()
    return artifact


def embedded(code: Generated, folder: Path) -> dict[str, CSource]:
    """Sources that put the payload (without the file's header) into the library as read-only data."""
    file = folder / "payload"
    code.weights_writer(file)
    payload = file.read_bytes()[HEADER_BYTES:]
    file.unlink()
    assembly = (
        f'.section {WEIGHTS},"a",%progbits\n'
        f".balign 64\n.globl {EMBEDDED_SYMBOL}\n.hidden {EMBEDDED_SYMBOL}\n"
        f'{EMBEDDED_SYMBOL}:\n.incbin "weights.bin"\n.section .note.GNU-stack,"",%progbits\n'
    )
    return {"weights.S": assembly, "weights.bin": payload}
