"""The C compiler: finding it, and turning C sources into one shared library, the same bytes each time.

Sources are compiled by relative name in a folder of their own, so that no path of the machine gets into an object,
and the linker writes no build id. Objects are cached by what decides them (see ``object_key``).
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from mlc.cache import Cache
from mlc.errors import ToolchainError
from mlc.target import Target

# Vectors are written out in the code. Where gcc makes others of a reduction's loop, it carries the scalars of the rows
# from turn to turn and has no registers left for the sums: 1.5 times the time for a 7x7 convolution of 3 channels.
CFLAGS = (
    *("-O2", "-g0", "-std=gnu11", "-ffp-contract=fast", "-fno-math-errno", "-fwrapv", "-pthread"),
    *("-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-Wno-psabi"),
    "-fno-tree-loop-vectorize",
)
# --as-needed and gc-sections keep the library's needs at libc; the build id would be a hash of file names too.
LDFLAGS = ("-shared", "-pthread", "-Wl,--build-id=none", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-Wl,--as-needed")
LIBRARIES = ("-lm", "-ldl")
COMPILED = (".c", ".S")
OPTIONAL = {"mlc_image.h": "mlc_image_decode"}  # units with this header are for models that call this function
# `zig cc` is clang but takes zig's names of CPUs.
ZIG_NAMES = {"-march=x86-64": "-march=x86_64", "-march=armv8-a": "-march=generic"}

Source = str | bytes


@dataclass(frozen=True)
class Toolchain:
    """A C compiler command, the version string it prints, and the sanitizers that it builds into everything."""

    command: tuple[str, ...]
    version: str
    sanitizers: tuple[str, ...] = ()

    def flags(self, target: Target, unit: str) -> tuple[str, ...]:
        """Flags to compile one unit, in order. The runtime gets the base instruction set: it has to refuse a CPU."""
        isa = () if unit in runtime_sources() else target.cflags
        names = (ZIG_NAMES.get(flag, flag) for flag in isa) if self._is_zig else isa
        return (*self._triple(target), *CFLAGS, *names, *self._checks())

    def link_flags(self, target: Target) -> tuple[str, ...]:
        return (*self._triple(target), *LDFLAGS, *self._checks())

    def _checks(self) -> tuple[str, ...]:
        """Flags of the sanitizers: the first report ends the process, and names source lines.

        With -O1 the checks compile in two thirds of the time.
        """
        if not self.sanitizers:
            return ()
        chosen = f"-fsanitize={','.join(self.sanitizers)}"
        return (chosen, "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-O1", "-g1")

    @property
    def _is_zig(self) -> bool:
        return "ziglang" in self.command or Path(self.command[0]).name == "zig"

    def _triple(self, target: Target) -> tuple[str, ...]:
        """The platform, for compilers that serve every one: zig always (its default is no glibc), clang to cross."""
        foreign = target.arch != platform.machine()
        if self._is_zig or ("clang version" in self.version and foreign):
            return (f"--target={target.arch}-linux-gnu",)
        return ()


def find(command: str | None, target: Target) -> Toolchain:
    """The C compiler to use: ``command`` ($CC) if given, else the first of gcc, clang, cc and ziglang that answers."""
    if command:
        found = _answer(tuple(shlex.split(command)))
        if found is None:
            raise ToolchainError(f"The C compiler '{command}' does not run", hint="Check --cc, or $CC")
        return found
    for candidate in _candidates(target):
        if found := _answer(candidate):
            return found
    raise ToolchainError(
        f"There is no C compiler for {target.arch}",
        hint=f"Install {_gcc(target)} or clang, or `pip install 'mlc[cc]'` for one in a wheel, or name one in $CC",
    )


def _gcc(target: Target) -> str:
    return "gcc" if target.arch == platform.machine() else f"{target.arch}-linux-gnu-gcc"


def _candidates(target: Target) -> Iterator[tuple[str, ...]]:
    for name in (_gcc(target), "clang", *(["cc"] if target.arch == platform.machine() else [])):
        if shutil.which(name):
            yield (name,)
    if find_spec("ziglang"):
        yield (sys.executable, "-m", "ziglang", "cc")


@cache
def _answer(command: tuple[str, ...]) -> Toolchain | None:
    """The toolchain behind a command; None if it does not run."""
    try:
        result = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = result.stdout.splitlines()
    return Toolchain(command, lines[0]) if result.returncode == 0 and lines else None


@cache
def runtime_sources() -> Mapping[str, Source]:
    """File name -> text of the C runtime, which becomes part of each library."""
    folder = files("mlc.runtime.c")
    return {f.name: f.read_text() for f in folder.iterdir() if f.name.endswith((".c", ".h"))}


@cache
def _units_with(header: str) -> frozenset[str]:
    """Units of the runtime that include ``header``."""
    sources = runtime_sources()
    return frozenset(name for name in sources if name.endswith(COMPILED) and header in _included(name, sources))


def runtime_for(sources: Mapping[str, Source]) -> dict[str, Source]:
    """The C runtime without the units that these sources of a model have no use for."""
    texts = [s for s in sources.values() if isinstance(s, str)]
    unused = [header for header, call in OPTIONAL.items() if not any(call in text for text in texts)]
    without = {unit for header in unused for unit in _units_with(header)}
    return {name: source for name, source in runtime_sources().items() if name not in without}


@cache
def _runtime_key(name: str, flags: tuple[str, ...], version: str) -> str:
    return object_key(name, runtime_sources(), flags, version)


def link_library(sources: Mapping[str, Source], out: Path, target: Target, toolchain: Toolchain, cache: Cache) -> None:
    """Compile every ``.c`` and ``.S`` of ``sources`` (file name -> contents; the rest are headers) into ``out``.

    The C runtime is added. ToolchainError if the compiler fails; OSError if ``out`` cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="mlc-cc-") as folder:
        build = _Build(Path(folder), {**runtime_for(sources), **sources}, target, toolchain, cache)
        build.library(out)


def prepare(target: Target, toolchain: Toolchain, cache: Cache) -> None:
    """Put the runtime's objects, which are the same for all models, into the cache: work for beside the passes."""
    if cache.root is None:
        return
    with tempfile.TemporaryDirectory(prefix="mlc-cc-") as folder:
        _Build(Path(folder), runtime_for({}), target, toolchain, cache).objects(1)


def allowed_cpus() -> int:
    """CPUs this process may run on (its affinity mask), which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def object_key(name: str, sources: Mapping[str, Source], flags: Sequence[str], version: str) -> str:
    """Hash of all that decides an object: its source, what it includes, flags and compiler version."""
    parts = [version, " ".join(flags), name]
    for file in [name, *_included(name, sources)]:
        parts += [file, hashlib.sha256(_bytes(sources[file])).hexdigest()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _included(name: str, sources: Mapping[str, Source]) -> list[str]:
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


def _bytes(source: Source) -> bytes:
    return source.encode() if isinstance(source, str) else source


@dataclass
class _Build:
    """One library being built in ``folder``."""

    folder: Path
    sources: dict[str, Source]
    target: Target
    toolchain: Toolchain
    cache: Cache

    def library(self, out: Path) -> None:
        objects = self.objects(allowed_cpus())
        flags = self.toolchain.link_flags(self.target)
        self._run([*self.toolchain.command, *flags, "-o", "library.so", *objects, *LIBRARIES])
        shutil.move(self.folder / "library.so", out)

    def objects(self, jobs: int) -> list[str]:
        """Compile all units, so many at a time; the objects' file names."""
        for name, source in self.sources.items():
            (self.folder / name).write_bytes(_bytes(source))
        units = sorted(name for name in self.sources if name.endswith(COMPILED))
        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(self._object, units))

    def _object(self, unit: str) -> str:
        """Compile one unit, or take its object from the cache; the object's file name."""
        flags = self.toolchain.flags(self.target, unit)
        name = f"{unit}.o"
        version = self.toolchain.version
        ours = unit in runtime_sources()
        key = _runtime_key(unit, flags, version) if ours else object_key(unit, self.sources, flags, version)
        entry = self.cache.get("objects", key)
        if entry is not None:
            shutil.copyfile(entry / "object.o", self.folder / name)
            return name
        self._run([*self.toolchain.command, *flags, "-c", unit, "-o", name])
        self.cache.put("objects", key, {"object.o": self.folder / name})
        return name

    def _run(self, command: list[str]) -> None:
        """Run one command in the folder; on failure keep the sources and say where."""
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, errors="replace")
        if result.returncode == 0:
            return
        if result.returncode == -signal.SIGINT:  # Ctrl-C reaches every process of the terminal
            raise KeyboardInterrupt
        kept = self._reproducer(command)
        says = [line for line in result.stderr.splitlines() if "error" in line.lower()][:3]
        reason = "; ".join(says) or f"exit status {result.returncode}"
        where = f"`sh {kept}/run.sh` repeats it" if kept else "The sources could not be kept: the disk is full"
        raise ToolchainError(
            f"The C compiler {shlex.join(self.toolchain.command)} failed: {reason}", stage="code", hint=where
        )

    def _reproducer(self, command: list[str]) -> Path | None:
        """Copy the build folder to one that stays, with the failing command; None if there is no room."""
        try:
            kept = Path(tempfile.mkdtemp(prefix="mlc-reproducer-"))
            shutil.copytree(self.folder, kept, dirs_exist_ok=True)
            (kept / "run.sh").write_text(f'cd "$(dirname "$0")" && {shlex.join(command)}\n')
        except OSError:
            return None
        return kept
