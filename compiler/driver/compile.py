"""From a source to an artifact: key, cache, import, pipeline, code, toolchain, artifact, in this order."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlc.driver.artifact.artifact import Artifact
from mlc.driver.cache import known_keys
from mlc.driver.cache.cache_key import Needs
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.cache.explain import reasons
from mlc.driver.cache.one_at_a_time import one_at_a_time
from mlc.driver.garbage import paused_collection
from mlc.driver.instrument import Instrument, step
from mlc.driver.limits import of_machine
from mlc.driver.reproduce import internal_error
from mlc.driver.source import Source
from mlc.driver.toolchain.c_compiler import Toolchain
from mlc.driver.toolchain.link import compiled_runtime
from mlc.errors import MlcError
from mlc.options import Options, environment
from mlc.pipelines.backends import backend_of

if TYPE_CHECKING:
    from mlc.driver.lower import Lowered
    from mlc.frontends.imported import Imported


@dataclass(frozen=True)
class Built:
    """An artifact, and whether it came from the cache."""

    artifact: Artifact
    cached: bool


def compile_source(
    source: Source, options: Options, instruments: Sequence[Instrument] = (), reuse: bool = True
) -> Built:
    """The artifact of a model, from the cache if ``reuse`` and cached. With MLC_DEBUG, stderr gets the reason of a
    miss.
    """
    toolchain, cache = backend_of(options.target).toolchain(options.cc), Cache.default()
    if not reuse:
        return _compiled(source, options, instruments, toolchain, cache, None)
    if (found := _recalled(source, options, toolchain, cache)) is not None:
        return found
    with one_at_a_time(cache, known_keys.key_of_wish(source, options)) as waited:
        if waited and (found := _recalled(source, options, toolchain, cache)) is not None:
            return found
        return _compiled(source, options, instruments, toolchain, cache, cache)


def _recalled(source: Source, options: Options, toolchain: Toolchain, cache: Cache) -> Built | None:
    key = known_keys.recall(source, options, toolchain, cache)
    if key is not None and (entry := cache.get("artifacts", key.digest)) is not None:
        return Built(Artifact.find(entry), cached=True)
    if environment().debug:
        print(*reasons(source, key, cache), sep="\n", file=sys.stderr)
    return None


def _compiled(
    source: Source,
    options: Options,
    instruments: Sequence[Instrument],
    toolchain: Toolchain,
    cache: Cache,
    kernels: Cache | None,
) -> Built:
    """The new artifact, which enters ``cache``. Kernels that ``kernels`` has are not lowered again."""
    from mlc.driver.artifact.write_artifact import write_artifact  # and NumPy: not needed for one from the cache

    with compiled_runtime(options, toolchain, cache):  # while the passes run
        lowered = lower_source(source, options, instruments, cache=kernels)

    needs = Needs(source.external_files(), lowered.families)
    key = known_keys.learn(source, needs, lowered.kernel_digests, options, toolchain, cache)
    with step(instruments, "code.compile"):
        return Built(write_artifact(lowered, key, options, toolchain, cache), cached=False)


def compile_static(source: Source, options: Options, suffix: str, instruments: Sequence[Instrument] = ()) -> Artifact:
    """A model as an archive (``.a``) or one object (``.o``), to link it into a program."""
    from mlc.driver.artifact.write_artifact import write_outside

    toolchain = backend_of(options.target).toolchain(options.cc)
    cache = Cache.default()
    lowered = lower_source(source, options, instruments, cache=cache)
    with step(instruments, "code.compile"):
        return write_outside(lowered, options, toolchain, cache, suffix)


_passes = threading.RLock()
"""Held by the thread that runs passes: isl's context, with its limit of operations, is one for the process."""


def lower_source(
    source: Source,
    options: Options,
    instruments: Sequence[Instrument] = (),
    until: str | None = None,
    cache: Cache | None = None,
) -> Lowered:
    """Import a model and run the pipeline, up to the stage ``until``; one thread at a time. Kernels that ``cache`` has
    are not lowered again. InternalError for a bug in mlc.
    """

    def run(watching: Sequence[Instrument]) -> Lowered:
        with step(watching, "import"):
            imported = import_source(source, options)

        from mlc.driver.lower import lower  # islpy and the passes: not needed to refuse a model

        return lower(imported.module, imported.weights, options, until, watching, cache)

    try:
        with _passes, paused_collection():
            return run(instruments)
    except (MlcError, MemoryError, OSError):
        raise
    except (ImportError, RuntimeError) as error:
        if (found := of_machine(error)) is None:
            raise internal_error(error, options, run) from error
        raise found from error
    except Exception as error:
        raise internal_error(error, options, run) from error


def import_source(source: Source, options: Options) -> Imported:
    """The model as a graph module that carries its name, the source's unless the options give one, and the weights."""
    from xdsl.dialects.builtin import StringAttr

    imported = source.imported(options.dims)
    imported.module.properties["sym_name"] = StringAttr(options.name or imported.name)
    return imported
