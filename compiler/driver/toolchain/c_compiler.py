"""The C compiler: its selection, command, version and flags."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from mlc.driver.toolchain import processes
from mlc.driver.toolchain.cuda_compiler import CudaCompiler
from mlc.errors import ToolchainError
from mlc.options import environment
from mlc.runtime.sealed import SONAME_ROOM
from mlc.target import Target

CFLAGS = (
    *("-g0", "-std=gnu11", "-ffp-contract=fast", "-fno-math-errno", "-fwrapv", "-pthread"),
    *("-fPIC", "-fvisibility=hidden", "-ffunction-sections"),
)
# Options that not every compiler knows. Kernels are vectorized already. Where gcc vectorizes the loop of a reduction
# again, it carries the scalars of the rows from iteration to iteration and has no registers left for the sums: a 7x7
# convolution of 3 channels takes 1.5 times as long.
OPTIONAL = ("-Wno-psabi", "-fno-tree-loop-vectorize", "-mprefer-vector-width=512")
# The level of generated kernels, straight-line code in vectors and few loops, in which most passes of -O2 find nothing.
# These passes beside -O1 are what they gain by: the first makes fused multiply-adds. gcc's time is 0.75 of that of -O2.
# Other compilers do not have these options.
KERNELS = (
    *("-O1", "-fexpensive-optimizations", "-fstrict-aliasing", "-fschedule-insns2", "-fpeephole2"),
    *("-falign-functions", "-falign-loops", "-falign-jumps", "-falign-labels", "-freorder-blocks-algorithm=stc"),
)
# The level of kernels that are loops of small iterations: scalars, and arrays of few elements. Elements that iterations
# update one after another may be vectors, or stay in registers; of one buffer there are views of several types.
OF_LOOPS = (
    *("-O2", "-ftree-loop-vectorize", "-fvect-cost-model=dynamic", "-fpredictive-commoning"),
    "-fno-strict-aliasing",
)
# --as-needed and gc-sections keep the library's needs at libc; the build id would be a hash of file names too.
LDFLAGS = ("-shared", "-pthread", "-Wl,--build-id=none", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-Wl,--as-needed",
           f"-Wl,-soname,{SONAME_ROOM}")  # fmt: skip
LIBRARIES = ("-lm", "-ldl")
# `zig cc` is clang but takes zig's names of CPUs. Up to LLVM 20 its base CPU lacks vectors of 512 bits even where
# AVX-512 is on.
ZIG_NAMES = {"-march=x86-64": ("-march=x86_64",), "-march=armv8-a": ("-march=generic",),
             "-mavx512f": ("-mavx512f", "-mevex512")}  # fmt: skip
OPTIONAL_OF_ZIG = (*OPTIONAL, "-mevex512")


@dataclass(frozen=True)
class Toolchain:
    """A C compiler command, its version string, and the sanitizers to build with; for a GPU also the CUDA compiler.

    ``more`` are the flags of $MLC_CFLAGS, which the version string has as well: objects depend on them.
    """

    command: tuple[str, ...]
    version: str
    sanitizers: tuple[str, ...] = ()
    cuda: CudaCompiler | None = None
    more: tuple[str, ...] = ()

    def level_of_kernels(self, target: Target) -> tuple[str, ...]:
        """Flags that say how much to optimize generated kernels: KERNELS for x86-64, where they were measured, if
        the compiler has all of them. clang would ignore some, with a warning."""
        known = target.arch == "x86_64" and accepts(self.command, *KERNELS, "-Werror")
        return KERNELS if known else ("-O2",)

    @property
    def level_of_loops(self) -> tuple[str, ...]:
        """Flags that say how much to optimize kernels that are loops of others: OF_LOOPS, if the compiler has them."""
        return OF_LOOPS if accepts(self.command, *OF_LOOPS, "-Werror") else ("-O2", "-fno-strict-aliasing")

    def flags(self, target: Target, isa: Sequence[str], level: Sequence[str] = ("-O2",)) -> tuple[str, ...]:
        """Flags to compile one unit, in order; ``isa`` are those that choose the instruction set, ``level`` says how
        much the compiler optimizes."""
        names = [name for flag in isa for name in ZIG_NAMES.get(flag, (flag,))] if self._is_zig else isa
        further = [flag for flag in OPTIONAL[:2] if flag.replace("-fno-", "-f") not in level]
        triple, wanted = self.triple(target), [*level, *CFLAGS, *further, *names]
        optional = OPTIONAL_OF_ZIG if self._is_zig else OPTIONAL
        asked, command = [flag for flag in wanted if flag in optional], (*self.command, *triple)
        if not accepts(command, *asked):  # together, as a probe is a process
            wanted = [flag for flag in wanted if flag not in optional or accepts(command, flag)]
        return (*triple, *wanted, *self.more, *self._checks())

    def link_flags(self, target: Target) -> tuple[str, ...]:
        strip = ("-s",) if self._is_zig and not self.sanitizers else ()  # its own library has 700 KB for debuggers
        return (*self.triple(target), *LDFLAGS, *strip, *self._checks())

    @property
    def archiver(self) -> tuple[str, ...]:
        """The command ``ar`` that belongs to the compiler. A cross compiler's has the prefix of its target."""
        if self._is_zig:
            return (*self.command[: self.command.index("cc")], "ar")
        found = processes.answer([*self.command, "-print-prog-name=ar"])
        return ("ar",) if isinstance(found, str) else (found[0].strip(),)

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

    def triple(self, target: Target) -> tuple[str, ...]:
        """The target triple, for compilers that serve every platform: always for zig (its default is not glibc), for
        clang to cross-compile.
        """
        foreign = target.arch != platform.machine()
        if self._is_zig or ("clang version" in self.version and foreign):
            return (f"--target={target.arch}-linux-gnu",)
        return ()


def find(command: str | None, target: Target) -> Toolchain:
    """The C compiler to use: ``command`` or $CC if given, else the first of gcc, clang, cc and ziglang that runs."""
    found = _find_c(command, target)
    if text := environment().cflags:
        found = replace(found, version=f"{found.version} {text}", more=processes.words(text))
    return found


def _find_c(command: str | None, target: Target) -> Toolchain:
    if command := command or environment().cc:
        found = _answer(processes.words(command))
        if isinstance(found, str):
            raise ToolchainError(f"The C compiler '{command}' does not run: {found}", hint="Check --cc, or $CC")
        return found
    broken = []
    for candidate in _candidates(target):
        if isinstance(found := _answer(candidate), Toolchain):
            return found
        broken.append(f"{Path(candidate[0]).name} does not run: {found}")
    raise ToolchainError(
        f"There is no C compiler for {target.arch}" + (f"; {'; '.join(broken)}" if broken else ""),
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
def _answer(command: tuple[str, ...]) -> Toolchain | str:
    """The toolchain of a compiler command, or a text that says why the command does not run."""
    answer = processes.answer([*command, "--version"])
    return answer if isinstance(answer, str) else Toolchain(command, answer[0])


@cache
def accepts(command: tuple[str, ...], *flags: str) -> bool:
    """Whether a compiler knows some options, which is tried by preprocessing an empty file."""
    return not isinstance(processes.asked([*command, *flags, "-E", "-x", "c", os.devnull]), str)


def allowed_cpus() -> int:
    """CPUs this process may run on (its affinity mask), which may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
