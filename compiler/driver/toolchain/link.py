"""Compile and link C sources to one library or object, deterministically.

Sources are compiled by relative name in a folder of their own, so that no path of the machine gets into an object,
and the linker writes no build id. Objects are cached by what decides them (see ``object_key``).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain import processes
from mlc.driver.toolchain.c_compiler import LIBRARIES, Toolchain, allowed_cpus
from mlc.driver.toolchain.c_sources import (
    COMPILED,
    CSource,
    encoded,
    is_generated,
    object_key,
    runtime_for,
    runtime_object_key,
    runtime_sources,
)
from mlc.driver.toolchain.external_libraries import ExternalFlags, external_flags
from mlc.driver.toolchain.failures import failure, fault, not_started, reason_of
from mlc.driver.toolchain.hidden_names import INCLUDE, NAMES
from mlc.options import Options
from mlc.runtime.c import paths
from mlc.target import Target

RESULT = "result"
HOST_PROGRAM = "model.c"
LOOP_UNITS = "loops_"
"""How ``emit_c`` begins the names of files whose kernels are loops of others. This module imports no pass: a thread
compiles the runtime while another imports the passes."""


def link_library(
    sources: Mapping[str, CSource],
    out: Path,
    target: Target,
    toolchain: Toolchain,
    cache: Cache,
    families: Sequence[str] = (),
    exports: Sequence[str] = (),
) -> None:
    """Compile every ``.c`` and ``.S`` of ``sources`` (file name -> contents; the rest are headers) into ``out``.

    Its suffix says what it is: a shared library (``.so``), an archive (``.a``) or one object (``.o``). The C runtime is
    added, with the runtime library functions of ``families`` and the external libraries that they call. ToolchainError
    if one is missing, the compiler fails, or the library lacks one of the functions ``exports``; OSError if ``out``
    cannot be written.
    """
    external = external_flags(families, target)
    with tempfile.TemporaryDirectory(prefix="mlc-cc-", ignore_cleanup_errors=True) as folder:
        build = _Build(Path(folder), {**runtime_for(families), **sources}, target, toolchain, cache, external, exports)
        {".so": build.library, ".a": build.archive, ".o": build.relocatable}[out.suffix]()
        shutil.move(build.folder / RESULT, out)


def flags_of(unit: str, source: CSource, target: Target, toolchain: Toolchain) -> tuple[str, ...]:
    """Flags to compile a unit. The runtime gets the base instruction set, because it checks the CPU."""
    isa = () if unit in runtime_sources() else target.cflags
    return toolchain.flags(target, isa, _level_of(unit, source, target, toolchain))


def _level_of(unit: str, source: CSource, target: Target, toolchain: Toolchain) -> tuple[str, ...]:
    """How much to optimize a unit. The host program is calls, each of which is executed once a run: -O1 compiles it in
    60 % of the time, and runs it as fast. Runtime library functions are loops that somebody wrote, and need -O2."""
    if unit == HOST_PROGRAM:
        return ("-O1",)
    if unit.startswith(LOOP_UNITS):
        return toolchain.level_of_loops
    return toolchain.level_of_kernels(target) if is_generated(source) else ("-O2",)


@contextmanager
def compiled_runtime(options: Options, toolchain: Toolchain, cache: Cache) -> Iterator[None]:
    """Compile the runtime's objects, which are the same for all models, into the cache during the ``with``."""
    with ThreadPoolExecutor(1) as pool, processes.Stopping() as stopping:
        pool.submit(_compile_runtime, options, toolchain, cache, stopping)
        yield


def _compile_runtime(options: Options, toolchain: Toolchain, cache: Cache, stopping: processes.Stopping) -> None:
    if cache.root is None:
        return
    sanitizing = replace(toolchain, sanitizers=options.sanitizers)
    with tempfile.TemporaryDirectory(prefix="mlc-cc-", ignore_cleanup_errors=True) as folder:
        _Build(Path(folder), runtime_for(), options.target, sanitizing, cache, stopping=stopping).objects(1)


@dataclass
class _Build:
    """One library or object being built in ``folder``, as the file RESULT."""

    folder: Path
    sources: dict[str, CSource]
    target: Target
    toolchain: Toolchain
    cache: Cache
    external: ExternalFlags = ExternalFlags()
    exports: Sequence[str] = ()
    stopping: processes.Stopping = field(default_factory=processes.Stopping)

    def library(self) -> None:
        objects = self.objects(allowed_cpus())
        flags = self.toolchain.link_flags(self.target)
        self._run([*self.toolchain.command, *flags, "-o", RESULT, *objects, *self.external.link, *LIBRARIES])

    def archive(self) -> None:
        objects = self.objects(allowed_cpus())
        self._run([*self.toolchain.archiver, "rcsD", RESULT, *objects], "The archiver", self.toolchain.archiver)

    def relocatable(self) -> None:
        objects = self.objects(allowed_cpus())
        triple = self.toolchain.triple(self.target)
        self._run([*self.toolchain.command, *triple, "-r", "-nostdlib", "-o", RESULT, *objects])

    def objects(self, jobs: int) -> list[str]:
        """Compile all units in parallel; returns the objects' file names."""
        for name, source in self.sources.items():
            (self.folder / name).write_bytes(encoded(source))
        units = sorted(name for name in self.sources if name.endswith(COMPILED))
        longest_first = sorted(units, key=lambda name: -len(self.sources[name]))
        with ThreadPoolExecutor(jobs) as pool, self.stopping:
            made = dict(zip(longest_first, pool.map(self._object, longest_first), strict=True))
        return [made[unit] for unit in units]

    def _object(self, unit: str) -> str:
        """Compile one unit, or take its object from the cache; the object's file name."""
        name, version = f"{unit}.o", self.toolchain.version
        flags = flags_of(unit, self.sources[unit], self.target, self.toolchain)
        flags = (*flags, *(INCLUDE if NAMES in self.sources else ()))
        ours = unit in runtime_sources()
        if ours and paths()[unit].parent.name != "core":
            flags, version = (*flags, *self.external.compile), f"{version} {self.external.versions}"
        shared = ours and NAMES not in self.sources  # by all models
        key = runtime_object_key(unit, flags, version) if shared else object_key(unit, self.sources, flags, version)
        entry = self.cache.get("objects", key)
        if entry is not None:
            shutil.copyfile(entry / "object.o", self.folder / name)
            return name
        self._run([*self.toolchain.command, *flags, "-c", unit, "-o", name])
        self.cache.put("objects", key, {"object.o": self.folder / name})
        return name

    def _run(self, command: list[str], what: str = "The C compiler", name: Sequence[str] = ()) -> None:
        """Run one command in the folder, which makes a file; on failure keep the sources and name their folder."""
        name = name or self.toolchain.command
        try:
            result = processes.run(command, self.folder, self.stopping)
        except OSError as error:
            raise not_started(what, name, error) from None
        if result.returncode:
            raise failure(what, name, command, self.folder, reason_of(result))
        made = self.folder / (command[command.index("-o") + 1] if "-o" in command else RESULT)
        loaded = "-shared" in command
        if (why := fault(made, self.target.arch, loaded, self.exports if loaded else ())) is not None:
            says = f"exit status 0, and {why}"
            raise failure(what, name, command, self.folder, says, "Choose another compiler with --cc or $CC")
