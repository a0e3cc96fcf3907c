"""From a model to an artifact: the cache, the pipeline, the C compiler."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc import artifact, identity
from mlc.artifact import Artifact
from mlc.cache import Cache
from mlc.files import output_error
from mlc.identity import Source
from mlc.instruments import Digests, Instrument
from mlc.options import Options, environment
from mlc.reproduce import internal_error
from mlc.runtime.errors import MlcError
from mlc.toolchain import Toolchain, find, prepare

if TYPE_CHECKING:
    from mlc.frontends.onnx import Imported
    from mlc.pipeline import Lowered


@dataclass(frozen=True)
class Built:
    """An artifact, and whether it came from the cache."""

    artifact: Artifact
    cached: bool


def build(source: Source, options: Options, instruments: Sequence[Instrument] = (), reuse: bool = True) -> Built:
    """The artifact of a model, from the cache if ``reuse`` and it is there."""
    toolchain = find(options.cc or environment().cc, options.target)
    cache = Cache.default()
    found = lookup(source, options, toolchain, cache) if reuse else None
    if found is not None:
        return Built(found, cached=True)
    seen = Digests()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(prepare, options.target, replace(toolchain, sanitizers=options.sanitizers), cache)
        lowered = lower(source, options, [*instruments, seen])
    files = _files(source)
    identity.remember_files(cache, source, files)
    parts = identity.parts(source, files, options, toolchain)
    identity.remember_kernels(cache, parts, seen.of.values())
    parts = identity.with_tuned(parts, seen.of.values(), options)
    with _step(instruments, "code.compile"):
        return Built(_write(lowered, parts, options, toolchain, cache), cached=False)


def lookup(source: Source, options: Options, toolchain: Toolchain, cache: Cache) -> Artifact | None:
    """The cached artifact of a model; with MLC_DEBUG, stderr gets the reason why there is none."""
    parts = _known_parts(source, options, toolchain, cache)
    entry = None if parts is None else cache.get("artifacts", identity.key(parts))
    if entry is not None:
        return Artifact.find(entry)
    if environment().debug:
        print(*_why(source, parts, cache), sep="\n", file=sys.stderr)
    return None


def explain(source: Source, options: Options) -> list[str]:
    """Lines that say whether a model would come from the cache, and if not, why."""
    cache = Cache.default()
    parts = _known_parts(source, options, find(options.cc or environment().cc, options.target), cache)
    if parts is not None and cache.get("artifacts", identity.key(parts)):
        return [f"cache: hit, {identity.key(parts)[:12]}"]
    return _why(source, parts, cache)


def _known_parts(source: Source, options: Options, toolchain: Toolchain, cache: Cache) -> dict[str, Any] | None:
    """What the artifact depends on; None if this model's files are not known yet, or one cannot be read."""
    files = identity.known_files(cache, source)
    try:
        parts = None if files is None else identity.parts(source, files, options, toolchain)
        kernels = identity.known_kernels(cache, parts) if parts and options.tuned else ()
        return parts and identity.with_tuned(parts, kernels, options)
    except OSError:
        return None  # the frontend will say which


def _why(source: Source, parts: dict[str, Any] | None, cache: Cache) -> list[str]:
    """How ``parts`` differ from those of the last cached artifact of the same model, or of one of the same name."""
    known = [e for e in cache.entries() if e.kind == "artifacts" and source.name == e.about.get("name")]
    if not known:
        return [f"cache: nothing is known of {source.name} yet"]
    newest = max(known, key=lambda entry: (entry.about["model"] == source.digest, entry.used))
    lines = identity.difference(newest.about, parts or newest.about | {"model": source.digest})
    return [f"cache: miss; differs from {newest.path.name[:12]} in {line}" for line in lines or ["its files"]]


def lower(
    source: Source, options: Options, instruments: Sequence[Instrument] = (), until: str | None = None
) -> Lowered:
    """Run the frontend and the pipeline, up to the stage ``until``. InternalError where mlc itself is at fault."""

    def run(watching: Sequence[Instrument]) -> Lowered:
        with _step(watching, "import"):
            imported = import_source(source, options)

        from mlc import pipeline  # islpy and the passes: not needed to refuse a model

        return pipeline.lower(imported.module, imported.weights, options, until, watching)

    try:
        return run(instruments)
    except (MlcError, MemoryError, OSError):
        raise
    except Exception as error:
        raise internal_error(error, options, run) from error


def import_source(source: Source, options: Options) -> Imported:
    """The model as a graph module that carries its name, and the weights."""
    from xdsl.dialects.builtin import StringAttr

    from mlc.frontends.onnx import import_model

    imported = import_model(source.model, options.dims)
    imported.module.properties["sym_name"] = StringAttr(imported.name)
    return imported


def _files(source: Source) -> tuple[str, ...]:
    """The external data files of a model."""
    from mlc.frontends.onnx.external import external_files

    return external_files(source.model) if isinstance(source.model, Path) else ()


def _write(lowered: Lowered, parts: dict[str, Any], options: Options, toolchain: Toolchain, cache: Cache) -> Artifact:
    """Compile into the cache, or where that has no room, into a temporary folder."""
    key = identity.key(parts)
    try:
        with cache.stage("artifacts", key) as folder:
            written = artifact.write(lowered, folder, options, toolchain, cache)
            entry = cache.commit(folder, "artifacts", key, parts)
            if entry is not None:
                return Artifact(entry, written.stem)
    except OSError:
        pass
    return _write_outside(lowered, options, toolchain)


def _write_outside(lowered: Lowered, options: Options, toolchain: Toolchain) -> Artifact:
    """Compile into a temporary folder that goes with the artifact. OutputError if there is no room either."""
    folder = tempfile.gettempdir()
    try:
        owner = tempfile.TemporaryDirectory(prefix="mlc-")
        written = artifact.write(lowered, Path(owner.name), options, toolchain, Cache(None))
    except OSError as error:
        raise output_error(Path(folder), error) from error
    return Artifact(written.folder, written.stem, owner)


@contextmanager
def _step(instruments: Sequence[Instrument], name: str) -> Iterator[None]:
    """Tell the instruments of work that is not a pass."""
    for instrument in instruments:
        instrument.before(name, None, None)
    yield
    for instrument in instruments:
        instrument.after(name, None, None)
