"""The interface of a target: its name, instruction sets, pipeline, printer and C flags.

This package is a leaf: at import it needs nothing of mlc but the errors, so that every pass can read a target. What a
target builds (passes, the printer) is imported when it is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from mlc.dialects.kernel import FuncOp
    from mlc.dialects.poly import ScheduleAttr
    from mlc.options import Options
    from mlc.passes.codegen.emit_c import Kernels

Stages = list[tuple[str, list["ModulePass"]]]
"""The passes of each stage that transforms IR, in order."""


@dataclass(frozen=True)
class Target(ABC):
    """A machine to compile for. Its fields are facts, plain values: they are part of the key of the compilation cache.

    ``features`` names instruction sets as the C compiler's ``-m`` flags do; the artifact carries the list and refuses
    to load on a machine that lacks one.
    """

    name: str
    arch: str  # as `uname -m` says it: "x86_64", "aarch64"
    features: tuple[str, ...]

    def has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def open_rows(self) -> bool:
        """Whether one kernel normalizes rows of symbolic extents, which it may read several times from memory."""
        return False

    @property
    @abstractmethod
    def block_bytes(self) -> int:
        """Bytes that one task may read several times from a cache while others stream their operands."""

    @abstractmethod
    def tasks(self, each: int = 1) -> int:
        """The number of independent tasks for ``each`` tasks a thread of a CPU, or a multiprocessor of a GPU."""

    @property
    @abstractmethod
    def cflags(self) -> tuple[str, ...]:
        """Flags that let the C compiler use exactly ``features``."""

    @abstractmethod
    def pipeline(self, options: Options) -> Stages:
        """The passes from an imported graph to a planned host program."""

    @abstractmethod
    def candidates(self, fn: FuncOp, numerics: str = "default") -> Iterator[ScheduleAttr]:
        """Schedules for a kernel that has one, of the target's rules, the best by their order first."""

    def parts(self, fn: FuncOp, numerics: str) -> list[int]:
        """In how many parts tasks of their own may compute the sum of a kernel, before it is raised to statements: the
        best number by its estimate first, 1 among them. None where the sum has no parts, as on CPUs."""
        return []

    @abstractmethod
    def print_kernels(self, module: ModuleOp) -> Kernels:
        """The kernels of a planned module in the target's language."""
